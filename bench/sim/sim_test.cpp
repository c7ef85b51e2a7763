// SPDX-License-Identifier: Apache-2.0
// Test of simulated time and of the option reader.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/oscillator.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/check.hpp"

namespace emery::test {
namespace {

Checks checks;

void test_clocks() {
  Simulation simulation;
  const int a = simulation.add_clock("core", 250'000'000),
            b = simulation.add_clock("mac", 322'265'625);
  std::vector<Time> mac;
  int both = 0;
  simulation.set_model([&](std::uint32_t rising) {
    if (rising & 2) mac.push_back(simulation.now());
    both += rising == 3;
  });
  std::vector<int> order;
  simulation.at(10'000, [&](Time) { order.push_back(1); });
  simulation.at(9'999, [&](Time) { order.push_back(0); });
  simulation.at(10'000, [&](Time) { order.push_back(2); });
  simulation.run_until(100 * kMicrosecond);
  checks.that(simulation.cycles(a) == 25'000, "250 MHz clocks in 100 us");
  checks.that(simulation.cycles(b) == 32'226, "322.265625 MHz clocks in 100 us");
  bool exact = true;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    exact &= mac[i] == std::llround(static_cast<double>(i + 1) * 1e12 / 322'265'625.0);
  }
  checks.that(exact, "edges at rounded multiples of the period");
  // 250 : 322.265625 = 128 : 165.
  checks.that(both == 25'000 / 128, "coinciding edges are one evaluation: " + std::to_string(both));
  checks.that((order == std::vector<int>{0, 1, 2}), "callbacks in order of time, then of call");
}

// A clock that is retuned runs on from where it is; a crystal's clock is where the sum of its
// periods is, and wanders alike from the same seed.
void test_crystals() {
  const auto run = [](std::int64_t ppb, std::uint64_t wander, Time time) {
    Simulation simulation;
    Oscillator crystal(ppb, wander, 5);
    const int clock =
        simulation.add_clock("core", crystal.scaled(250'000'000), Oscillator::kBillion);
    crystal.follows(clock, 250'000'000);
    crystal.start(simulation);
    simulation.run_until(time);
    return std::pair(simulation.cycles(clock), crystal.ppb());
  };
  const Time time = 4'000 * kMicrosecond;
  checks.that(run(100'000, 0, time) == std::pair(std::uint64_t{1'000'100}, std::int64_t{100'000}),
              "a crystal 100 ppm fast");
  checks.that(run(-50'000, 0, time).first == 999'950, "a crystal 50 ppm slow");
  const auto once = run(1'000, 500, time);
  checks.that(once == run(1'000, 500, time) && once.second != 1'000, "a crystal that wanders");
  Simulation simulation;
  const int clock = simulation.add_clock("core", 250'000'000);
  simulation.run_until(10 * kMicrosecond);
  simulation.retune(clock, 125'000'000);
  simulation.run_until(20 * kMicrosecond);
  checks.that(
      simulation.cycles(clock) >= 2'500 + 1'250 && simulation.cycles(clock) <= 2'500 + 1'251,
      "a clock at half its frequency: " + std::to_string(simulation.cycles(clock)));
}

void test_options() {
  Options options;
  options.parse("wait_us=1.5");
  options.parse("size = 64k");
  options.parse("flag=on");
  checks.that(options.fine_us("wait_us") == 1'500'000, "time option");
  checks.that(options.get<int>("size") == 65536, "integer option");
  checks.that(options.get<bool>("flag"), "truth value option");
  checks.that(options.get("rate", 2.5) == 2.5, "a setting that may be left out");
  options.check_all_used();
  checks.throws([&] { options.get<int>("frames"); }, {"frames", "no value"}, "no value");
  options.parse("tpyo=1");
  checks.throws([&] { options.check_all_used(); }, {"tpyo"}, "unknown option");
  options.parse("size=64q");
  checks.throws([&] { options.get<int>("size"); }, {"size", "64q"}, "bad integer");
}

void test_ring() {
  Ring<int> ring(4);
  Random random(5);
  std::vector<int> want;
  for (int i = 0; i < 1000; ++i) {
    const int value = i + static_cast<int>(random.below(20));
    ring.insert_sorted(value, [](int a, int b) { return a > b; });
    want.insert(std::upper_bound(want.begin(), want.end(), value), value);
  }
  bool same = ring.size() == want.size();
  for (const int value : want) {
    same = same && ring.front() == value;
    ring.pop();
  }
  checks.that(same && ring.empty(), "sorted insertion");
}

}  // namespace
}  // namespace emery::test

int main() {
  using namespace emery::test;
  test_clocks();
  test_crystals();
  test_options();
  test_ring();
  return checks.finish();
}
