// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/dir24.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/sim/options.hpp"

namespace emery::tile_router {

std::vector<std::uint32_t> Dir24::build(const route::Routes& routes,
                                        const std::vector<std::uint32_t>& own) {
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
  std::vector<std::uint16_t> first(std::size_t{1} << 24, kNoRoute), blocks;
  for (const route::Route* entry : by_length) {
    const std::uint32_t at = entry->prefix >> 8;
    if (entry->length <= 24) {
      std::fill_n(first.begin() + at, std::size_t{1} << (24 - entry->length),
                  static_cast<std::uint16_t>(entry->port));
      continue;
    }
    if (!(first[at] & kLong)) {
      const std::size_t block = blocks.size() / 256;
      if (block >= kLong)
        throw OptionError(
            "the routes have prefixes longer than 24 bits in more than 32768 networks of 24 bits");
      blocks.resize(blocks.size() + 256, first[at]);
      first[at] = static_cast<std::uint16_t>(kLong | block);
    }
    const std::size_t base = std::size_t{first[at] & 0x7fffu} * 256 + (entry->prefix & 255);
    std::fill_n(blocks.begin() + static_cast<std::ptrdiff_t>(base),
                std::size_t{1} << (32 - entry->length), static_cast<std::uint16_t>(entry->port));
  }
  for (std::uint32_t net = 0; net < 256; ++net) {
    if (route::martian(net << 24)) std::fill_n(first.begin() + (net << 16), 1 << 16, kMartian);
  }
  first.insert(first.end(), blocks.begin(), blocks.end());
  std::vector<std::uint32_t> words(first.size() / 2);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = first[2 * i] | std::uint32_t{first[2 * i + 1]} << 16;
  return words;
}

}  // namespace emery::tile_router
