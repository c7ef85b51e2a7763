// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/updates.hpp"

namespace emery::direct_router {

void Updates::poll(Time now, bool ending) {
  if (!writer_.idle()) {
    if (!writer_.poll(now)) return;
    due_ += static_cast<Time>(1e12 / per_second_);
    late_ += due_ < now;
    return;
  }
  if (due_ == 0) due_ = now;
  if (ending || now < due_) return;
  if (const auto change = changes_->next()) writer_.begin(*change, now);
}

void Updates::write(JsonWriter& json) const {
  writer_.write_counts(json);
  json.field("late", late_).field("left", changes_->left());
  writer_.write_times(json);
}

}  // namespace emery::direct_router
