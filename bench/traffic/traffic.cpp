// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace emery {
namespace {

constexpr std::uint32_t kEth = 14, kIp = 20, kUdp = 8;
constexpr std::array<std::uint32_t, 12> kImix = {64, 64,  64,  64,  64,  64,
                                                 64, 594, 594, 594, 594, 1518};
constexpr std::array<std::uint32_t, 7> kRfc2544 = {64, 128, 256, 512, 1024, 1280, 1518};

void put16(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}

void put32(std::uint8_t* p, std::uint32_t v) {
  put16(p, v >> 16);
  put16(p + 2, v);
}

void put48(std::uint8_t* p, std::uint64_t v) {
  put16(p, static_cast<std::uint32_t>(v >> 32));
  put32(p + 2, static_cast<std::uint32_t>(v));
}

/// Sum of big-endian 16-bit words, an odd last byte being the high one; not folded.
std::uint64_t sum16(const std::uint8_t* p, std::size_t n) {
  std::uint64_t sum = 0;
  for (; n >= 4; n -= 4, p += 4)
    sum += std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
  if (n >= 2) sum += std::uint32_t{p[0]} << 8 | p[1];
  if (n & 1) sum += std::uint32_t{p[n - 1]} << 8;
  return sum;
}

std::uint32_t checksum(std::uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint32_t>(~sum & 0xffff);
}

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("traffic: " + what);
}

bool valid_size(std::uint32_t size) {
  return size >= kMinFrame + kFcsBytes && size <= kMaxFrame + kFcsBytes;
}

}  // namespace

Sizes Sizes::parse(const std::string& text) {
  if (text == "imix") return {Kind::kImix, 64, 1518};
  if (text == "random") return {Kind::kRange, 64, 1518};
  if (text == "rfc2544") return {Kind::kRfc2544, 64, 1518};
  const auto number = [&](const char* from, const char* to) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(from, to, value);
    require(error == std::errc() && end == to && valid_size(value),
            "size '" + text + "' is not 64 ... 9018, A-B, random, imix or rfc2544");
    return value;
  };
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto dash = text.find('-');
  if (dash == std::string::npos) {
    const std::uint32_t size = number(begin, end);
    return {Kind::kFixed, size, size};
  }
  const Sizes range{Kind::kRange, number(begin, begin + dash), number(begin + dash + 1, end)};
  require(range.low <= range.high, "size '" + text + "' runs backwards");
  return range;
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

Traffic::Traffic(TrafficConfig config)
    : config_(std::move(config)),
      random_(config_.seed * 0x10001 + config_.source),
      line_(config_.rate) {
  line_.wait_until(config_.start);
  pass_ = config_.start;
  if (config_.capture) {
    require(config_.deal_count != 0 && config_.deal_index < config_.deal_count,
            "deal_index is not below deal_count");
    const auto& packets = config_.capture->packets();
    for (std::uint32_t i = 0; i < packets.size(); ++i)
      if (packets[i].flow % config_.deal_count == config_.deal_index) dealt_.push_back(i);
    return;
  }
  require(config_.frames != 0 || config_.duration != 0, "neither frames nor duration is given");
  require(config_.train >= 1, "train must be at least 1");
  require(config_.flows >= 1 && config_.flows <= 1u << 24, "flows must be 1 ... 16777216");
  require(valid_size(config_.sizes.low) && valid_size(config_.sizes.high) &&
              config_.sizes.low <= config_.sizes.high,
          "sizes must be 64 ... 9018");
  // Source addresses of 10.0.0.0/8: an odd factor makes them different in all flows. Destinations
  // of 172.16.0.0/12.
  const auto base = static_cast<std::uint32_t>(random_.next());
  for (std::uint32_t f = 0; f < config_.flows; ++f) {
    const std::uint64_t r = random_.next();
    const auto high = static_cast<std::uint32_t>(r >> 32), low = static_cast<std::uint32_t>(r);
    Flow flow;
    flow.src_ip = 0x0a000000 | ((f * 0x9e3779u + base) & 0xffffff);
    flow.dst_ip = config_.destinations.empty()
                      ? 0xac100000 | (high & 0xfffff)
                      : config_.destinations[f % config_.destinations.size()];
    flow.tos = config_.tos.empty() ? std::uint8_t{0} : config_.tos[f % config_.tos.size()];
    flow.src_port = static_cast<std::uint16_t>(1024 + (low & 0xffff) % (65536 - 1024));
    flow.dst_port = static_cast<std::uint16_t>(1024 + (low >> 16) % (65536 - 1024));
    flows_.push_back(flow);
  }
}

