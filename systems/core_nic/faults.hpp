// SPDX-License-Identifier: Apache-2.0
// What is to go wrong in a run: reads that fail, a driver that breaks the rules. It strikes once,
// at the frame numbered `fault_frame`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/pcie/read_fault.hpp"
#include "bench/pcie/register_list.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/json.hpp"
#include "core_nic_registers.hpp"
#include "systems/core_nic/driver.hpp"

namespace emery::core_nic {

class Faults {
 public:
  Faults(const Options& options, const DriverConfig& driver)
      : name_(options.get<std::string>("fault")),
        frame_(options.get<std::uint64_t>("fault_frame")),
        timeout_(Time{driver.dma_timeout_clocks} * 8 * kNanosecond),
        hostile_(kCoreNicRegisters, may_harm, options.get<std::uint64_t>("seed")) {}

  /// A frame is in the send ring, of which the device was not told.
  void transmitted(Driver& driver, RootComplex& root) {
    if (name_ == "none" || name_ == "lost_rx_descriptor" || ++count_ != frame_) return;
    struck_ = true;
    if (name_ == "hostile_registers") return;
    if (name_ == "null_address") return driver.spoil_newest(0);
    if (name_ == "wild_address") return driver.spoil_newest(kNowhere);
    ReadFault fault = read_fault(name_, pause());
    fault.addr = name_ == "lost_descriptor" ? driver.newest().last : driver.newest().payload;
    fault.bytes = 1;
    root.inject(fault);
  }
  /// A frame has come, whose buffer was not given back.
  void received(Driver& driver, RootComplex& root) {
    if (name_ != "lost_rx_descriptor" || ++count_ != frame_) return;
    struck_ = true;
    ReadFault fault;
    fault.addr = driver.next_receive_descriptor();
    fault.bytes = 1;
    root.inject(fault);
  }
  /// Once each clock of traffic.
  void clock(RootComplex& root) {
    if (struck_ && name_ == "hostile_registers" && clocks_++ % kHostileClocks == 0)
      hostile_.write(root);
  }

  /// How long nothing may move because of it.
  Time pause() const { return fault_pause(name_, timeout_); }
  /// The device is made to read what is not there.
  bool reads_wild() const { return name_ == "null_address" || name_ == "wild_address"; }
  void write(JsonWriter& json) const {
    json.begin_object().field("kind", name_).field("struck", struck_);
    if (struck_) json.field("frame", frame_);
    if (name_ == "hostile_registers") hostile_.write(json);
    json.end_object();
  }

 private:
  static constexpr unsigned kHostileClocks = 60;  // between two writes

  // Not what starts and stops the cores, nor what tells the firmware of descriptors, nor the vector
  // that is in use: they are this driver's own.
  static bool may_harm(std::string_view name, const std::uint32_t*) {
    return !name.ends_with(".control") && !name.ends_with("_producer") &&
           !name.starts_with("msix.");
  }

  std::string name_;
  std::uint64_t frame_, count_ = 0;
  Time timeout_;
  HostileWriter hostile_;
  unsigned clocks_ = 0;
  bool struck_ = false;
};

}  // namespace emery::core_nic
