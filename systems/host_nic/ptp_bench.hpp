// SPDX-License-Identifier: Apache-2.0
// Two host-nics with crystals of their own at the ports of a boundary clock (a model): the second
// one's clock follows the switch's, which follows the first one's. How far apart the two are is
// seen as on an oscilloscope: at the edges that each puts out by its own clock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "Vhost_nic.h"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "systems/host_nic/boundary_clock.hpp"
#include "systems/host_nic/ptp_card.hpp"

namespace emery::host_nic {

class PtpBench final : public Run {
 public:
  explicit PtpBench(const Options& options);

 private:
  void add_card(unsigned number, const Options& options, DriverConfig driver, int line_clock);
  void feed(unsigned from, Time now);
  void rose(unsigned number, Time now);
  void open() override;
  bool offered() override;
  void account() override;
  double progress() const override;
  bool at_rest() const override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;
  void write_offset(JsonWriter& json) const;

  PtpSettings settings_;
  VerilatedModel<Vhost_nic> models_;
  Workload workload_;
  Oscillator switch_crystal_;
  std::vector<std::unique_ptr<PtpCard>> card_;
  std::unique_ptr<BoundaryClock> switch_;
  std::array<int, 2> stream_{-1, -1};             // what a card sends
  std::array<Source*, 2> source_{};               // null: nothing
  std::array<Output*, 2> output_{};               // what it receives
  std::array<std::deque<Time>, 2> rises_;         // not matched yet
  std::map<std::int64_t, std::uint64_t> offset_;  // ns, how often
  std::int64_t sum_ps_ = 0, least_ps_ = 0, most_ps_ = 0;
  std::uint64_t edges_ = 0;
  unsigned clear_;  // clocks in which the device clears its queues
};

}  // namespace emery::host_nic
