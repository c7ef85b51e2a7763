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
  const std::uint64_t away = score_.under_way(stream),
                      known = score_.counts(stream).dropped_total();
  return away > known ? away - known : 0;
}

void Crossings::dropped(const std::vector<int>& streams, const std::string& reason,
                        std::uint64_t count, Findings& findings) {
  for (const int s : streams) {
    const std::uint64_t here = std::min(count, missing(s));
    if (here != 0) score_.dropped(s, reason, here);
    count -= here;
  }
  if (count == 0) return;
  if (streams.empty()) {
    findings.add(count, "frames dropped (" + reason + ") that nobody sent");
  } else {
    score_.dropped(streams.front(), reason, count);
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
