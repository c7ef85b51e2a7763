// SPDX-License-Identifier: Apache-2.0
// Sizes of headers in bytes (without options), EtherTypes, protocols of IP.
#pragma once

#include <cstdint>

namespace emery {

inline constexpr std::uint32_t kEthBytes = 14, kTagBytes = 4, kIp4Bytes = 20, kIp6Bytes = 40,
                               kUdpBytes = 8, kTcpBytes = 20;
inline constexpr std::uint32_t kTypeIp4 = 0x0800, kTypeArp = 0x0806, kTypeTag = 0x8100,
                               kTypeIp6 = 0x86dd, kTypeServiceTag = 0x88a8;
inline constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17;

constexpr bool is_tag(std::uint32_t type) { return type == kTypeTag || type == kTypeServiceTag; }

}  // namespace emery
