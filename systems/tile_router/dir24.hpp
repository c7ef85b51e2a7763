// SPDX-License-Identifier: Apache-2.0
// The tables the lookup stage reads (DIR-24-8, Gupta, Lin, McKeown: Routing Lookups in Hardware at
// Memory Access Speeds, INFOCOM 1998).
//
// The image, in entries of 16 bits (little-endian, two in a word of the DRAM):
//   0x0000'0000  2^24 entries, by the upper 24 bits of the address: a result; or, with bit 15, the
//   number of a block 0x0200'0000  blocks of 256 entries, by the lower 8 bits: results (only for
//   addresses with a prefix longer than 24 bits)
// A result is a port or kNoRoute; or, whatever the routes say, kOwn or kMartian.
//
// Where routes change, the control tile (programs/changes.c) also has the length of the prefix that
// each entry is from, a byte each in the same order (0: no route; kFixed: whatever the routes say).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/route/routes.hpp"
#include "tile_formats.hpp"

namespace emery::tile_router {

struct Dir24 {
  static constexpr std::uint16_t kLong = tile_pkg::EntryLong;
  static constexpr std::uint16_t kOwn = tile_pkg::PortOwn;
  static constexpr std::uint16_t kNoRoute = tile_pkg::PortNoRoute;
  static constexpr std::uint16_t kMartian = tile_pkg::PortMartian;

  static constexpr std::uint8_t kFixed = tile_pkg::LengthFixed;

  /// `own`: the router's addresses. Throws OptionError when more than 32768 blocks would be needed.
  Dir24(const route::Routes& routes, const std::vector<std::uint32_t>& own);

  /// As the words of a DRAM: the entries from address 0; their lengths.
  std::vector<std::uint32_t> image() const;
  std::vector<std::uint32_t> lengths() const;
  /// How many entries of another image of such tables lead elsewhere than these, whatever the
  /// numbers of its blocks; `word` gives what is at an address of bytes.
  std::uint64_t differ(const std::function<std::uint32_t(std::uint32_t)>& word) const;
  std::uint32_t blocks() const {
    return static_cast<std::uint32_t>((values_.size() - kFirst) / kBlock);
  }

 private:
  static constexpr std::size_t kFirst = tile_pkg::TableBlocks / sizeof(std::uint16_t);
  static constexpr std::size_t kBlock = tile_pkg::BlockEntries;
  struct Entry {
    std::uint16_t value;
    std::uint8_t length;
  };

  void fill(std::size_t at, std::size_t count, Entry entry);
  /// Where the block begins that an entry names.
  static std::size_t block_at(std::uint16_t entry) {
    return kFirst + static_cast<std::size_t>(entry & ~kLong) * kBlock;
  }
  /// Where that of the first entry `at` does; one is made where there is none.
  std::size_t block_of(std::size_t at);

  // Of all entries: the first ones, then the blocks.
  std::vector<std::uint16_t> values_;
  std::vector<std::uint8_t> lengths_;
};

}  // namespace emery::tile_router
