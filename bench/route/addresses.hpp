// SPDX-License-Identifier: Apache-2.0
// Addresses at random that routes send to a wanted port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/route/routes.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"

namespace emery::route {

class Addresses {
 public:
  /// `name`: of the file that routes are from.
  Addresses(const Routes& routes, unsigned ports, std::string name = "routes")
      : trie_(routes), by_port_(ports), name_(std::move(name)) {
    for (const Route& r : routes) by_port_[r.port].push_back(r);
  }

  /// One that leads to that port, by one of its routes; where none does (a table of a default route
  /// alone), to the next port that some lead to. Throws OptionError when none leads anywhere.
  std::uint32_t pick(unsigned port, Random& random) const {
    for (unsigned n = 0; n < by_port_.size(); ++n) {
      if (const auto found = one_to(by_port_[(port + n) % by_port_.size()], random)) return *found;
    }
    throw OptionError(name_ + ": its routes lead to no address that may be sent to");
  }

 private:
  std::optional<std::uint32_t> one_to(const Routes& choice, Random& random) const {
    const unsigned port = choice.empty() ? 0 : choice.front().port;
    for (int tries = 0; tries < 1000 && !choice.empty(); ++tries) {
      const Route& r = choice[random.below(choice.size())];
      const std::uint32_t address =
          r.prefix | (static_cast<std::uint32_t>(random.next()) & ~r.mask());
      if (!martian(address) && trie_.find(address) == port) return address;
    }
    return std::nullopt;
  }

  RouteTrie trie_;
  std::vector<Routes> by_port_;
  std::string name_;
};

}  // namespace emery::route
