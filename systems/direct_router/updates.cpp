// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/updates.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace emery::direct_router {
namespace {

template <class T>
T take(std::vector<T>& from, std::size_t at) {
  std::swap(from[at], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

}  // namespace

Updates::Updates(const UpdateConfig& config, const Routes& routes,
                 const std::vector<Destination>& destinations, TableWriter& writer)
    : config_(config), random_(config.seed), writer_(writer) {
  // The route of a destination is the longest of those that cover it.
  std::unordered_map<std::uint64_t, std::size_t> index;
  const auto key = [](std::uint32_t prefix, unsigned length) {
    return std::uint64_t{prefix} << 8 | length;
  };
  for (std::size_t i = 0; i < routes.size(); ++i)
    index[key(routes[i].prefix, routes[i].length)] = i;
  std::vector<bool> chosen(routes.size());
  for (const Destination& to : destinations) {
    for (unsigned length = 33; length-- > 0;) {
      const Route at{to.address, length, 0};
      const auto it = index.find(key(to.address & at.mask(), length));
      if (it == index.end()) continue;
      if (!chosen[it->second]) taken_.push_back({routes[it->second], to});
      chosen[it->second] = true;
      break;
    }
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (!chosen[i]) others_.push_back({routes[i], {}});
  }
}

// Not back to where the traffic comes from: it would go through the host.
unsigned Updates::other_port(const Live& live) {
  auto port = static_cast<unsigned>(random_.below(config_.ports));
  if (live.taken && port == live.taken->from) port = (port + 1) % config_.ports;
  return port;
}

RouteChange Updates::draw() {
  if (!withdrawn_.empty() && random_.below(3) == 0) {
    Live live = take(withdrawn_, random_.below(withdrawn_.size()));
    live.route.port = other_port(live);
    (live.taken ? taken_ : others_).push_back(live);
    return {live.route};
  }
  std::vector<Live>& some =
      others_.empty() || (!taken_.empty() && random_.below(2) == 0) ? taken_ : others_;
  const std::size_t at = random_.below(some.size());
  switch (random_.below(3)) {
    case 0:
      if (taken_.size() + others_.size() > 1) {
        withdrawn_.push_back(take(some, at));
        return {withdrawn_.back().route, true};
      }
      [[fallthrough]];
    case 1:
      some[at].route.port = other_port(some[at]);
      return {some[at].route};
    default: {
      // A part of it.
      Live part = some[at];
      const std::uint32_t within =
          part.taken ? part.taken->address
                     : part.route.prefix |
                           (static_cast<std::uint32_t>(random_.next()) & ~part.route.mask());
      part.route.length = static_cast<unsigned>(
          std::min<std::uint64_t>(32, part.route.length + 1 + random_.below(8)));
      part.route.prefix = within & part.route.mask();
      part.route.port = other_port(part);
      some.push_back(part);
      return {part.route};
    }
  }
}

void Updates::poll(Time now, bool ending) {
  if (!writer_.idle()) {
    if (!writer_.poll(now)) return;
    due_ += static_cast<Time>(1e12 / config_.per_second);
    late_ += due_ < now;
    return;
  }
  if (due_ == 0) due_ = now;
  if (!ending && now >= due_) writer_.begin(draw(), now);
}

void Updates::write(JsonWriter& json) const {
  writer_.write_counts(json);
  json.field("late", late_);
  writer_.write_times(json);
}

}  // namespace emery::direct_router
