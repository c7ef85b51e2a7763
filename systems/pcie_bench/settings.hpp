// SPDX-License-Identifier: Apache-2.0
// What the parameters of a run make of the function, of its engine, of transfers and the places
// they are at.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

#include "bench/run/pcie_host.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "ids_formats.hpp"
#include "pcie_bench.h"
#include "probe_formats.hpp"

namespace emery::pcie_bench {

using probe_pkg::ProbeBeatBytes;

// Places of a window in the order in which transfers come to them.
struct Window {
  std::uint32_t bytes, step, place;  // bytes of the window, from one to the next, of one place
  std::uint64_t base = 0;

  std::uint32_t places() const { return bytes / place; }
  std::uint64_t at(std::uint64_t n) const { return base + n * step % bytes; }
};

inline Window window(const Options& options, std::uint32_t size) {
  Window w{};
  w.place = (size + ProbeBeatBytes - 1) / ProbeBeatBytes * ProbeBeatBytes;
  const std::uint32_t places = (options.get<std::uint32_t>("window_kb") << 10) / w.place;
  w.bytes = places * w.place;
  std::uint32_t stride = 1;
  if (options.get<std::string>("pattern") == "scattered") {
    stride = static_cast<std::uint32_t>(places * 0.618);
    while (std::gcd(stride, places) != 1) ++stride;
  }
  w.step = stride * w.place;
  return w;
}

// What the device's engine is said to cost, as its registers have it.
struct Engine {
  static constexpr double kClockNs = 4;
  static constexpr std::uint32_t kCount = 16;  // the device counts sixteenths of a clock
  std::uint32_t delay, beat, piece, setup, write;

  explicit Engine(const Options& options)
      : delay(counts(options, "engine_delay_ns") / kCount),
        beat(std::max(counts(options, "engine_beat_ns"), kCount)),  // a beat a clock
        piece(counts(options, "engine_piece_ns")),
        setup(counts(options, "engine_setup_ns")),
        write(counts(options, "engine_write_ns")) {}

 private:
  static std::uint32_t counts(const Options& options, const std::string& name) {
    return static_cast<std::uint32_t>(std::lround(options.get<double>(name) / kClockNs * kCount));
  }
};

// Of the longest frame there is.
inline std::uint32_t transfer_size(const Workload& workload) {
  std::uint32_t longest = workload.captures() ? kMinFrame : workload.common().longest();
  for (unsigned port = 0; port < workload.ports(); ++port) {
    const auto plan = workload.port(port);
    if (!plan || !plan->capture) continue;
    for (const auto& packet : plan->capture->packets()) longest = std::max(longest, packet.size);
  }
  return longest + kFcsBytes;
}

inline FunctionConfig function() {
  FunctionConfig f;
  f.vendor = ids_pkg::IdVendor;
  f.device = ids_pkg::IdPcieBench;
  f.class_code = ids_pkg::ClassOther;
  f.bar0_bytes = std::max<std::uint64_t>(4096, std::bit_ceil(sizeof(pcie_bench_t)));
  f.msix_vectors = 0;
  return f;
}

}  // namespace emery::pcie_bench
