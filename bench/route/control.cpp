// SPDX-License-Identifier: Apache-2.0
#include "bench/route/control.hpp"

#include <algorithm>
#include <optional>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery::route {
namespace {

constexpr std::size_t kIcmpHeader = 8;
constexpr std::size_t kMostOfError = 576;
constexpr std::uint8_t kTimeToLive = 64, kNetworkControl = 0xc0;
enum Type : unsigned { kEchoReply = 0, kUnreachable = 3, kEcho = 8, kExpired = 11, kProblem = 12 };
enum Code : unsigned { kNetwork = 0, kProtocol = 2, kPort = 3, kSourceRoute = 5 };

using Bytes = std::span<const std::uint8_t>;

void put(std::span<std::uint8_t> to, std::size_t at, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    to[at + i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}
/// 0 over bytes that hold their right checksum.
unsigned checksum(Bytes bytes) { return emery::checksum(sum16(bytes)); }

std::size_t header_bytes(Bytes ip) { return 4u * (ip[0] & 15u); }
/// The packet of a frame without what pads it; its header was found good.
Bytes packet_of(Bytes frame) {
  const Bytes ip = frame.subspan(kEthBytes);
  return ip.first(std::min<std::size_t>(ip.size(), get16(&ip[2])));
}

/// Where options make no sense, or lead on from here (RFC 791); nothing when neither.
struct Option {
  std::uint8_t at;
  bool leads_on;
};
std::optional<Option> find_trouble(Bytes header) {
  for (std::size_t at = kIp4Bytes; at < header.size();) {
    const std::uint8_t kind = header[at];
    if (kind == 0) return std::nullopt;
    if (kind == 1) {
      ++at;
      continue;
    }
    const auto here = static_cast<std::uint8_t>(at);
    if (at + 1 >= header.size()) return Option{here, false};
    const std::size_t length = header[at + 1];
    if (length < 2 || at + length > header.size())
      return Option{static_cast<std::uint8_t>(at + 1), false};
    if (kind == 131 || kind == 137) {  // loose, strict source route
      if (length < 3 || header[at + 2] < 4) return Option{static_cast<std::uint8_t>(at + 2), false};
      if (header[at + 2] <= length) return Option{here, true};
    }
    at += length;
  }
  return std::nullopt;
}

/// RFC 792, 950, 1256: those that an error may be about. What is unknown may be an error itself.
bool query(std::uint8_t type) {
  constexpr std::uint8_t kQueries[] = {0, 8, 9, 10, 13, 14, 15, 16, 17, 18};
  return std::ranges::find(kQueries, type) != std::end(kQueries);
}

}  // namespace

Control::Control(const ControlConfig& config, const RouteTrie& routes)
    : config_(config), routes_(routes), tokens_(config.burst) {}

bool Control::owns(std::uint32_t address) const {
  return address != 0 && std::ranges::find(config_.addresses, address) != config_.addresses.end();
}

Control::Answer Control::none(const char* why) {
  silent(why);
  return {};
}

Control::Answer Control::about(std::string_view drop, Bytes frame, unsigned from, Time now) {
  if (!on()) return {};
  if (drop == "not_ip") {
    return get16(&frame[12]) == kTypeArp ? arp(frame, from) : Answer{};
  }
  if (drop == "ttl") return error(frame, kExpired, 0, 0, "time_exceeded", now);
  if (drop == "no_route") return error(frame, kUnreachable, kNetwork, 0, "no_route", now);
  if (drop == "own_address") return local(frame, now);
  return {};
}

Control::Answer Control::arp(Bytes frame, unsigned from) {
  constexpr std::size_t kArp = 28;
  const Bytes arp = frame.subspan(kEthBytes);
  if (arp.size() < kArp || get16(&arp[0]) != 1 || get16(&arp[2]) != kTypeIp4 || arp[4] != 6 ||
      arp[5] != 4)
    return none("arp_malformed");
  if (get16(&arp[6]) != 1) return none("arp_no_request");
  const std::uint64_t asker = get48(&arp[8]);
  const std::uint32_t address = get32(&arp[14]), wanted = get32(&arp[24]);
  if ((asker >> 40 & 1) != 0 || asker == 0) return none("arp_malformed");
  if (owns(address)) return none("arp_conflict");
  if (wanted == 0 || wanted != config_.addresses[from]) return none("arp_for_others");
  Answer answer;
  answer.port = from;
  answer.kind = "arp";
  answer.frame.resize(kMinFrame);
  const std::span<std::uint8_t> out = answer.frame;
  put(out, 0, asker, 6);
  put(out, 6, config_.own_mac[from], 6);
  put(out, 12, kTypeArp, 2);
  std::copy_n(arp.begin(), 6, out.begin() + kEthBytes);
  put(out, kEthBytes + 6, 2, 2);
  put(out, kEthBytes + 8, config_.own_mac[from], 6);
  put(out, kEthBytes + 14, wanted, 4);
  put(out, kEthBytes + 18, asker, 6);
  put(out, kEthBytes + 24, address, 4);
  return answer;
}

Control::Answer Control::local(Bytes frame, Time now) {
  const Bytes ip = packet_of(frame);
  const std::size_t header = header_bytes(ip);
  if ((get16(&ip[6]) & 0x3fff) != 0) return none("fragment");
  if (const auto option = find_trouble(ip.first(header))) {
    return option->leads_on
               ? error(frame, kUnreachable, kSourceRoute, 0, "source_route_failed", now)
               : error(frame, kProblem, 0, option->at, "parameter_problem", now);
  }
  if (ip[9] == kUdp) return error(frame, kUnreachable, kPort, 0, "port_unreachable", now);
  if (ip[9] != kIcmp) return error(frame, kUnreachable, kProtocol, 0, "protocol_unreachable", now);
  const Bytes icmp = ip.subspan(header);
  if (icmp.size() < kIcmpHeader) return none("icmp_short");
  if (checksum(icmp) != 0) return none("icmp_checksum");
  if (icmp[0] != kEcho) return none("icmp_no_echo");
  return echo(frame);
}

// A packet of the router's own to an address, its ICMP message not yet in it; none where no route
// leads.
Control::Answer Control::packet(std::uint32_t to, std::uint32_t source, std::uint8_t tos,
                                std::size_t icmp_bytes, const char* kind) {
  const auto port = routes_.find(to);
  if (!port) return none("no_way_back");
  if (source == 0) source = config_.addresses[*port];
  if (source == 0) source = *std::ranges::max_element(config_.addresses);
  Answer answer;
  answer.port = *port;
  answer.kind = kind;
  answer.frame.resize(std::max<std::size_t>(kMinFrame, kEthBytes + kIp4Bytes + icmp_bytes));
  const std::span<std::uint8_t> out = answer.frame;
  put(out, 0, config_.next_hop[*port], 6);
  put(out, 6, config_.own_mac[*port], 6);
  put(out, 12, kTypeIp4, 2);
  const auto ip = out.subspan(kEthBytes);
  ip[0] = 0x45;
  ip[1] = tos;
  put(ip, 2, kIp4Bytes + icmp_bytes, 2);
  put(ip, 4, identification_++, 2);
  ip[8] = kTimeToLive;
  ip[9] = kIcmp;
  put(ip, 12, source, 4);
  put(ip, 16, to, 4);
  put(ip, 10, checksum(ip.first(kIp4Bytes)), 2);
  return answer;
}

void Control::finish(Answer& answer) {
  const auto ip = std::span(answer.frame).subspan(kEthBytes);
  const auto icmp = ip.subspan(kIp4Bytes, get16(&ip[2]) - kIp4Bytes);
  put(icmp, 2, 0, 2);
  put(icmp, 2, checksum(icmp), 2);
}

// RFC 1812, 4.3.3.6: from the address that was asked, as the request was served.
Control::Answer Control::echo(Bytes frame) {
  const Bytes ip = packet_of(frame), icmp = ip.subspan(header_bytes(ip));
  const std::uint32_t asker = get32(&ip[12]);
  if (owns(asker)) return none("own_source");
  Answer answer = packet(asker, get32(&ip[16]), ip[1], icmp.size(), "echo");
  if (answer.frame.empty()) return answer;
  const auto out = std::span(answer.frame).subspan(kEthBytes + kIp4Bytes);
  std::ranges::copy(icmp, out.begin());
  out[0] = kEchoReply;
  finish(answer);
  return answer;
}

// Why no error is sent about a packet (RFC 1812, 4.3.2.7), or null. Packets that fail a check of
// their header, and those from and to addresses that no host has, do not come here.
const char* Control::quiet_about(Bytes frame) const {
  const Bytes ip = packet_of(frame);
  if ((frame[0] & 1) != 0) return "group";
  if ((get16(&ip[6]) & 0x1fff) != 0) return "later_fragment";
  if (owns(get32(&ip[12]))) return "own_source";
  if (ip[9] != kIcmp) return nullptr;
  const std::size_t header = header_bytes(ip);
  return ip.size() > header && query(ip[header]) ? nullptr : "about_error";
}

bool Control::within_rate(Time now) {
  const double seconds = static_cast<double>(now - counted_) / 1e12;
  tokens_ = std::min<double>(config_.burst, tokens_ + seconds * config_.errors_per_second);
  counted_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

Control::Answer Control::error(Bytes frame, unsigned type, unsigned code, std::uint8_t pointer,
                               const char* kind, Time now) {
  if (const char* why = quiet_about(frame)) return none(why);
  const Bytes ip = packet_of(frame);
  const std::size_t most = std::min<std::size_t>(kMostOfError, config_.mtu);
  const Bytes quote = ip.first(std::min(ip.size(), most - kIp4Bytes - kIcmpHeader));
  if (!routes_.find(get32(&ip[12]))) return none("no_way_back");
  if (!within_rate(now)) return none("rate");
  Answer answer = packet(get32(&ip[12]), 0, kNetworkControl, kIcmpHeader + quote.size(), kind);
  const auto icmp = std::span(answer.frame).subspan(kEthBytes + kIp4Bytes);
  icmp[0] = static_cast<std::uint8_t>(type);
  icmp[1] = static_cast<std::uint8_t>(code);
  icmp[4] = pointer;
  std::ranges::copy(quote, icmp.begin() + kIcmpHeader);
  finish(answer);
  return answer;
}

void Control::write_json(JsonWriter& json) const {
  for (const auto& [name, counts] :
       {std::pair("answered", &answered_), std::pair("unanswered", &unanswered_)}) {
    json.object(name);
    for (const auto& [kind, count] : *counts) json.field(kind.c_str(), count);
    json.end_object();
  }
}

}  // namespace emery::route
