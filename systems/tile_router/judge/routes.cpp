// SPDX-License-Identifier: Apache-2.0
// Judges a routes file, and changes of it, as the bench does, before there is a simulator; and
// whether the tables (dir24.hpp) have room for it.
#include <cstdint>
#include <string>
#include <unordered_set>

#include "bench/route/judge_file.hpp"
#include "systems/tile_router/shortest_change.hpp"
#include "tile_formats.hpp"

namespace emery::tile_router {
namespace {

route::Routes read(const Options& options, unsigned ports) {
  const auto file = options.get<std::string>("routes");
  route::Routes routes = route::read_routes(file, ports);
  std::unordered_set<std::uint32_t> networks;
  for (const route::Route& route : routes)
    if (route.length > 24) networks.insert(route.prefix >> 8);
  if (networks.size() > tile_pkg::MostBlocks)
    throw OptionError(file + ": prefixes longer than 24 bits are in " +
                      std::to_string(networks.size()) + " networks of 24 bits, there is room for " +
                      std::to_string(tile_pkg::MostBlocks));
  return routes;
}

}  // namespace
}  // namespace emery::tile_router

int main(int argc, char** argv) {
  using namespace emery;
  return route::judge_file(argc, argv, tile_router::read, tile_router::kShortestChange);
}
