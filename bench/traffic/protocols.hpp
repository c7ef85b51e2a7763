// SPDX-License-Identifier: Apache-2.0
// Sizes of headers in bytes (without options), EtherTypes, protocols of IP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/traffic/network_order.hpp"

namespace emery {

inline constexpr std::uint32_t kEthBytes = 14, kTagBytes = 4, kIp4Bytes = 20, kIp6Bytes = 40,
                               kUdpBytes = 8, kTcpBytes = 20;
inline constexpr std::uint32_t kTypeIp4 = 0x0800, kTypeArp = 0x0806, kTypeTag = 0x8100,
                               kTypeIp6 = 0x86dd, kTypeServiceTag = 0x88a8;
inline constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17;

constexpr bool is_tag(std::uint32_t type) { return type == kTypeTag || type == kTypeServiceTag; }

/// Where the header behind Ethernet's begins in a frame of 14 bytes or more: behind two tags at the
/// most. The EtherType is in the two bytes before.
inline std::size_t ip_at(std::span<const std::uint8_t> frame) {
  std::size_t ip = kEthBytes;
  while (ip < kEthBytes + 2 * kTagBytes && frame.size() >= ip + kTagBytes &&
         is_tag(get16(&frame[ip - 2])))
    ip += kTagBytes;
  return ip;
}

}  // namespace emery
