// SPDX-License-Identifier: Apache-2.0
// The bytes of a connection's stream: any part of it follows from its key, so what arrives is
// compared with what should have been sent, byte by byte, and nothing is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace emery::tcp {

class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(key) {}

  std::uint8_t at(std::uint64_t place) const {
    return static_cast<std::uint8_t>(word(place / 8) >> 8 * (place % 8));
  }
  /// What lies from `place` on.
  void read(std::uint64_t place, std::span<std::uint8_t> out) const {
    walk(place, out.size(), [&](std::size_t i, std::uint8_t byte) { out[i] = byte; });
  }
  /// How many of these bytes are not what lies there.
  std::uint64_t wrong(std::uint64_t place, std::span<const std::uint8_t> bytes) const {
    std::uint64_t count = 0;
    walk(place, bytes.size(), [&](std::size_t i, std::uint8_t byte) { count += bytes[i] != byte; });
    return count;
  }

 private:
  // splitmix64.
  std::uint64_t word(std::uint64_t number) const {
    std::uint64_t z = key_ + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  template <class Take>
  void walk(std::uint64_t place, std::size_t bytes, const Take& take) const {
    std::uint64_t w = word(place / 8) >> 8 * (place % 8);
    for (std::size_t i = 0; i < bytes; ++i, w >>= 8) {
      if (i != 0 && (place + i) % 8 == 0) w = word((place + i) / 8);
      take(i, static_cast<std::uint8_t>(w));
    }
  }

  std::uint64_t key_;
};

}  // namespace emery::tcp
