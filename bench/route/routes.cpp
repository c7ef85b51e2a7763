// SPDX-License-Identifier: Apache-2.0
#include "bench/route/routes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unordered_set>

#include "bench/sim/options.hpp"

namespace emery::route {

namespace {

constexpr const char* kExample = "not a line like '10.1.0.0/16 3'";

/// Decimal digits at the front of `text`, which are taken off; an empty part when there are none,
/// or a 0 before others, which some programs read as octal.
std::string_view digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view part = text.substr(0, end > 1 && text.front() == '0' ? 0 : end);
  text.remove_prefix(part.size());
  return part;
}

/// What the digits say, if that is at most `most`.
bool number(std::string_view part, unsigned most, unsigned& value) {
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  return error == std::errc{} && value <= most;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool begins_with_ipv6(std::string_view line) {
  return line.substr(0, line.find_first_of(" \t")).find(':') != line.npos;
}

std::string written(const Route& route) {
  std::string text;
  for (int i = 24; i >= 0; i -= 8)
    text += std::to_string(route.prefix >> i & 255) + (i ? "." : "/");
  return text + std::to_string(route.length);
}

/// Takes a prefix off the front of `text`; says what is wrong with it, or nothing.
std::string take_prefix(std::string_view& text, const char* example, Route& route) {
  if (begins_with_ipv6(text)) return "an IPv6 prefix: there is only IPv4 here";
  if (!take_address(text, route.prefix) || !take(text, '/')) return example;
  const std::string_view length = digits(text);
  if (length.empty()) return example;
  if (!number(length, 32, route.length))
    return "a prefix of " + std::string(length) + " bits: 0 to 32 are possible";
  if (route.prefix & ~route.mask()) return written(route) + " has bits set beyond its length";
  return "";
}

/// The port that ends a line.
std::string take_port(std::string_view text, const char* example, unsigned ports, Route& route) {
  const bool apart = skip_blanks(text);
  const std::string_view port = digits(text);
  if (!apart || port.empty() || !text.empty()) return example;
  if (number(port, ports - 1, route.port)) return "";
  return "port " + std::string(port) + ": there are " + std::to_string(ports) + ", from 0";
}

std::uint64_t key(const Route& route) { return std::uint64_t{route.prefix} << 8 | route.length; }

/// Calls `use(line)` for each line of a text that says something, without what does not count;
/// what it gives is wrong with it, or nothing.
template <class Use>
void each_line(std::string_view text, const std::string& name, Use use) {
  for (const std::string_view packed : {"\x1f\x8b", "BZh",
                                        "\xfd"
                                        "7zXZ"})
    if (text.starts_with(packed)) throw OptionError(name + ": compressed; unpack it first");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // UTF-8's byte order mark
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    rest = rest.substr(0, rest.find('#'));
    while (!rest.empty() && blank(rest.back())) rest.remove_suffix(1);
    skip_blanks(rest);
    if (rest.empty()) continue;
    if (const std::string wrong = use(rest, line); !wrong.empty())
      throw OptionError(name + ":" + std::to_string(line) + ": " + wrong);
  }
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw OptionError(path + ": cannot be read");
  return text;
}

}  // namespace

bool skip_blanks(std::string_view& text) {
  const std::size_t before = text.size();
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  return text.size() != before;
}

bool take_number(std::string_view& text, unsigned most, unsigned& value) {
  return number(digits(text), most, value);
}

bool take_address(std::string_view& text, std::uint32_t& address) {
  for (int i = 0; i < 4; ++i) {
    unsigned part = 0;
    if ((i != 0 && !take(text, '.')) || !take_number(text, 255, part)) return false;
    address = address << 8 | part;
  }
  return true;
}

Routes parse_routes(std::string_view text, const std::string& name, unsigned ports,
                    const OtherLine& other) {
  struct Seen {
    std::size_t line;
    unsigned port;
  };
  std::unordered_map<std::uint64_t, Seen> lines;  // by prefix and length
  Routes routes;
  each_line(text, name, [&](std::string_view rest, std::size_t line) -> std::string {
    if (other && !begins_with_ipv6(rest) && std::isalpha(static_cast<unsigned char>(rest.front())))
      return other(rest);
    Route route;
    std::string wrong = take_prefix(rest, kExample, route);
    if (wrong.empty()) wrong = take_port(rest, kExample, ports, route);
    if (!wrong.empty()) return wrong;
    const auto [first, fresh] = lines.try_emplace(key(route), Seen{line, route.port});
    if (fresh) routes.push_back(route);
    if (first->second.port == route.port) return "";
    return written(route) + " leads to port " + std::to_string(route.port) + ", on line " +
           std::to_string(first->second.line) + " to port " + std::to_string(first->second.port);
  });
  if (routes.empty()) throw OptionError(name + ": no routes");
  return routes;
}

Routes read_routes(const std::string& path, unsigned ports, const OtherLine& other) {
  return parse_routes(content(path), path, ports, other);
}

