// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/linux/network.hpp"

#include <string>
#include <utility>

#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {
namespace {

constexpr Time kFibre = 10 * kNanosecond;

EthernetSwitch::Config of_switch(const Options& options) {
  EthernetSwitch::Config config;
  config.rate = line_rate(options);
  config.latency = options.get<Time>("switch_latency_ns") * kNanosecond;
  config.queue_bytes = options.get<std::uint64_t>("switch_queue_bytes");
  config.ageing = options.get<Time>("switch_ageing_ms") * 1000 * kMicrosecond;
  return config;
}

}  // namespace

Network::Network(const Options& options, Simulation& simulation, const Cards& cards,
                 std::function<Time(Time)> calendar)
    : rate_(line_rate(options)), calendar_(std::move(calendar)) {
  const auto count = static_cast<unsigned>(cards.size());
  const bool through_a_switch = options.get("switch", false);
  if (const std::string path = options.get("capture", ""); !path.empty())
    capture_.emplace(std::vector<std::string>{path}, Output::Order::kByTime);
  if (const std::string path = options.get("trace", ""); !path.empty()) {
    trace_.emplace(path, options.get<std::uint32_t>("trace_bytes"), count, through_a_switch,
                   calendar_);
    for (unsigned i = 0; i < count; ++i) {
      cards[i]->host.root.observe(&trace_->memory_of(i, cards[i]->memory));
      cards[i]->port.rx.on_receiving(
          [this, i](const Frame&, WireFault, Time started, Time arrives) {
            trace_->receiving(i, started, arrives);
          });
    }
  }
  const auto leaves = [this](unsigned card, std::span<const std::uint8_t> bytes, Time arrived) {
    left(card, bytes, arrived);
  };
  if (through_a_switch) {
    switch_.emplace(simulation, of_switch(options), calendar_);
    for (const auto& card : cards) switch_->join(*card);
    switch_->on_frame(leaves);
    switch_->on_copy([this](const EthernetSwitch::Copy& x) {
      trace(x.from, x.to, x.bytes, x.arrived, x.dropped ? "switch_queue_full" : "");
    });
  } else if (count == 2) {
    const auto crosses = [this](unsigned from, std::span<const std::uint8_t> bytes, Time arrived) {
      left(from, bytes, arrived);
      trace(from, 1 - from, bytes, arrived, "");
    };
    wire_.emplace(simulation, rate_, kFibre, *cards[0], *cards[1], crosses);
  } else {
    for (unsigned i = 0; i < count; ++i)
      cards[i]->on_transmitted([leaves, i](std::span<const std::uint8_t> bytes, Time arrived) {
        leaves(i, bytes, arrived);
      });
  }
}

void Network::left(unsigned card, std::span<const std::uint8_t> bytes, Time arrived) {
  if (on_left) on_left(card);
  if (capture_) capture_->write(calendar_(arrived), bytes);
}

void Network::trace(unsigned from, unsigned to, std::span<const std::uint8_t> bytes, Time arrived,
                    const char* dropped) {
  if (!trace_) return;
  const Time took = LineClock(rate_).after(kPreambleBytes + bytes.size() + kFcsBytes);
  trace_->sent(from, to, bytes, arrived - took - MacConfig{}.propagation, arrived, dropped);
}

std::size_t Network::under_way() const {
  return wire_ ? wire_->under_way(0) + wire_->under_way(1) : switch_ ? switch_->under_way() : 0;
}

void Network::close() {
  if (capture_) capture_->close();
  if (trace_) trace_->close();
}

void Network::check(Findings& findings) const {
  if (trace_) trace_->check(findings);
}

void Network::write(JsonWriter& json) const {
  if (!switch_) return;
  json.key("switch");
  switch_->write(json);
}

}  // namespace emery::host_nic
