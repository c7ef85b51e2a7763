// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/ptp_bench.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "sw/lib/host_nic/clock.h"
#include "systems/host_nic/drops.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {

namespace {

constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 500 * kMicrosecond;
constexpr Time kHalfPeriod = 1 * kMicrosecond;    // of the edges
constexpr std::uint64_t kSlaveAhead = 1'234'567;  // ns, at first
constexpr unsigned kMostOutstanding = 1024;
// Records, of messages that go on, which a CPU may take before it comes to a frame's.
constexpr Time kRounds = 2 * 64;
// With ptp, by system.toml.
constexpr const char* kRefused[] = {"bad_fcs_every",
                                    "coalescing_functions",
                                    "fault",
                                    "fault_frame",
                                    "fault_us",
                                    "function_filter",
                                    "function_reset_at_us",
                                    "function_vlans",
                                    "functions",
                                    "hostile_function",
                                    "hostile_reset_us",
                                    "interfaces",
                                    "mac_rx_ppm",
                                    "mac_tx_ppm",
                                    "migrate_us",
                                    "oversize_every",
                                    "queue_ports",
                                    "queue_rates",
                                    "reset_at_us",
                                    "reset_every_us",
                                    "reset_kind",
                                    "reset_us",
                                    "restart_every",
                                    "runt_every",
                                    "steered_flows",
                                    "tcp_cpus",
                                    "tcp_delay_us",
                                    "tcp_ns_per_kb",
                                    "tcp_ns_per_segment",
                                    "tcp_rto_us",
                                    "tcp_window_kb"};

}  // namespace

PtpBench::PtpBench(const Options& options)
    : Run(options, kStep,
          kQuiet + options.ns("ptp_residence_ns") + options.ns("ptp_cable_ns") +
              interrupt_hold(options) + kRounds * options.ns("cpu_ns_per_packet")),
      settings_(options),
      models_("host_nic", 2),
      workload_(options, line(options), 2),
      switch_crystal_(settings_.switch_ppb, settings_.wander_ppb,
                      options.get<std::uint64_t>("seed") * 3 + 2),
      clear_(std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues")) +
             64) {
  for (const char* setting : kRefused) options.get<std::string>(setting);
  DriverConfig driver = driver_config(options, workload_);
  driver.tx_queues = std::min(driver.tx_queues, options.get<unsigned>("tx_queues") - 1) + 1;
  // The first clock is that of core 0, by which a run's speed is told.
  std::vector<std::uint8_t*> lines{&models_[0].mac_rx_clk_i[0], &models_[1].mac_rx_clk_i[0]};
  const auto hz = mac_hz(port_gbps(options));
  const int line_clock = models_.add_clock(simulation_, "line", switch_crystal_.scaled(hz),
                                           Oscillator::kBillion, lines);
  switch_crystal_.follows(line_clock, hz);
  for (unsigned n = 0; n < 2; ++n) add_card(n, options, driver, line_clock);
  models_.open_waves(waves());
  switch_ =
      std::make_unique<BoundaryClock>(settings_, switch_crystal_, simulation_, line_rate(options));
  for (unsigned n = 0; n < 2; ++n) switch_->connect(n, card_[n]->port);
}

void PtpBench::add_card(unsigned n, const Options& options, DriverConfig driver, int line_clock) {
  card_.push_back(
      std::make_unique<PtpCard>(n, options, settings_, driver, models_, simulation_, line_clock));
  PtpCard& card = *card_.back();
  const auto direction = options.get<std::string>("direction");
  const bool sends = settings_.load && direction != (n == 0 ? "rx" : "tx");
  const auto plan = sends ? workload_.port(n) : std::nullopt;
  if (plan) {
    TrafficConfig own = *plan;
    own.train = options.get<unsigned>("train");
    own.source = static_cast<std::uint16_t>(n);
    stream_[n] = score_.stream(n == 0 ? "tx" : "rx");
    source_[n] = &add_source(own);
    output_[1 - n] = add_output("host" + std::to_string(1 - n) + ".pcap", Output::Order::kByTime);
  }
  card.on_rise = [this, n](Time now) { rose(n, now); };
  card.on_clock = [this, n](Time now) { feed(n, now); };
  card.on_frame = [this, n](const Received& r, Time now) {
    deliver(stream_[1 - n], r.frame, now, output_[n]);
  };
}

// As the driver model's user does: what is due, as far as rings and backlog allow.
void PtpBench::feed(unsigned n, Time now) {
  PtpCard& card = *card_[n];
  if (!running() || !source_[n]) return;
  while (card.driver.tx_outstanding() < kMostOutstanding &&
         card.driver.due() < card.host.root.mmio_room()) {
    const Frame* frame = source_[n]->due(now);
    if (!frame || !card.send(frame->flow % card.queues(), *frame)) return;
    offer(stream_[n], frame->bytes(), frame->flow, now);
    source_[n]->pop();
    moved();
  }
}

