// SPDX-License-Identifier: Apache-2.0
// What every simulator does: read the settings, run the bench, write the result, say whether every
// frame is accounted for (docs/systems.md has the contract).
#pragma once

#include <functional>
#include <memory>

#include "bench/run/run.hpp"
#include "bench/sim/options.hpp"

namespace emery {

using MakeRun = std::function<std::unique_ptr<Run>(const Options&)>;

/// The whole of it, with its exit status.
int run_simulator(int argc, char** argv, const MakeRun& make);

/// main() of the simulator of a system whose bench is a Run with a constructor from Options.
template <class Bench>
int run_simulator(int argc, char** argv) {
  return run_simulator(argc, argv,
                       [](const Options& options) { return std::make_unique<Bench>(options); });
}

}  // namespace emery
