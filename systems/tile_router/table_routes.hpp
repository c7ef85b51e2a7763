// SPDX-License-Identifier: Apache-2.0
// Routes that the tables of DIR-24-8 (dir24.hpp) have room for.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "bench/route/routes.hpp"
#include "bench/sim/options.hpp"
#include "tile_formats.hpp"

namespace emery::tile_router {

/// A routes file; one that needs more blocks than there are: OptionError with its name.
inline route::Routes read_table_routes(const std::string& path, unsigned ports) {
  route::Routes routes = route::read_routes(path, ports);
  std::unordered_set<std::uint32_t> networks;
  for (const route::Route& route : routes)
    if (route.length > 24) networks.insert(route.prefix >> 8);
  if (networks.size() > tile_pkg::MostBlocks)
    throw OptionError(path + ": prefixes longer than 24 bits are in " +
                      std::to_string(networks.size()) + " networks of 24 bits, there is room for " +
                      std::to_string(tile_pkg::MostBlocks));
  return routes;
}

}  // namespace emery::tile_router
