// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery {
namespace {

constexpr std::uint32_t kNumbers = 8;  // bytes of payload at the least
constexpr const char* kImix = "64:7+594:4+1518";
constexpr std::uint32_t kMostOfSize = 999;  // frames of a size in a round of a mix

/// Bytes before the payload of a frame; `transport`: the header of UDP or TCP.
std::uint32_t headers(bool ipv6, bool tagged, std::uint32_t transport = kUdpBytes) {
  return kEthBytes + (tagged ? kTagBytes : 0) + (ipv6 ? kIp6Bytes : kIp4Bytes) + transport;
}

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("traffic: " + what);
}

/// The header of an IPv4 packet; gives the sum over the pseudo header of UDP or TCP: both
/// addresses, the protocol, the length.
std::uint64_t put_ipv4(std::uint8_t* ip, const Flow& flow, std::uint32_t protocol,
                       std::uint32_t size, std::uint64_t number) {
  put16(ip, 0x4500u | flow.tos);
  put16(ip + 2, kIp4Bytes + size);
  put16(ip + 4, static_cast<std::uint32_t>(number));
  put16(ip + 6, 0x4000);  // don't fragment
  put16(ip + 8, 64 << 8 | protocol);
  put16(ip + 10, 0);
  put32(ip + 12, flow.src_ip);
  put32(ip + 16, flow.dst_ip);
  put16(ip + 10, checksum(sum16({ip, kIp4Bytes})));
  return sum16({ip + 12, 8}) + protocol + size;
}

/// The same for IPv6. Addresses are of fd00::/8, the IPv4 ones in their lower half; a flow has a
/// label of its own.
std::uint64_t put_ipv6(std::uint8_t* ip, const Flow& flow, std::uint32_t protocol,
                       std::uint32_t size) {
  put32(ip, 6u << 28 | std::uint32_t{flow.tos} << 20 | (flow.number & 0xfffff));
  put16(ip + 4, size);
  put16(ip + 6, protocol << 8 | 64);
  for (const auto& [at, address] : {std::pair{ip + 8, flow.src_ip}, {ip + 24, flow.dst_ip}}) {
    std::memset(at, 0, 16);
    at[0] = 0xfd;
    put32(at + 12, address);
  }
  return sum16({ip + 8, 32}) + protocol + size;
}

/// The next segment of a flow's stream, but for its checksum: all are acknowledgements too.
void put_tcp(std::uint8_t* tcp, const Flow& flow) {
  put32(tcp + 4, flow.sent);
  put32(tcp + 8, 1);
  put32(tcp + 12, 0x5010ffff);
  put32(tcp + 16, 0);
}

const std::string kSizes =
    std::to_string(kMinFrame + kFcsBytes) + " ... " + std::to_string(kMaxFrame + kFcsBytes);

bool valid_size(std::uint32_t size) {
  return size >= kMinFrame + kFcsBytes && size <= kMaxFrame + kFcsBytes;
}

}  // namespace

Sizes Sizes::parse(const std::string& text) {
  if (text == "imix") return parse(kImix);
  if (text == "random") return {Kind::kRange, 64, 1518};
  if (text == "rfc2544") return {Kind::kTurns, 64, 1518, {64, 128, 256, 512, 1024, 1280, 1518}};
  const auto number = [&](std::string_view part, std::uint32_t least, std::uint32_t most) {
    std::uint32_t value = 0;
    const char* const to = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), to, value);
    require(error == std::errc() && end == to && value >= least && value <= most,
            "size '" + text + "' is not " + kSizes + ", A-B, A:N+B:N, random, imix or rfc2544");
    return value;
  };
  const auto size = [&](std::string_view part) {
    return number(part, kMinFrame + kFcsBytes, kMaxFrame + kFcsBytes);
  };
  const std::string_view whole = text;
  if (const auto dash = whole.find('-'); dash != whole.npos) {
    const Sizes range{Kind::kRange, size(whole.substr(0, dash)), size(whole.substr(dash + 1))};
    require(range.low <= range.high, "size '" + text + "' runs backwards");
    return range;
  }
  if (whole.find('+') == whole.npos) return {Kind::kFixed, size(whole), size(whole)};
  Sizes mix{Kind::kMix};
  for (std::size_t from = 0, to = 0; to != whole.npos; from = to + 1) {
    to = whole.find('+', from);
    const std::string_view part = whole.substr(from, to == whole.npos ? to : to - from);
    const auto colon = part.find(':');
    const std::uint32_t n = colon == part.npos ? 1 : number(part.substr(colon + 1), 1, kMostOfSize);
    mix.round.insert(mix.round.end(), n, size(part.substr(0, colon)));
  }
  mix.low = std::ranges::min(mix.round);
  mix.high = std::ranges::max(mix.round);
  return mix;
}

