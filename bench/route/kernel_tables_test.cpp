// SPDX-License-Identifier: Apache-2.0
// Test of what router cards get of a kernel's tables: what they can take, what is left to the
// kernel and why, and that on the way from one table to the next no address goes where neither
// leads.
#include "bench/route/kernel_tables.hpp"

#include <vector>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"

namespace emery::route {
namespace {

Checks checks;

constexpr int kInterface = 5;  // of port 0; that of port 1 is the next
constexpr unsigned kPorts = 2;
constexpr std::uint64_t kStation = 0x0200'0000'0500;

std::uint32_t at(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// A router with a link at each port and a neighbour there, 10.0.p.2.
KernelTables two_links() {
  KernelTables kernel;
  for (int p = 0; p < 2; ++p) {
    const auto port = static_cast<unsigned>(p);
    kernel.main[{at(10, 0, port, 0), 24, 0, 0}] = {{kInterface + p}};
    kernel.local[{at(10, 0, port, 1), 32, 0, 0}] = {{kInterface + p, 0, "local"}};
    kernel.stations[{kInterface + p, at(10, 0, port, 2)}] = kStation + port;
    kernel.forwards[kInterface + p] = true;
  }
  return kernel;
}

CardFib fib_of(const KernelTables& kernel, const CardFib& before = {}) {
  return card_fib(kernel, {kInterface, kInterface + 1}, before);
}

// Where a table sends an address; the host, too, without a route.
unsigned sends(const std::map<Prefix, unsigned>& routes, std::uint32_t address) {
  for (unsigned n = 33; n-- > 0;) {
    const std::uint32_t mask = n == 0 ? 0 : ~0u << (32 - n);
    const auto found = routes.find({address & mask, n});
    if (found != routes.end()) return found->second;
  }
  return kPorts;
}

void links_and_gateways() {
  KernelTables kernel = two_links();
  kernel.main[{0, 0, 0, 0}] = {{kInterface + 1, at(10, 0, 1, 2)}};
  kernel.main[{at(192, 0, 2, 0), 24, 0, 0}] = {{kInterface, at(10, 0, 0, 9)}};
  const CardFib fib = fib_of(kernel);
  checks.that(fib.next_hop[0] == kStation && fib.next_hop[1] == kStation + 1, "next hops");
  checks.equal(sends(fib.routes, at(10, 0, 0, 2)), 0u, "a neighbour");
  checks.equal(sends(fib.routes, at(10, 0, 0, 3)), kPorts, "one nobody knows: not by default");
  checks.equal(sends(fib.routes, at(10, 0, 0, 1)), kPorts, "the router itself");
  checks.equal(sends(fib.routes, at(8, 8, 8, 8)), 1u, "by the gateway");
  checks.equal(sends(fib.routes, at(192, 0, 2, 1)), kPorts, "a gateway that nobody knows");
  checks.that(
      fib.to_host ==
          std::map<std::string, std::uint64_t>{{"local", 2}, {"on_link", 2}, {"unresolved", 1}},
      "what is left to the kernel");
}

void one_station_a_port() {
  KernelTables kernel = two_links();
  kernel.stations[{kInterface, at(10, 0, 0, 3)}] = kStation + 9;
  CardFib fib = fib_of(kernel, fib_of(two_links()));
  checks.that(fib.next_hop[0] == kStation, "as many routes: as before");
  checks.equal(sends(fib.routes, at(10, 0, 0, 3)), kPorts, "the other one is the kernel's");
  checks.equal(fib.to_host["other_neighbour"], 1u, "and counted");
  kernel.main[{at(192, 0, 2, 0), 24, 0, 0}] = {{kInterface, at(10, 0, 0, 3)}};
  fib = fib_of(kernel, fib);
  checks.that(fib.next_hop[0] == kStation + 9, "more routes lead to the other");
  checks.equal(sends(fib.routes, at(192, 0, 2, 1)), 0u, "by which they go");
  kernel.stations[{kInterface, at(10, 0, 0, 4)}] = kStation + 9;  // one station, two addresses
  checks.equal(sends(fib_of(kernel, fib).routes, at(10, 0, 0, 4)), 0u, "by its MAC address");
  kernel.stations.erase({kInterface, at(10, 0, 0, 3)});
  kernel.stations.erase({kInterface, at(10, 0, 0, 4)});
  checks.that(fib_of(kernel, fib).next_hop[0] == kStation, "it has gone");
}

void as_the_kernel_looks_up() {
  KernelTables kernel = two_links();
  const KernelTables::Key key{at(192, 0, 2, 0), 24, 0, 20};
  kernel.main[key] = {{kInterface, at(10, 0, 0, 2)}, {kInterface + 1, at(10, 0, 1, 2)}};
  checks.equal(sends(fib_of(kernel).routes, key.prefix), 0u, "the first of equal ones");
  kernel.main[{key.prefix, 24, 0, 10}] = {{kInterface + 1, at(10, 0, 1, 2)}};
  checks.equal(sends(fib_of(kernel).routes, key.prefix), 1u, "the lower metric");
  kernel.main[{key.prefix, 24, 8, 0}] = {{kInterface, at(10, 0, 0, 2)}};
  checks.equal(sends(fib_of(kernel).routes, key.prefix), kPorts, "by type of service");
  kernel.main.erase({key.prefix, 24, 8, 0});
  kernel.local[{at(192, 0, 0, 0), 16, 0, 0}] = {{1, 0, "local"}};
  checks.equal(sends(fib_of(kernel).routes, key.prefix), kPorts, "a shorter local route is first");
  kernel.local.clear();
  kernel.main[{at(192, 0, 2, 64), 26, 0, 0}] = {{0, 0, "blackhole"}};
  checks.equal(sends(fib_of(kernel).routes, at(192, 0, 2, 65)), kPorts, "a hole in it");
  kernel.main[{at(192, 0, 2, 128), 25, 0, 0}] = {{1, at(127, 0, 0, 2)}};
  checks.equal(fib_of(kernel).to_host["other_interface"], 1u, "none of a port's");
  kernel.rules = 1;
  checks.that(fib_of(kernel).routes.empty(), "rules by which it may look elsewhere");
  kernel.rules = 0;
  kernel.forwards[kInterface + 1] = false;
  checks.that(fib_of(kernel).routes.empty(), "it does not forward");
}

// A neighbour is one over the link by which the kernel sends to it.
void neighbours_elsewhere() {
  KernelTables kernel = two_links();
  kernel.stations[{kInterface, at(10, 0, 1, 7)}] = kStation;
  kernel.stations[{kInterface, at(172, 16, 0, 1)}] = kStation;
  kernel.main[{at(10, 0, 1, 8), 32, 0, 0}] = {{0, 0, "unreachable"}};
  kernel.stations[{kInterface + 1, at(10, 0, 1, 8)}] = kStation + 1;
  const CardFib fib = fib_of(kernel);
  for (const std::uint32_t address : {at(10, 0, 1, 7), at(172, 16, 0, 1), at(10, 0, 1, 8)})
    checks.equal(sends(fib.routes, address), kPorts, "the kernel sends otherwise");
}

CardFib drawn(Random& random) {
  CardFib fib;
  for (unsigned p = 0; p < kPorts; ++p) {
    fib.next_hop.emplace_back();
    if (random.below(4) != 0) fib.next_hop[p] = kStation + random.below(2);
  }
  for (unsigned n = 0; n < 12; ++n) {
    const auto length = static_cast<unsigned>(random.below(5));
    const auto bits = static_cast<std::uint32_t>(random.below(1u << length));
    const auto port = static_cast<unsigned>(random.below(kPorts + 1));
    const bool able = port == kPorts || fib.next_hop[port];
    fib.routes[{length == 0 ? 0 : bits << (32 - length), length}] = able ? port : kPorts;
  }
  return fib;
}

void old_or_new_all_the_way() {
  Random random(7);
  for (unsigned round = 0; round < 2000; ++round) {
    const CardFib before = drawn(random), after = drawn(random);
    CardFib now = before;
    for (const FibStep& step : fib_steps(before, after)) {
      if (step.kind == FibStep::Kind::kNextHop) {
        for (const auto& [prefix, port] : now.routes)
          checks.that(port != step.port, "no route leads to a port whose next hop changes");
        now.next_hop[step.port] = step.next_hop;
      } else if (step.kind == FibStep::Kind::kWithdraw) {
        now.routes.erase(step.prefix);
      } else {
        now.routes[step.prefix] = step.port;
      }
      for (std::uint32_t place = 0; place < 16; ++place) {
        const std::uint32_t address = place << 28;
        const unsigned to = sends(now.routes, address);
        if (to == kPorts) continue;
        const auto hop = now.next_hop[to];
        checks.that((to == sends(before.routes, address) && hop == before.next_hop[to]) ||
                        (to == sends(after.routes, address) && hop == after.next_hop[to]),
                    "as before, as after, or to the host");
      }
    }
    checks.that(now.routes == after.routes, "the table that was wanted");
    for (unsigned p = 0; p < kPorts; ++p)
      checks.that(!after.next_hop[p] || now.next_hop[p] == after.next_hop[p], "and its next hops");
  }
}

}  // namespace
}  // namespace emery::route

int main() {
  using namespace emery::route;
  links_and_gateways();
  one_station_a_port();
  as_the_kernel_looks_up();
  neighbours_elsewhere();
  old_or_new_all_the_way();
  return checks.finish();
}
