// SPDX-License-Identifier: Apache-2.0
// What a router's program that judges routes files does: it is told the settings of a run, in a
// file as its simulator is, and says what is wrong with the routes before a simulator is built.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench/route/addresses.hpp"
#include "bench/route/routes.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"

namespace emery::route {

/// The whole of it, with its exit status; `read(options, ports)` gives the routes as the router's
/// bench reads them, of which those of less than `shortest` bits may not change.
template <class Read>
int judge_file(int argc, char** argv, Read read, unsigned shortest = 0) {
  try {
    if (argc != 2) throw OptionError("one word is wanted, a file of settings");
    Options options;
    options.read_file(argv[1]);
    const auto ports = options.get<unsigned>("route_ports");
    const Routes routes = read(options, ports);
    Random random(1);
    if (options.has("size"))  // frames are made for them
      Addresses(routes, ports, options.get<std::string>("routes")).pick(0, random);
    if (options.has("updates")) {
      read_changes(options.get<std::string>("updates"), ports, routes, shortest);
    } else if (options.has("updates_per_s") && options.get<double>("updates_per_s") > 0 &&
               std::ranges::all_of(routes, [&](const Route& r) { return r.length < shortest; })) {
      throw OptionError(options.get<std::string>("routes") + ": all routes have less than " +
                        std::to_string(shortest) + " bits, none of them may change");
    }
  } catch (const OptionError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace emery::route
