// SPDX-License-Identifier: Apache-2.0
// A program beside the capture library that writes to the device's registers: counts of blocks that
// the device has not closed (past_frontier), or whatever it likes (hostile_registers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/pcie/register_list.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "capture.h"
#include "capture_registers.hpp"
#include "systems/capture/card.hpp"
#include "systems/capture/links.hpp"

namespace emery::capture {

class Intruder {
 public:
  Intruder(const Options& options, unsigned rings)
      : past_frontier_(options.get<std::string>("consumer_fault") == "past_frontier"),
        hostile_(options.get<std::string>("consumer_fault") == "hostile_registers"),
        rings_(rings),
        writer_(
            kCaptureRegisters,
            [this](std::string_view name, const std::uint32_t* index) {
              return may_harm(name, index);
            },
            options.get<std::uint64_t>("seed")) {}
  Intruder(const Intruder&) = delete;
  Intruder& operator=(const Intruder&) = delete;

  /// Nothing is captured yet, so settings may change: one that the library leaves as it is.
  void open(emcap* device) {
    if (!hostile_) return;
    emcap_write(device, EMERY_REG(switch_margin), ~0u);
    switch_margin_ = emcap_read(device, EMERY_REG(switch_margin));
  }
  /// Traffic begins. The device must refuse these counts.
  void start(emcap* device) {
    if (!past_frontier_) return;
    for (const std::uint32_t count : {0x10000u, 0x80000000u, 0xffffffffu}) {
      emcap_write(device,
                  static_cast<std::uint32_t>(offsetof(capture_t, ring) +
                                             offsetof(ring_regs__stride20_t, returned)),
                  count);
      ++to_refuse_;
    }
    emcap_read(device, EMERY_REG(magic));
  }
  /// At each clock while there is traffic.
  void clock(Links& links) {
    if (hostile_ && ++clocks_ % kClocks == 0)
      writer_.write(links[clocks_ / kClocks % links.count()].root);
  }

  void check(const emcap_counters& counters, Findings& findings) const {
    if (hostile_ || counters.bad_returns == to_refuse_) return;
    findings.add(std::to_string(counters.bad_returns) + " returned counts refused, not " +
                 std::to_string(to_refuse_));
  }
  /// A field of the object that is open.
  void write(JsonWriter& json) const {
    if (!hostile_) return;
    json.object("hostile");
    writer_.write(json);
    json.field("switch_margin", switch_margin_).end_object();
  }

 private:
  static constexpr unsigned kClocks = 25;  // between two writes

  // Not what turns capture, its links and its generator on and off, nor what rings in use get back.
  bool may_harm(std::string_view name, const std::uint32_t* index) const {
    if (name == "ring.returned") return index[0] >= rings_;
    return !name.ends_with("control") || name.find("filter") != std::string_view::npos;
  }

  bool past_frontier_, hostile_;
  unsigned rings_, clocks_ = 0;
  std::uint32_t to_refuse_ = 0, switch_margin_ = 0;
  HostileWriter writer_;
};

}  // namespace emery::capture
