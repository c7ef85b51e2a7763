// SPDX-License-Identifier: Apache-2.0
// Routes that come and go while frames flow: what changes follows from the seed
// (bench/route/churn.hpp); how it gets into the cards is TableWriter's.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/route/churn.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/table_writer.hpp"

namespace emery::direct_router {

struct UpdateConfig {
  double per_second;
  std::uint64_t seed;
  Time lead;
  unsigned ports;
};

using route::Destination;

class Updates {
 public:
  Updates(const UpdateConfig& config, const Routes& routes,
          const std::vector<Destination>& destinations, TableWriter& writer)
      : config_(config), churn_(config.seed, config.ports, routes, destinations), writer_(writer) {}

  /// On the bus clock. No change begins once `ending`.
  void poll(Time now, bool ending);
  /// The object that is open.
  void write(JsonWriter& json) const;

 private:
  UpdateConfig config_;
  route::Churn churn_;
  TableWriter& writer_;
  Time due_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace emery::direct_router
