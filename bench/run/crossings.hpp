// SPDX-License-Identifier: Apache-2.0
// The streams of a router: one for each way through it that frames take, named IN->OUT by ports,
// IN->drop for what is not to be forwarded, IN->router for what its control plane gets, and
// router->OUT for what the router says for itself.
// Where ways are of several kinds (classes of service), their suffixes come behind the name, as in
// 0->2/high.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/score/scoreboard.hpp"
#include "bench/stats/findings.hpp"

namespace emery {

class Crossings {
 public:
  Crossings(Scoreboard& score, unsigned ports, std::vector<std::string> kinds = {""});

  unsigned ports() const { return static_cast<unsigned>(from_.size()); }
  unsigned kinds() const { return static_cast<unsigned>(kinds_.size()); }

  /// The stream of a way, made if it is new.
  int stream(unsigned in, unsigned out, unsigned kind = 0);
  /// -1 when no frame has gone that way.
  int find(unsigned in, unsigned out, unsigned kind = 0) const {
    return from_[in].ways[out * kinds() + kind];
  }
  /// The stream of what the router itself says at a port: router->OUT.
  int from_router(unsigned out);
  /// The stream of what comes in at a port for the router itself: IN->router.
  int to_router(unsigned in);
  /// -1 when there is none.
  int find_to_router(unsigned in) const { return from_[in].router; }
  /// The stream that a frame which came out at `out` counts for: the one that has waited longest
  /// for it. When none waits, any to this port, or the one from `otherwise`.
  int arrived(unsigned out, std::span<const std::uint8_t> bytes, unsigned otherwise);
  const std::vector<int>& to(unsigned out) const { return to_[out]; }

  /// The stream of frames to be dropped, and one more of them for that reason.
  int expect_drop(unsigned in, const std::string& reason);
  void expect(unsigned in, const std::string& reason, std::uint64_t count) {
    from_[in].expected[reason] += count;
  }
  /// By reason.
  const std::map<std::string, std::uint64_t>& expected(unsigned in) const {
    return from_[in].expected;
  }
  /// IN->drop; -1 when there is none.
  int drop_stream(unsigned in) const { return from_[in].drop; }
  /// Frames of a port that were dropped for a reason; a finding when more than were to be.
  void dropped(unsigned in, const std::string& reason, std::uint64_t count, Findings& findings);
  /// Frames dropped that may have been of any of these streams: put down to those that miss some,
  /// the first ones first; where none does, what was told of before goes to others of its own, if
  /// that makes room. What is left over is put on the first, where it will not add up.
  void dropped(const std::vector<int>& streams, const std::string& reason, std::uint64_t count,
               Findings& findings);
  /// Counts all of these, when all have been told of.
  void settle();
  /// Frames under way on a stream that no drop accounts for.
  std::uint64_t missing(int stream) const;

  /// Latencies of all ways.
  Histogram latency() const;

 private:
  struct From {
    std::vector<int> ways;  // by output and kind; -1: none yet
    int drop = -1, router = -1;
    std::map<std::string, std::uint64_t> expected;
  };
  // Frames of any of these streams, and of which they are taken to be.
  struct Cause {
    std::vector<int> streams;
    std::string reason;
    std::map<int, std::uint64_t> put;
  };

  int make_drop(unsigned in);
  void put(Cause& cause, int stream, std::uint64_t count);
  int find_room(std::size_t cause, std::vector<bool>& asked);

  Scoreboard& score_;
  std::vector<std::string> kinds_;
  std::vector<From> from_;
  std::vector<int> router_;  // by output; -1: none yet
  std::vector<std::vector<int>> to_;
  std::vector<Cause> causes_;
  std::map<int, std::uint64_t> put_;  // of all causes, by stream
};

}  // namespace emery
