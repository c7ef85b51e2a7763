// SPDX-License-Identifier: Apache-2.0
// The PC around the cards: finds them on the bus, loads them, and routes what they do not.
//
// One CPU polls the receive rings in host memory (NAPI), class 0 of all cards first, the cards of a
// class in turn. A packet costs `cpu_per_packet`; then it is in the transmit ring of its output
// card, in the buffer it came in, and the doorbell is rung, for `tx_batch` packets at once. A
// packet whose transmit ring is full stays where it is, and its ring waits. Packets that are not to
// be forwarded cost the same and are counted by reason; a router that has addresses answers them
// (control.hpp), an answer whose transmit ring is full is lost. Where a kernel is the control plane
// it gets all those frames as they came, and its own take their turn. The CPU stops while 32 of its
// accesses wait for the bus. An approximation: memory accesses of the CPU take no time of their
// own, everything is in `cpu_per_packet`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/pcie/host_memory.hpp"
#include "bench/route/control.hpp"
#include "bench/sim/cpu_port.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"
#include "systems/direct_router/card_rings.hpp"
#include "systems/direct_router/tables.hpp"

namespace emery::direct_router {

struct HostConfig {
  unsigned cards, classes;
  std::vector<std::uint64_t> own_mac, next_hop;  // by port
  bool slow_path;                     // the cards have one: else no rings, and nothing to poll
  std::uint64_t bar_base, bar_bytes;  // of the cards: one after the other
  bool fast_path, qos, rewrite_source, promiscuous;
  bool output_round_robin;
  std::uint32_t max_frame;  // without FCS
  std::uint32_t res_min_words, timeout_clocks, retry_clocks;
  bool table_memory = false;  // cards have one for their longest-prefix tables
  unsigned ring;              // descriptors of each ring, a power of two
  unsigned tx_prefetch;
  unsigned tx_batch;  // packets that a card is told of at once, within half a ring
  Time cpu_per_packet;
  route::ControlConfig control;
  unsigned refill = 16;  // receive descriptors given back at once, within half a ring
  Time tell_after = 50 * kMicrosecond;  // a card hears of a packet then, however few they are
  Time patience =
      1000 * kMicrosecond;  // with a transmit ring that is full; then frames for it are dropped
};

struct HostStats {
  std::uint64_t received = 0, forwarded = 0, dropped = 0, ring_full = 0;
  std::uint64_t sent = 0;  // by the kernel that is the control plane
  Time busy = 0;
};

class Host {
 public:
  using MakeRings = std::function<std::unique_ptr<CardRings>(unsigned card, const RingConfig&)>;

  Host(const HostConfig& config, Simulation& simulation, CpuPort& bus, HostMemory& memory,
       const Tables& tables, const MakeRings& make_rings);

  /// Finds the cards and gives them their addresses. Throws if one is missing or not what it
  /// should be.
  void probe();
  /// A card has its address.
  std::function<void(unsigned card)> on_found = [](unsigned) {};
  /// Sets the cards up; they take frames from then on.
  void start(const std::vector<CardRoutes>& routes);
  /// A card is being reset: nothing is asked of it, and frames for it are dropped, until `reopen`
  /// has found it, set it up as at first, its NIC too, and lets it take frames.
  void forget(unsigned card);
  void reopen(unsigned card, const CardRoutes& routes);
  /// A frame was taken from a card's ring, or (`sent`) the card has sent one of its ring.
  std::function<void(unsigned card, bool sent, Time now)> on_rings = [](unsigned, bool, Time) {};
  /// On the bus clock.
  void poll(Time now);
  bool idle() const { return !working_ && !held_ && untold_ == 0 && bus_.quiet(); }

  /// A register of a card, read over the bus.
  std::uint32_t read(unsigned card, std::size_t offset);
  void write(unsigned card, std::size_t offset, std::uint32_t value) {
    bus_.write(card_[card].base + offset, value);
  }
  /// The number a card has for the slow path as a destination.
  unsigned slow_destination() const { return peers_; }
  /// Where a card's BAR 0 is.
  std::uint64_t base(unsigned card) const { return card_[card].base; }
  /// A card's windows, one behind the other: where each lies, once the cards have addresses.
  std::uint64_t window(unsigned card, unsigned peer) const;
  static std::uint64_t window_bytes();
  /// Nodes of a card's longest-prefix table: in block RAM, and with those in its memory.
  unsigned lpm_nodes() const { return lpm_nodes_; }
  unsigned trie_nodes() const { return lpm_nodes_ + fib_nodes_; }

