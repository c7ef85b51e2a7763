// SPDX-License-Identifier: Apache-2.0
// To whom frames are put down that were dropped and may have been of several streams.
#include "bench/run/crossings.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bench/stats/check.hpp"

namespace {

using namespace emery;

struct Ways {
  Scoreboard score;
  Crossings crossings{score, 3};
  Findings findings;
  std::uint32_t frames = 0;

  int offer(unsigned in, unsigned out, unsigned count) {
    const int s = crossings.stream(in, out);
    for (; count != 0; --count) {
      std::vector<std::uint8_t> bytes(60);
      std::memcpy(bytes.data(), &++frames, sizeof frames);
      score.offered(s, bytes, 0, frames * kNanosecond);
    }
    return s;
  }
  void drop(const std::vector<int>& streams, const std::string& reason, std::uint64_t count) {
    crossings.dropped(streams, reason, count, findings);
  }
  std::uint64_t dropped(int stream, const std::string& reason) const {
    const auto& all = score.counts(stream).dropped;
    const auto found = all.find(reason);
    return found == all.end() ? 0 : found->second;
  }
};

/// What an input has dropped fits one of its streams only, which an output's has taken first.
void test_makes_room(Checks& check) {
  Ways w;
  const int a = w.offer(0, 1, 5), b = w.offer(2, 1, 2), c = w.offer(2, 0, 1);
  w.drop({a, b}, "at_output", 2);  // 2 of a
  w.drop({c, b}, "at_input", 1);   // that of c
  w.drop({a}, "too_long", 5);      // so the output's were of b
  check.equal(w.crossings.missing(a) + w.crossings.missing(b) + w.crossings.missing(c), 0u,
              "all are known");
  check.that(w.score.counts(a).dropped.empty(), "nothing is counted before the end");
  w.crossings.settle();
  check.equal(w.dropped(a, "too_long"), 5u, "those that can be nobody else's");
  check.equal(w.dropped(b, "at_output"), 2u, "moved");
  check.equal(w.dropped(c, "at_input"), 1u, "as it was");
  check.that(w.score.passed() && w.findings.lines().empty(), "it adds up");
}

/// Two steps: one makes room for the next, which makes room for the last.
void test_makes_room_through_others(Checks& check) {
  Ways w;
  const int a = w.offer(0, 0, 1), b = w.offer(0, 1, 1), c = w.offer(0, 2, 1);
  w.drop({a, b}, "first", 1);
  w.drop({b, c}, "second", 1);
  w.drop({a}, "third", 1);
  w.crossings.settle();
  check.that(
      w.dropped(a, "third") == 1 && w.dropped(b, "first") == 1 && w.dropped(c, "second") == 1,
      "each has one");
  check.that(w.score.passed(), "it adds up");
}

/// More than there were: it is said, and nothing is hidden by moving it about.
void test_too_many(Checks& check) {
  Ways w;
  const int a = w.offer(0, 0, 1), b = w.offer(1, 0, 1);
  w.drop({a, b}, "first", 1);
  w.drop({b, a}, "second", 2);
  w.drop({}, "third", 4);
  w.crossings.settle();
  check.equal(w.score.failures().size(), 1u, "one stream has a frame too many");
  check.equal(w.findings.lines().size(), 1u, "and four are nobody's");
}

}  // namespace

int main() {
  Checks check;
  test_makes_room(check);
  test_makes_room_through_others(check);
  test_too_many(check);
  return check.finish();
}
