// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/queue_meter.hpp"

#include <algorithm>
#include <utility>

#include "bench/traffic/frame.hpp"
#include "bench/wire/mac.hpp"

namespace emery::host_nic {

namespace {

double ns(Time time) { return static_cast<double>(time) / kNanosecond; }

}  // namespace

QueueMeter::QueueMeter(const Scheduling& scheduling, unsigned interfaces, unsigned ports,
                       unsigned queues, double rate)
    : scheduling_(scheduling),
      ports_(ports),
      queues_(queues),
      ps_a_byte_(8e12 / rate),
      queue_(std::size_t{interfaces} * queues),
      visits_(std::size_t{interfaces} * ports) {
  for (const emnic_slot& slot : scheduling_.slots)
    period_ += static_cast<Time>(slot.ns) * kNanosecond;
}

void QueueMeter::watch(Scoreboard& score, std::vector<int> interface_of, std::uint32_t deal_count) {
  score.on_matched = [this, interface_of = std::move(interface_of), deal_count](
                         int stream, std::uint32_t flow, std::uint32_t bytes, Time inside,
                         Time time) {
    const auto number = static_cast<std::size_t>(stream);
    if (number >= interface_of.size() || interface_of[number] < 0) return;
    sent(static_cast<unsigned>(interface_of[number]), flow / deal_count % queues_, bytes, inside,
         time - MacConfig().propagation);
  };
}

void QueueMeter::sent(unsigned interface, unsigned queue, std::uint32_t bytes, Time inside,
                      Time end) {
  const std::size_t index = std::size_t{interface} * queues_ + queue;
  if (index < kMost) meter_.add(static_cast<int>(index), end, bytes);
  ++queue_[index].frames;
  queue_[index].latency.add(inside);
  if (period_ != 0) keep_slots(interface * ports_ + queue % ports_, queue, bytes, end);
}

QueueMeter::Place QueueMeter::place(Time time) const {
  const std::int64_t period = (time - zero_) / period_;
  const auto slots = static_cast<std::int64_t>(scheduling_.slots.size());
  Place found{period * slots, 0, zero_ + period * period_, 0};
  for (;; ++found.number, ++found.index) {
    found.end = found.begin + static_cast<Time>(scheduling_.slots[found.index].ns) * kNanosecond;
    if (time < found.end) return found;
    found.begin = found.end;
  }
}

// A frame belongs to the slot in which it begins, or to the one before if only that is its own: it
// is late then; or it is early for the next one.
void QueueMeter::keep_slots(unsigned port, unsigned queue, std::uint32_t bytes, Time end) {
  const Time begin = end - static_cast<Time>((kPreambleBytes + bytes) * ps_a_byte_);
  Place here = place(begin);
  const bool begins = open(here, queue), ends = open(place(end - 1), queue);
  outside_ += !(begins && ends);
  if (!begins && here.begin > zero_) {
    const Place before = place(here.begin - 1);
    if (open(before, queue)) {
      here = before;
    } else if (const Place after = place(here.end); open(after, queue)) {
      here = after;
      early_ = std::max(early_, here.begin - begin);
    }
  }
  Visit& visit = visits_[port][here.number];
  ++visit.frames;
  if (visit.first < 0) visit.first = std::max(begin, here.begin);
  visit.last = end;
  visit.wire += static_cast<Time>((kPreambleBytes + bytes + kGapBytes) * ps_a_byte_);
  if (end > here.end && !ends) {
    ++visit.late;
    late_ = std::max(late_, end - here.end);
  }
}

void QueueMeter::write(JsonWriter& json, const Meter::Window& window) const {
  json.array("queues");
  for (std::size_t i = 0; i < std::min<std::size_t>(queue_.size(), kMost); ++i) {
    if (queue_[i].frames == 0) continue;
    const auto rates = Meter::rates(meter_.within(static_cast<int>(i), window), window);
    json.begin_object()
        .field("interface", i / queues_)
        .field("queue", i % queues_)
        .field("frames", queue_[i].frames);
    const auto rate = [&](const char* name, double Meter::Rates::* unit) {
      json.key(name);
      rates ? json.value((*rates).*unit) : json.null();
    };
    rate("mpps", &Meter::Rates::mpps);
    rate("l1_gbps", &Meter::Rates::l1_gbps);
    rate("l2_gbps", &Meter::Rates::l2_gbps);
    json.key("latency_ns");
    queue_[i].latency.write_ns(json);
    json.end_object();
  }
  json.end_array();
  if (period_ != 0) write_slots(json);
}

void QueueMeter::write_slots(JsonWriter& json) const {
  std::uint64_t slots = 0, frames = 0, late = 0;
  Time idle_first = 0, idle_last = 0, wire = 0, open_time = 0;
  for (const auto& visits : visits_) {
    if (visits.size() < 3) continue;
    const std::int64_t from = visits.begin()->first, to = visits.rbegin()->first;
    for (const auto& [number, visit] : visits) {
      late = std::max(late, visit.late);
      if (number == from || number == to) continue;
      const auto count = static_cast<std::int64_t>(scheduling_.slots.size());
      const auto index = static_cast<std::size_t>(number % count);
      Time begin = zero_ + number / count * period_;
      for (std::size_t i = 0; i < index; ++i)
        begin += static_cast<Time>(scheduling_.slots[i].ns) * kNanosecond;
      const Time length = static_cast<Time>(scheduling_.slots[index].ns) * kNanosecond;
      ++slots;
      frames += visit.frames;
      idle_first += visit.first - begin;
      idle_last += std::max<Time>(begin + length - visit.last, 0);
      wire += visit.wire;
      open_time += length;
    }
  }
  json.object("tdma")
      .field("slots", slots)
      .field("frames", frames)
      .field("outside_frames", outside_)
      .field("late_frames_most", late)
      .field("late_ns_most", ns(late_))
      .field("early_ns_most", ns(early_));
  const auto mean = [&](const char* name, Time sum, double of) {
    json.key(name);
    slots ? json.value(static_cast<double>(sum) / of) : json.null();
  };
  mean("idle_first_ns", idle_first, static_cast<double>(slots) * kNanosecond);
  mean("idle_last_ns", idle_last, static_cast<double>(slots) * kNanosecond);
  mean("used", wire, static_cast<double>(open_time));
  json.end_object();
}

}  // namespace emery::host_nic