// The nearest edges of the two belong to each other.
void PtpBench::rose(unsigned n, Time now) {
  if (!running()) return;
  rises_[n].push_back(now);
  while (!rises_[0].empty() && !rises_[1].empty()) {
    const Time apart = rises_[0].front() - rises_[1].front();  // the second is ahead
    if (std::abs(apart) > kHalfPeriod) {
      rises_[apart > 0 ? 1 : 0].pop_front();
      continue;
    }
    rises_[0].pop_front();
    rises_[1].pop_front();
    if (edges_ == 0) least_ps_ = most_ps_ = apart;
    ++edges_;
    sum_ps_ += apart;
    least_ps_ = std::min(least_ps_, apart);
    most_ps_ = std::max(most_ps_, apart);
    ++offset_[(apart + (apart < 0 ? -1 : 1) * kNanosecond / 2) / kNanosecond];
  }
}

// ---- the run

void PtpBench::open() {
  std::vector<std::uint8_t*> resets;
  for (unsigned n = 0; n < 2; ++n) {
    Vhost_nic& model = models_[n];
    resets.insert(resets.end(), {&model.rst_i, &model.mac_tx_rst_i[0], &model.mac_rx_rst_i[0]});
  }
  models_.reset(simulation_, resets, 100 * kNanosecond);
  simulation_.run_for(clear_ * kCoreClock);
  for (const auto& card : card_) card->open();
  emnic* const slave = card_[1]->driver.core();
  emnic_clock_set(slave, emnic_time_ns(slave) + kSlaveAhead);
  for (const auto& card : card_) card->crystal.start(simulation_);
  switch_crystal_.start(simulation_);
  switch_->start();
  for (const auto& card : card_) card->begin();
  simulation_.run_for(settings_.settle);
  const std::uint64_t period = 2 * kHalfPeriod / kNanosecond;
  const std::uint64_t first = (emnic_time_ns(card_[0]->driver.core()) / period + 10) * period;
  for (const auto& card : card_)
    emnic_clock_output(card->driver.core(), first, kHalfPeriod / kNanosecond);
  simulation_.run_for(static_cast<Time>(12 * period) * kNanosecond);
}

bool PtpBench::offered() {
  return settings_.load ? sources_finished()
                        : simulation_.now() - traffic_start() >= settings_.measured;
}

double PtpBench::progress() const {
  if (settings_.load) return Run::progress();
  return std::min(1.0, static_cast<double>(simulation_.now() - traffic_start()) /
                           static_cast<double>(settings_.measured));
}

void PtpBench::account() {
  for (unsigned n = 0; n < 2; ++n) {
    if (stream_[n] < 0) continue;
    // Messages of PTP may be among what was dropped.
    const auto dropped = [&](const char* why, std::uint64_t frames) {
      if (const auto lost = std::min(frames, score_.missing(stream_[n])))
        score_.dropped(stream_[n], why, lost);
    };
    dropped("switch_full", switch_->dropped(n));
    for (const DropReason& reason : kReceiveDrops)
      dropped(reason.name, emnic_get_counter(card_[1 - n]->driver.core(), reason.counter, 0, 0));
  }
}

// Messages of PTP come and go as long as it runs.
bool PtpBench::at_rest() const { return true; }

void PtpBench::check(Findings& findings) const {
  for (const auto& card : card_) {
    card->host.check_rules(findings);
    findings.add(card->driver.error_count(), "errors of queues");
    card->driver.check(findings);
    findings.add(card->ptp.bad, "PTP messages that were not understood");
    card->port.stats().check(findings);
  }
  if (edges_ == 0) findings.add("the clocks were never compared");
  if (card_[1]->ptp.state != PTP_FOLLOWING) findings.add("the clock does not follow its master");
}

void PtpBench::write_offset(JsonWriter& json) const {
  const auto ns = [](std::int64_t ps) { return static_cast<double>(ps) / kNanosecond; };
  json.object("offset_ns").field("least", ns(least_ps_)).field("most", ns(most_ps_));
  json.field("mean", edges_ == 0 ? 0.0 : ns(sum_ps_) / static_cast<double>(edges_));
  json.field("farthest", ns(std::max(-least_ps_, most_ps_)));
  json.array("histogram");
  for (const auto& [value, count] : offset_) {
    json.begin_array();
    json.value(static_cast<double>(value)).value(count);
    json.end_array();
  }
  json.end_array().end_object();
}

void PtpBench::report(JsonWriter& json) const {
  json.object("ptp").field("edges", edges_);
  write_offset(json);
  json.key("switch");
  switch_->write(json);
  json.array("cards");
  for (const auto& card : card_) card->write(json);
  json.end_array().end_object();
}

}  // namespace emery::host_nic
