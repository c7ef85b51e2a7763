// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/accounts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/stats/histogram.hpp"
#include "direct_router.h"

namespace emery::direct_router {
namespace {

using Counter = std::pair<const char*, std::size_t>;
constexpr std::uint64_t kLeastWords = 9;  // of a frame in a FIFO: 60 bytes and its header
constexpr std::size_t kQueue = offsetof(direct_router_t, tables.queue);
#define EMERY_REG(name) offsetof(card_regs_t, name)

constexpr Counter kCounters[] = {
    {"rx_frames", EMERY_REG(rx_frames)},
    {"requests", EMERY_REG(sched_requests)},
    {"responses", EMERY_REG(sched_responses)},
    {"bursts", EMERY_REG(sched_bursts)},
    {"empty_bursts", EMERY_REG(sched_empty)},
    {"null_requests", EMERY_REG(sched_null)},
    {"packets", EMERY_REG(sched_packets)},
    {"packets_received", EMERY_REG(sched_packets_received)},
    {"discarded", EMERY_REG(sched_discarded)},
    {"request_timeouts", EMERY_REG(sched_request_timeout)},
    {"burst_timeouts", EMERY_REG(sched_burst_timeout)},
    {"aborted", EMERY_REG(sched_aborted)},
    {"stale_responses", EMERY_REG(sched_stale_res)},
    {"stale_bursts", EMERY_REG(sched_stale_burst)},
    {"malformed", EMERY_REG(sched_malformed)},
    {"slow_rx_frames", EMERY_REG(slow_rx_frames)},
    {"slow_rx_too_long", EMERY_REG(slow_rx_too_long)},
    {"slow_rx_bus_error", EMERY_REG(slow_rx_bus_error)},
    {"slow_tx_frames", EMERY_REG(slow_tx_frames)},
    {"slow_tx_bad", EMERY_REG(slow_tx_bad)},
    {"slow_tx_bus_error", EMERY_REG(slow_tx_bus_error)},
    {"tx_fast_frames", EMERY_REG(tx_fast_frames)},
    {"tx_slow_frames", EMERY_REG(tx_slow_frames)},
    {"tx_overflow", EMERY_REG(tx_overflow)},
    {"no_slow_path", EMERY_REG(slow_none)},
    {"bad_writes", EMERY_REG(bus_bad_write)},
    {"master_aborts", EMERY_REG(bus_master_abort)},
    {"retries", EMERY_REG(bus_retry)},
    {"out_fast_max", EMERY_REG(out_fast_max)},
    {"out_slow_max", EMERY_REG(out_slow_max)},
};
constexpr Counter kDrops[] = {
    {"bad_fcs", EMERY_REG(rx_bad_fcs)},     {"runt", EMERY_REG(rx_runt)},
    {"oversize", EMERY_REG(rx_oversize)},   {"disabled", EMERY_REG(rx_disabled)},
    {"header", EMERY_REG(drop_header)},     {"checksum", EMERY_REG(drop_checksum)},
    {"ttl", EMERY_REG(drop_ttl)},           {"no_route", EMERY_REG(drop_no_route)},
    {"not_ours", EMERY_REG(drop_not_ours)}, {"no_slow_path", EMERY_REG(slow_none)},
};

}  // namespace

void Accounts::end_of_traffic(Time traffic) {
  traffic_ = traffic;
  for (unsigned out = 0; out < config_.cards; ++out) {
    for (const int s : crossings_.to(out)) delivered_by_end_[s] = score_.counts(s).delivered;
  }
}

std::uint64_t Accounts::by_end(int stream) const {
  const auto it = delivered_by_end_.find(stream);
  return it == delivered_by_end_.end() ? 0 : it->second;
}

// Whether a queue of that class holds frames of that kind.
bool Accounts::of_class(unsigned kind, unsigned cls) const {
  if (!by_class_ || !config_.qos) return true;
  return cls == (kind == 0 ? 0 : config_.classes - 1);
}

std::vector<int> Accounts::from(unsigned in, unsigned out, unsigned cls) const {
  std::vector<int> found;
  for (unsigned kind = 0; kind < crossings_.kinds(); ++kind) {
    const int s = crossings_.find(in, out, kind);
    if (s >= 0 && of_class(kind, cls)) found.push_back(s);
  }
  return found;
}

// To all outputs and to none; cls -1: of all classes.
std::vector<int> Accounts::from(unsigned in, int cls) const {
  std::vector<int> found;
  for (unsigned out = 0; out < config_.cards; ++out) {
    for (unsigned kind = 0; kind < crossings_.kinds(); ++kind) {
      const int s = crossings_.find(in, out, kind);
      if (s >= 0 && (cls < 0 || of_class(kind, static_cast<unsigned>(cls)))) found.push_back(s);
    }
  }
  if (crossings_.find_to_router(in) >= 0) found.push_back(crossings_.find_to_router(in));
  if (crossings_.drop_stream(in) >= 0) found.push_back(crossings_.drop_stream(in));
  return found;
}

// What is missing to or from a lost card may as well have gone with it: those come last.
void Accounts::drop(std::vector<int> streams, const std::string& reason, std::uint64_t count) {
  std::ranges::stable_partition(streams, [&](int s) { return std::ranges::count(gone_, s) == 0; });
  crossings_.dropped(streams, reason, count, findings_);
}

Accounts::Queue Accounts::read_queue(Host& host, unsigned card, unsigned dest, unsigned cls) {
  const std::size_t at = kQueue + (4 * dest + cls) * sizeof(queue_regs_t);
  Queue queue;
  queue.dropped = host.read(card, at + offsetof(queue_regs_t, dropped));
  queue.words = host.read(card, at + offsetof(queue_regs_t, words));
  queue_max_[card].push_back(host.read(card, at + offsetof(queue_regs_t, max)));
  return queue;
}

std::int64_t Accounts::unexplained(Host& host, unsigned in, unsigned out) const {
  if (in == out) return 0;
  std::int64_t frames = 0;
  for (unsigned k = 0; k < config_.classes; ++k) {
    const std::size_t at = kQueue + (4 * CardRoutes::peer(in, out) + k) * sizeof(queue_regs_t);
    frames += host.read(in, at + offsetof(queue_regs_t, dropped));
  }
  for (unsigned kind = 0; kind < crossings_.kinds(); ++kind) {
    const int s = crossings_.find(in, out, kind);
    if (s >= 0) frames -= static_cast<std::int64_t>(crossings_.missing(s));
  }
  return frames;
}

std::int64_t Accounts::unexplained(const Host& host, unsigned in, const std::string& reason) const {
  const auto count = [&](const std::map<std::string, std::uint64_t>& by_reason) {
    const auto it = by_reason.find(reason);
    return it == by_reason.end() ? 0 : static_cast<std::int64_t>(it->second);
  };
  return count(host.drops(in)) - count(crossings_.expected(in));
}

// Frames that an output has thrown away, of inputs that it does not tell apart: what an input with
// an empty FIFO misses was thrown away, so those come first.
void Accounts::settle_output(unsigned out, const char* reason, std::uint64_t count) {
  std::vector<int> streams, behind;
  for (const int s : crossings_.to(out)) {
    const bool waits = std::any_of(queues_.begin(), queues_.end(), [&](const Queue& queue) {
      return queue.words != 0 && std::count(queue.streams.begin(), queue.streams.end(), s) != 0;
    });
    (waits ? behind : streams).push_back(s);
  }
  streams.insert(streams.end(), behind.begin(), behind.end());
  drop(streams, reason, count);
}

// What still waits in a FIFO for someone who does not take it.
void Accounts::settle_stranded() {
  for (const Queue& queue : queues_) {
    std::uint64_t waiting = 0;
    for (const int s : queue.streams) waiting += crossings_.missing(s);
    drop(queue.streams, "stranded", std::min(waiting, queue.words / kLeastWords));
  }
}

// What the port was to drop, and what was dropped for no good reason.
void Accounts::settle_drops(unsigned card) {
  for (const auto& [reason, count] : drops_[card])
    crossings_.dropped(card, reason, count, findings_);
}

// What the host would have dropped, a card without it drops for want of a slow path.
void Accounts::expect_for_host(unsigned card) {
  std::uint64_t for_host = 0;
  for (const auto& [reason, count] : crossings_.expected(card)) {
    const std::uint64_t dropped = drops_[card][reason];
    if (reason != "no_slow_path" && count > dropped) for_host += count - dropped;
  }
  crossings_.expect(card, "no_slow_path", for_host);
}

void Accounts::collect_card(Host& host, unsigned c) {
  for (const auto& [name, offset] : kCounters) counters_[c][name] = host.read(c, offset);
  for (const auto& [name, offset] : kDrops) drops_[c][name] += host.read(c, offset);
  if (config_.table_memory) counters_[c]["lpm_lost"] = host.read(c, EMERY_REG(lpm_lost));
  for (const auto& [name, count] : host.drops(c)) drops_[c][name] += count;

  // Input FIFOs: those to a peer hold one way's frames (or one a class), the slow path's any.
  const auto any = from(c, -1);
  std::vector<std::uint64_t> slow_dropped;
  for (unsigned n = 0; n < config_.cards; ++n) {
    const bool peer = n + 1 < config_.cards;
    for (unsigned k = 0; k < config_.classes; ++k) {
      Queue queue = read_queue(host, c, peer ? n : host.slow_destination(), k);
      queue.streams = peer ? from(c, CardRoutes::card(c, n), k) : any;
      if (peer) {
        drop(queue.streams, "input_fifo_full", queue.dropped);
      } else {
        slow_dropped.push_back(queue.dropped);
      }
      queues_.push_back(queue);
    }
  }

  if (!config_.slow_path) expect_for_host(c);
  settle_drops(c);
  for (unsigned to = 0; to < config_.cards; ++to) {
    std::vector<int> streams;
    for (unsigned kind = 0; kind < crossings_.kinds(); ++kind) {
      if (const int s = crossings_.find(c, to, kind); s >= 0) streams.push_back(s);
    }
    for (const auto& [reason, count] : host.refused(c, to)) drop(streams, reason, count);
  }
  for (unsigned k = 0; k < config_.classes; ++k)
    drop(from(c, static_cast<int>(k)), "slow_fifo_full", slow_dropped[k]);
  drop(any, "rx_fifo_full", host.read(c, EMERY_REG(rx_fifo_full)));
  drop(any, "too_long", counters_[c]["slow_rx_too_long"]);
  if (const auto restarts = host.restarts(c)) {
    counters_[c]["nic_queues_restarted"] = restarts->queues;
    counters_[c]["nic_completion_errors"] = restarts->errors;
  }
  for (const auto& [reason, transmit, frames] : host.lost(c)) {
    counters_[c][reason] = frames;
    if (!transmit) drop(any, reason, frames);
  }
}

void Accounts::collect(Host& host, const std::optional<CardFaults::Lost>& lost) {
  const auto alive = [&](unsigned c) { return !lost || c != lost->card; };
  if (lost) {
    gone_ = from(lost->card, -1);
    const std::vector<int>& to = crossings_.to(lost->card);
    gone_.insert(gone_.end(), to.begin(), to.end());
  }
  for (unsigned c = 0; c < config_.cards; ++c) {
    if (alive(c)) collect_card(host, c);
  }
  for (unsigned c = 0; c < config_.cards; ++c) {
    if (!alive(c)) continue;
    settle_output(c, "discarded", counters_[c]["discarded"]);
    settle_output(c, "tx_error", counters_[c]["slow_tx_bad"] + counters_[c]["slow_tx_bus_error"]);
    settle_output(c, "tx_error", counters_[c]["nic_tx_errors"]);
  }
  settle_stranded();
  crossings_.settle();
  for (const int s : gone_) score_.dropped(s, lost->reason, crossings_.missing(s));
}

std::uint64_t Accounts::sum(const std::string& counter) const {
  std::uint64_t total = 0;
  for (const auto& counters : counters_) {
    const auto it = counters.find(counter);
    if (it != counters.end()) total += it->second;
  }
  return total;
}

double Accounts::jain() const {
  std::vector<double> got;
  for (unsigned out = 0; out < config_.cards; ++out) {
    // A line that is asked for more than it has cannot give it to anyone.
    const double room = static_cast<double>(traffic_) / static_cast<double>(asked_[out]);
    for (unsigned in = 0; in < config_.cards; ++in) {
      std::uint64_t frames = 0, offered = 0;
      for (unsigned kind = 0; kind < crossings_.kinds(); ++kind) {
        const int s = crossings_.find(in, out, kind);
        if (s < 0) continue;
        frames += by_end(s);
        offered += score_.counts(s).offered;
      }
      if (offered == 0) continue;
      got.push_back(static_cast<double>(frames) /
                    (static_cast<double>(offered) * std::min(1.0, room)));
    }
  }
  double sum = 0, squares = 0;
  for (const double x : got) sum += x, squares += x * x;
  // Not above 1 by what rounding adds.
  return squares > 0 ? std::min(1.0, sum * sum / (static_cast<double>(got.size()) * squares)) : 1;
}

void Accounts::write_classes(JsonWriter& json, double seconds) const {
  for (unsigned kind = 0; by_class_ && kind < crossings_.kinds(); ++kind) {
    Scoreboard::Counts sum;
    Histogram latency;
    std::uint64_t ended = 0;
    for (unsigned in = 0; in < config_.cards; ++in) {
      for (unsigned out = 0; out < config_.cards; ++out) {
        const int s = crossings_.find(in, out, kind);
        if (s < 0) continue;
        sum += score_.counts(s);
        latency.merge(score_.latency(s));
        ended += by_end(s);
      }
    }
    const auto offered = static_cast<double>(sum.offered);
    json.object(kind == 0 ? "high" : "low")
        .field("offered", sum.offered)
        .field("delivered", sum.delivered)
        .field("dropped", sum.dropped_total())
        .field("mpps", static_cast<double>(ended) / seconds / 1e6)
        .field("offered_mpps", offered / seconds / 1e6)
        .field("lost_share",
               offered > 0 ? static_cast<double>(sum.dropped_total()) / offered : 0.0);
    json.key("latency_ns");
    latency.write_ns(json);
    json.end_object();
  }
}

void Accounts::write_card(JsonWriter& json, unsigned card) const {
  for (const auto& [name, count] : counters_[card]) json.field(name, count);
  json.array("queue_max");
  for (const std::uint64_t words : queue_max_[card]) json.value(words);
  json.end_array();
}

}  // namespace emery::direct_router
