// SPDX-License-Identifier: Apache-2.0
#include "bench/tcp/segment.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery::tcp {

namespace {

constexpr std::size_t kIp = kEthBytes, kHeader = kIp + kIp4Bytes;  // where they begin
constexpr std::uint8_t kEnd = 0, kNop = 1, kMss = 2, kScale = 3;   // options

/// Of addresses, protocol and length.
std::uint64_t pseudo(const std::uint8_t* ip, std::size_t bytes) {
  return sum16({ip + 12, 8}) + kTcp + bytes;
}

bool read_options(std::span<const std::uint8_t> options, Segment& segment) {
  for (std::size_t i = 0; i < options.size() && options[i] != kEnd;) {
    if (options[i] == kNop) {
      ++i;
      continue;
    }
    if (i + 1 == options.size() || options[i + 1] < 2 || i + options[i + 1] > options.size())
      return false;
    if (options[i] == kMss && options[i + 1] == 4)
      segment.mss = static_cast<std::uint16_t>(get16(&options[i + 2]));
    if (options[i] == kScale && options[i + 1] == 3) segment.scale = options[i + 2];
    i += options[i + 1];
  }
  return true;
}

}  // namespace

void build(const Segment& s, const Addresses& a, std::uint16_t id,
           std::vector<std::uint8_t>& frame) {
  const std::uint32_t options = (s.mss != 0 ? 4 : 0) + (s.scale >= 0 ? 4 : 0);
  const auto bytes = static_cast<std::uint32_t>(kTcpBytes + options + s.payload.size());
  const std::size_t size = kHeader + bytes;
  frame.assign(std::max<std::size_t>(size, kMinFrame), 0);
  std::uint8_t* const f = frame.data();
  put48(f, a.dst_mac);
  put48(f + 6, a.src_mac);
  put16(f + 12, kTypeIp4);
  std::uint8_t* const ip = f + kIp;
  put16(ip, 0x4500);
  put16(ip + 2, kIp4Bytes + bytes);
  put16(ip + 4, id);
  put16(ip + 6, 0x4000);  // don't fragment
  put16(ip + 8, 64 << 8 | kTcp);
  put32(ip + 12, a.src_ip);
  put32(ip + 16, a.dst_ip);
  put16(ip + 10, checksum(sum16({ip, kIp4Bytes})));
  std::uint8_t* const t = f + kHeader;
  put16(t, a.src_port);
  put16(t + 2, a.dst_port);
  put32(t + 4, s.seq);
  put32(t + 8, s.ack);
  put16(t + 12, (kTcpBytes + options) / 4 << 12 | s.flags);
  put16(t + 14, s.window);
  std::uint8_t* option = t + kTcpBytes;
  if (s.mss != 0) {
    put16(option, kMss << 8 | 4);
    put16(option + 2, s.mss);
    option += 4;
  }
  if (s.scale >= 0)
    put32(option, kNop << 24 | kScale << 16 | 3 << 8 | static_cast<std::uint32_t>(s.scale));
  std::copy(s.payload.begin(), s.payload.end(), t + kTcpBytes + options);
  put16(t + 16, checksum(pseudo(ip, bytes) + sum16({t, bytes})));
}

std::optional<Segment> parse(std::span<const std::uint8_t> frame) {
  if (frame.size() < kHeader + kTcpBytes || get16(&frame[12]) != kTypeIp4) return {};
  const std::uint8_t* const ip = &frame[kIp];
  const std::size_t length = get16(ip + 2);
  if (ip[0] != 0x45 || length < kIp4Bytes + kTcpBytes || kIp + length > frame.size() ||
      ip[9] != kTcp || (get16(ip + 6) & 0x3fff) != 0 || checksum(sum16({ip, kIp4Bytes})) != 0)
    return {};
  const auto tcp = frame.subspan(kHeader, length - kIp4Bytes);
  const std::size_t headers = 4u * (tcp[12] >> 4);
  if (headers < kTcpBytes || headers > tcp.size() ||
      checksum(pseudo(ip, tcp.size()) + sum16(tcp)) != 0)
    return {};
  Segment s;
  s.src_port = static_cast<std::uint16_t>(get16(&tcp[0]));
  s.dst_port = static_cast<std::uint16_t>(get16(&tcp[2]));
  s.seq = get32(&tcp[4]);
  s.ack = get32(&tcp[8]);
  s.flags = tcp[13];
  s.window = static_cast<std::uint16_t>(get16(&tcp[14]));
  if (!read_options(tcp.subspan(kTcpBytes, headers - kTcpBytes), s)) return {};
  s.payload = tcp.subspan(headers);
  return s;
}

}  // namespace emery::tcp
