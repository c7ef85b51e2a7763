// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/destinations.hpp"

#include <algorithm>
#include <set>

#include "bench/sim/random.hpp"

namespace emery::tile_router {
namespace {

constexpr unsigned kNetworks = 222;  // of eight bits, that are no martians

// As the paper has it: addresses at random, each with an output at random (and one more for each
// output, so that none is without). More than there are prefixes of that length: all of those.
route::Routes random_routes(unsigned ports, unsigned length, std::uint32_t count,
                            std::uint64_t seed) {
  Random random(seed * 31 + 7);
  const bool all = count >= std::uint64_t{kNetworks} << (length - 8);
  std::set<std::uint32_t> seen;
  route::Routes routes;
  for (std::uint64_t n = 0; all ? n >> length == 0 : seen.size() < count; ++n) {
    const auto address = static_cast<std::uint32_t>(all ? n << (32 - length) : random.next());
    const route::Route r{address & route::Route{0, length, 0}.mask(), length,
                         seen.size() < ports ? static_cast<unsigned>(seen.size())
                                             : static_cast<unsigned>(random.below(ports))};
    if (!route::martian(address) && seen.insert(r.prefix).second) routes.push_back(r);
  }
  return routes;
}

// Each network of 24 bits that a captured packet goes to has an output at random.
route::Routes routes_of_captures(const Workload& workload) {
  std::set<std::uint32_t> seen;
  Random random(workload.common().seed * 31 + 7);
  route::Routes routes;
  for (unsigned p = 0; p < workload.ports(); ++p) {
    const auto plan = workload.port(p);
    if (!plan) continue;
    for (const Capture::Packet& packet : plan->capture->packets()) {
      const auto bytes = plan->capture->bytes(packet);
      if (bytes.size() < 34 || bytes[12] != 8 || bytes[13] != 0) continue;
      const std::uint32_t prefix =
          std::uint32_t{bytes[30]} << 24 | std::uint32_t{bytes[31]} << 16 | bytes[32] << 8;
      if (seen.insert(prefix).second)
        routes.push_back({prefix, 24, static_cast<unsigned>(random.below(workload.ports()))});
    }
  }
  if (routes.empty()) routes.push_back({0, 0, 0});
  return routes;
}

}  // namespace

route::Routes routes_of(const Options& options, const Workload& workload) {
  const auto length = options.get<unsigned>("prefix_length");
  if (const std::string file = options.get("routes", ""); !file.empty())
    return route::read_routes(file, workload.ports());
  if (workload.captures()) return routes_of_captures(workload);
  return random_routes(workload.ports(), length, std::max(4u, workload.common().flows),
                       workload.common().seed);
}

std::vector<std::uint32_t> destinations(const std::string& pattern, unsigned port, unsigned flows,
                                        std::uint64_t seed, const route::Routes& routes,
                                        const route::Addresses& addresses, unsigned ports) {
  Random random(seed * 77 + port);
  const bool shares = routes.size() < 2 * flows * ports;  // the paper's: each has its own
  std::vector<std::uint32_t> found;
  for (std::uint32_t f = 0; f < flows; ++f) {
    auto out = static_cast<unsigned>(random.below(ports));
    if (pattern == "permutation") out = (port + 1) % ports;
    if (pattern == "hotspot") out = 0;
    if (pattern == "random" && shares) out = routes[random.below(routes.size())].port;
    found.push_back(addresses.pick(out, random));
  }
  return found;
}

}  // namespace emery::tile_router
