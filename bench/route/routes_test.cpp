// SPDX-License-Identifier: Apache-2.0
// Test of routes files, at both ends of each field, and of the two longest-prefix matches against
// each other.
#include "bench/route/routes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "bench/route/addresses.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"

namespace emery::route {
namespace {

Checks checks;
constexpr unsigned kPorts = 4;

Routes parse(const std::string& text) { return parse_routes(text, "file", kPorts); }

void right(const std::string& text, const Routes& want) {
  checks.that(parse(text) == want, "read: " + text);
}

void wrong(const std::string& text, const std::string& says) {
  try {
    parse(text);
    checks.that(false, "not refused: " + text);
  } catch (const OptionError& error) {
    checks.equal(std::string(error.what()), "file" + says, "refused: " + text);
  }
}

void test_files() {
  const Route eight{10u << 24, 8, 1};
  right("10.0.0.0/8 1\n", {eight});
  for (const char* text :
       {"10.0.0.0/8 1", "10.0.0.0/8 1\r\n", "\t10.0.0.0/8 \t1  \n", "\n\n10.0.0.0/8 1\n\n",
        "# a table\n10.0.0.0/8 1 # of one\n#", "10.0.0.0/8 1\n10.0.0.0/8 1\n"})
    right(text, {eight});
  right("0.0.0.0/0 3", {{0, 0, 3}});
  right("255.255.255.255/32 0", {{~0u, 32, 0}});
  right("0.0.0.0/32 0\r\n128.0.0.0/1 2", {{0, 32, 0}, {1u << 31, 1, 2}});
  right("10.0.0.0/8 1\n10.0.0.0/9 2\n", {eight, {10u << 24, 9, 2}});

  const std::string example = ": not a line like '10.1.0.0/16 3'";
  for (const char* text :
       {"x", "10.0.0.0 1", "10.0.0/8 1", "10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0/8 -1",
        "10.0.0.0/8 1 2", "10.0.0.0/8 1x", "10.0.0.0/-1 1", "256.0.0.0/8 1", "10.0.0.256/32 1",
        "4294967306.0.0.0/8 1", "10.0.0.0/8,1", "10.0.0.0/ 1", "010.0.0.0/8 1", "10.0.0.0/08 1",
        "10.0.0.0/8 01", ".0.0.0/8 1"})
    wrong(text, ":1" + example);
  wrong("10.0.0.0/8 1\n\n10.0.0.0\n", ":3" + example);
  wrong("10.0.0.0/81", ":1: a prefix of 81 bits: 0 to 32 are possible");
  wrong("10.0.0.0/33 1", ":1: a prefix of 33 bits: 0 to 32 are possible");
  wrong("10.0.0.0/4294967304 1", ":1: a prefix of 4294967304 bits: 0 to 32 are possible");
  wrong("10.0.0.0/8 4", ":1: port 4: there are 4, from 0");
  wrong("10.0.0.0/8 4294967297", ":1: port 4294967297: there are 4, from 0");
  wrong("10.0.0.0/8 18446744073709551617", ":1: port 18446744073709551617: there are 4, from 0");
  wrong("10.0.0.1/31 1", ":1: 10.0.0.1/31 has bits set beyond its length");
  wrong("128.0.0.0/0 1", ":1: 128.0.0.0/0 has bits set beyond its length");
  wrong("10.0.0.0/8 1\n10.0.0.0/8 2", ":2: 10.0.0.0/8 leads to port 2, on line 1 to port 1");
  wrong("10.0.0.0/8 1\n2001:db8::/32 1", ":2: an IPv6 prefix: there is only IPv4 here");
  wrong("::/0 1", ":1: an IPv6 prefix: there is only IPv4 here");
  for (const char* text : {"", "\n", "# nothing\n", "\r\n \t", "\xef\xbb\xbf"})
    wrong(text, ": no routes");
  for (const char* text : {"\x1f\x8b\x08", "BZh91AY",
                           "\xfd"
                           "7zXZ"})
    wrong(text, ": compressed; unpack it first");
}

void test_changes() {
  const Routes routes{{10u << 24, 8, 1}};
  const auto parse = [&](const std::string& text) {
    return parse_changes(text, "file", kPorts, routes, 8);
  };
  const RouteChanges all = parse(
      "# a peer\n announce 10.1.0.0/16\t3 \r\n\nwithdraw 10.0.0.0/8 # gone\n"
      "announce 10.0.0.0/8 2\nwithdraw\t10.1.0.0/16\nannounce 10.0.0.0/8 2");
  const RouteChanges want{{{10u << 24 | 1u << 16, 16, 3}, false},
                          {{10u << 24, 8, 0}, true},
                          {{10u << 24, 8, 2}, false},
                          {{10u << 24 | 1u << 16, 16, 0}, true},
                          {{10u << 24, 8, 2}, false}};
  checks.that(all == want, "changes of a file");

  const auto wrong = [&](const std::string& text, const std::string& says) {
    try {
      parse(text);
      checks.that(false, "not refused: " + text);
    } catch (const OptionError& error) {
      checks.equal(std::string(error.what()), "file" + says, "refused: " + text);
    }
  };
  const std::string example =
      ": not a line like 'announce 10.1.0.0/16 3' or 'withdraw 10.1.0.0/16'";
  for (const char* text :
       {"10.1.0.0/16 3", "announce", "withdraw", "announce 10.1.0.0/16", "announce 10.1.0.0 3",
        "withdraw 10.0.0.0/8 1", "announces 10.1.0.0/16 3", "Announce 10.1.0.0/16 3",
        "announce 10.1.0.0/16 3 4", "announce10.1.0.0/16 3", "withdraw 10.0.0.0/8x"})
    wrong(text, ":1" + example);
  wrong("announce 10.1.0.0/16 4", ":1: port 4: there are 4, from 0");
  wrong("\nwithdraw 10.0.0.0/8\nwithdraw 10.0.0.0/8", ":3: 10.0.0.0/8 has no route then");
  wrong("withdraw 10.1.0.0/16", ":1: 10.1.0.0/16 has no route then");
  wrong("announce 10.0.0.1/8 3", ":1: 10.0.0.1/8 has bits set beyond its length");
  wrong("announce 8.0.0.0/7 3", ":1: 8.0.0.0/7: routes of less than 8 bits do not change here");
  wrong("withdraw ::/0", ":1: an IPv6 prefix: there is only IPv4 here");
  for (const char* text : {"", "# nothing\n"}) wrong(text, ": no changes");
  wrong("\x1f\x8b\x08", ": compressed; unpack it first");
}

void test_matches() {
  Random random(5);
  Routes routes;
  for (int i = 0; i < 2000; ++i) {
    Route route{static_cast<std::uint32_t>(random.next()) & 0xff0f00ff,
                static_cast<unsigned>(random.below(33)),
                static_cast<unsigned>(random.below(kPorts))};
    route.prefix &= route.mask();
    routes.push_back(route);
  }
  const RouteTrie trie(routes);
  const PrefixTables tables(routes);
  unsigned differ = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto address = static_cast<std::uint32_t>(random.next()) & 0xff0f00ff;
    differ += trie.find(address) != tables.find(address);
  }
  checks.equal(differ, 0u, "the matches agree");
  Routes all = trie.routes();
  const PrefixTables again(all);
  for (const Route& route : routes) {
    const auto same = [&](const Route& r) {
      return r.prefix == route.prefix && r.length == route.length;
    };
    checks.equal(std::ranges::count_if(all, same), std::ptrdiff_t{1}, "a route is there once");
  }
  for (const Route& route : all) {
    std::optional<Route> want;
    for (const Route& r : all) {
      if (r.length < route.length && (route.prefix & r.mask()) == r.prefix &&
          (!want || r.length > want->length))
        want = r;
    }
    checks.that(trie.around(route) == want, "the prefix around one");
  }
  checks.that(!RouteTrie({{10u << 24, 8, 1}}).find(11u << 24), "nothing to find");
  checks.that(!PrefixTables({{10u << 24, 8, 1}}).find(11u << 24), "nothing to find");
}

/// Where addresses lead that are picked for each port.
std::string led(const Routes& routes) {
  Random random(3);
  const RouteTrie trie(routes);
  const Addresses addresses(routes, kPorts);
  std::string found;
  for (unsigned port = 0; port < kPorts; ++port)
    found += std::to_string(*trie.find(addresses.pick(port, random)));
  return found;
}

void test_addresses() {
  const std::uint32_t ten = 10u << 24;
  checks.equal(led({{ten, 8, 0}, {ten, 10, 1}, {ten, 12, 2}, {ten, 14, 3}}), std::string("0123"),
               "each port by its route");
  checks.equal(led({{0, 0, 1}}), std::string("1111"), "a default route alone");
  checks.equal(led({{0, 0, 1}, {0, 1, 2}, {1u << 31, 1, 3}}), std::string("2223"),
               "a route that others hide leads nowhere");
  checks.throws([] { led({{127u << 24, 8, 0}, {0xe0000000, 4, 1}}); }, {"no address"},
                "nothing that may be sent to");
}

}  // namespace
}  // namespace emery::route

int main() {
  emery::route::test_files();
  emery::route::test_changes();
  emery::route::test_matches();
  emery::route::test_addresses();
  return emery::route::checks.finish();
}
