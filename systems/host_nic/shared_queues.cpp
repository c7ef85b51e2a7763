// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/shared_queues.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "bench/traffic/frame.hpp"
#include "queue_formats.hpp"

namespace emery::host_nic {

SharedQueues::SharedQueues(const Options& options, Driver& driver, double rate)
    : on_(options.get<bool>("shared_queues")),
      all_(options.get<std::string>("queue_ports") == "all"),
      clock_moves_(options.get<std::string>("fault") == "hostile_registers"),
      stream_(options.get<std::string>("tx_mode") == "stream"),
      interfaces_(options.get<unsigned>("interfaces")),
      ports_(options.get<unsigned>("ports")),
      ps_a_byte_(8e12 / rate),
      every_(static_cast<Time>(options.get<double>("migrate_us") * kMicrosecond)),
      driver_(driver),
      told_(std::size_t{interfaces_} * ports_) {
  if (!on_) return;
  driver.on_sent_record = [this, before = driver.on_sent_record](const emnic_completion& record) {
    sent(record);
    if (before) before(record);
  };
}

void SharedQueues::opened(Time now) {
  if (!on_) return;
  const unsigned queues = driver_.tx_queues();
  sent_.assign(std::size_t{interfaces_} * queues, {});
  arrived_.assign(std::size_t{interfaces_} * driver_.rx_queues(), {});
  if (moved_to_.empty()) {
    for (unsigned n = 0; n < interfaces_ * queues; ++n) moved_to_.push_back(n % queues % ports_);
    for (unsigned n = 0; all_ && n < interfaces_ * queues; ++n)
      driver_.set_tx_ports(n / queues, n % queues, (1u << ports_) - 1);
  }
  if (every_ != 0) next_ = now + every_;
}

void SharedQueues::move(Time now) {
  const unsigned queues = driver_.tx_queues();
  for (unsigned i = 0; i < interfaces_; ++i) {
    unsigned& port = moved_to_[i * queues + turn_];
    port = (port + 1) % ports_;
    driver_.set_tx_ports(i, turn_, 1u << port);
    ++moves_;
  }
  turn_ = (turn_ + 1) % queues;
  next_ = now + every_;
}

// A record tells the slot that is the next one of its queue, and a port that has sent so many more.
void SharedQueues::sent(const emnic_completion& c) {
  const auto record = queue_pkg::cpl_t::read(c.record);
  const unsigned port = queue_pkg::rx_flags_t{record.flags()}.port();
  if (port >= ports_) {
    ++wrong_ports_;
    return;
  }
  emnic_queue_state state;
  emnic_tx_state(emnic_tx_queue(driver_.core(), c.interface, c.queue), &state);
  wrong_slots_ += !stream_ && (record.csum() & (state.slots - 1)) != c.slot;
  if (!c.error || stream_)
    told_[c.interface * ports_ + port] += stream_ || record.hash() != 0 ? record.hash() : 1;
  Sent& before = sent_[c.interface * driver_.tx_queues() + c.queue];
  changes_ += before.some && before.port != port;
  before = {port, true};
}

// Stamps are of a frame's first byte; it has arrived with its last one.
void SharedQueues::received(const Received& r, unsigned port, std::size_t bytes) {
  if (!on_) return;
  Arrived& queue = arrived_[r.interface * driver_.rx_queues() + r.queue];
  const auto line = static_cast<std::uint64_t>(static_cast<double>(bytes + kFcsBytes) * ps_a_byte_);
  const std::uint64_t end = r.timestamp * kNanosecond + line;
  queue.ports |= 1u << port;
  if (queue.end > end && !clock_moves_) behind_ = std::max(behind_, queue.end - end);
  queue.end = std::max(queue.end, end);
}

SharedQueues& SharedQueues::operator+=(const SharedQueues& other) {
  arrived_.insert(arrived_.end(), other.arrived_.begin(), other.arrived_.end());
  for (std::size_t p = 0; p < told_.size(); ++p) told_[p] += other.told_[p];
  moves_ += other.moves_;
  changes_ += other.changes_;
  behind_ = std::max(behind_, other.behind_);
  return *this;
}

void SharedQueues::check(const std::vector<std::uint64_t>& left, Findings& findings) const {
  if (!on_) return;
  findings.add(wrong_slots_, "records of transmit queues with another slot than the next");
  findings.add(wrong_ports_, "records of transmit queues with a port that there is not");
  for (std::size_t p = 0; p < left.size(); ++p) {
    if (told_[p] > left[p])
      findings.add("records tell of " + std::to_string(told_[p]) + " frames by port " +
                   std::to_string(p) + ", by which " + std::to_string(left[p]) + " left");
  }
}

void SharedQueues::write(JsonWriter& json) const {
  if (!on_) return;
  const auto merged = std::ranges::count_if(
      arrived_, [](const Arrived& queue) { return std::popcount(queue.ports) > 1; });
  json.object("shared_queues")
      .field("moves", moves_)
      .field("port_changes", changes_)
      .field("rx_queues_of_several_ports", static_cast<std::uint64_t>(merged))
      .field("rx_behind_ns_most", static_cast<double>(behind_) / kNanosecond);
  json.array("told");
  for (const std::uint64_t frames : told_) json.value(frames);
  json.end_array().end_object();
}

}  // namespace emery::host_nic
