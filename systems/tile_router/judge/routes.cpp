// SPDX-License-Identifier: Apache-2.0
// Judges a routes file as the bench does, before there is a simulator.
#include "bench/route/judge_file.hpp"

int main(int argc, char** argv) {
  return emery::route::judge_file(argc, argv, [](const emery::Options& options, unsigned ports) {
    return emery::route::read_routes(options.get<std::string>("routes"), ports);
  });
}
