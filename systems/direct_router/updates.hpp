// SPDX-License-Identifier: Apache-2.0
// Routes that come and go while frames flow: what changes (bench/route/churn.hpp) and when; how it
// gets into the cards is TableWriter's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/route/churn.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/table_writer.hpp"

namespace emery::direct_router {

class Updates {
 public:
  Updates(double per_second, std::unique_ptr<route::ChangeSource> changes, TableWriter& writer)
      : per_second_(per_second), changes_(std::move(changes)), writer_(writer) {}

  /// On the bus clock. No change begins once `ending`.
  void poll(Time now, bool ending);
  /// The object that is open.
  void write(JsonWriter& json) const;

 private:
  double per_second_;
  std::unique_ptr<route::ChangeSource> changes_;
  TableWriter& writer_;
  Time due_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace emery::direct_router
