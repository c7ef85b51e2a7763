// SPDX-License-Identifier: Apache-2.0
// The routes of a run without a routes file, and where its generated frames go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/route/addresses.hpp"
#include "bench/route/routes.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/options.hpp"

namespace emery::tile_router {

/// Those of the file `routes`, or, without one, some made up for what is sent.
route::Routes routes_of(const Options& options, const Workload& workload);

/// Addresses of a port's flows, where the setting `pattern` wants them.
std::vector<std::uint32_t> destinations(const std::string& pattern, unsigned port, unsigned flows,
                                        std::uint64_t seed, const route::Routes& routes,
                                        const route::Addresses& addresses, unsigned ports);

}  // namespace emery::tile_router
