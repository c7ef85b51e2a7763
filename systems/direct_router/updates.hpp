// SPDX-License-Identifier: Apache-2.0
// Routes that come and go while frames flow, as BGP has it: what changes, and when.
//
// A change is drawn from the seed: one half is of routes that traffic takes. How it gets into the
// cards is TableWriter's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/table_writer.hpp"

namespace emery::direct_router {

struct UpdateConfig {
  double per_second;
  std::uint64_t seed;
  Time lead;
  unsigned ports;
};

/// Where a port sends to.
struct Destination {
  unsigned from;
  std::uint32_t address;
};

class Updates {
 public:
  Updates(const UpdateConfig& config, const Routes& routes,
          const std::vector<Destination>& destinations, TableWriter& writer);

  /// On the bus clock. No change begins once `ending`.
  void poll(Time now, bool ending);
  /// The object that is open.
  void write(JsonWriter& json) const;

 private:
  struct Live {
    Route route;
    std::optional<Destination> taken;  // by traffic
  };

  RouteChange draw();
  unsigned other_port(const Live& live);

  UpdateConfig config_;
  Random random_;
  std::vector<Live> taken_, others_, withdrawn_;
  TableWriter& writer_;
  Time due_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace emery::direct_router
