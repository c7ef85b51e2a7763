// SPDX-License-Identifier: Apache-2.0
// Judges a routes file as the bench does, before there is a simulator: its lines of addresses and
// classes too.
#include "bench/route/judge_file.hpp"
#include "systems/direct_router/tables.hpp"

int main(int argc, char** argv) {
  return emery::route::judge_file(argc, argv, [](const emery::Options& options, unsigned ports) {
    return emery::direct_router::Tables::make(options, ports, false).routes;
  });
}
