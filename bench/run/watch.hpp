// SPDX-License-Identifier: Apache-2.0
// A run that is watched (`./emery watch`) says how it goes: now and then a line on the standard
// error, `snapshot` and a JSON object, with what has come and gone so far on each stream and queue,
// the resources as a result would have them now, and the way of the newest frames that came out. A
// run that nobody watches has no Watch.
//
// A line is due as often as lines take a fiftieth of the processor's time (what it waits for
// whoever reads it, or for the processor, is none of that), at least 5 ms after the one before,
// later in a long run less often: four a second. What is simulated does not depend on them.
//
// Overtaken frames are those under way of which a later one of the same flow has come out: where a
// flow keeps its order they are dropped, long before the device is asked for its counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/run/trace.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"

namespace emery {

class Watch final : public Scoreboard::Observer {
 public:
  /// Passes on to `trace` what it is told.
  Watch(const Scoreboard& score, Trace& trace) : score_(score), trace_(trace) {}

  /// The fields of `resources`, which is open.
  using Resources = std::function<void(JsonWriter&)>;
  /// Says how the run goes, if that is due; `part`: of the traffic, 0 ... 1.
  void look(Time now, double part, const char* phase, const Resources& resources);

  // ---- Scoreboard::Observer

  void offered(std::uint32_t entry, int stream, std::span<const std::uint8_t> bytes,
               std::uint32_t flow, Time time) override;
  void delivered(std::uint32_t entry, Time time) override;
  void strayed(std::uint32_t entry) override;
  void dropped(int stream, const std::string& reason, std::uint64_t frames) override;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostQueues = 64, kMostWays = 16;

  struct Flow {
    std::uint64_t offered = 0, gone = 0, newest = 0;  // newest: 1 + the last in order that is gone
  };
  struct Stream {
    std::uint64_t frames = 0, bytes = 0;  // that came out, with FCS
    std::uint64_t overtaken = 0;
    Trace::Number newest = Trace::kNone;
    Histogram latency;  // since the line before
    std::vector<Flow> flows;
  };
  struct Entry {  // of the scoreboard
    bool under_way = false;
    int stream = 0;
    std::uint32_t flow = 0, bytes = 0;
    std::uint64_t place = 0;  // in its flow
    Time time = 0;
    Trace::Number number = Trace::kNone;
  };
  struct Queue {
    std::uint64_t frames = 0, bytes = 0, fresh = 0, waiting = 0;
  };
  struct Out {
    int stream;
    Trace::Number number;
    std::uint32_t bytes;
  };
  using QueueName = std::pair<int, int>;  // stream, number

  Stream& at(int stream);
  const Entry& leaves(std::uint32_t entry);
  void count_queues();
  void write(Time now, double part, const char* phase, const Resources& resources);
  void write_streams(JsonWriter& json);
  void write_queues(JsonWriter& json);

  const Scoreboard& score_;
  Trace& trace_;
  std::vector<Stream> streams_;
  std::vector<Entry> entries_;
  std::vector<Out> out_;  // since the line before
  std::map<QueueName, Queue> queues_;
  std::string phase_;
  Clock::time_point begun_ = Clock::now(), due_ = begun_;
};

}  // namespace emery
