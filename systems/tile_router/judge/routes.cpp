// SPDX-License-Identifier: Apache-2.0
// Judges a routes file, and changes of it, as the bench does, before there is a simulator.
#include "bench/route/judge_file.hpp"
#include "systems/tile_router/shortest_change.hpp"
#include "systems/tile_router/table_routes.hpp"

int main(int argc, char** argv) {
  return emery::route::judge_file(
      argc, argv,
      [](const emery::Options& options, unsigned ports) {
        return emery::tile_router::read_table_routes(options.get<std::string>("routes"), ports);
      },
      emery::tile_router::kShortestChange);
}
