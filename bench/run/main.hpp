// SPDX-License-Identifier: Apache-2.0
// What every simulator does: read the settings, run the bench, write the result, say whether every
// frame is accounted for (docs/systems.md has the contract).
//
// A bench is a class with a constructor from Options, `run()`, `write(JsonWriter&, wall_seconds)`,
// `failures()` (a line a finding, empty when all is well) and `close()`, which ends its captures.
#pragma once

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/stats/json.hpp"

namespace emery {

template <class Bench>
int simulate(const std::string& config) {
  Options options;
  options.read_file(config);
  const std::string result = options.get("result", "");
  Bench bench(options);
  options.check_all_used();
  const auto start = std::chrono::steady_clock::now();
  bench.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

  JsonWriter json;
  bench.write(json, wall.count());
  const std::vector<std::string> failures = bench.failures();
  bench.close();
  std::ofstream file(result);
  if (!(file << json.text()) || !file.flush()) throw OptionError(result + ": cannot be written");
  if (!failures.empty()) {
    const std::string more =
        failures.size() > 1 ? " (and " + std::to_string(failures.size() - 1) + " more)" : "";
    std::fprintf(stderr, "integrity: %s%s\n", failures.front().c_str(), more.c_str());
  }
  return failures.empty() ? 0 : 1;
}

/// main() of a simulator.
template <class Bench>
int run_simulator(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "error: usage: %s CONFIG\n", argv[0]);
    return 2;
  }
  try {
    return simulate<Bench>(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

}  // namespace emery
