// SPDX-License-Identifier: Apache-2.0
// The CPU above a PCIe switch: configuration and register accesses of all endpoints below, as
// CpuPort.
//
// One access after the other; a read or a configuration access waits for its completion before the
// next goes out, for `timeout` at the most. A write to BAR 0 also sets the window of the device's
// port, as enumeration would set the bridge above it. Memory is there with a root complex besides
// (`add_memory`), which takes what comes from below; else requests from there are dropped and
// counted.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "bench/pcie/pcie_switch.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/cpu_port.hpp"

namespace emery {

struct SwitchCpuStats {
  std::uint64_t writes = 0, reads = 0, configs = 0, failed = 0, unexpected = 0;

  template <class Json>
  void write(Json& json) const {
    json.begin_object()
        .field("mmio_writes", writes)
        .field("mmio_reads", reads)
        .field("config_accesses", configs)
        .field("failed", failed)
        .field("unexpected", unexpected)
        .end_object();
  }
};

class SwitchCpu final : public Component, public CpuPort {
 public:
  static constexpr Time kTimeout = 1000 * kMicrosecond;

  /// `link`: between the CPU and the switch; every device has a BAR 0 of `bar_bytes`.
  SwitchCpu(PcieLink& link, PcieSwitch& fabric, std::uint64_t bar_bytes)
      : link_(link), fabric_(fabric), bar_bytes_(bar_bytes) {
    fabric_.set_bus(fabric_.add_root(link), 0);
  }

  /// The next device (they count from 0) is at this link.
  void add_device(PcieLink& link) {
    const int port = fabric_.add_endpoint(link);
    fabric_.set_bus(port, bus(static_cast<unsigned>(port_.size())));
    port_.push_back(port);
  }
  /// The root complex at the upper end of the link, with the first device's bus and as many as
  /// there will be.
  void add_memory(RootComplex& root) {
    has_memory_ = true;
    root.on_completion([this](const Tlp& tlp) { complete(tlp); });
  }
  static constexpr std::uint8_t kFirstBus = 2;  // behind the root's bus 0 and the switch's own
  int port(unsigned device) const { return port_.at(device); }

  void write(std::uint64_t address, std::uint32_t value) override {
    push(make_memory(true, address, 4, 0, 0), value, {}, false);
    ++stats_.writes;
  }
  void read(std::uint64_t address, OnRead on_read) override {
    push(make_memory(false, address, 4, 0, 0), 0, std::move(on_read), true);
    ++stats_.reads;
  }
  void config_write(unsigned device, unsigned reg, std::uint32_t value) override {
    if (reg == kBar0 && value != ~0u)
      fabric_.set_window(port(device), value & ~std::uint32_t{0xf}, bar_bytes_);
    config(true, device, reg, value, {});
  }
  void config_read(unsigned device, unsigned reg, OnRead on_read) override {
    config(false, device, reg, 0, std::move(on_read));
  }
  bool quiet() const override { return requests_.empty(); }
  bool buffers_writes() const override { return true; }
  std::size_t requests() const override { return requests_.size(); }

  const SwitchCpuStats& stats() const { return stats_; }

  void sample(Time now) override {
    const Tlp* tlp;
    while (!has_memory_ && (tlp = link_.up.front(now)) != nullptr) {
      link_.up.release(tlp->fc_class(), tlp->data_credits(), now);
      complete(*tlp);
      link_.up.pop();
    }
    if (waiting_ && now >= deadline_) finish(~0u, false);
    while (!waiting_ && !requests_.empty() && link_.down.idle(now)) {
      Request& r = requests_.front();
      if (!link_.down.has_credit(r.tlp.fc_class(), r.tlp.data_credits())) return;
      std::uint8_t data[4];
      std::memcpy(data, &r.value, 4);
      r.tlp.payload = data;
      tag_ = (tag_ + 1) % 256;
      r.tlp.dw[1] |= tag_ << 8;
      link_.down.send(r.tlp, now);
      waiting_ = r.answered;
      deadline_ = now + kTimeout;
      if (!waiting_) requests_.pop_front();
    }
  }
  void drive() override {}

 private:
  static constexpr unsigned kBar0 = 0x10;

  struct Request {
    Tlp tlp;
    std::uint32_t value;
    OnRead on_read;
    bool answered;
  };

  static int bus(unsigned device) { return kFirstBus + static_cast<int>(device); }

  // What comes from below and is not for memory.
  void complete(const Tlp& tlp) {
    const bool ours = waiting_ && tlp.is_completion() && tlp.cpl_tag() == tag_;
    if (!ours) {
      ++stats_.unexpected;
      return;
    }
    std::uint32_t value = ~0u;
    const bool good = tlp.status() == kStatusSC;
    if (good && tlp.bytes >= 4) std::memcpy(&value, tlp.payload, 4);
    finish(value, good);
  }
  void push(const Tlp& tlp, std::uint32_t value, OnRead on_read, bool answered) {
    requests_.push_back({tlp, value, std::move(on_read), answered});
  }
  void config(bool is_write, unsigned device, unsigned reg, std::uint32_t value, OnRead on_read) {
    const auto target = static_cast<std::uint16_t>(bus(device) << 8);
    push(make_config(is_write, target, static_cast<std::uint16_t>(reg), 0xf, 0, 0), value,
         std::move(on_read), true);
    ++stats_.configs;
  }
  void finish(std::uint32_t value, bool ok) {
    const OnRead on_read = std::move(requests_.front().on_read);
    requests_.pop_front();
    waiting_ = false;
    stats_.failed += !ok;
    if (on_read) on_read(value, ok);
  }

  PcieLink& link_;
  PcieSwitch& fabric_;
  std::uint64_t bar_bytes_;
  std::vector<int> port_;
  std::deque<Request> requests_;
  bool has_memory_ = false;
  bool waiting_ = false;  // the front request was sent and is to be answered
  std::uint32_t tag_ = 0;
  Time deadline_ = 0;
  SwitchCpuStats stats_;
};

}  // namespace emery
