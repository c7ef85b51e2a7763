// SPDX-License-Identifier: Apache-2.0
#include "bench/run/watch.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "bench/traffic/frame.hpp"

namespace emery {

Watch::Stream& Watch::at(int stream) {
  const auto index = static_cast<std::size_t>(stream);
  if (index >= streams_.size()) streams_.resize(index + 1);
  return streams_[index];
}

void Watch::offered(std::uint32_t entry, int stream, std::span<const std::uint8_t> bytes,
                    std::uint32_t flow, Time time) {
  trace_.offered(entry, stream, bytes, flow, time);
  Stream& s = at(stream);
  if (flow >= s.flows.size()) s.flows.resize(flow + 1);
  if (entry >= entries_.size()) entries_.resize(std::max<std::size_t>(2 * entry, 64));
  const auto size = static_cast<std::uint32_t>(bytes.size()) + kFcsBytes;
  const std::uint64_t place = s.flows[flow].offered++;
  entries_[entry] = {true, stream, flow, size, place, time, trace_.newest()};
}

const Watch::Entry& Watch::leaves(std::uint32_t entry) {
  Entry& e = entries_[entry];
  Stream& s = at(e.stream);
  Flow& flow = s.flows[e.flow];
  e.under_way = false;
  s.overtaken -= flow.newest - std::min(flow.newest, flow.gone);
  ++flow.gone;
  flow.newest = std::max(flow.newest, e.place + 1);
  s.overtaken += flow.newest - std::min(flow.newest, flow.gone);
  return e;
}

void Watch::delivered(std::uint32_t entry, Time time) {
  trace_.delivered(entry, time);
  if (entry == Scoreboard::kNobody) return;
  const Entry& e = leaves(entry);
  Stream& s = at(e.stream);
  ++s.frames;
  s.bytes += e.bytes;
  s.latency.add(time - e.time);
  if (trace_.follows(e.number)) s.newest = e.number;
  out_.push_back({e.stream, e.number, e.bytes});
}

void Watch::strayed(std::uint32_t entry) {
  trace_.strayed(entry);
  leaves(entry);
}

void Watch::dropped(int stream, const std::string& reason, std::uint64_t frames) {
  trace_.dropped(stream, reason, frames);
}

void Watch::look(Time now, double part, const char* phase, const Resources& resources) {
  using namespace std::chrono_literals;
  const Clock::time_point began = Clock::now();
  if (began < due_ && phase_ == phase) return;
  phase_ = phase;
  const std::clock_t before = std::clock();
  write(now, part, phase, resources);
  const std::chrono::duration<double> took(static_cast<double>(std::clock() - before) /
                                           CLOCKS_PER_SEC);
  const Clock::time_point ended = Clock::now();
  const auto apart = std::min<Clock::duration>((ended - begun_) / 1000, 250ms);
  const auto cost = std::chrono::duration_cast<Clock::duration>(50 * took);
  due_ = ended + std::max<Clock::duration>({5ms, cost, apart});
}

// Which queue a frame came by is known a little after it was delivered.
void Watch::count_queues() {
  for (auto& [name, queue] : queues_) queue.fresh = queue.waiting = 0;
  for (const Out& out : out_) {
    const int number = trace_.queue_of(out.number);
    if (number < 0) continue;
    Queue& queue = queues_[{out.stream, number}];
    ++queue.frames;
    ++queue.fresh;
    queue.bytes += out.bytes;
  }
  out_.clear();
  for (const Entry& e : entries_) {
    const int number = e.under_way ? trace_.queue_of(e.number) : -1;
    if (number >= 0) ++queues_[{e.stream, number}].waiting;
  }
}

void Watch::write_streams(JsonWriter& json) {
  json.object("streams");
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const int number = static_cast<int>(i);
    Stream& s = streams_[i];
    const Scoreboard::Counts& counts = score_.counts(number);
    json.object(score_.name(number))
        .field("offered", counts.offered)
        .field("delivered", counts.delivered)
        .field("bytes", s.bytes)
        .field("under_way", score_.under_way(number))
        .field("overtaken", s.overtaken);
    json.object("dropped");
    for (const auto& [reason, n] : counts.dropped) json.field(reason, n);
    json.end_object();
    json.object("latency_ns");
    for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"max", 1.0}}) {
      json.key(name);
      const Time value = share == 1.0 ? s.latency.max() : s.latency.percentile(share);
      s.latency.count() ? json.value(static_cast<double>(value) / kNanosecond) : json.null();
    }
    json.end_object().end_object();
    s.latency = Histogram();
  }
  json.end_object();
}

// Those that most came by since the line before, or that have most waiting.
void Watch::write_queues(JsonWriter& json) {
  count_queues();
  std::vector<std::map<QueueName, Queue>::const_iterator> busy;
  for (auto it = queues_.cbegin(); it != queues_.cend(); ++it) busy.push_back(it);
  json.field("queues_seen", busy.size());
  const auto before = [](const auto& a, const auto& b) {
    return a->second.fresh + a->second.waiting > b->second.fresh + b->second.waiting;
  };
  std::stable_sort(busy.begin(), busy.end(), before);
  if (busy.size() > kMostQueues) busy.resize(kMostQueues);
  json.array("queues");
  for (const auto& it : busy) {
    json.begin_object()
        .field("stream", score_.name(it->first.first))
        .field("queue", it->first.second)
        .field("delivered", it->second.frames)
        .field("bytes", it->second.bytes)
        .field("waiting", it->second.waiting)
        .end_object();
  }
  json.end_array();
}

void Watch::write(Time now, double part, const char* phase, const Resources& resources) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.begin_object().field("t_ns", static_cast<double>(now) / kNanosecond);
  json.field("part", part).field("phase", phase);
  write_streams(json);
  write_queues(json);
  json.object("resources");
  resources(json);
  json.end_object().array("ways");
  std::size_t ways = 0;
  for (const Stream& s : streams_) {
    if (s.newest != Trace::kNone && ways++ < kMostWays) json.document(trace_.record(s.newest));
  }
  json.end_array().end_object();
  std::fprintf(stderr, "snapshot %s", json.text().c_str());
}

}  // namespace emery
