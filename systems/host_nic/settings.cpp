// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/settings.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "host_nic.h"
#include "ids_formats.hpp"

namespace emery::host_nic {

namespace {

bool wide_tags(const Options& options) { return options.get<unsigned>("tags") > 256; }

// 0 leaves it to the number of queues: so many slots for all, within bounds.
unsigned ring_slots(unsigned wanted, unsigned queues, bool stream = false) {
  if (wanted) return wanted;
  if (stream) return std::clamp(std::bit_floor((1u << 21) / queues), 2048u, 32768u);
  return std::clamp(std::bit_floor(65536 / queues), 16u, 1024u);
}

}  // namespace

Time interrupt_hold(const Options& options) {
  return options.get<unsigned>("interrupt_us") * kMicrosecond;
}

PcieSettings slot(const Options& options) {
  PcieSettings s(options);
  s.root.wide_tags = wide_tags(options);
  return s;
}

FunctionConfig function(const Options& options) {
  FunctionConfig f;
  f.vendor = ids_pkg::IdVendor;
  f.device = ids_pkg::IdHostNic;
  f.class_code = ids_pkg::ClassEthernet;
  f.function_reset = true;
  f.wide_tags = wide_tags(options);
  f.bar0_bytes = std::bit_ceil(sizeof(host_nic_t));
  f.msix_table = offsetof(host_nic_t, msix.entry);
  f.msix_pba = offsetof(host_nic_t, msix.pending);
  return f;
}

DriverConfig driver_config(const Options& options, const Workload& workload) {
  DriverConfig c{};
  // Connections of TCP are flows each way.
  const bool tcp = options.get("traffic", "frames") == "tcp";
  const unsigned ways = tcp && options.get<std::string>("direction") == "both" ? 2 : 1,
                 flows = ways * workload.common().flows;
  const auto ports = options.get<unsigned>("ports");
  // A capture is replayed in its order: one queue a port.
  c.tx_queues = std::min(options.get<unsigned>("tx_queues"), workload.captures() ? ports : flows);
  // Ports share them evenly.
  c.rx_queues = std::min(options.get<unsigned>("rx_queues"),
                         (std::max(128u, flows) + ports - 1) / ports * ports);
  c.shared = options.get<bool>("shared_queues");
  c.tx_ring = ring_slots(options.get<unsigned>("tx_ring"), c.tx_queues);
  c.tx_stream = options.get<std::string>("tx_mode") == "stream";
  // Granules: 4 MB for all, 8 kB, in which the longest frame has room, to 512 kB each.
  if (c.tx_stream) c.tx_ring = std::clamp(std::bit_floor((1u << 18) / c.tx_queues), 512u, 32768u);
  // Packets of 64 kB have buffers of their own: 64 MB for all.
  const unsigned tso_bytes = std::min(options.get<unsigned>("tso_kb") * 1024, 65535u);
  c.tso_bytes = options.get<bool>("tso") ? tso_bytes : 0;
  if (c.tso_bytes != 0 && options.get<unsigned>("tx_ring") == 0)
    c.tx_ring = std::clamp(std::bit_floor(1024 / c.tx_queues), 8u, 1024u);
  c.rx_stream = options.get<std::string>("rx_mode") == "stream";
  const auto header_bytes = options.get<unsigned>("header_bytes");
  c.header_bytes = options.get<bool>("header_split") ? header_bytes : 0;
  c.rx_ring = ring_slots(options.get<unsigned>("rx_ring"), c.rx_queues, c.rx_stream);
  const auto coalesce_bytes = options.get<unsigned>("coalesce_bytes"),
             coalesce_us = options.get<unsigned>("coalesce_us");
  if (options.get<bool>("receive_coalescing")) {
    c.coalesce_bytes = coalesce_bytes;
    c.coalesce_clocks = coalesce_us * (kCoreHz / 1'000'000);
    // Buffers are as large: 128 MB for all at the most.
    if (options.get<unsigned>("rx_ring") == 0) c.rx_ring = ring_slots(0, 8 * c.rx_queues);
  }
  c.max_frame = options.get<unsigned>("mtu") + kTaggedHeader;
  c.segments = options.get<unsigned>("segments");
  c.tx_burst = options.get<unsigned>("burst");
  c.tx_checksum = options.get<bool>("tx_checksum");
  c.vlan_tags = options.get<bool>("vlan_tags");
  const auto push = options.get<std::string>("tx_push");
  c.tx_push = push == "frame"        ? EMNIC_PUSH_FRAME
              : push == "descriptor" ? EMNIC_PUSH_DESCRIPTOR
                                     : EMNIC_PUSH_NONE;
  c.counted_queues = options.get<unsigned>("counted_queues");
  c.recover = options.get<bool>("recover");
  c.interrupts = options.get<bool>("interrupts");
  c.interrupt_interval_clocks = static_cast<unsigned>(interrupt_hold(options) / kCoreClock);
  c.cpl_delay_clocks = static_cast<unsigned>(options.ns("record_ns") / kCoreClock);
  if (const auto every = options.get<unsigned>("doorbell"))
    c.doorbell_batch = c.refill_batch = every;
  c.cpus = options.get<unsigned>("cpus");
  c.cpu_per_packet = options.ns("cpu_ns_per_packet");
  c.dma_timeout_clocks = options.get<unsigned>("dma_timeout_us") * (kCoreHz / 1'000'000);
  c.dma_overtaken_clocks = options.get<unsigned>("dma_overtaken_us") * (kCoreHz / 1'000'000);
  c.scheduling = Scheduling(options);
  return c;
}

unsigned port_gbps(const Options& options) { return options.get<unsigned>("port_gbps"); }

double line_rate(const Options& options) {
  return 1e9 * std::min(options.get<unsigned>("line_gbps"), port_gbps(options));
}

Workload::Line line(const Options& options) {
  return Workload::Line::of_mtu(options, line_rate(options));
}

}  // namespace emery::host_nic
