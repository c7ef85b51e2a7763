// SPDX-License-Identifier: Apache-2.0
// What a memory of 256 MB in words of 32 bits holds: zeros until something is written.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace emery {

/// Addresses are of bytes.
class WordPages {
 public:
  static constexpr std::uint32_t kBytes = 1u << 28;

  static bool inside(std::uint32_t address) { return address < kBytes; }
  std::uint32_t& word(std::uint32_t address) {
    auto& page = pages_[address / (4 * kPageWords)];
    if (!page) page = std::make_unique<Page>();
    return (*page)[address / 4 % kPageWords];
  }
  void load(std::uint32_t address, std::span<const std::uint32_t> words) {
    while (!words.empty()) {
      const std::size_t room = kPageWords - address / 4 % kPageWords;
      const auto part = words.first(std::min(room, words.size()));
      std::copy(part.begin(), part.end(), &word(address));
      address += static_cast<std::uint32_t>(part.size_bytes());
      words = words.subspan(part.size());
    }
  }

 private:
  static constexpr std::uint32_t kPageWords = 1 << 14;
  using Page = std::array<std::uint32_t, kPageWords>;

  std::vector<std::unique_ptr<Page>> pages_{kBytes / (4 * kPageWords)};
};

}  // namespace emery