double parse_rate(const std::string& text, double line_rate) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  double scale = unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : unit == "T" ? 1e12 : 0;
  if (unit.empty()) scale = line_rate;
  require(error == std::errc() && scale != 0 && value > 0,
          "rate '" + text + "' is not a fraction of the line rate or a number with k, M, G or T");
  require(value * scale <= line_rate * (1 + 1e-9), "rate '" + text + "' is above the line rate");
  return value * scale;
}

std::uint32_t TrafficConfig::longest() const {
  const std::uint32_t least = ipv6 > 0 ? headers(true, vlan > 0) + kNumbers : kMinFrame;
  return std::max(sizes.high - kFcsBytes, least);
}

Traffic::Traffic(TrafficConfig config)
    : config_(std::move(config)), random_(config_.seed * 0x10001 + config_.source) {
  const auto arrive = [this] {
    arrivals_.emplace(config_.arrivals, config_.rate, config_.line_rate,
                      mean_size() + kLineOverhead, ~(config_.seed * 0x10001 + config_.source),
                      config_.start);
  };
  pass_ = config_.start;
  if (config_.capture) {
    require(config_.deal_count != 0 && config_.deal_index < config_.deal_count,
            "deal_index is not below deal_count");
    const auto& packets = config_.capture->packets();
    for (std::uint32_t i = 0; i < packets.size(); ++i)
      if (packets[i].flow % config_.deal_count == config_.deal_index) dealt_.push_back(i);
    arrive();
    return;
  }
  require(config_.frames != 0 || config_.duration != 0, "neither frames nor duration is given");
  require(config_.train >= 1, "train must be at least 1");
  require(config_.flows >= 1 && config_.flows <= 1u << 24, "flows must be 1 ... 16777216");
  require(valid_size(config_.sizes.low) && valid_size(config_.sizes.high) &&
              config_.sizes.low <= config_.sizes.high,
          "sizes must be " + kSizes);
  flows_.emplace(config_, random_, config_.seed * 0x10001 + config_.source + 0x5eed);
  arrive();
}

bool Traffic::next(Frame& frame) {
  const bool over =
      (config_.frames != 0 && stats_.frames == config_.frames) ||
      (config_.duration != 0 && arrivals_->next() >= config_.start + config_.duration);
  if (done_ || over) {
    done_ = true;
    return false;
  }
  if (config_.capture) {
    if (!next_captured(frame)) return false;
  } else {
    synthesize(frame);
  }
  frame.start = arrivals_->next();
  frame.seq = stats_.frames++;
  const std::uint32_t wire = std::max(frame.size, kMinFrame) + kFcsBytes;
  stats_.bytes += wire;
  arrivals_->sent(wire + kLineOverhead);
  const std::uint32_t type = get16(&frame.data[12]);
  stats_.vlan += type == kTypeTag;
  stats_.ipv6 += (type == kTypeTag ? get16(&frame.data[16]) : type) == kTypeIp6;
  return true;
}

bool Traffic::next_captured(Frame& frame) {
  const bool loop = config_.frames != 0 || config_.duration != 0;
  if (next_dealt_ == dealt_.size() && loop) {
    next_dealt_ = 0;
    pass_ = arrivals_->next();
  }
  if (next_dealt_ == dealt_.size()) {
    done_ = true;
    return false;
  }
  const Capture::Packet& packet = config_.capture->packets()[dealt_[next_dealt_++]];
  if (config_.speed > 0) {
    const auto ns = static_cast<double>(packet.ns - config_.origin_ns) / config_.speed;
    arrivals_->wait_until(pass_ + static_cast<Time>(ns * kNanosecond));
    if (config_.duration != 0 && arrivals_->next() >= config_.start + config_.duration) {
      done_ = true;
      return false;
    }
  }
  frame.assign(config_.capture->bytes(packet));
  if (config_.readdress && !(frame.data[0] & 1)) put48(frame.data.data(), config_.dst_mac);
  frame.flow = packet.flow;
  if (config_.pad_to_minimum) stats_.padded += frame.pad_to_minimum();
  return true;
}

std::uint32_t Traffic::next_size() {
  const std::vector<std::uint32_t>& round = config_.sizes.round;
  switch (config_.sizes.kind) {
    case Sizes::Kind::kFixed:
      return config_.sizes.low;
    case Sizes::Kind::kRange:
      return static_cast<std::uint32_t>(random_.between(config_.sizes.low, config_.sizes.high));
    case Sizes::Kind::kMix:
      if (next_in_round_ % round.size() == 0) {
        round_ = round;
        for (std::size_t i = round_.size() - 1; i > 0; --i)
          std::swap(round_[i], round_[random_.below(i + 1)]);
      }
      return round_[next_in_round_++ % round.size()];
    case Sizes::Kind::kTurns:
      return round[next_in_round_++ % round.size()];
  }
  return 0;
}

