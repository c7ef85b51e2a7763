// SPDX-License-Identifier: Apache-2.0
// What the parameters of a run make of the slot, of the card in it, and of its driver.
#pragma once

#include <cstdint>

#include "bench/run/pcie_host.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr Time kCoreClock = 4 * kNanosecond;

PcieSettings slot(const Options& options);
FunctionConfig function(const Options& options);
DriverConfig driver_config(const Options& options, const Workload& workload);
unsigned port_gbps(const Options& options);
/// The longest that an interrupt is held back: a run waits so much longer for what may come.
Time interrupt_hold(const Options& options);
double line_rate(const Options& options);  // bits a second
Workload::Line line(const Options& options);

}  // namespace emery::host_nic
