// SPDX-License-Identifier: Apache-2.0
#include "bench/route/routes.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <utility>

#include "bench/sim/options.hpp"

namespace emery::route {

Routes read_routes(const std::string& path, unsigned ports) {
  std::ifstream file(path);
  if (!file) throw OptionError(path + ": cannot be read");
  std::map<std::pair<std::uint32_t, unsigned>, unsigned> seen;
  Routes routes;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    unsigned a, b, c, d, length, port;
    char rest = 0;
    const int read = std::sscanf(line.c_str(), "%3u.%3u.%3u.%3u/%2u %u %c", &a, &b, &c, &d, &length,
                                 &port, &rest);
    const std::string where = path + ":" + std::to_string(number) + ": ";
    if (read != 6 || a > 255 || b > 255 || c > 255 || d > 255 || length > 32)
      throw OptionError(where + "not a line like '10.1.0.0/16 3'");
    if (port >= ports) {
      throw OptionError(where + "there is no port " + std::to_string(port) + ", only 0 ... " +
                        std::to_string(ports - 1));
    }
    const Route route{a << 24 | b << 16 | c << 8 | d, length, port};
    if (route.prefix & ~route.mask()) throw OptionError(where + "bits set behind the prefix");
    const auto [it, fresh] = seen.try_emplace({route.prefix, length}, port);
    if (!fresh && it->second != port)
      throw OptionError(where + "this prefix has another port already");
    if (fresh) routes.push_back(route);
  }
  return routes;
}

RouteTrie::RouteTrie(const Routes& routes) : nodes_(1) {
  for (const Route& route : routes) {
    std::size_t at = 0;
    for (unsigned bit = 0; bit < route.length; ++bit) {
      const unsigned way = route.prefix >> (31 - bit) & 1;
      if (nodes_[at].next[way] < 0) {
        nodes_[at].next[way] = static_cast<std::int32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      at = static_cast<std::size_t>(nodes_[at].next[way]);
    }
    nodes_[at].port = static_cast<std::int32_t>(route.port);
  }
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

PrefixTables::PrefixTables(const Routes& routes) {
  for (const Route& r : routes) by_length_[r.length].insert_or_assign(r.prefix, r.port);
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
