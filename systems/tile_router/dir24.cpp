// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/dir24.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/sim/options.hpp"

namespace emery::tile_router {

Dir24::Dir24(const route::Routes& routes, const std::vector<std::uint32_t>& own)
    : first_(std::size_t{1} << 24, Entry{kNoRoute, 0}) {
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
    if (route->length <= 24) {
      std::fill_n(first_.begin() + at, std::size_t{1} << (24 - route->length), entry);
      continue;
    }
    if (!(first_[at].value & kLong)) {
      const std::size_t block = blocks();
      if (block >= tile_pkg::MostBlocks)
        throw OptionError(
            "the routes have prefixes longer than 24 bits in more than 32768 networks of 24 bits");
      blocks_.resize(blocks_.size() + kBlock, first_[at]);
      first_[at].value = static_cast<std::uint16_t>(kLong | block);
    }
    const std::size_t base =
        std::size_t{first_[at].value & 0x7fffu} * kBlock + (route->prefix & 255);
    std::fill_n(blocks_.begin() + static_cast<std::ptrdiff_t>(base),
                std::size_t{1} << (32 - route->length), entry);
  }
  for (std::uint32_t net = 0; net < 256; ++net) {
    if (route::martian(net << 24))
      std::fill_n(first_.begin() + (net << 16), 1 << 16, Entry{kMartian, kFixed});
  }
}

template <class T>
std::vector<std::uint32_t> Dir24::packed(T Entry::* field) const {
  constexpr std::size_t kEach = sizeof(std::uint32_t) / sizeof(T);
  std::vector<std::uint32_t> words((first_.size() + blocks_.size()) / kEach);
  std::size_t i = 0;
  for (const auto* part : {&first_, &blocks_}) {
    for (const Entry& entry : *part) {
      words[i / kEach] |= std::uint32_t{entry.*field} << 8 * sizeof(T) * (i % kEach);
      ++i;
    }
  }
  return words;
}
std::vector<std::uint32_t> Dir24::image() const { return packed(&Entry::value); }
std::vector<std::uint32_t> Dir24::lengths() const { return packed(&Entry::length); }

std::uint64_t Dir24::differ(const std::function<std::uint32_t(std::uint32_t)>& word) const {
  const auto entry = [&](std::size_t n) {
    return static_cast<std::uint16_t>(word(static_cast<std::uint32_t>(2 * n) & ~3u) >>
                                      16 * (n % 2));
  };
  constexpr std::size_t kBlocks = tile_pkg::TableBlocks / 2;
  std::uint64_t differ = 0;
  for (std::size_t n = 0; n < first_.size(); ++n) {
    const std::uint16_t have = entry(n), want = first_[n].value;
    if (!((have | want) & kLong)) {
      differ += have != want;
      continue;
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::uint16_t here =
          have & kLong ? entry(kBlocks + (have & ~kLong) * kBlock + i) : have;
      differ += here != (want & kLong ? blocks_[(want & ~kLong) * kBlock + i].value : want);
    }
  }
  return differ;
}

}  // namespace emery::tile_router