  /// The driver's own table, by which the host forwards.
  const RouteTrie& routes() const { return routes_; }
  void change(const RouteChange& change) { routes_.change(change); }
  /// Where frames for a port go next, in all cards.
  void set_next_hop(unsigned port, std::uint64_t mac);
  /// Writes entries of a card's longest-prefix table.
  void write_entries(unsigned card, std::span<const CardRoutes::Write> entries);
  /// Calls back when a card's memory has taken all of them; or nobody answers.
  void when_taken(unsigned card, std::function<void()> taken);
  /// Puts entries of a card's table, from one on, into its memory without the bus; without it they
  /// are written like the others.
  std::function<void(unsigned card, std::uint32_t first, std::span<const std::uint32_t>)>
      load_table;
  /// A frame is in a transmit ring, as it goes out; the CPU has begun with it at `taken`.
  std::function<void(std::span<const std::uint8_t> frame, Time taken)> on_forward;
  /// The same of a frame that the router says for itself.
  std::function<void(std::span<const std::uint8_t> frame, unsigned port)> on_answer;
  /// A kernel is the control plane: it gets what comes to the host, in place of the software
  /// router, and gives the frames that it sends at a port. Both, before `start`, or neither.
  std::function<void(std::span<const std::uint8_t> frame, unsigned port)> to_kernel;
  std::function<bool(unsigned port, Frame& frame)> from_kernel;
  const HostStats& stats() const { return stats_; }
  /// How long its CPU has been busy until now: of a packet that it is at what has gone by.
  Time busy(Time now) const {
    return stats_.busy - (working_ ? std::max<Time>(until_ - now, 0) : 0);
  }
  /// What was not forwarded, by reason; of the frames that came in at that card.
  const std::map<std::string, std::uint64_t>& drops(unsigned card) const {
    return card_[card].drops;
  }
  /// Frames of one card that were dropped because of another, by reason: it had taken none for
  /// `patience`, or was being reset.
  const std::map<std::string, std::uint64_t>& refused(unsigned from, unsigned to) const {
    return card_[from].refused[to];
  }
  /// What the rings themselves have lost of a card's frames.
  std::vector<CardRings::Lost> lost(unsigned card) {
    return card_[card].rings ? card_[card].rings->lost() : std::vector<CardRings::Lost>();
  }
  /// Queues of a card's rings that were set up anew for an error.
  std::optional<CardRings::Restarts> restarts(unsigned card) const {
    return card_[card].rings ? card_[card].rings->restarts() : std::nullopt;
  }
  /// What the rings' devices still hold, asked until `until`. Reading registers takes simulated
  /// time.
  Findings levels(Time until);
  void check(Findings& findings) const;
  void write_json(JsonWriter& json) const;

 private:
  static constexpr unsigned kMostAccesses = 32;
  static constexpr unsigned kNone = ~0u;

  struct Card {
    std::uint64_t base = 0;
    std::unique_ptr<CardRings> rings;  // with a slow path
    Time untold_since = 0;             // when the first packet came that it was not told of
    Time moved = 0;                    // when the transmit ring last did, or was empty
    bool away = false;                 // it is being reset
    std::map<std::string, std::uint64_t> drops;
    std::vector<std::map<std::string, std::uint64_t>> refused;  // by card
  };
  // What the CPU is at.
  struct Work {
    unsigned from = 0, cls = 0, to = kNone;
    const char* drop = nullptr;
    Time taken = 0;
    bool sends = false;  // the kernel does
  };

  void find(unsigned card);
  void set_up(unsigned card, const CardRoutes& routes);
  void enable(unsigned card, const CardRoutes& routes);
  void settle();
  void make_rings();
  void load_routes(unsigned card, const CardRoutes& routes);
  void load_trie(unsigned card, std::span<const std::uint32_t> entries);
  void load_classes(unsigned card);
  void wait_for(const std::function<bool()>& done, const char* what);
  void write_next_hop(unsigned card, unsigned other, bool valid);
  bool begin(Time now);
  bool begin(Time now, unsigned from, unsigned cls);
  bool begin_sending(Time now);
  void finish();
  void send(unsigned port, std::span<const std::uint8_t> frame);
  void look_at(unsigned card, Time now);
  const char* refuses(Time now, unsigned port);
  const char* judge(std::span<std::uint8_t> frame, unsigned& port) const;
  void answer(std::span<const std::uint8_t> frame);
  void transmit(unsigned port, std::uint64_t buffer, std::size_t bytes);
  void tell(unsigned port);
  std::uint64_t buffer_bytes() const { return (config_.max_frame + 15 + 255) / 256 * 256; }

  HostConfig config_;
  Simulation& simulation_;
  CpuPort& bus_;
  HostMemory& memory_;
  RouteTrie routes_;
  std::vector<ClassRule> classes_;
  route::Control control_;
  std::vector<Card> card_;
  std::size_t buffers_ = 0;  // of the pool, those lent to rings too
  std::vector<std::uint64_t> free_;
  unsigned peers_ = 0, lpm_nodes_ = 0, fib_nodes_ = 0;
  bool working_ = false, running_ = false;
  unsigned untold_ = 0;  // cards that have packets they were not told of
  bool held_ = false;    // a frame waits for a place in a transmit ring
  Work work_;
  Time until_ = 0;
  std::vector<unsigned> turn_;  // by class: the card whose turn it is
  Frame sending_;
  unsigned sending_turn_ = 0;
  HostStats stats_;
};

}  // namespace emery::direct_router
