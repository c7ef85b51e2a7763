// SPDX-License-Identifier: Apache-2.0
// A fast 64-bit hash of bytes: for telling frames apart, not against an adversary. The same on
// every machine.
//
// 16 bytes a step: both halves are mixed with constants and multiplied to 128 bits, and the halves
// of the product are folded together, so each input bit reaches all of the result. Different
// contents collide with a probability of about 2^-64.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace emery {

inline std::uint64_t hash_bytes(std::span<const std::uint8_t> data, std::uint64_t seed = 0) {
  constexpr std::uint64_t kA = 0x8c5f1bd3a94ed72b, kB = 0xd1b6a3f75e20c949, kC = 0x9e3779b97f4a7c15;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const auto word = [](const std::uint8_t* p) {
    std::uint64_t w;
    std::memcpy(&w, p, sizeof w);
    if constexpr (std::endian::native == std::endian::big) w = __builtin_bswap64(w);
    return w;
  };
  std::uint64_t h = (seed + kC) ^ data.size() * kB;
  const std::uint8_t* p = data.data();
  std::size_t left = data.size();
  for (; left >= 16; left -= 16, p += 16)
    h = std::rotl(h, 23) * kC + fold(word(p) ^ kA, word(p + 8) ^ kB);
  if (left != 0) {
    std::uint8_t tail[16] = {};
    std::memcpy(tail, p, left);
    h = std::rotl(h, 23) * kC + fold(word(tail) ^ kA, word(tail + 8) ^ kB);
  }
  return fold(h ^ kA, std::rotl(h, 32) ^ kC);
}

}  // namespace emery
