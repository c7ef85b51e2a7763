// SPDX-License-Identifier: Apache-2.0
// Which stream a frame counts for that arrives, or was dropped, or may have been of several.
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

/// What a port was to drop, by reason; one more is told, and fewer are the scoreboard's to find.
void test_drops_of_a_port(Checks& check) {
  Ways w;
  const int drop = w.crossings.expect_drop(1, "ttl");
  w.crossings.expect(1, "ttl", 2);
  w.crossings.expect(1, "checksum", 1);
  check.that(drop == w.crossings.drop_stream(1) && drop == w.crossings.expect_drop(1, "version"),
             "one stream a port");
  check.equal(w.crossings.drop_stream(0), -1, "none where none is to be dropped");
  check.equal(w.crossings.expected(1).at("ttl"), 3u, "1 and 2 more");
  check.equal(w.crossings.expected(1).at("checksum"), 1u, "each reason by itself");
  check.that(w.crossings.expected(0).empty(), "each port by itself");

  w.crossings.dropped(0, "ttl", 0, w.findings);
  check.equal(w.crossings.drop_stream(0), -1, "of none there is no stream");
  w.crossings.dropped(1, "ttl", 3, w.findings);
  check.that(w.findings.lines().empty(), "as many as were to be");
  check.equal(w.dropped(drop, "ttl"), 3u, "counted");
  w.crossings.dropped(1, "checksum", 2, w.findings);
  check.equal(w.findings.lines().size(), 1u, "one too many");
  check.equal(w.findings.lines().front(),
              std::string{"port 1: 2 frames dropped (checksum), 1 expected"}, "is told of");
}

/// Each stream is made once, the first of all as well.
void test_made_once(Checks& check) {
  for (int which = 0; which < 4; ++which) {
    Scoreboard score;
    Crossings crossings(score, 2);
    const auto get = [&] {
      return which == 0   ? crossings.stream(1, 0)
             : which == 1 ? crossings.from_router(1)
             : which == 2 ? crossings.to_router(1)
                          : crossings.expect_drop(1, "ttl");
    };
    const int first = get();
    check.that(get() == first, "the same again");
    check.equal(crossings.to(0).size() + crossings.to(1).size(), which < 2 ? 1u : 0u,
                "at an output once");
  }
}

/// A frame counts for the stream that has waited longest for it, of its output's alone.
void test_arrivals(Checks& check) {
  Scoreboard score;
  Crossings crossings(score, 2, {"/low", "/high"});
  check.that(crossings.ports() == 2 && crossings.kinds() == 2, "two of each");
  const std::vector<std::uint8_t> frame(60, 7), other(60, 8);
  check.that(crossings.find(0, 1, 1) < 0 && crossings.to(1).empty(), "nothing has gone there");
  const int stray = crossings.arrived(1, frame, 0);
  check.equal(stray, crossings.find(0, 1, 1), "nobody's: from where it is said to be, last kind");
  check.equal(score.name(stray), std::string{"0->1/high"}, "named by its ends and kind");

  const int late = crossings.stream(1, 1, 0), own = crossings.from_router(1);
  check.that(late == crossings.stream(1, 1, 0) && own == crossings.from_router(1), "made once");
  check.that(score.name(late) == "1->1/low" && score.name(own) == "router->1", "their names");
  score.offered(own, frame, 0, kNanosecond);
  score.offered(late, frame, 0, 2 * kNanosecond);
  check.equal(crossings.arrived(1, frame, 0), own, "which has waited longest");
  check.equal(crossings.arrived(1, other, 1), stray, "which nobody waits for: any of this output");
  check.equal(crossings.to(1).size(), 3u, "ways to this output");

  check.equal(crossings.find_to_router(1), -1, "none for the router itself");
  const int router = crossings.to_router(1);
  check.that(router == crossings.to_router(1) && router == crossings.find_to_router(1) &&
                 score.name(router) == "1->router",
             "until one is");
  check.equal(crossings.to(1).size(), 3u, "which leaves by no output");
}

}  // namespace

int main() {
  Checks check;
  test_drops_of_a_port(check);
  test_made_once(check);
  test_arrivals(check);
  test_makes_room(check);
  test_makes_room_through_others(check);
  test_too_many(check);
  return check.finish();
}
