// SPDX-License-Identifier: Apache-2.0
#include "bench/run/main.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "bench/stats/json.hpp"

namespace emery {
namespace {

int simulate(const std::string& config, const MakeRun& make) {
  Options options;
  options.read_file(config);
  const auto result = options.get<std::string>("result");
  const std::unique_ptr<Run> bench = make(options);
  options.check_all_used();
  const auto start = std::chrono::steady_clock::now();
  bench->run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

  JsonWriter json;
  bench->write(json, wall.count());
  const std::vector<std::string> failures = bench->failures();
  bench->close();
  std::ofstream file(result);
  if (!(file << json.text()) || !file.flush()) throw OptionError(result + ": cannot be written");
  if (!failures.empty()) {
    const std::string more =
        failures.size() > 1 ? " (and " + std::to_string(failures.size() - 1) + " more)" : "";
    std::fprintf(stderr, "integrity: %s%s\n", failures.front().c_str(), more.c_str());
  }
  const int status = failures.empty() ? 0 : 1;
  bench->end(status);
  return status;
}

}  // namespace

int run_simulator(int argc, char** argv, const MakeRun& make) {
  if (argc != 2) {
    std::fprintf(stderr, "error: usage: %s CONFIG\n", argv[0]);
    return 2;
  }
  try {
    return simulate(argv[1], make);
  } catch (const DebuggerEnded& ended) {
    std::fprintf(stderr, "integrity: %s\n", ended.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

}  // namespace emery