// Bytes with FCS of a frame, in the mean.
double Traffic::mean_size() const {
  double sum = 0, frames = 0;
  const auto add = [&](std::uint32_t size, double share) {
    sum += share * size;
    frames += share;
  };
  if (config_.capture) {
    for (const std::uint32_t i : dealt_)
      add(std::max(config_.capture->packets()[i].size, kMinFrame) + kFcsBytes, 1);
    return dealt_.empty() ? kMinFrame + kFcsBytes : sum / frames;
  }
  const double tagged = flows_->ipv6_tagged(), plain = flows_->ipv6() - tagged;
  const auto every = [&](std::uint32_t size) {
    add(size, 1 - plain - tagged);
    add(std::max(size, headers(true, false) + kNumbers + kFcsBytes), plain);
    add(std::max(size, headers(true, true) + kNumbers + kFcsBytes), tagged);
  };
  if (!config_.sizes.round.empty()) {
    std::ranges::for_each(config_.sizes.round, every);
  } else {
    for (std::uint32_t size = config_.sizes.low; size <= config_.sizes.high; ++size) every(size);
  }
  return sum / frames;
}

void Traffic::synthesize(Frame& frame) {
  const std::uint32_t drawn = next_size() - kFcsBytes;
  if (stats_.frames % config_.train == 0) {
    train_flow_ = config_.flow_order == FlowOrder::kRoundRobin && config_.weights.equal
                      ? static_cast<std::uint32_t>(stats_.frames / config_.train % config_.flows)
                      : flows_->pick(random_);
  }
  Flow& flow = flows_->take(train_flow_);
  frame.flow = flow.number;
  const bool tagged = flow.vlan != 0;
  const bool tcp = config_.tcp && drawn >= headers(flow.ipv6, tagged, kTcpBytes) + kNumbers;
  const std::uint32_t header = tcp ? kTcpBytes : kUdpBytes,
                      before = headers(flow.ipv6, tagged, header);
  const std::uint32_t size = frame.size = std::max(drawn, before + kNumbers);

  std::uint8_t* const eth = frame.data.data();
  put48(eth, config_.dst_macs.empty() ? config_.dst_mac
                                      : config_.dst_macs[flow.number % config_.dst_macs.size()]);
  put48(eth + 6, config_.src_mac);
  std::uint8_t* type = eth + 12;
  if (tagged) {
    put16(type, kTypeTag);
    put16(type + 2, flow.vlan);
    type += kTagBytes;
  }
  put16(type, flow.ipv6 ? kTypeIp6 : kTypeIp4);

  std::uint8_t* const transport = eth + before - header;
  const std::uint32_t ip_payload = size - before + header;
  const std::uint32_t protocol = tcp ? kTcp : kUdp;
  const std::uint64_t pseudo = flow.ipv6 ? put_ipv6(type + 2, flow, protocol, ip_payload)
                                         : put_ipv4(type + 2, flow, protocol, ip_payload,
                                                    tcp ? flow.segments : stats_.frames);
  put16(transport, flow.src_port);
  put16(transport + 2, flow.dst_port);
  if (tcp) {
    put_tcp(transport, flow);
    flow.sent += size - before;
    ++flow.segments;
  } else {
    put16(transport + 4, ip_payload);
    put16(transport + 6, 0);
  }

  std::uint8_t* p = eth + before;
  put16(p, config_.source);
  put48(p + 2, stats_.frames);
  // Whole words only: the last may reach past the frame, into the room that `data` keeps there.
  for (p += 8; p < eth + size; p += 8) {
    const std::uint64_t r = random_.next();
    put32(p, static_cast<std::uint32_t>(r >> 32));
    put32(p + 4, static_cast<std::uint32_t>(r));
  }
  const std::uint32_t sum = checksum(pseudo + sum16({transport, ip_payload}));
  put16(transport + (tcp ? 16 : 6), sum == 0 ? 0xffff : sum);
}

std::optional<Traffic::Origin> Traffic::origin(std::span<const std::uint8_t> frame) {
  if (frame.size() < kMinFrame) return std::nullopt;
  const bool tagged = get16(&frame[12]) == kTypeTag;
  const std::uint32_t type = get16(&frame[tagged ? 16 : 12]);
  const bool v6 = type == kTypeIp6;
  const bool tcp = frame[kEthBytes + (tagged ? kTagBytes : 0) + (v6 ? 6 : 9)] == kTcp;
  const std::uint32_t at = headers(v6, tagged, tcp ? kTcpBytes : kUdpBytes);
  if ((type != kTypeIp4 && !v6) || frame.size() < at + kNumbers) return std::nullopt;
  std::uint64_t number = 0;
  for (std::uint32_t i = 2; i < kNumbers; ++i) number = number << 8 | frame[at + i];
  return Origin{static_cast<std::uint16_t>(get16(&frame[at])), number};
}

}  // namespace emery
