// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/host.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery::tile_router {
namespace {

constexpr unsigned kMtu = 1500;
constexpr std::size_t kNumberAt = 18, kChecksumAt = 24;

bool is_ip(std::span<const std::uint8_t> frame) { return get16(&frame[12]) == kTypeIp4; }

/// Whether the control tile is asked about a frame dropped for that reason.
bool answered(std::string_view drop, std::span<const std::uint8_t> frame) {
  if (drop == "not_ip") return get16(&frame[12]) == kTypeArp;
  return drop == "ttl" || drop == "no_route" || drop == "own_address";
}

/// Those that ICMP errors are limited by.
bool is_error(std::string_view kind) { return kind != "arp" && kind != "echo"; }

}  // namespace

route::ControlConfig Host::config(const BootImage& image) {
  route::ControlConfig c{
      {}, {}, {}, kMtu, std::numeric_limits<double>::max(), std::numeric_limits<unsigned>::max()};
  for (std::size_t p = 0; p < image.hosts.size(); ++p) {
    c.addresses.push_back(image.hosts[p].address);
    c.own_mac.push_back(image.linecards[p].mac);
    c.next_hop.push_back(image.hosts[p].next_hop);
  }
  return c;
}

Host::Host(const Options& options, const BootImage& image, const route::Routes& routes)
    : trie_(routes),
      control_(config(image), trie_),
      rate_(options.get<double>("icmp_rate")),
      burst_(options.get<unsigned>("icmp_burst")) {}

void Host::asked(const char* drop, std::span<const std::uint8_t> frame, unsigned port, Time now) {
  if (!control_.on() || !answered(drop, frame)) return;
  ++asked_;
  const route::Control::Answer answer = control_.about(drop, frame, port, now);
  if (answer.frame.empty()) return;
  control_.sent(answer.kind);
  Bytes key = answer.frame;
  if (is_ip(key)) put16(&key[kNumberAt], 0), put16(&key[kChecksumAt], 0);
  Due& due = due_[{answer.port, std::move(key)}];
  due.kind = answer.kind;
  due.since.push_back(now);
}

std::optional<Time> Host::said(unsigned port, std::span<const std::uint8_t> frame) {
  if (!control_.on() || frame.size() < kMinFrame) return std::nullopt;
  Bytes key(frame.begin(), frame.end());
  const bool ip = is_ip(key);
  if (ip && checksum(sum16(frame.subspan(kEthBytes, kIp4Bytes))) != 0) return std::nullopt;
  if (ip) put16(&key[kNumberAt], 0), put16(&key[kChecksumAt], 0);
  const auto found = due_.find({port, std::move(key)});
  if (found == due_.end() || found->second.since.empty()) return std::nullopt;
  const Time since = found->second.since.front();
  found->second.since.pop_front();
  ++said_[found->second.kind];
  ++answers_;
  if (ip) ++numbers_[get16(&frame[kNumberAt])];
  return since;
}

bool Host::settled(const Counters& counters) const {
  if (!control_.on()) return true;
  const std::uint64_t answers = counters.sum_of("answered_"), taken = counters.sum("to_control");
  return taken + counters.sum("control_busy") == asked_ &&
         taken == answers + counters.sum_of("unanswered_") && answers == answers_;
}

void Host::account(const Counters& counters, Time now, Findings& findings) const {
  if (!control_.on()) return;
  const auto differ = [&](const std::string& what, std::uint64_t have, std::uint64_t want) {
    findings.add("control: " + what + ": " + std::to_string(have) + ", expected " +
                 std::to_string(want));
  };
  const std::uint64_t busy = counters.sum("control_busy"), taken = counters.sum("to_control"),
                      rate = counters.sum("unanswered_rate"),
                      queue = counters.sum("unanswered_queue");
  const std::uint64_t answers = counters.sum_of("answered_");
  if (taken + busy != asked_) differ("packets it was asked about", taken + busy, asked_);
  if (answers + counters.sum_of("unanswered_") != taken)
    differ("answers and none", answers + counters.sum_of("unanswered_"), taken);
  std::uint64_t errors = 0, due = 0;
  for (const auto& [kind, most] : control_.answered()) {
    const std::uint64_t count = counters.sum("answered_" + kind);
    const auto seen = said_.find(kind);
    if (const std::uint64_t n = seen == said_.end() ? 0 : seen->second; n != count)
      differ("answers (" + kind + ") that came out", n, count);
    if (count > most) differ("answers (" + kind + ")", count, most);
    if (is_error(kind)) errors += count;
    due += most;
  }
  if (busy == 0 && answers + rate + queue != due) differ("answers", answers + rate + queue, due);
  for (const auto& [why, most] : control_.unanswered()) {
    const std::uint64_t count = counters.sum("unanswered_" + why);
    if (count > most || (busy == 0 && count != most)) differ("none for " + why, count, most);
  }
  const double allowed = burst_ + rate_ * (static_cast<double>(now) / 1e12) + 1;
  if (static_cast<double>(errors) > allowed)
    differ("ICMP errors", errors, static_cast<std::uint64_t>(allowed));
  for (const auto& [number, count] : numbers_) {
    const std::uint64_t all = answers_ + queue;
    const std::uint64_t most = all > number ? (all - number + 0xffff) / 0x10000 : 0;
    if (count > most) differ("packets of number " + std::to_string(number), count, most);
  }
}

}  // namespace emery::tile_router
