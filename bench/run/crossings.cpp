// SPDX-License-Identifier: Apache-2.0
#include "bench/run/crossings.hpp"

#include <algorithm>
#include <utility>

namespace emery {

Crossings::Crossings(Scoreboard& score, unsigned ports, std::vector<std::string> kinds)
    : score_(score), kinds_(std::move(kinds)), from_(ports), router_(ports, -1), to_(ports) {
  for (From& from : from_) from.ways.assign(std::size_t{ports} * kinds_.size(), -1);
}

int Crossings::stream(unsigned in, unsigned out, unsigned kind) {
  int& s = from_[in].ways[out * kinds() + kind];
  if (s < 0) {
    s = score_.stream(std::to_string(in) + "->" + std::to_string(out) + kinds_[kind]);
    to_[out].push_back(s);
  }
  return s;
}

int Crossings::from_router(unsigned out) {
  int& s = router_[out];
  if (s < 0) {
    s = score_.stream("router->" + std::to_string(out));
    to_[out].push_back(s);
  }
  return s;
}

int Crossings::to_router(unsigned in) {
  int& s = from_[in].router;
  if (s < 0) s = score_.stream(std::to_string(in) + "->router");
  return s;
}

int Crossings::arrived(unsigned out, std::span<const std::uint8_t> bytes, unsigned otherwise) {
  const int s = score_.waiting_for(to_[out], bytes);
  if (s >= 0) return s;
  return to_[out].empty() ? stream(otherwise, out, kinds() - 1) : to_[out].front();
}

int Crossings::make_drop(unsigned in) {
  int& s = from_[in].drop;
  if (s < 0) s = score_.stream(std::to_string(in) + "->drop");
  return s;
}

int Crossings::expect_drop(unsigned in, const std::string& reason) {
  expect(in, reason, 1);
  return make_drop(in);
}

void Crossings::dropped(unsigned in, const std::string& reason, std::uint64_t count,
                        Findings& findings) {
  if (count == 0) return;
  score_.dropped(make_drop(in), reason, count);
  const std::uint64_t want = from_[in].expected[reason];
  if (count <= want) return;
  findings.add("port " + std::to_string(in) + ": " + std::to_string(count) + " frames dropped (" +
               reason + "), " + std::to_string(want) + " expected");
}

std::uint64_t Crossings::missing(int stream) const {
  const auto put = put_.find(stream);
  const std::uint64_t away = score_.under_way(stream),
                      known = score_.counts(stream).dropped_total() +
                              (put == put_.end() ? 0 : put->second);
  return away > known ? away - known : 0;
}

void Crossings::put(Cause& cause, int stream, std::uint64_t count) {
  cause.put[stream] += count;
  put_[stream] += count;
}

// A stream of this cause that misses a frame, or that does now, for one of another cause's has gone
// to another of its streams, and so on; -1: there is none.
int Crossings::find_room(std::size_t cause, std::vector<bool>& asked) {
  asked[cause] = true;
  for (const int s : causes_[cause].streams)
    if (missing(s) != 0) return s;
  for (const int s : causes_[cause].streams) {
    for (std::size_t other = 0; other < causes_.size(); ++other) {
      const auto here = causes_[other].put.find(s);
      if (asked[other] || here == causes_[other].put.end() || here->second == 0) continue;
      const int elsewhere = find_room(other, asked);
      if (elsewhere < 0) continue;
      --here->second;
      --put_[s];
      put(causes_[other], elsewhere, 1);
      return s;
    }
  }
  return -1;
}

void Crossings::dropped(const std::vector<int>& streams, const std::string& reason,
                        std::uint64_t count, Findings& findings) {
  if (count == 0) return;
  if (streams.empty())
    return findings.add(count, "frames dropped (" + reason + ") that nobody sent");
  const std::size_t cause = causes_.size();
  causes_.push_back({streams, reason, {}});
  for (const int s : streams) {
    const std::uint64_t here = std::min(count, missing(s));
    put(causes_[cause], s, here);
    count -= here;
  }
  for (; count != 0; --count) {
    std::vector<bool> asked(causes_.size());
    const int s = find_room(cause, asked);
    if (s < 0) break;
    put(causes_[cause], s, 1);
  }
  put(causes_[cause], streams.front(), count);
}

void Crossings::settle() {
  put_.clear();
  for (Cause& cause : std::exchange(causes_, {})) {
    for (const int s : cause.streams) {
      const std::uint64_t count = std::exchange(cause.put[s], 0);
      if (count != 0) score_.dropped(s, cause.reason, count);
    }
  }
}

Histogram Crossings::latency() const {
  Histogram all;
  for (const From& from : from_) {
    for (const int s : from.ways) {
      if (s >= 0) all.merge(score_.latency(s));
    }
  }
  return all;
}

}  // namespace emery
