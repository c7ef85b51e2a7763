// SPDX-License-Identifier: Apache-2.0
// Routes from a prefix file, and the tables the lookup stage reads (DIR-24-8, Gupta, Lin, McKeown:
// Routing Lookups in Hardware at Memory Access Speeds, INFOCOM 1998).
//
// A file has a route a line: `1.0.0.0/24 2`, prefix and output port; empty lines and what follows a
// # do not count. Bits beyond the prefix length, a port that is not there and a prefix that was
// there before are errors that name the line. There need be no default route (0.0.0.0/0): a packet
// without a route is dropped and counted.
//
// The image, in entries of 16 bits (little-endian, two in a word of the DRAM):
//   0x0000'0000  2^24 entries, by the upper 24 bits of the address: a result; or, with bit 15, the
//   number of a block 0x0200'0000  blocks of 256 entries, by the lower 8 bits: results (only for
//   addresses with a prefix longer than 24 bits)
// A result is a port, or kNoRoute, or kMartian: nobody is ever reached at 0/8, 127/8 and 224/3 (RFC
// 1812, 5.3.7, 4.2.2.11), whatever the routes say.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tile_formats.hpp"

namespace emery {

class RoutesError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Route {
  std::uint32_t prefix;
  std::uint8_t length;
  std::uint8_t port;
  std::uint32_t line;  // in the file, from 1
};

struct Dir24 {
  static constexpr std::uint16_t kLong = tile_pkg::EntryLong;
  static constexpr std::uint16_t kNoRoute = tile_pkg::PortNoRoute;
  static constexpr std::uint16_t kMartian = tile_pkg::PortMartian;
  static constexpr std::uint32_t kBlocks = tile_pkg::TableBlocks;  // byte offset of the blocks
  static constexpr unsigned kMostPorts = kNoRoute;

  /// The routes of a file's text. Throws RoutesError with `name`, line and what is wrong.
  static std::vector<Route> parse(std::string_view text, const std::string& name, unsigned ports);

  /// Reads the file. Throws RoutesError.
  static std::vector<Route> read(const std::string& path, unsigned ports);

  /// The image of the DRAM. Throws RoutesError when more than 32768 blocks would be needed.
  static std::vector<std::uint32_t> build(const std::vector<Route>& routes);

  /// Whether packets to this address are never forwarded.
  static bool martian(std::uint32_t address) {
    const std::uint32_t net = address >> 24;
    return net == 0 || net == 127 || net >= 224;
  }
};

}  // namespace emery
