// SPDX-License-Identifier: Apache-2.0
#include "bench/route/kernel_tables.hpp"

#include <algorithm>

#include "bench/route/routes.hpp"

namespace emery::route {
namespace {

/// The longest prefix of a table, of that length at the most, that covers an address.
template <class Map>
std::optional<Prefix> longest(const Map& table, std::uint32_t address, unsigned length) {
  for (unsigned n = length + 1; n-- > 0;) {
    const Prefix prefix{address & Route{0, n, 0}.mask(), n};
    if (table.contains(prefix)) return prefix;
  }
  return std::nullopt;
}

/// What the kernel does with a prefix: of its routes that of the lowest metric.
std::map<Prefix, KernelRoute> chosen(const KernelTables::Table& table) {
  std::map<Prefix, KernelRoute> routes;
  for (const auto& [key, same] : table) {  // by metric, within a type of service
    if (same.empty()) continue;
    const auto [it, fresh] = routes.try_emplace({key.prefix, key.length}, same.front());
    if (key.tos != 0) it->second.to_host = "by_tos";
  }
  return routes;
}

/// The routes of both tables as one: the kernel looks into `local` first.
std::map<Prefix, KernelRoute> lookup_order(const KernelTables& kernel) {
  std::map<Prefix, KernelRoute> routes = chosen(kernel.main);
  const std::map<Prefix, KernelRoute> local = chosen(kernel.local);
  for (auto& [prefix, route] : routes) {
    if (longest(local, prefix.first, prefix.second)) route.to_host = "local";
  }
  for (const auto& [prefix, route] : local) routes.insert_or_assign(prefix, route);
  return routes;
}

class Planner {
 public:
  Planner(const KernelTables& kernel, const std::vector<int>& interfaces)
      : kernel_(kernel), host_(static_cast<unsigned>(interfaces.size())) {
    for (unsigned p = 0; p < host_; ++p) ports_[interfaces[p]] = p;
    for (const auto& [prefix, route] : lookup_order(kernel)) add(prefix, route);
    for (const auto& [neighbour, station] : kernel.stations) add(neighbour, station);
  }

  CardFib made(const CardFib& before) const {
    CardFib fib;
    for (unsigned p = 0; p < host_; ++p) fib.next_hop.push_back(next_hop(p, before));
    for (const auto& [prefix, want] : wanted_) {
      const bool taken = !want.to_host && fib.next_hop[want.port] == want.station;
      fib.routes[prefix] = taken ? want.port : host_;
      if (!taken) ++fib.to_host[want.to_host ? want.to_host : "other_neighbour"];
    }
    return fib;
  }

 private:
  struct Want {
    const char* to_host = nullptr;
    unsigned port = 0;
    std::uint64_t station = 0;
  };

  void add(const Prefix& prefix, const KernelRoute& route) {
    Want& want = wanted_[prefix];
    want = {route.to_host};
    if (want.to_host) return;
    const auto port = ports_.find(route.interface);
    if (port == ports_.end()) {
      want.to_host = "other_interface";
    } else if (route.gateway == 0) {
      want.to_host = "on_link";  // its neighbours have entries of their own
      on_link_[prefix] = route.interface;
    } else if (const auto at = kernel_.stations.find({route.interface, route.gateway});
               at == kernel_.stations.end()) {
      want.to_host = "unresolved";
    } else {
      take(want, port->second, at->second);
    }
  }

  void add(const KernelTables::Neighbour& neighbour, std::uint64_t station) {
    const auto& [interface, address] = neighbour;
    const auto port = ports_.find(interface);
    if (port == ports_.end()) return;
    // The kernel has to route it over that link. Entries made here are of other addresses.
    const auto by = longest(wanted_, address, 32);
    const auto link = by ? on_link_.find(*by) : on_link_.end();
    if (link == on_link_.end() || link->second != interface) return;
    take(wanted_[{address, 32}] = {}, port->second, station);
  }

  void take(Want& want, unsigned port, std::uint64_t station) {
    want.port = port;
    want.station = station;
    ++used_[{port, station}];
  }

  std::optional<std::uint64_t> next_hop(unsigned port, const CardFib& before) const {
    std::optional<std::uint64_t> best;
    std::uint64_t most = 0;
    const auto consider = [&](std::uint64_t station, std::uint64_t routes) {
      if (routes > most) best = station, most = routes;
    };
    if (port < before.next_hop.size() && before.next_hop[port]) {
      const auto now = used_.find({port, *before.next_hop[port]});
      if (now != used_.end()) consider(now->first.second, now->second);
    }
    for (const auto& [at, routes] : used_) {
      if (at.first == port) consider(at.second, routes);
    }
    return best;
  }

  const KernelTables& kernel_;
  unsigned host_;
  std::map<int, unsigned> ports_;  // by interface
  std::map<Prefix, Want> wanted_;
  std::map<Prefix, int> on_link_;                                     // interface
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> used_;  // by port and station
};

}  // namespace

CardFib card_fib(const KernelTables& kernel, const std::vector<int>& interfaces,
                 const CardFib& before) {
  const bool forwards = std::ranges::all_of(interfaces, [&](int interface) {
    const auto found = kernel.forwards.find(interface);
    return found != kernel.forwards.end() && found->second;
  });
  if (forwards && kernel.rules == 0) return Planner(kernel, interfaces).made(before);
  CardFib none;
  none.next_hop.resize(interfaces.size());
  none.to_host[forwards ? "rules" : "not_forwarding"] = kernel.main.size();
  return none;
}

std::vector<FibStep> fib_steps(const CardFib& before, const CardFib& after) {
  using Kind = FibStep::Kind;
  const auto host = static_cast<unsigned>(after.next_hop.size());
  std::map<Prefix, unsigned> now = before.routes;
  std::vector<FibStep> steps;
  for (unsigned p = 0; p < host; ++p) {
    const auto old = p < before.next_hop.size() ? before.next_hop[p] : std::nullopt;
    if (old == after.next_hop[p]) continue;
    for (auto& [prefix, port] : now) {
      if (port != p) continue;
      port = host;
      steps.push_back({Kind::kRoute, prefix, host});
    }
    if (after.next_hop[p]) steps.push_back({Kind::kNextHop, {}, p, *after.next_hop[p]});
  }
  std::vector<FibStep> comes, goes;
  for (const auto& [prefix, port] : after.routes) {
    const auto found = now.find(prefix);
    if (found == now.end() || found->second != port) comes.push_back({Kind::kRoute, prefix, port});
  }
  for (const auto& [prefix, port] : now) {
    if (!after.routes.contains(prefix)) goes.push_back({Kind::kWithdraw, prefix, port});
  }
  const auto length = [](const FibStep& step) { return step.prefix.second; };
  std::ranges::stable_sort(comes, std::ranges::greater{}, length);
  std::ranges::stable_sort(goes, std::ranges::less{}, length);
  steps.insert(steps.end(), comes.begin(), comes.end());
  steps.insert(steps.end(), goes.begin(), goes.end());
  return steps;
}

}  // namespace emery::route
