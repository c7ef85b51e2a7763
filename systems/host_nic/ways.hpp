// SPDX-License-Identifier: Apache-2.0
// What a traced run sees of frames between driver and wire: the stages of their ways, named as in
// docs/architecture.md, from the driver's doorbells and what the device reads and writes of host
// memory (docs/trace.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/pcie/root_complex.hpp"
#include "bench/run/memory_trace.hpp"
#include "bench/run/trace.hpp"
#include "bench/sim/ring.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

// Stages of what is sent. A queue without descriptors has none of their two.
enum SentStage : unsigned {
  kDriver,
  kDoorbell,
  kDescFetch,
  kTxEngine,
  kDmaRead,
  kTxReadout,
  kCmacTx,
  kWire
};
// Of what is received.
enum ReceivedStage : unsigned { kCmacRx, kRxBuffer, kDmaWrite, kCplWrite, kRecord, kHost };

class Ways {
 public:
  Ways(Trace& trace, RootComplex& root, Driver& driver, unsigned interfaces,
       const DriverConfig& config)
      : sent_(trace.add_way(sent_stages(config.tx_stream))),
        received_(
            trace.add_way({"cmac_rx", "rx_buffer", "dma_write", "cpl_write", "driver", "host"})),
        trace_(trace),
        memory_(trace, root.memory()),
        host_(root),
        driver_(driver),
        config_(config),
        queues_(std::size_t{interfaces} * config.tx_queues) {
    root.observe(&memory_);
    driver.on_doorbell = [this](unsigned interface, unsigned queue, std::uint32_t packets) {
      Queue& q = queues_[interface * config_.tx_queues + queue];
      q.told = packets;
      tell(q);
    };
  }

  unsigned sent() const { return sent_; }
  unsigned received() const { return received_; }

  // The frame offered last is in the ring of that queue.
  void put(unsigned interface, unsigned queue, std::size_t bytes) {
    Queue& q = queues_[interface * config_.tx_queues + queue];
    const Driver::TxSlot slot = driver_.newest_tx(interface, queue);
    q.waiting.push({trace_.newest(), static_cast<std::uint32_t>(bytes), slot});
    ++q.made;
    trace_.queue(trace_.newest(), queue);
    if (q.told >= q.made) tell(q);  // its doorbell was rung at once
  }
  // The frame delivered last was taken by the driver.
  void taken(const Received& r) {
    trace_.queue(trace_.newest(), r.queue);
    memory_.claim(trace_.newest(), r.frame.data(), r.frame.size(), kDmaWrite, kCplWrite);
    memory_.claim(trace_.newest(), r.record.data(), r.record.size(), kRecord, kRecord);
  }
  // The device was reset: what was with it is lost.
  void forget() {
    memory_.forget();
    queues_.assign(queues_.size(), Queue());
  }

 private:
  struct Put {
    Trace::Number frame = Trace::kNone;
    std::uint32_t bytes = 0;
    Driver::TxSlot slot{};
  };
  struct Queue {
    Ring<Put> waiting{4};              // for their doorbell
    std::uint32_t made = 0, told = 0;  // packets
  };

  static std::vector<std::string> sent_stages(bool stream) {
    if (stream) return {"driver", "doorbell", "", "", "desc_pages", "tx_cut", "cmac_tx", "wire"};
    return {"driver",   "doorbell",   "desc_fetch", "tx_engine",
            "dma_read", "tx_readout", "cmac_tx",    "wire"};
  }

  void tell(Queue& q) {
    for (; !q.waiting.empty(); q.waiting.pop()) {
      const Put& put = q.waiting.front();
      trace_.mark_first(put.frame, kDoorbell, host_.now());
      if (!config_.tx_stream) {
        const std::size_t descriptors = std::size_t{config_.segments} * queue_pkg::desc_t::kBytes;
        lend(put, put.slot.descriptor, descriptors, kDescFetch);
      }
      lend(put, put.slot.buffer, put.bytes, kDmaRead);
    }
  }
  void lend(const Put& put, std::uint64_t addr, std::size_t bytes, unsigned asked) {
    memory_.lend(put.frame, host_.dma_pointer(addr, bytes), bytes, asked);
  }

  unsigned sent_, received_;
  Trace& trace_;
  MemoryTrace memory_;
  RootComplex& host_;
  Driver& driver_;
  const DriverConfig& config_;
  std::vector<Queue> queues_;
};

}  // namespace emery::host_nic
