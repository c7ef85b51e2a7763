// SPDX-License-Identifier: Apache-2.0
// A PCI Express switch: N ports, each a link of its own, between one root and its endpoints, or
// between endpoints (peer to peer).
//
// Memory requests go to the port whose window holds their address, completions and configuration
// requests to the port whose bus they name, and what belongs to no port goes to the root's port
// (from there: is dropped and counted). Store and forward: a packet may leave `latency` after its
// last byte came in. Each input keeps its packets apart by output and class, so a packet that waits
// for one output does not hold up those behind it to another. An output takes its inputs in turn,
// packet by packet, as far as the link behind it has credits.
//
// Of one input to one output the posted writes stay in order, reads and completions do not pass the
// posted writes before them, and posted writes pass both (Base Specification 2.4.1). The buffer of
// an input is what its link's credits say (completions have as much as they need); credits are
// given back when the packet has left. When the far link of a port is lost, packets to it vanish
// there.
//
// Left out: the bridges' own configuration spaces (enumeration is told by `set_window` and
// `set_bus`), virtual channels, relaxed and ID-based ordering, access control services.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/pcie/pcie_link.hpp"
#include "bench/pcie/tlp.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

struct SwitchConfig {
  Time latency = 150 * kNanosecond;
};

struct SwitchPortStats {
  std::uint64_t in = 0, out = 0;  // packets
  std::uint64_t peer = 0;         // of those out: from a port that is not the root's
  std::uint64_t unroutable = 0;   // came in for nobody
  std::uint64_t no_credit = 0;    // times the output was free and all it had waited for credits
  std::uint64_t waiting_max = 0;  // packets that came in here and had not left

  template <class Json>
  void write(Json& json) const {
    json.begin_object()
        .field("in", in)
        .field("out", out)
        .field("peer", peer)
        .field("unroutable", unroutable)
        .field("no_credit", no_credit)
        .field("waiting_max", waiting_max)
        .end_object();
  }
};

class PcieSwitch : public Component {
 public:
  explicit PcieSwitch(const SwitchConfig& config) : config_(config) {}

  PcieSwitch(const PcieSwitch&) = delete;
  PcieSwitch& operator=(const PcieSwitch&) = delete;

  // Is told of each packet that comes in.
  void on_packet(std::function<void(const Tlp&)> callback) { on_packet_ = std::move(callback); }

  // Ports count from 0. The root is at the upper end of its link, an endpoint at the lower end.
  int add_root(PcieLink& link) { return root_ = add(link.down, link.up); }
  int add_endpoint(PcieLink& link) { return add(link.up, link.down); }

  void set_window(int port, std::uint64_t base, std::uint64_t bytes) {
    at(port).base = base;
    at(port).end = base + bytes;
  }
  void set_bus(int port, int bus) { at(port).bus = bus; }
  // Takes nothing from this port until told otherwise: its sender runs out of credits.
  void set_stalled(int port, bool stalled) { at(port).stalled = stalled; }

