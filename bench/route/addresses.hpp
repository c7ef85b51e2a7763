// SPDX-License-Identifier: Apache-2.0
// Addresses at random that routes send to a wanted port.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/route/routes.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"

namespace emery::route {

class Addresses {
 public:
  Addresses(const Routes& routes, unsigned ports) : trie_(routes), by_port_(ports) {
    for (const Route& r : routes) by_port_[r.port].push_back(r);
  }

  /// One that leads to that port, by one of its routes. Throws OptionError when there is none.
  std::uint32_t pick(unsigned port, Random& random) const {
    const Routes& choice = by_port_[port];
    for (int tries = 0; tries < 1000 && !choice.empty(); ++tries) {
      const Route& r = choice[random.below(choice.size())];
      const std::uint32_t address =
          r.prefix | (static_cast<std::uint32_t>(random.next()) & ~r.mask());
      if (!martian(address) && trie_.find(address) == port) return address;
    }
    throw OptionError("routes: no " + std::string(choice.empty() ? "route" : "address") +
                      " leads to port " + std::to_string(port) + ", where traffic is to go");
  }

 private:
  RouteTrie trie_;
  std::vector<Routes> by_port_;
};

}  // namespace emery::route
