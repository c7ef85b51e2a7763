// SPDX-License-Identifier: Apache-2.0
// The chipset's side of a PCI-X bus: host memory as a target, the CPU's accesses as a master.
//
// Writes to memory are taken at once, at full speed. Reads are answered Split Response; the Split
// Completion goes out `read_latency` after the request (its address phase), as soon as it gets the
// bus, in the order of the requests, as one burst. Any number of reads may be under way, from one
// card or many. Reads of unmapped memory are completed with an error message, writes there are
// counted and lost. The CPU's writes are posted and go out in order; its reads too, one at a time:
// a read is not sent before the one before it is answered. An access that is put off (Retry) is
// tried again.
#pragma once

#include <cstdint>
#include <deque>

#include "bench/pcie/host_memory.hpp"
#include "bench/pcix/agent.hpp"
#include "bench/sim/cpu_port.hpp"
#include "bench/sim/ring.hpp"
#include "bench/stats/json.hpp"

namespace emery {

struct HostBridgeConfig {
  Time read_latency = 750 * kNanosecond;
  PcixId id{0, 31, 0};
};

struct HostBridgeStats {
  std::uint64_t memory_writes = 0, memory_write_bytes = 0;
  std::uint64_t memory_reads = 0, memory_read_bytes = 0;
  std::uint64_t unmapped_writes = 0, unmapped_reads = 0;
  std::uint64_t mmio_writes = 0, mmio_reads = 0, retried = 0, aborted = 0, unexpected = 0;

  void write(JsonWriter& json) const;
};

class HostBridge final : public PcixAgent, public CpuPort {
 public:
  HostBridge(const HostBridgeConfig& config, HostMemory& memory)
      : config_(config), memory_(memory) {}

  void write(std::uint64_t address, std::uint32_t value) override;
  void read(std::uint64_t address, OnRead on_read) override;
  void config_write(unsigned device, unsigned reg, std::uint32_t value) override;
  void config_read(unsigned device, unsigned reg, OnRead on_read) override;
  bool quiet() const override { return requests_.empty() && !waiting_; }
  bool buffers_writes() const override { return false; }
  std::size_t requests() const override { return requests_.size(); }
  const HostBridgeStats& stats() const { return stats_; }

 protected:
  bool wants(Transaction& transaction) override;
  std::uint64_t word(unsigned index) override;
  void finished(Outcome outcome, unsigned words) override;
  bool claims(const PcixTracker& transaction, bool idsel) override;
  PcixResponse answer(const PcixTracker& transaction) override;
  void received(const PcixTracker& transaction, unsigned index, std::uint64_t data,
                std::uint8_t cbe_n) override;

 private:
  struct Request {
    PcixCommand command;
    std::uint64_t address;
    std::uint32_t value;
    OnRead on_read;
  };
  struct Completion {
    Time due;
    std::uint64_t address;
    std::uint32_t bytes, done;
    PcixId requester;
    std::uint8_t tag;
    bool error;
  };

  void answered(std::uint32_t value, bool ok);

  HostBridgeConfig config_;
  HostMemory& memory_;
  std::deque<Request> requests_;
  bool waiting_ = false;  // the front request is a read that was sent
  Ring<Completion> completions_;
  bool sending_completion_ = false, chosen_ = false;
  HostBridgeStats stats_;
};

}  // namespace emery