RouteChanges parse_changes(std::string_view text, const std::string& name, unsigned ports,
                           const Routes& routes, unsigned shortest) {
  std::unordered_set<std::uint64_t> there;
  for (const Route& route : routes) there.insert(key(route));
  RouteChanges changes;
  each_line(text, name, [&](std::string_view rest, std::size_t) -> std::string {
    constexpr const char* kChange =
        "not a line like 'announce 10.1.0.0/16 3' or 'withdraw 10.1.0.0/16'";
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(word.size());
    skip_blanks(rest);
    RouteChange change{{}, word == "withdraw"};
    Route& route = change.route;
    if (!change.withdrawn && word != "announce") return kChange;
    std::string wrong = take_prefix(rest, kChange, route);
    if (wrong.empty() && change.withdrawn && !rest.empty()) wrong = kChange;
    if (wrong.empty() && !change.withdrawn) wrong = take_port(rest, kChange, ports, route);
    if (!wrong.empty()) return wrong;
    if (route.length < shortest)
      return written(route) + ": routes of less than " + std::to_string(shortest) +
             " bits do not change here";
    if (!change.withdrawn)
      there.insert(key(route));
    else if (there.erase(key(route)) == 0)
      return written(route) + " has no route then";
    changes.push_back(change);
    return "";
  });
  if (changes.empty()) throw OptionError(name + ": no changes");
  return changes;
}

RouteChanges read_changes(const std::string& path, unsigned ports, const Routes& routes,
                          unsigned shortest) {
  return parse_changes(content(path), path, ports, routes, shortest);
}

RouteTrie::RouteTrie(const Routes& routes) : nodes_(1) {
  for (const Route& route : routes) change({route});
}

// Nodes of what is withdrawn stay: the prefix may come again.
void RouteTrie::change(const RouteChange& change) {
  const Route& route = change.route;
  std::size_t at = 0;
  for (unsigned bit = 0; bit < route.length; ++bit) {
    const unsigned way = route.prefix >> (31 - bit) & 1;
    if (nodes_[at].next[way] < 0) {
      if (change.withdrawn) return;
      nodes_[at].next[way] = static_cast<std::int32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    at = static_cast<std::size_t>(nodes_[at].next[way]);
  }
  nodes_[at].port = change.withdrawn ? -1 : static_cast<std::int32_t>(route.port);
}

RouteTrie::Place RouteTrie::down(Place at, unsigned bit) const {
  if (at.node < 0) return at;
  at.node = nodes_[static_cast<std::size_t>(at.node)].next[bit];
  if (at.node >= 0 && nodes_[static_cast<std::size_t>(at.node)].port >= 0)
    at.port = nodes_[static_cast<std::size_t>(at.node)].port;
  return at;
}

bool RouteTrie::ends(Place at) const {
  if (at.node < 0) return true;
  const Node& node = nodes_[static_cast<std::size_t>(at.node)];
  return node.next[0] < 0 && node.next[1] < 0;
}

std::optional<unsigned> RouteTrie::find(std::uint32_t address) const {
  std::int32_t at = 0, port = -1;
  for (unsigned bit = 0; at >= 0; ++bit) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    if (node.port >= 0) port = node.port;
    at = bit < 32 ? node.next[address >> (31 - bit) & 1] : -1;
  }
  if (port < 0) return std::nullopt;
  return static_cast<unsigned>(port);
}

std::optional<Route> RouteTrie::around(const Route& route) const {
  std::optional<Route> best;
  std::int32_t at = 0;
  for (unsigned bit = 0; at >= 0 && bit < route.length; ++bit) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    if (node.port >= 0) {
      best = Route{0, bit, static_cast<unsigned>(node.port)};
      best->prefix = route.prefix & best->mask();
    }
    at = node.next[route.prefix >> (31 - bit) & 1];
  }
  return best;
}

Routes RouteTrie::routes() const {
  Routes found;
  const std::function<void(std::size_t, Route)> below = [&](std::size_t at, Route here) {
    const Node& node = nodes_[at];
    if (node.port >= 0) {
      here.port = static_cast<unsigned>(node.port);
      found.push_back(here);
    }
    ++here.length;
    for (const std::uint32_t bit : {0u, 1u}) {
      if (node.next[bit] < 0) continue;
      Route next = here;
      next.prefix |= bit << (32 - here.length);
      below(static_cast<std::size_t>(node.next[bit]), next);
    }
  };
  below(0, {});
  return found;
}

PrefixTables::PrefixTables(const Routes& routes) {
  for (const Route& r : routes) by_length_[r.length].insert_or_assign(r.prefix, r.port);
}

void PrefixTables::change(const RouteChange& change) {
  auto& table = by_length_[change.route.length];
  if (change.withdrawn) {
    table.erase(change.route.prefix);
  } else {
    table.insert_or_assign(change.route.prefix, change.route.port);
  }
}

std::optional<unsigned> PrefixTables::find(std::uint32_t address) const {
  for (unsigned length = 33; length-- > 0;) {
    const auto& table = by_length_[length];
    if (table.empty()) continue;
    const auto it = table.find(length == 0 ? 0 : address >> (32 - length) << (32 - length));
    if (it != table.end()) return it->second;
  }
  return std::nullopt;
}

}  // namespace emery::route
