// SPDX-License-Identifier: Apache-2.0
// What the parameters of a run make of the slot, the driver and the MAC.
#pragma once

#include <bit>
#include <cstddef>
#include <string>

#include "bench/run/pcie_host.hpp"
#include "bench/sim/options.hpp"
#include "bench/wire/mac_end.hpp"
#include "core_nic.h"
#include "ids_formats.hpp"
#include "systems/core_nic/driver.hpp"
#include "systems/core_nic/measurement.hpp"

namespace emery::core_nic {

constexpr double kLineRate = 10e9;
constexpr unsigned kHostMhz = 125;

inline FunctionConfig function() {
  FunctionConfig f;
  f.vendor = ids_pkg::IdVendor;
  f.device = ids_pkg::IdCoreNic;
  f.class_code = ids_pkg::ClassEthernet;
  f.bar0_bytes = std::bit_ceil(sizeof(core_nic_t));
  f.msix_vectors = 1;
  f.function_reset = true;
  f.msix_table = offsetof(core_nic_t, msix.entry);
  f.msix_pba = offsetof(core_nic_t, msix.pending);
  return f;
}

inline PcieSettings slot(const Options& options) {
  PcieSettings s(options);
  if (options.get<std::string>("interconnect") != "ideal") return s;
  s.link.gen = 5;
  s.link.lanes = 16;
  s.link.latency = 20 * kNanosecond;
  s.root.ingress = s.root.memory_latency = s.root.jitter = s.root.tail = s.root.wake = 0;
  s.root.write_time = 0;
  s.root.reorder = false;
  return s;
}

inline DriverConfig driver_config(const Options& options) {
  DriverConfig c{};
  c.cores = options.get<unsigned>("cores");
  c.send_ring = options.get<unsigned>("send_ring");
  c.receive_ring = options.get<unsigned>("receive_ring");
  c.segments = options.get<unsigned>("segments");
  c.payload_offset = options.get<unsigned>("payload_offset");
  c.receive_slots = options.get<unsigned>("receive_slots");
  c.watchdog_clocks = static_cast<unsigned>(options.get<std::uint64_t>("watchdog_us") *
                                            Clocks(options).core_thirds / 3);
  c.drop_udp_port = options.get<unsigned>("drop_udp_port");
  c.queues = options.get<unsigned>("receive_queues");
  c.cpu_per_frame = options.ns("cpu_ns_per_frame");
  c.dma_timeout_clocks = options.get<unsigned>("dma_timeout_us") * kHostMhz;
  c.dma_overtaken_clocks = options.get<unsigned>("dma_overtaken_us") * kHostMhz;
  return c;
}

inline MacConfig mac_config(const Options& options) {
  MacConfig c;
  c.rate = kLineRate;
  c.clock_hz = 156'250'000;
  c.oversize_bytes = 1600;
  c.seed = options.get<std::uint64_t>("seed") + 1000;
  c.read_faults(options);
  return c;
}

}  // namespace emery::core_nic
