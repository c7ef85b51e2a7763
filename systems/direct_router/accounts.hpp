// SPDX-License-Identifier: Apache-2.0
// What became of the frames, by the counters of the cards and of the host; and how the ways through
// the router shared it while there was traffic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/run/crossings.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/scenario.hpp"

namespace emery::direct_router {

class Accounts {
 public:
  /// `by_class`: the crossings are of two kinds, the first class and the last.
  Accounts(const HostConfig& config, bool by_class, Scoreboard& score, Crossings& crossings)
      : config_(config),
        by_class_(by_class),
        score_(score),
        crossings_(crossings),
        counters_(config.cards),
        queue_max_(config.cards),
        drops_(config.cards),
        asked_(config.cards) {}

  /// A frame for an output was offered; on its line it takes so long.
  void asked(unsigned out, Time line) { asked_[out] += line; }
  /// The sources have ended, which have sent for so long.
  void end_of_traffic(Time traffic);
  /// Frames that an input had no room for, beyond those that are missing of its way to an output.
  std::int64_t unexplained(Host& host, unsigned in, unsigned out) const;
  /// Frames of an input that the host dropped for a reason, beyond those that it was to.
  std::int64_t unexplained(const Host& host, unsigned in, const std::string& reason) const;
  /// Reads the counters, which takes simulated time, and attributes what did not arrive. Nobody can
  /// ask a lost card what it has lost.
  void collect(Host& host, const std::optional<CardFaults::Lost>& lost);

  /// Findings of collect().
  const Findings& findings() const { return findings_; }
  /// Of all cards together.
  std::uint64_t sum(const std::string& counter) const;
  std::uint64_t counter(unsigned card, const std::string& name) const {
    return counters_[card].at(name);
  }

  /// Jain's index over the pairs of input and output: the share of its frames that each has got by
  /// the end of traffic, of what is possible where more is asked of the output's line than it has.
  double jain() const;
  /// Fields of the open object.
  void write_classes(JsonWriter& json, double seconds) const;
  void write_card(JsonWriter& json, unsigned card) const;

 private:
  // What an input FIFO has dropped and still holds, in words; whose frames it takes.
  struct Queue {
    std::uint64_t dropped = 0, words = 0;
    std::vector<int> streams;
  };

  void collect_card(Host& host, unsigned card);
  Queue read_queue(Host& host, unsigned card, unsigned dest, unsigned cls);
  void expect_for_host(unsigned card);
  void settle_drops(unsigned card);
  void settle_output(unsigned out, const char* reason, std::uint64_t count);
  void settle_stranded();
  bool of_class(unsigned kind, unsigned cls) const;
  std::vector<int> from(unsigned in, unsigned out, unsigned cls) const;
  std::vector<int> from(unsigned in, int cls) const;
  std::uint64_t by_end(int stream) const;
  void drop(std::vector<int> streams, const std::string& reason, std::uint64_t count);

  const HostConfig& config_;
  bool by_class_;
  Scoreboard& score_;
  Crossings& crossings_;
  std::map<int, std::uint64_t> delivered_by_end_;               // by stream
  std::vector<std::map<std::string, std::uint64_t>> counters_;  // by card
  std::vector<std::vector<std::uint64_t>> queue_max_;           // words, by card and queue
  std::vector<std::map<std::string, std::uint64_t>> drops_;     // by card
  std::vector<Queue> queues_;
  std::vector<int> gone_;    // streams from and to a lost card
  std::vector<Time> asked_;  // of each output's line
  Time traffic_ = 0;
  Findings findings_;
};

}  // namespace emery::direct_router