  void sample(Time now) override {
    for (Port& port : ports_) {
      port.in->service(now);
      port.out->service(now);
      while (!port.releases.empty() && port.releases.front().when <= now) {
        const Release& r = port.releases.front();
        ports_[r.from].in->release(r.cls, r.data, now);
        --ports_[r.from].waiting;
        port.releases.pop();
      }
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!ports_[i].stalled) take(i, now);
    }
    for (std::size_t o = 0; o < ports_.size(); ++o) {
      if (ports_[o].queued != 0) send(o, now);
    }
  }
  void drive() override {}

  // Packets that are in the switch.
  std::uint64_t held() const {
    std::uint64_t sum = 0;
    for (const Port& port : ports_) sum += port.waiting;
    return sum;
  }
  const SwitchPortStats& stats(int port) const {
    return ports_.at(static_cast<std::size_t>(port)).stats;
  }

 private:
  static constexpr int kNobody = -1;

  struct Release {
    Time when;
    std::size_t from;
    FcClass cls;
    std::uint32_t data;
  };
  using Lane = std::array<TlpFifo, kFcClasses>;  // of one input, by class
  struct Port {
    LinkDirection *in = nullptr, *out = nullptr;
    std::uint64_t base = 0, end = 0;
    int bus = -1;
    bool stalled = false;
    std::vector<Lane> lanes;    // to this output, by input
    std::size_t turn = 0;       // the input whose turn it is
    std::size_t queued = 0;     // packets in the lanes
    std::uint64_t waiting = 0;  // packets that came in here and have not left
    Ring<Release> releases;     // of what this output is sending
    SwitchPortStats stats;
  };

  std::function<void(const Tlp&)> on_packet_;

  Port& at(int port) { return ports_.at(static_cast<std::size_t>(port)); }

  int add(LinkDirection& in, LinkDirection& out) {
    ports_.emplace_back();
    ports_.back().in = &in;
    ports_.back().out = &out;
    for (Port& port : ports_) {
      while (port.lanes.size() < ports_.size())
        port.lanes.push_back(Lane{TlpFifo(4096), TlpFifo(256), TlpFifo(1024)});
    }
    return static_cast<int>(ports_.size()) - 1;
  }

  int route(const Tlp& tlp, std::size_t from) const {
    const bool by_bus = tlp.is_completion() || tlp.is_config();
    const int bus = (tlp.is_completion() ? tlp.cpl_requester() : tlp.config_target()) >> 8;
    for (std::size_t o = 0; o < ports_.size(); ++o) {
      const Port& port = ports_[o];
      if (o == from) continue;  // a packet does not turn back
      if (by_bus ? port.bus == bus : tlp.addr() >= port.base && tlp.addr() < port.end)
        return static_cast<int>(o);
    }
    return static_cast<int>(from) == root_ ? kNobody : root_;
  }

  void take(std::size_t from, Time now) {
    Port& port = ports_[from];
    while (const Tlp* tlp = port.in->front(now)) {
      ++port.stats.in;
      if (on_packet_) on_packet_(*tlp);
      const int to = route(*tlp, from);
      if (to == kNobody) {
        ++port.stats.unroutable;
        port.in->release(tlp->fc_class(), tlp->data_credits(), now);
      } else {
        Tlp copy = *tlp;
        copy.time += config_.latency;
        Port& output = at(to);
        output.lanes[from][static_cast<std::size_t>(tlp->fc_class())].push(copy);
        ++output.queued;
        port.stats.waiting_max = std::max(port.stats.waiting_max, ++port.waiting);
      }
      port.in->pop();
    }
  }

  // The class that may go next from this lane, or none; `blocked` if only for want of credits.
  int choose(Lane& lane, const LinkDirection& out, Time now, bool& blocked) const {
    for (const FcClass c : {kPosted, kCompletion, kNonPosted}) {
      const TlpFifo& queue = lane[c];
      if (queue.empty() || queue.front().time > now) continue;
      if (c != kPosted && !lane[kPosted].empty() && lane[kPosted].front().time < queue.front().time)
        continue;
      if (out.has_credit(c, queue.front().data_credits())) return c;
      blocked = true;
    }
    return kNobody;
  }

  void send(std::size_t to, Time now) {
    Port& port = ports_[to];
    while (port.out->idle(now) && port.queued != 0) {
      bool sent = false, blocked = false;
      for (std::size_t n = 0; n < ports_.size() && !sent; ++n) {
        const std::size_t from = (port.turn + n) % ports_.size();
        Lane& lane = port.lanes[from];
        const int c = choose(lane, *port.out, now, blocked);
        if (c == kNobody) continue;
        const Tlp& tlp = lane[static_cast<std::size_t>(c)].front();
        const Time end = port.out->send(tlp, tlp.time);
        port.releases.push({end, from, tlp.fc_class(), tlp.data_credits()});
        lane[static_cast<std::size_t>(c)].pop();
        --port.queued;
        ++port.stats.out;
        if (static_cast<int>(from) != root_ && static_cast<int>(to) != root_) ++port.stats.peer;
        port.turn = (from + 1) % ports_.size();
        sent = true;
      }
      if (sent) continue;
      port.stats.no_credit += blocked;
      return;
    }
  }

  SwitchConfig config_;
  std::deque<Port> ports_;
  int root_ = kNobody;
};

}  // namespace emery
