// SPDX-License-Identifier: Apache-2.0
// The parameter `mac` of routers (parameters.toml): whose frames they take, and what that makes of
// captured ones.
#pragma once

#include <string>

#include "bench/route/judge.hpp"
#include "bench/sim/options.hpp"

namespace emery::route {

struct StationOption {
  bool any;        // the router takes frames to any address
  bool readdress;  // captured frames are sent to the router's

  explicit StationOption(const Options& options)
      : any(options.get<std::string>("mac") == "any"),
        readdress(options.get<std::string>("mac") == "rewritten") {}

  Judge::Station station() const { return any ? Judge::Station::kAny : Judge::Station::kOwn; }
};

}  // namespace emery::route
