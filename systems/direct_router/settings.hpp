// SPDX-License-Identifier: Apache-2.0
// What the parameters of a run make of the lines, of the MACs at them, and of the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "bench/route/station.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "bench/wire/mac.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/scenario.hpp"
#include "systems/direct_router/tables.hpp"
#include "systems/direct_router/updates.hpp"

namespace emery::direct_router {

constexpr double kLineRate = 1e9;

// Traffic is of two classes when a part of it is.
inline bool by_class(const Options& options, const Workload& workload, const Tables& tables) {
  const auto high = options.get<double>("high");
  const bool one_kind = options.has("live") || workload.captures() || tables.own_classes;
  return !one_kind && high > 0 && high < 1;
}

inline HostConfig host_config(const Options& options, const Scenario& scenario,
                              const Machine& machine, const Tables& tables) {
  HostConfig h{};
  h.cards = scenario.cards;
  h.classes = options.get<unsigned>("classes");
  for (unsigned p = 0; p < scenario.cards; ++p) {
    h.own_mac.push_back(0x0200'0000'0100 + p);
    h.next_hop.push_back(0x0200'0000'0200 + p);
  }
  h.fast_path = !scenario.slow;
  h.slow_path = machine.slow_path();
  h.bar_base = machine.bar_base();
  h.bar_bytes = machine.bar_bytes();
  h.qos = options.get<bool>("qos");
  h.rewrite_source = options.get<bool>("rewrite_source");
  h.promiscuous = route::StationOption(options).any;
  h.output_round_robin = options.get<bool>("output_round_robin");
  h.max_frame = options.get<unsigned>("mtu") + kTaggedHeader;
  h.res_min_words = (options.get<unsigned>("res_min") + 7) / 8;
  const auto clocks = [&](const char* setting) {
    return static_cast<std::uint32_t>(
        std::lround(options.get<double>(setting) * machine.bus_mhz()));
  };
  h.timeout_clocks = clocks("timeout_us");
  h.retry_clocks = clocks("retry_us");
  h.table_memory = machine.table(0) != nullptr;
  h.ring = options.get<unsigned>("ring");
  h.tx_prefetch = options.get<unsigned>("tx_prefetch");
  h.tx_batch = options.get<unsigned>("tx_batch");
  h.cpu_per_packet = options.ns("cpu_ns");
  h.control = {tables.addresses,
               h.own_mac,
               h.next_hop,
               options.get<unsigned>("mtu"),
               options.get<double>("icmp_rate"),
               options.get<unsigned>("icmp_burst")};
  return h;
}

// What can be known only when the routes and the workload are.
inline void refuse(const Options& options, const Scenario& scenario, const Machine& machine,
                   bool captures) {
  const bool changes = options.get<double>("updates_per_s") > 0;
  if (scenario.slow && !machine.slow_path())
    throw OptionError("these cards have no slow path: config=A and slow_path need host_path=true");
  if (changes && captures) throw OptionError("updates_per_s: with generated traffic only");
}

// A live run has no routes but those of the kernel that is its control plane.
inline Tables tables(const Options& options, const Scenario& scenario, const Workload& workload) {
  Tables t = Tables::make(options, scenario.cards, workload.captures());
  if (options.has("live")) t.routes.clear();
  return t;
}

inline std::vector<int> kernel_interfaces(const Options& options, unsigned ports) {
  std::vector<int> interfaces;
  for (unsigned p = 0; p < ports; ++p)
    interfaces.push_back(options.get<int>("interface.host" + std::to_string(p)));
  return interfaces;
}

/// How long before a change begins the judge hears of it: at the most 16 frames of the smallest
/// size wait before a lookup of eight levels.
inline Time update_lead(const Options& options) {
  return 10 * kMicrosecond + 16 * 8 * options.ns("fib_latency_ns");
}

inline MacConfig mac_config(const Options& options, unsigned port) {
  MacConfig c;
  c.rate = kLineRate;
  c.clock_hz = 125e6;
  c.read_faults(options);
  c.oversize_bytes = options.get<unsigned>("mtu") + kTaggedHeader + 4 + kFcsBytes;
  c.seed = options.get<std::uint64_t>("seed") + 1000 + port;
  return c;
}

}  // namespace emery::direct_router
