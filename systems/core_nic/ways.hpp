// SPDX-License-Identifier: Apache-2.0
// What a traced run sees of frames between driver and wire (docs/trace.md): the driver's mailbox
// writes, and what the device reads and writes of host memory. What the cores do in between is not
// seen.
#pragma once

#include <vector>

#include "bench/pcie/root_complex.hpp"
#include "bench/run/memory_trace.hpp"
#include "bench/run/trace.hpp"
#include "systems/core_nic/driver.hpp"

namespace emery::core_nic {

enum SentStage : unsigned {
  kDriver,
  kMailbox,
  kDescriptors,
  kCore,
  kDmaRead,
  kMacTxAssist,
  kMacTxSend
};
enum ReceivedStage : unsigned { kMacRxTake, kMacRxStore, kDmaWrite, kProgress, kReturned };

class Ways {
 public:
  Ways(Trace& trace, RootComplex& root, Driver& driver)
      : sent_(trace.add_way({"driver", "mailbox", "descriptors", "core", "dma_read_host",
                             "mac_tx_assist", "mac_tx_send", "wire"})),
        received_(trace.add_way(
            {"mac_rx_take", "mac_rx_store", "dma_write_host", "progress_order", "driver", "host"})),
        trace_(trace),
        memory_(trace, root.memory()),
        host_(root),
        driver_(driver) {
    root.observe(&memory_);
    driver.on_mailbox = [this] { tell(); };
  }

  unsigned sent() const { return sent_; }
  unsigned received() const { return received_; }

  // The frame offered last is in the send ring.
  void put() { waiting_.push_back({trace_.newest(), driver_.newest()}); }
  // The frame delivered last was taken by the driver.
  void taken(std::span<const std::uint8_t> frame, std::span<const std::uint8_t> descriptor) {
    memory_.claim(trace_.newest(), frame.data(), frame.size(), kDmaWrite, kProgress);
    memory_.claim(trace_.newest(), descriptor.data(), descriptor.size(), kReturned, kReturned);
    if (const auto queue = driver_.queue()) trace_.queue(trace_.newest(), *queue);
  }

 private:
  struct Put {
    Trace::Number frame;
    Driver::Sent sent;
  };

  void tell() {
    for (const Put& put : waiting_) {
      trace_.mark(put.frame, kMailbox, host_.now());
      for (const auto& part : put.sent.descriptor)
        memory_.lend(put.frame, part.data(), part.size(), kDescriptors);
      for (const auto& part : put.sent.part)
        memory_.lend(put.frame, part.data(), part.size(), kDmaRead);
    }
    waiting_.clear();
  }

  unsigned sent_, received_;
  Trace& trace_;
  MemoryTrace memory_;
  RootComplex& host_;
  Driver& driver_;
  std::vector<Put> waiting_;  // for the mailbox write
};

}  // namespace emery::core_nic
