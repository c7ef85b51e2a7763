// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/control_plane.hpp"

#include <algorithm>

namespace emery::direct_router {

void ControlPlane::look() {
  if (!idle() || !kernel_.changed()) return;
  ++looks_;
  route::CardFib fib = card_fib(kernel_.taken(), interfaces_, fib_);
  const auto steps = fib_steps(fib_, fib);
  steps_.assign(steps.begin(), steps.end());
  fib_ = std::move(fib);
}

void ControlPlane::poll(Time now, bool ending) {
  if (!writer_.idle()) {
    writer_.poll(now);
    return;
  }
  ended_ = ending;
  if (steps_.empty() || ending) return;
  const route::FibStep step = steps_.front();
  steps_.pop_front();
  if (step.kind == route::FibStep::Kind::kNextHop) {
    ++next_hops_;
    host_.set_next_hop(step.port, step.next_hop);
    reference_.set_next_hop(step.port, step.next_hop);
    return;
  }
  const Route route{step.prefix.first, step.prefix.second, step.port};
  writer_.begin({route, step.kind == route::FibStep::Kind::kWithdraw}, now, frames_inside());
}

void ControlPlane::write(JsonWriter& json) const {
  const auto host = static_cast<unsigned>(fib_.next_hop.size());
  const auto forwarded =
      std::ranges::count_if(fib_.routes, [&](const auto& x) { return x.second != host; });
  json.field("routes", static_cast<std::uint64_t>(forwarded));
  json.field("looks", looks_).field("next_hops", next_hops_);
  writer_.write_counts(json);
  writer_.write_times(json);
  json.object("to_host");
  for (const auto& [why, n] : fib_.to_host) json.field(why, n);
  json.end_object();
}

}  // namespace emery::direct_router
