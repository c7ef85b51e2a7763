// SPDX-License-Identifier: Apache-2.0
#include "bench/tcp/station.hpp"

#include <algorithm>

namespace emery::tcp {

Station::Station(const StationConfig& config, const std::vector<ConnectionConfig>& connections)
    : config_(config) {
  for (const ConnectionConfig& c : connections) places_.emplace_back(c);
  cpus_.resize(config.cpus == 0 ? places_.size() : config.cpus);
  work_.resize(cpus_.size());
}

void Station::look(std::size_t n, Time now) {
  Place& place = places_[n];
  if (place.ready || !place.connection.wants()) return;
  place.ready = true;
  place.since = now;
  if (place.connection.owes()) {
    ready_.push_front(n);
  } else {
    ready_.push_back(n);
  }
}

void Station::receive(std::size_t n, std::span<const std::uint8_t> frame, Time now) {
  work_[n % cpus_.size()].push_back({n, now + config_.delay, {frame.begin(), frame.end()}});
  ++waiting_;
}

void Station::serve(std::size_t c, Time now) {
  for (auto& work = work_[c]; !work.empty(); work.pop_front(), --waiting_) {
    const Arrived& arrived = work.front();
    Connection& connection = places_[arrived.connection].connection;
    if (arrived.at > now || cpus_[c].until > now || connection.owes()) return;
    if (const auto segment = parse(arrived.frame)) {
      cpus_[c].work(now, cost(segment->payload.size(), true));
      connection.receive(*segment, now);
      look(arrived.connection, now);
    } else {
      ++bad_;
    }
  }
}

void Station::poll(Time now, bool all) {
  for (std::size_t c = 0; waiting_ != 0 && c < work_.size(); ++c) serve(c, now);
  if (now < next_tick_ && !all) return;
  next_tick_ = now + kTick;
  for (std::size_t n = 0; n < places_.size(); ++n) {
    Connection& connection = places_[n].connection;
    if (connection.deadline() <= now) connection.expire(now);
    look(n, now);
  }
}

int Station::next(std::vector<std::uint8_t>& frame, Time now) {
  for (std::size_t left = ready_.size(); left != 0; --left) {
    const std::size_t n = ready_.front();
    Place& place = places_[n];
    Cpu& cpu = cpus_[n % cpus_.size()];
    const bool wants = place.connection.wants();
    if (!wants || place.held || cpu.until > now || place.turn >= kTurn) {
      ready_.pop_front();
      place.turn = 0;
      place.ready = wants;
      if (wants) ready_.push_back(n);
      if (wants && !place.held && cpu.until <= now) ++left;  // its turn is over: others first
      continue;
    }
    const auto made = place.connection.next(frame, now);
    const bool begins = place.burst == 0 || place.burst + made.payload > config_.packet;
    cpu.work(now, cost(made.payload, begins));
    place.burst = made.last ? 0 : begins ? made.payload : place.burst + made.payload;
    place.turn += static_cast<std::uint32_t>(frame.size());
    serve(n % cpus_.size(), now);
    return static_cast<int>(n);
  }
  return -1;
}

Time Station::most_busy() const {
  Time most = 0;
  for (const Cpu& cpu : cpus_) most = std::max(most, cpu.busy);
  return most;
}

Time Station::busy_until() const {
  Time last = 0;
  for (const Cpu& cpu : cpus_) last = std::max(last, cpu.until);
  return last;
}

}  // namespace emery::tcp
