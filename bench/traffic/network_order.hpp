// SPDX-License-Identifier: Apache-2.0
// Numbers in the order of the wire, and the checksum of RFC 1071 over bytes in it. What judges a
// design's sums (route/judge.cpp, host_nic/offloads.cpp) computes them by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace emery {

inline std::uint32_t get16(const std::uint8_t* p) { return std::uint32_t{p[0]} << 8 | p[1]; }
inline std::uint32_t get32(const std::uint8_t* p) { return get16(p) << 16 | get16(p + 2); }
inline std::uint64_t get48(const std::uint8_t* p) {
  return std::uint64_t{get16(p)} << 32 | get32(p + 2);
}

inline void put16(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}
inline void put32(std::uint8_t* p, std::uint32_t v) {
  put16(p, v >> 16);
  put16(p + 2, v);
}
inline void put48(std::uint8_t* p, std::uint64_t v) {
  put16(p, static_cast<std::uint32_t>(v >> 32));
  put32(p + 2, static_cast<std::uint32_t>(v));
}

/// Sum of 16-bit words, an odd last byte being the high half of one; not folded.
inline std::uint64_t sum16(std::span<const std::uint8_t> bytes) {
  const std::uint8_t* p = bytes.data();
  std::size_t n = bytes.size();
  std::uint64_t sum = 0;
  for (; n >= 4; n -= 4, p += 4) sum += get32(p);
  if (n >= 2) sum += get16(p);
  if (n & 1) sum += std::uint32_t{p[n - 1]} << 8;
  return sum;
}

/// What a header says for a sum of all its other words; 0 for one that counts a right checksum.
inline std::uint32_t checksum(std::uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint32_t>(~sum & 0xffff);
}

}  // namespace emery
