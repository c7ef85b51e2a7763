// SPDX-License-Identifier: Apache-2.0
// A driver of one card that means ill: while there is traffic it writes whatever it likes to any of
// its registers, those of the NIC beside it too. No other card may notice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/pcie/register_list.hpp"
#include "bench/sim/cpu_port.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/json.hpp"
#include "direct_formats.hpp"
#include "direct_router.h"
#include "direct_router_registers.hpp"
#include "host_nic.h"
#include "host_nic_registers.hpp"

namespace emery::direct_router {

class HostileCard {
 public:
  /// `nic`: a NIC is beside the card.
  HostileCard(const Options& options, bool nic)
      : card_(
            kDirectRouterRegisters, [](auto, auto) { return true; },
            options.get<std::uint64_t>("seed")),
        nic_(kHostNicRegisters, in_card, options.get<std::uint64_t>("seed") + 1),
        has_nic_(nic) {}

  /// Once each clock of traffic; the card's BAR 0 is at `base`.
  void clock(CpuPort& cpu, std::uint64_t base) {
    if (++clocks_ % kClocks != 0 || cpu.requests() > kMostAccesses) return;
    const bool nic = has_nic_ && clocks_ / kClocks % 2 == 0;
    const auto now = nic ? nic_.next() : card_.next();
    if (now) cpu.write(base + (nic ? direct_pkg::HostBase : 0) + now->offset, now->value);
  }

  /// Fields of the object that is open.
  void write(JsonWriter& json) const {
    card_.write(json);
    if (!has_nic_) return;
    json.object("nic");
    nic_.write(json);
    json.end_object();
  }

 private:
  static constexpr unsigned kClocks = 60;  // between two writes
  static constexpr std::size_t kMostAccesses = 8;

  // Its NIC has one interface; what lies behind it is the next card's.
  static bool in_card(std::string_view name, const std::uint32_t* index) {
    return !name.starts_with("interface") || index[0] == 0;
  }

  HostileWriter card_, nic_;
  bool has_nic_;
  unsigned clocks_ = 0;
};

}  // namespace emery::direct_router
