// SPDX-License-Identifier: Apache-2.0
#include "bench/route/churn.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace emery::route {
namespace {

template <class T>
T take(std::vector<T>& from, std::size_t at) {
  std::swap(from[at], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

}  // namespace

std::unique_ptr<ChangeSource> change_source(const Options& options, unsigned ports,
                                            const Routes& routes,
                                            const std::vector<Destination>& destinations,
                                            unsigned shortest) {
  if (const std::string file = options.get("updates", ""); !file.empty())
    return std::make_unique<ListedChanges>(read_changes(file, ports, routes, shortest));
  return std::make_unique<Churn>(options.get<std::uint64_t>("seed") * 31 + 5, ports, routes,
                                 destinations, shortest);
}

Churn::Churn(std::uint64_t seed, unsigned ports, const Routes& routes,
             const std::vector<Destination>& destinations, unsigned shortest)
    : random_(seed), ports_(ports) {
  // The route of a destination is the longest of those that cover it.
  std::unordered_map<std::uint64_t, std::size_t> index;
  const auto key = [](std::uint32_t prefix, unsigned length) {
    return std::uint64_t{prefix} << 8 | length;
  };
  for (std::size_t i = 0; i < routes.size(); ++i)
    index[key(routes[i].prefix, routes[i].length)] = i;
  std::vector<bool> chosen(routes.size());
  for (std::size_t i = 0; i < routes.size(); ++i) chosen[i] = routes[i].length < shortest;
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

// Not back to where the traffic comes from: it would go through the host where there is one.
unsigned Churn::other_port(const Live& live) {
  auto port = static_cast<unsigned>(random_.below(ports_));
  if (live.taken && port == live.taken->from) port = (port + 1) % ports_;
  return port;
}

RouteChange Churn::draw() {
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

}  // namespace emery::route
