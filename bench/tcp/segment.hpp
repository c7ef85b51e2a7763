// SPDX-License-Identifier: Apache-2.0
// A TCP segment over IPv4 and Ethernet: made into a frame, and read from one. Options are those of
// the handshake: maximum segment size and window scale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace emery::tcp {

inline constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10;
/// Headers of a segment without options, Ethernet's too.
inline constexpr std::uint32_t kHeaders = 54;

/// Both ends of a connection, as one of them sends.
struct Addresses {
  std::uint64_t src_mac = 0, dst_mac = 0;
  std::uint32_t src_ip = 0, dst_ip = 0;
  std::uint16_t src_port = 0, dst_port = 0;
};

struct Segment {
  std::uint16_t src_port = 0, dst_port = 0;
  std::uint32_t seq = 0, ack = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0;  // as it is in the header
  std::uint16_t mss = 0;     // 0: the option is not there
  int scale = -1;            // likewise -1
  std::span<const std::uint8_t> payload;
};

/// The frame, padded to the minimum; `id` is that of IP.
void build(const Segment& segment, const Addresses& addresses, std::uint16_t id,
           std::vector<std::uint8_t>& frame);
/// The segment in a frame; nothing when it is none, was cut, or a checksum is wrong. Its payload
/// lies in the frame.
std::optional<Segment> parse(std::span<const std::uint8_t> frame);

}  // namespace emery::tcp
