// SPDX-License-Identifier: Apache-2.0
// Routes of a router from a prefix file, and longest-prefix matches over all of them: a binary
// trie, and a second opinion that shares no code with it and looks every prefix length up by
// itself.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emery::route {

struct Route {
  std::uint32_t prefix = 0;
  unsigned length = 0;  // 0 ... 32
  unsigned port = 0;

  std::uint32_t mask() const { return length == 0 ? 0 : ~0u << (32 - length); }
  bool operator==(const Route&) const = default;
};

using Routes = std::vector<Route>;

/// A route that is announced, in place of another of that prefix if there was one; or, without a
/// port, withdrawn.
struct RouteChange {
  Route route;
  bool withdrawn = false;

  bool covers(std::uint32_t address) const { return (address & route.mask()) == route.prefix; }
  bool operator==(const RouteChange&) const = default;
};

/// Lines `prefix port`, as in `10.1.0.0/16 3`; empty lines, what follows a #, a carriage return
/// before the end of a line and UTF-8's byte order mark do not count, nor does a route again. The
/// same prefix with another port, bits beyond its length, more than 32 of them, a port that is not
/// there, IPv6, a text without routes: OptionError with `name`, line and what is wrong. There need
/// be no default route, and nothing else beside one.
///
/// Lines that begin with a letter, and not with an IPv6 address, are a router's own: `other` says
/// what is wrong with one, or nothing.
using OtherLine = std::function<std::string(std::string_view line)>;
Routes parse_routes(std::string_view text, const std::string& name, unsigned ports,
                    const OtherLine& other = {});
Routes read_routes(const std::string& path, unsigned ports, const OtherLine& other = {});

/// Lines `announce 10.1.0.0/16 3`, in place of a route of that prefix if there is one, and
/// `withdraw 10.1.0.0/16`, in the order in which they are made to a router that begins with
/// `routes`; else as in a file of those. A prefix of less than `shortest` bits, one that is
/// withdrawn while it has no route: OptionError likewise.
using RouteChanges = std::vector<RouteChange>;
RouteChanges parse_changes(std::string_view text, const std::string& name, unsigned ports,
                           const Routes& routes, unsigned shortest = 0);
RouteChanges read_changes(const std::string& path, unsigned ports, const Routes& routes,
                          unsigned shortest = 0);

/// Take what is at the front of a text off it; false when there is no such thing: decimal digits
/// (without a 0 before others) of a number that is at most `most`, a dotted address, blanks.
bool take_number(std::string_view& text, unsigned most, unsigned& value);
bool take_address(std::string_view& text, std::uint32_t& address);
bool skip_blanks(std::string_view& text);

/// Whether packets to this address are never forwarded, whatever the routes say (RFC 1812, 5.3.7,
/// 4.2.2.11).
inline bool martian(std::uint32_t address) {
  const std::uint32_t net = address >> 24;
  return net == 0 || net == 127 || net >= 224;
}

/// Longest-prefix match by a binary trie.
class RouteTrie {
 public:
  explicit RouteTrie(const Routes& routes);
  void change(const RouteChange& change);
  std::optional<unsigned> find(std::uint32_t address) const;
  /// The longest prefix that holds all of this one and is not it.
  std::optional<Route> around(const Route& route) const;

  /// All that it has.
  Routes routes() const;

  /// A place in the trie: all addresses that begin with the bits that led there.
  struct Place {
    std::int32_t node = 0;   // -1: there is no more exact route
    std::int32_t port = -1;  // of the longest prefix met so far; -1: none
  };
  Place root() const { return {0, nodes_[0].port}; }
  Place down(Place at, unsigned bit) const;
  /// Whether there may be more exact routes below.
  bool ends(Place at) const;

 private:
  struct Node {
    std::int32_t next[2] = {-1, -1};
    std::int32_t port = -1;
  };
  std::vector<Node> nodes_;
};

/// Longest-prefix match by a hash table of each prefix length.
class PrefixTables {
 public:
  explicit PrefixTables(const Routes& routes);
  void change(const RouteChange& change);
  std::optional<unsigned> find(std::uint32_t address) const;

 private:
  std::array<std::unordered_map<std::uint32_t, unsigned>, 33> by_length_;
};

}  // namespace emery::route
