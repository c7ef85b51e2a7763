// SPDX-License-Identifier: Apache-2.0
// What this router is to do with a frame: what the judge of all routers says, the way it takes
// (card or host), and what it looks like then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/route/judge.hpp"
#include "bench/route/routes.hpp"
#include "systems/direct_router/tables.hpp"

namespace emery::direct_router {

struct ReferenceConfig {
  std::vector<std::uint64_t> own_mac, next_hop;  // by port; first byte in bits 47:40
  bool fast_path, rewrite_source, promiscuous, qos;
  unsigned classes;
  bool kernel = false;  // the control plane is one: it gets what no card forwards or drops
};

struct Verdict {
  const char* drop = nullptr;  // the counter that has it; else the frame leaves at `port`
  unsigned port = 0;
  bool slow = false;    // through the host
  bool card = false;    // the card could forward it, if its table has the route
  bool cut = false;     // because the card's table had no room for the route
  unsigned cls = 0;     // of service
  bool kernel = false;  // to the kernel that is the control plane, as it came

  /// Where it comes out: a port, or behind the last one the kernel's interface of a port.
  unsigned exit(unsigned in, unsigned ports) const { return kernel ? ports + in : port; }
};

class Reference {
 public:
  Reference(const ReferenceConfig& config, const Tables& tables,
            const std::vector<CardRoutes>& cards, bool changes);

  /// Judges a good frame that came in at `port`; `frame` becomes what is to go out.
  Verdict forward(unsigned port, std::span<std::uint8_t> frame) const;

  /// A change of the routes is under way: frames may be forwarded by those before or after it.
  void begin(const RouteChange& change) { judges_.begin(change); }
  void end() { judges_.end(); }
  bool changing() const { return judges_.changing(); }
  /// The same by the routes before or after a change, and through the host though the card could.
  Verdict forward(unsigned port, std::span<std::uint8_t> frame, bool after, bool by_host) const;
  /// Whether a card has left routes to the host.
  bool cut(unsigned port) const { return cards_[port].cut() != 0; }
  void set_next_hop(unsigned port, std::uint64_t mac) { config_.next_hop[port] = mac; }
  bool kernel() const { return config_.kernel; }
  unsigned ports() const { return static_cast<unsigned>(config_.own_mac.size()); }

 private:
  Verdict look(const route::Judge& judge, unsigned port, std::span<const std::uint8_t> frame) const;
  void rewrite(Verdict& verdict, unsigned port, std::span<std::uint8_t> frame) const;
  unsigned class_of(std::span<const std::uint8_t> ip, const Verdict& verdict) const;
  static const char* counter(route::Reason reason);

  ReferenceConfig config_;
  std::vector<ClassRule> classes_;
  const std::vector<CardRoutes>& cards_;
  route::ChangingJudge judges_;
};

}  // namespace emery::direct_router
