// SPDX-License-Identifier: Apache-2.0
#include "bench/score/scoreboard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "bench/stats/hash.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

std::uint64_t Scoreboard::Counts::dropped_total() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : dropped) sum += n;
  return sum;
}

Scoreboard::Counts& Scoreboard::Counts::operator+=(const Counts& other) {
  offered += other.offered;
  delivered += other.delivered;
  corrupted += other.corrupted;
  duplicated += other.duplicated;
  misdelivered += other.misdelivered;
  reordered += other.reordered;
  out_of_lane_order += other.out_of_lane_order;
  strayed += other.strayed;
  for (const auto& [reason, n] : other.dropped) dropped[reason] += n;
  return *this;
}

// False when a later frame of that lane and flow was here before.
bool Scoreboard::Stream::in_order(std::uint32_t lane, std::uint32_t flow, std::uint64_t sequence) {
  if (lane >= newest.size()) newest.resize(lane + 1);
  std::vector<std::uint64_t>& flows = newest[lane];
  if (flow >= flows.size()) flows.resize(flow + 1);
  if (sequence < flows[flow]) return false;
  flows[flow] = sequence + 1;
  return true;
}

int Scoreboard::stream(const std::string& name) {
  const auto [it, added] = names_.try_emplace(name, static_cast<int>(streams_.size()));
  if (added) streams_.emplace_back().name = name;
  return it->second;
}

void Scoreboard::offered(int stream, std::span<const std::uint8_t> bytes, std::uint32_t flow,
                         Time time, std::uint32_t lane) {
  if (flow > 1u << 26 || lane > 1u << 10)
    throw std::invalid_argument("scoreboard: numbers of flows and lanes must be dense");
  Stream& s = at(stream);
  if (4 * (used_ + 1) > 3 * slots_.size()) grow();
  const std::uint64_t hash = hash_bytes(bytes) | 1;  // never 0, which marks a free slot
  Slot& slot = find(hash);
  if (slot.hash == 0) {
    slot.hash = hash;
    ++used_;
  }
  const std::uint32_t e = allocate();
  entries_[e] = {time, s.counts.offered++, flow, lane, stream, kNil};
  (slot.head == kNil ? slot.head : entries_[slot.tail].next) = e;
  slot.tail = e;
  if (observer_) observer_->offered(e, stream, bytes, flow, time);
}

void Scoreboard::delivered(int stream, std::span<const std::uint8_t> bytes, Time time) {
  Stream& s = at(stream);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const std::array<std::uint8_t, 4> length = {
      static_cast<std::uint8_t>(size), static_cast<std::uint8_t>(size >> 8),
      static_cast<std::uint8_t>(size >> 16), static_cast<std::uint8_t>(size >> 24)};
  s.sha.update(length);
  s.sha.update(bytes);

  const std::uint64_t hash = hash_bytes(bytes) | 1;
  Slot none, &slot = slots_.empty() ? none : find(hash);
  if (slot.head == kNil) {
    ++(slot.hash == 0 ? s.counts.corrupted : s.counts.duplicated);
    if (observer_) observer_->delivered(kNobody, time);
    return;
  }
  const Choice choice = choose(slot, stream);
  const Entry entry = entries_[choice.taken.entry];
  // The forgotten one stands before the taken one, so unlinking in this order keeps both places
  // right.
  unlink(slot, choice.taken);
  if (choice.forgotten.entry != kNil) unlink(slot, choice.forgotten);
  if (entry.stream != stream) {
    ++s.counts.misdelivered;
    ++at(entry.stream).counts.strayed;
    if (observer_) observer_->strayed(choice.taken.entry);
    return;
  }
  if (observer_) observer_->delivered(choice.taken.entry, time);
  std::uint64_t latest = 0;  // of the flow, over all lanes
  for (std::uint32_t lane = 0; lane < s.newest.size(); ++lane)
    latest = std::max(latest, s.newest_of(lane, entry.flow));
  s.counts.reordered += entry.sequence < latest;
  s.counts.out_of_lane_order += !s.in_order(entry.lane, entry.flow, entry.sequence);
  ++s.counts.delivered;
  s.latency.add(time - entry.time);
  meter_.add(stream, time, size + kFcsBytes, time - entry.time);
  if (on_matched) on_matched(stream, entry.flow, size + kFcsBytes, time - entry.time, time);
}

int Scoreboard::waiting_for(std::span<const int> streams,
                            std::span<const std::uint8_t> bytes) const {
  const std::uint32_t e = find_under_way(bytes, [&](std::uint32_t, int stream) {
    return std::find(streams.begin(), streams.end(), stream) != streams.end();
  });
  return e == kNil ? -1 : entries_[e].stream;
}

std::uint32_t Scoreboard::first_of(std::span<const std::uint8_t> bytes) const {
  if (slots_.empty()) return kNil;
  return slots_[place(hash_bytes(bytes) | 1)].head;
}

void Scoreboard::dropped(int stream, const std::string& reason, std::uint64_t frames) {
  if (frames == 0) return;
  at(stream).counts.dropped[reason] += frames;
  if (observer_) observer_->dropped(stream, reason, frames);
}

std::uint64_t Scoreboard::under_way(int stream) const {
  const Counts& c = counts(stream);
  return c.offered - c.delivered - c.strayed;
}

std::uint64_t Scoreboard::under_way() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) sum += under_way(static_cast<int>(i));
  return sum;
}

Scoreboard::Counts Scoreboard::totals() const {
  Counts sum;
  for (const Stream& s : streams_) sum += s.counts;
  return sum;
}

