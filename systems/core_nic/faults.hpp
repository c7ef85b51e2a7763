// SPDX-License-Identifier: Apache-2.0
// What is to go wrong in a run: reads that fail, a driver that breaks the rules.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/pcie/host_fault.hpp"
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
      : plan_(options, Time{driver.dma_timeout_clocks} * 8 * kNanosecond),
        hostile_(kCoreNicRegisters, may_harm, options.get<std::uint64_t>("seed")) {}

  /// A frame is in the send ring, of which the device was not told.
  void transmitted(Driver& driver, RootComplex& root) {
    if (plan_.of_receive() || !plan_.strikes() || plan_.is("hostile_registers")) return;
    if (plan_.is("null_address")) return driver.spoil_newest(0);
    if (plan_.is("wild_address")) return driver.spoil_newest(kNowhere);
    const auto& sent = driver.newest();
    root.inject(plan_.read(plan_.is("lost_descriptor") ? sent.last : sent.payload, 1));
  }
  /// A frame has come, whose buffer was not given back.
  void received(Driver& driver, RootComplex& root) {
    if (!plan_.of_receive() || !plan_.strikes()) return;
    root.inject(plan_.read(driver.next_receive_descriptor(), 1));
  }
  /// Once each clock of traffic.
  void clock(RootComplex& root) {
    if (plan_.struck() && plan_.is("hostile_registers") && clocks_++ % kHostileClocks == 0)
      hostile_.write(root);
  }

  /// How long nothing may move because of it.
  Time pause() const { return plan_.pause(); }
  /// The device is made to read what is not there.
  bool reads_wild() const { return plan_.is("null_address") || plan_.is("wild_address"); }
  void write(JsonWriter& json) const {
    json.begin_object();
    plan_.write(json);
    if (plan_.is("hostile_registers")) hostile_.write(json);
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

  HostFault plan_;
  HostileWriter hostile_;
  unsigned clocks_ = 0;
};

}  // namespace emery::core_nic
