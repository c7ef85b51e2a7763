// SPDX-License-Identifier: Apache-2.0
// main() of a simulator beside the programs that drive its cards: reads the settings, says `ready`
// when it can be reached, runs until they have gone, writes the result, says what went wrong.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/sim/options.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// A Bench can be reached once it is made from Options; it has run(), write(JsonWriter&) and
/// findings().
template <class Bench>
int simulate_beside(const std::string& config) {
  Options options;
  options.read_file(config);
  Bench bench(options);
  std::fputs("ready\n", stderr);
  bench.run();
  JsonWriter json;
  bench.write(json);
  const auto result = options.get<std::string>("result");
  std::ofstream file(result);
  if (!(file << json.text()) || !file.flush()) throw OptionError(result + ": cannot be written");
  const auto lines = bench.findings().lines();
  if (!lines.empty()) std::fprintf(stderr, "integrity: %s\n", lines.front().c_str());
  return lines.empty() ? 0 : 1;
}

template <class Bench>
int run_beside(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument(std::string("usage: ") + argv[0] + " CONFIG");
    return simulate_beside<Bench>(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

}  // namespace emery