std::vector<std::string> Scoreboard::failures() const {
  std::vector<std::string> lines;
  for (const Stream* s : by_name()) {
    const Counts& c = s->counts;
    const auto say = [&](const std::string& what) {
      lines.push_back("stream " + s->name + ": " + what);
    };
    const std::uint64_t accounted = c.delivered + c.dropped_total();
    if (accounted != c.offered) {
      std::string sum = "offered " + std::to_string(c.offered) + ", delivered " +
                        std::to_string(c.delivered) + ", dropped " +
                        std::to_string(c.dropped_total());
      if (!c.dropped.empty()) {
        std::string reasons;
        for (const auto& [reason, n] : c.dropped)
          reasons += (reasons.empty() ? "" : ", ") + reason + " " + std::to_string(n);
        sum += " (" + reasons + ")";
      }
      if (c.strayed != 0) sum += ", delivered elsewhere " + std::to_string(c.strayed);
      say(accounted < c.offered
              ? std::to_string(c.offered - accounted) + " frames missing: " + sum
              : std::to_string(accounted - c.offered) + " frames too many: " + sum);
    }
    const auto none = [&](std::uint64_t n, const char* what) {
      if (n != 0) say(std::to_string(n) + " frames " + what);
    };
    none(c.corrupted, "corrupted: they match nothing that was offered");
    none(c.duplicated, "duplicated: delivered more often than offered");
    none(c.misdelivered, "misdelivered: they belong to another stream");
    if (config_.order_promised) none(c.out_of_lane_order, "reordered within their flows");
  }
  return lines;
}

std::string Scoreboard::digest() const {
  Sha256 all;
  for (const Stream* s : by_name()) {
    all.update({reinterpret_cast<const std::uint8_t*>(s->name.c_str()), s->name.size() + 1});
    all.update(s->sha.digest());
  }
  return all.hex();
}

void Scoreboard::write(JsonWriter& json) const {
  const Meter::Window window = meter_.window();
  json.object("window")
      .field("from_ns", static_cast<double>(window.from) / kNanosecond)
      .field("to_ns", static_cast<double>(window.to) / kNanosecond)
      .field("steady", window.steady)
      .field("settled_mpps", meter_.settled(window).value_or(NAN))
      .end_object();
  Histogram latency;
  Meter::Amount sum;
  json.object("streams");
  for (const Stream* s : by_name()) {
    const Meter::Amount amount = meter_.within(names_.at(s->name), window);
    json.key(s->name);
    write_one(json, s->counts, s->latency, Meter::rates(amount, window));
    latency.merge(s->latency);
    sum += amount;
  }
  json.end_object();
  json.key("totals");
  write_one(json, totals(), latency, Meter::rates(sum, window));
  json.field("digest", digest());
}

void Scoreboard::write_one(JsonWriter& json, const Counts& counts, const Histogram& latency,
                           const std::optional<Meter::Rates>& rates) {
  json.begin_object().field("offered", counts.offered).field("delivered", counts.delivered);
  json.object("dropped");
  for (const auto& [reason, n] : counts.dropped) json.field(reason, n);
  json.end_object();
  json.field("corrupted", counts.corrupted).field("duplicated", counts.duplicated);
  json.field("misdelivered", counts.misdelivered).field("reordered", counts.reordered);
  const auto rate = [&](const char* name, double Meter::Rates::* unit) {
    json.key(name);
    rates ? json.value((*rates).*unit) : json.null();
  };
  rate("mpps", &Meter::Rates::mpps);
  rate("l1_gbps", &Meter::Rates::l1_gbps);
  rate("l2_gbps", &Meter::Rates::l2_gbps);
  json.key("latency_ns");
  latency.write_ns(json);
  json.end_object();
}

std::vector<const Scoreboard::Stream*> Scoreboard::by_name() const {
  std::vector<const Stream*> sorted;
  for (const auto& [name, number] : names_) sorted.push_back(&at(number));
  return sorted;
}

/// The slot of that content, or the free one where it belongs.
std::size_t Scoreboard::place(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = (hash >> 20) & mask;
  while (slots_[i].hash != 0 && slots_[i].hash != hash) i = (i + 1) & mask;
  return i;
}

void Scoreboard::grow() {
  std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.hash != 0) find(slot.hash) = slot;
}

std::uint32_t Scoreboard::allocate() {
  if (free_ != kNil) return std::exchange(free_, entries_[free_].next);
  if (entries_.size() == kNil) throw std::length_error("scoreboard: too many frames under way");
  entries_.emplace_back();
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

/// The oldest copy on this stream that is not behind its flow, else the oldest on this stream, else
/// the oldest. A copy lost earlier may still stand in the list: taking it would call the delivery
/// late and out of order.
Scoreboard::Choice Scoreboard::choose(const Slot& slot, int stream) const {
  const Stream& s = at(stream);
  Place behind, here{slot.head, kNil};
  int left_behind = 0;
  for (; here.entry != kNil; here = {entries_[here.entry].next, here.entry}) {
    const Entry& entry = entries_[here.entry];
    if (entry.stream != stream) continue;
    if (entry.sequence >= s.newest_of(entry.lane, entry.flow))
      return {here, left_behind > kMaxLeftBehind ? behind : Place{}};
    if (left_behind++ == 0) behind = here;
  }
  return {left_behind != 0 ? behind : Place{slot.head, kNil}, {}};
}

void Scoreboard::unlink(Slot& slot, const Place& place) {
  Entry& entry = entries_[place.entry];
  (place.before == kNil ? slot.head : entries_[place.before].next) = entry.next;
  if (slot.tail == place.entry) slot.tail = place.before;
  entry.next = free_;
  free_ = place.entry;
}

}  // namespace emery
