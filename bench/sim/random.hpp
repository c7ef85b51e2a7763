// SPDX-License-Identifier: Apache-2.0
// Small seeded random number generator (xoshiro256**), the same on every machine.
#pragma once

#include <cstdint>

namespace emery {

class Random {
 public:
  explicit Random(std::uint64_t seed = 1) {
    // splitmix64 spreads a small seed over the whole state.
    for (auto& word : state_) {
      std::uint64_t z = (seed += 0x9e3779b97f4a7c15u);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, n); n must not be 0. (Multiply-shift: the bias is below n / 2^64.)
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }

  // Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }

  // Uniform in [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Exponential, mean 1. Von Neumann's way with comparisons alone: the same on every machine.
  double exponential() {
    for (double whole = 0;; ++whole) {
      const double first = real();
      bool odd = true;  // the number of draws in the falling run that `first` begins
      for (double last = first, drawn = real(); drawn < last; drawn = real()) {
        last = drawn;
        odd = !odd;
      }
      if (odd) return whole + first;
    }
  }

  bool chance(double probability) { return real() < probability; }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::uint64_t state_[4];
};

}  // namespace emery
