// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/dir24.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "bench/sim/options.hpp"

namespace emery::tile_router {

Dir24::Dir24(const route::Routes& routes, const std::vector<std::uint32_t>& own)
    : values_(kFirst, kNoRoute), lengths_(kFirst, 0) {
  route::Routes own_routes;
  for (const std::uint32_t address : own) own_routes.push_back({address, 32, kOwn});
  // Short prefixes first: a longer one overwrites.
  std::vector<const route::Route*> by_length;
  by_length.reserve(routes.size() + own.size());
  for (const route::Route& entry : routes) by_length.push_back(&entry);
  for (const route::Route& entry : own_routes) by_length.push_back(&entry);
  std::stable_sort(
      by_length.begin(), by_length.end(),
      [](const route::Route* a, const route::Route* b) { return a->length < b->length; });
  for (const route::Route* route : by_length) {
    const std::uint32_t at = route->prefix >> 8;
    const auto port = static_cast<std::uint16_t>(route->port);
    const Entry entry{port, port == kOwn ? kFixed : static_cast<std::uint8_t>(route->length)};
    if (route->length <= 24)
      fill(at, std::size_t{1} << (24 - route->length), entry);
    else
      fill(block_of(at) + (route->prefix & 255), std::size_t{1} << (32 - route->length), entry);
  }
  for (std::uint32_t net = 0; net < 256; ++net) {
    if (route::martian(net << 24)) fill(net << 16, 1 << 16, {kMartian, kFixed});
  }
}

void Dir24::fill(std::size_t at, std::size_t count, Entry entry) {
  std::fill_n(&values_[at], count, entry.value);
  std::fill_n(&lengths_[at], count, entry.length);
}

std::size_t Dir24::block_of(std::size_t at) {
  if (!(values_[at] & kLong)) {
    const std::size_t block = blocks();
    if (block >= tile_pkg::MostBlocks)
      throw OptionError(
          "the routes have prefixes longer than 24 bits in more than 32768 networks of 24 bits");
    values_.resize(values_.size() + kBlock, values_[at]);
    lengths_.resize(lengths_.size() + kBlock, lengths_[at]);
    values_[at] = static_cast<std::uint16_t>(kLong | block);
  }
  return block_at(values_[at]);
}

namespace {
template <class T>
std::vector<std::uint32_t> words_of(const std::vector<T>& entries) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::uint32_t> words(entries.size() * sizeof(T) / sizeof(std::uint32_t));
  std::memcpy(words.data(), entries.data(), words.size() * sizeof(std::uint32_t));
  return words;
}
}  // namespace

std::vector<std::uint32_t> Dir24::image() const { return words_of(values_); }
std::vector<std::uint32_t> Dir24::lengths() const { return words_of(lengths_); }

std::uint64_t Dir24::differ(const std::function<std::uint32_t(std::uint32_t)>& word) const {
  const auto entry = [&](std::size_t n) {
    return static_cast<std::uint16_t>(word(static_cast<std::uint32_t>(2 * n) & ~3u) >>
                                      16 * (n % 2));
  };
  std::uint64_t differ = 0;
  for (std::size_t n = 0; n < kFirst; ++n) {
    const std::uint16_t have = entry(n), want = values_[n];
    if (!((have | want) & kLong)) {
      differ += have != want;
      continue;
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::uint16_t here = have & kLong ? entry(block_at(have) + i) : have;
      differ += here != (want & kLong ? values_[block_at(want) + i] : want);
    }
  }
  return differ;
}

}  // namespace emery::tile_router
