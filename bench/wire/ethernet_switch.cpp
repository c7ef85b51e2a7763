// SPDX-License-Identifier: Apache-2.0
#include "bench/wire/ethernet_switch.hpp"

#include <algorithm>
#include <utility>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"

namespace emery {
namespace {

constexpr std::uint64_t kGroup = std::uint64_t{1} << 40;  // of an address of 48 bits
constexpr std::uint64_t kReserved = 0x0180'c200'0000;     // with its last 4 bits

}  // namespace

EthernetSwitch::EthernetSwitch(Simulation& simulation, const Config& config,
                               std::function<Time(Time)> clock)
    : simulation_(simulation), config_(config), clock_(std::move(clock)) {
  if (!clock_) clock_ = [](Time time) { return time; };
}

std::size_t EthernetSwitch::under_way() const {
  std::size_t sum = 0;
  for (const auto& port : ports_) sum += port->held.size();
  return sum;
}

void EthernetSwitch::forget(Time now) {
  if (now - forgot_ < config_.ageing) return;
  forgot_ = now;
  std::erase_if(table_, [&](const auto& x) { return now - x.second.heard > config_.ageing; });
}

void EthernetSwitch::learn(std::uint64_t source, unsigned port, Time now) {
  if (source & kGroup) return;
  if (!table_.contains(source) && table_.size() >= config_.addresses) {
    ++not_learned_;
  } else {
    table_[source] = {port, now};
  }
}

void EthernetSwitch::forward(unsigned from, std::span<const std::uint8_t> bytes, Time arrived) {
  PortStats& stats = ports_[from]->stats;
  ++stats.in;
  if (on_frame_) on_frame_(from, bytes, arrived);
  const Time now = clock_(arrived);
  forget(now);
  const std::uint64_t to = get48(&bytes[0]);
  learn(get48(&bytes[6]), from, now);
  if ((to & ~std::uint64_t{15}) == kReserved) {
    ++stats.filtered;
    return;
  }
  const auto known = table_.find(to);
  if (known != table_.end() && now - known->second.heard <= config_.ageing) {
    if (known->second.port == from) {
      ++stats.filtered;
    } else {
      put(from, known->second.port, bytes, arrived);
    }
    return;
  }
  ++stats.flooded;
  for (unsigned port = 0; port < ports(); ++port)
    if (port != from) put(from, port, bytes, arrived);
}

void EthernetSwitch::put(unsigned from, unsigned to, std::span<const std::uint8_t> bytes,
                         Time arrived) {
  Port& port = *ports_[to];
  const Time ready = std::max(arrived + config_.latency, simulation_.now());
  while (!port.waiting.empty() && port.waiting.front().until <= ready) {
    port.waiting_bytes -= port.waiting.front().bytes;
    port.waiting.pop_front();
  }
  const auto size =
      static_cast<std::uint32_t>(std::max<std::size_t>(bytes.size(), kMinFrame)) + kFcsBytes;
  const bool waits = port.free > ready;
  const bool dropped = waits && port.waiting_bytes + size > config_.queue_bytes;
  if (on_copy_) on_copy_({from, to, bytes, arrived, dropped});
  if (dropped) {
    ++port.stats.dropped;
    return;
  }
  const Time start = std::max(ready, port.free);
  if (waits) {
    port.waiting.push_back({start, size});
    port.waiting_bytes += size;
    port.stats.most_bytes = std::max(port.stats.most_bytes, port.waiting_bytes);
  }
  LineClock line(config_.rate);
  port.free = start + line.after(size + kLineOverhead);
  port.held.push(bytes, start);
  ++port.stats.out;
}

void EthernetSwitch::write(JsonWriter& json) const {
  json.begin_object();
  json.field("addresses", addresses()).field("not_learned", not_learned_);
  json.array("ports");
  for (const auto& port : ports_) {
    const PortStats& x = port->stats;
    json.begin_object();
    json.field("frames_in", x.in).field("frames_out", x.out);
    json.field("flooded", x.flooded).field("filtered", x.filtered);
    json.field("dropped", x.dropped).field("most_waiting_bytes", x.most_bytes);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace emery
