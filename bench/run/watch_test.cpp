// SPDX-License-Identifier: Apache-2.0
// When a run that is watched says how it goes.
#include "bench/run/watch.hpp"

#include <chrono>
#include <thread>

#include "bench/stats/check.hpp"

namespace {

using namespace emery;
using namespace std::chrono_literals;

/// Time for which a line waits, for whoever reads it or for the processor, is no cost of it: the
/// next one is not put off by fifty times as much.
void test_a_line_that_waits(Checks& check) {
  Scoreboard score;
  Trace trace("", score);
  Watch watch(score, trace);
  int lines = 0;
  const auto look = [&](const char* phase) {
    watch.look(kMicrosecond, 0.5, phase, [&](JsonWriter&) {
      ++lines;
      std::this_thread::sleep_for(200ms);
    });
  };
  look("offer");
  check.that(lines == 1, "the first is due at once");
  std::this_thread::sleep_for(2s);
  look("offer");
  check.that(lines == 2, "and the next, though the first took 200 ms");
  look("drain");
  check.that(lines == 3, "a new phase is said at once");
}

}  // namespace

int main() {
  emery::Checks check;
  test_a_line_that_waits(check);
  return check.finish();
}