bool Traffic::next(Frame& frame) {
  const bool over = (config_.frames != 0 && stats_.frames == config_.frames) ||
                    (config_.duration != 0 && line_.now() >= config_.start + config_.duration);
  if (done_ || over) {
    done_ = true;
    return false;
  }
  if (config_.capture) {
    if (!next_captured(frame)) return false;
  } else {
    synthesize(frame);
  }
  frame.start = line_.now();
  frame.seq = stats_.frames++;
  const std::uint32_t wire = std::max(frame.size, kMinFrame) + kFcsBytes;
  stats_.bytes += wire;
  line_.advance(wire + kLineOverhead);
  return true;
}

bool Traffic::next_captured(Frame& frame) {
  const bool loop = config_.frames != 0 || config_.duration != 0;
  if (next_dealt_ == dealt_.size() && loop) {
    next_dealt_ = 0;
    pass_ = line_.now();
  }
  if (next_dealt_ == dealt_.size()) {
    done_ = true;
    return false;
  }
  const Capture::Packet& packet = config_.capture->packets()[dealt_[next_dealt_++]];
  if (config_.speed > 0) {
    const auto ns = static_cast<double>(packet.ns - config_.origin_ns) / config_.speed;
    line_.wait_until(pass_ + static_cast<Time>(ns * kNanosecond));
    if (config_.duration != 0 && line_.now() >= config_.start + config_.duration) {
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
  switch (config_.sizes.kind) {
    case Sizes::Kind::kFixed:
      return config_.sizes.low;
    case Sizes::Kind::kRange:
      return static_cast<std::uint32_t>(random_.between(config_.sizes.low, config_.sizes.high));
    case Sizes::Kind::kImix:
      if (next_in_cycle_ % kImix.size() == 0) {
        cycle_.assign(kImix.begin(), kImix.end());
        for (std::size_t i = cycle_.size() - 1; i > 0; --i)
          std::swap(cycle_[i], cycle_[random_.below(i + 1)]);
      }
      return cycle_[next_in_cycle_++ % kImix.size()];
    case Sizes::Kind::kRfc2544:
      return kRfc2544[next_in_cycle_++ % kRfc2544.size()];
  }
  return 0;
}

void Traffic::synthesize(Frame& frame) {
  const std::uint32_t size = next_size() - kFcsBytes;
  frame.size = size;
  if (stats_.frames % config_.train == 0) {
    train_flow_ = config_.flow_order == FlowOrder::kRoundRobin
                      ? static_cast<std::uint32_t>(stats_.frames / config_.train % config_.flows)
                      : static_cast<std::uint32_t>(random_.below(config_.flows));
  }
  frame.flow = train_flow_;
  const Flow& flow = flows_[frame.flow];

  std::uint8_t* const eth = frame.data.data();
  put48(eth, config_.dst_mac);
  put48(eth + 6, config_.src_mac);
  put16(eth + 12, 0x0800);

  std::uint8_t* const ip = eth + kEth;
  put16(ip, 0x4500u | flow.tos);
  put16(ip + 2, size - kEth);
  put16(ip + 4, static_cast<std::uint32_t>(stats_.frames));
  put16(ip + 6, 0x4000);  // don't fragment
  put16(ip + 8, 64 << 8 | 17);
  put16(ip + 10, 0);
  put32(ip + 12, flow.src_ip);
  put32(ip + 16, flow.dst_ip);
  put16(ip + 10, checksum(sum16(ip, kIp)));

  std::uint8_t* const udp = ip + kIp;
  const std::uint32_t udp_size = size - kEth - kIp;
  put16(udp, flow.src_port);
  put16(udp + 2, flow.dst_port);
  put16(udp + 4, udp_size);
  put16(udp + 6, 0);

  std::uint8_t* p = udp + kUdp;
  put16(p, config_.source);
  put48(p + 2, stats_.frames);
  // Whole words only: the last may reach past the frame, into the room that `data` keeps there.
  for (p += 8; p < eth + size; p += 8) {
    const std::uint64_t r = random_.next();
    put32(p, static_cast<std::uint32_t>(r >> 32));
    put32(p + 4, static_cast<std::uint32_t>(r));
  }
  // The pseudo header: both addresses, the protocol, the UDP length.
  const std::uint32_t sum = checksum(sum16(ip + 12, 8) + 17 + udp_size + sum16(udp, udp_size));
  put16(udp + 6, sum == 0 ? 0xffff : sum);
}

}  // namespace emery
