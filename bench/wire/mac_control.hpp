// SPDX-License-Identifier: Apache-2.0
// MAC control frames (IEEE 802.3 annex 31).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace emery {

inline constexpr std::array<std::uint8_t, 6> kControlMac{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
inline constexpr std::array<std::uint8_t, 2> kControlType{0x88, 0x08};
inline constexpr unsigned kPauseOpcode = 0x0001, kPfcOpcode = 0x0101;

/// A frame to the address of all of these.
inline bool is_mac_control(std::span<const std::uint8_t> frame) {
  return std::equal(kControlMac.begin(), kControlMac.end(), frame.begin()) &&
         std::equal(kControlType.begin(), kControlType.end(), frame.begin() + 12);
}
inline unsigned mac_control_opcode(std::span<const std::uint8_t> frame) {
  return frame[14] * 256u + frame[15];
}

}  // namespace emery
