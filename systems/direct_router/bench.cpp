// SPDX-License-Identifier: Apache-2.0
// direct-router on the bench: N cards in a machine (a PCI-X bus, or a PCI Express switch), the PC
// they are in, a Gigabit Ethernet wire at each card.
//
// Streams are named IN->OUT by ports; with a mix of priorities there is one a class, as in
// 0->2/high. What is not to be forwarded is offered on IN->drop, and the device's and host's
// counters say why it did not come out. A frame is offered in the form it must have behind the
// router, which the reference router says.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/route/hostile.hpp"
#include "bench/run/main.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/options.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/wire/mac.hpp"
#include "direct_router.h"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/reference.hpp"
#include "systems/direct_router/routes.hpp"

namespace emery::direct_router {
namespace {

constexpr double kLineRate = 1e9;
constexpr Time kQuiet = 100 * kMicrosecond;  // nothing more is coming when nothing came for so long
constexpr Time kStep = 2 * kMicrosecond;
constexpr std::uint64_t kEnough = 500;  // frames delivered that a rate can be taken from
constexpr unsigned kVlanAndHeader = 18;
constexpr std::size_t kQueue = offsetof(direct_router_t, tables.queue);
#define EMERY_REG(name) offsetof(card_regs_t, name)

// Where each input sends, and how.
struct Setup {
  unsigned cards = 0;
  std::vector<std::vector<unsigned>> outputs;  // by input; empty: it is silent
  bool slow = false;                           // everything through the host
  bool in_turn = false;                        // the outputs of an input in turn, not at random
};

Setup make_setup(const Options& options) {
  Setup s;
  s.slow = options.get("slow_path", false);
  const std::string config = options.get("config", "none");
  const std::string pattern = options.get("pattern", "permutation");
  s.cards = options.get("cards", 3u);
  if (config == "none") {
    const unsigned n = s.cards;
    s.outputs.resize(n);
    for (unsigned i = 0; i < n; ++i) {
      if (pattern == "permutation") s.outputs[i] = {(i + 1) % n};
      if (pattern == "hotspot") s.outputs[i] = {i == 0 ? 1 : 0};
      for (unsigned o = 0; o < n && pattern == "uniform"; ++o) {
        if (o != i) s.outputs[i].push_back(o);
      }
    }
  } else {
    // Figure 3 of the paper.
    static const std::map<std::string, std::vector<std::vector<unsigned>>> kConfigs = {
        {"A", {{1}, {}}},      {"B", {{1}, {}}},        {"C", {{1}, {0}}},
        {"D", {{2}, {2}, {}}}, {"E", {{1, 2}, {}, {}}}, {"F", {{1, 2}, {2, 0}, {0, 1}}},
    };
    const auto it = kConfigs.find(config);
    if (it == kConfigs.end()) throw OptionError("config: there is no configuration " + config);
    s.outputs = it->second;
    s.cards = static_cast<unsigned>(s.outputs.size());
    s.slow = s.slow || config == "A";
    s.in_turn = true;
  }
  const auto most = options.get("max_cards", 8u);
  if (s.cards > most) {
    throw OptionError("cards: " + std::to_string(s.cards) +
                      " cards need max_cards=" + std::to_string(s.cards) + " at least");
  }
  return s;
}

struct Faults {
  int dead_card = -1, stalled_card = -1;
  Time dead_at = 0, stall_at = 0, stall_for = 0;
};

class Bench final : public Component {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json, double wall_seconds) const;
  std::vector<std::string> failures() const;
  void close();

  // Component, on the bus clock, behind the bus.
  void sample(Time now) override {
    if (host_) host_->poll(now);
  }
  void drive() override {}

 private:
  struct Port {
    std::unique_ptr<ByteMac> mac;
    TrafficConfig plan;
    bool sends = false;
    std::unique_ptr<Traffic> traffic;
    std::unique_ptr<route::Hostile> source;
    std::unique_ptr<PcapWriter> capture;
    std::vector<int> streams;  // by output and class; -1: none yet
    int drop_stream = -1;
    std::map<std::string, std::uint64_t> expected_drops, drops;
  };
  using Counter = std::pair<const char*, std::size_t>;

  void plan_traffic(const Options& options);
  void plan_flows(unsigned port, const Options& options);
  void plan_faults(const Options& options);
  void offered(unsigned port, const Frame& frame, WireFault fault, Time started);
  void delivered(unsigned port, std::span<const std::uint8_t> bytes, Time arrived);
  int stream(unsigned in, unsigned out, unsigned cls);
  std::uint64_t missing(int stream) const;
  void attribute(const std::vector<int>& streams, const char* reason, std::uint64_t count);
  std::vector<int> streams_from(unsigned in, int cls) const;
  void collect_card(unsigned card);
  void collect();
  bool dead(unsigned card) const { return static_cast<int>(card) == faults_.dead_card; }
  double progress() const;
  double jain() const;

  Setup setup_;
  Simulation simulation_;
  HostMemory memory_;
  std::unique_ptr<Machine> machine_;
  Routes routes_;
  HostConfig host_config_;
  std::unique_ptr<Host> host_;
  std::vector<CardRoutes> card_routes_;
  std::unique_ptr<Reference> reference_;
  Scoreboard score_;
  std::vector<Port> port_;
  std::vector<std::vector<int>> to_port_;  // streams, by output
  Faults faults_;
  bool by_class_ = false;
  std::uint64_t hostile_every_ = 0;
  Time timeout_ = 0;
  bool running_ = false;
  Time traffic_start_ = 0, traffic_end_ = 0, last_activity_ = 0;
  Time host_busy_ = 0;
  std::vector<std::uint64_t> delivered_by_end_;                 // by stream
  std::vector<std::map<std::string, std::uint64_t>> counters_;  // by card
  std::vector<std::vector<std::uint64_t>> queue_max_;           // words, by card and queue
  std::vector<std::string> extra_failures_;
};

Bench::Bench(const Options& options)
    : setup_(make_setup(options)),
      machine_(Machine::make(options, setup_.cards, simulation_, memory_)),
      port_(setup_.cards),
      to_port_(setup_.cards) {
  if (setup_.slow && !machine_->slow_path())
    throw OptionError("these cards have no slow path: config=A and slow_path need bus=pcix");
  simulation_.add(machine_->bus_clock(), *this);

  HostConfig& h = host_config_;
  h.cards = setup_.cards;
  h.classes = options.get("classes", 2u);
  for (unsigned p = 0; p < setup_.cards; ++p) {
    h.own_mac.push_back(0x0200'0000'0100 + p);
    h.next_hop.push_back(0x0200'0000'0200 + p);
  }
  h.fast_path = !setup_.slow;
  h.slow_path = machine_->slow_path();
  h.qos = options.get("qos", true);
  h.rewrite_source = options.get("rewrite_source", false);
  h.output_round_robin = options.get("output_round_robin", false);
  h.max_frame = options.get("mtu", 1500u) + kVlanAndHeader;
  const double clocks_per_us = machine_->bus_mhz();
  const double timeout_us = options.get("timeout_us", 200.0);
  h.res_min_words = (options.get("res_min", 0u) + 7) / 8;
  h.timeout_clocks = static_cast<std::uint32_t>(std::lround(timeout_us * clocks_per_us));
  h.retry_clocks =
      static_cast<std::uint32_t>(std::lround(options.get("retry_us", 1000.0) * clocks_per_us));
  h.ring = options.get("ring", 256u);
  h.tx_prefetch = options.get("tx_prefetch", 1u);
  h.cpu_per_packet = static_cast<Time>(options.get("cpu_ns", 1600)) * kNanosecond;
  timeout_ = static_cast<Time>(timeout_us * kMicrosecond);

  plan_traffic(options);
  plan_faults(options);
}

void Bench::plan_faults(const Options& options) {
  const auto us = [&](const char* name) {
    return static_cast<Time>(std::llround(options.get(name, 0.0) * kMicrosecond));
  };
  faults_.dead_card = options.get("dead_card", -1);
  faults_.dead_at = us("dead_at_us");
  faults_.stalled_card = options.get("stalled_card", -1);
  faults_.stall_at = us("stall_at_us");
  faults_.stall_for = us("stall_us");
  for (const int card : {faults_.dead_card, faults_.stalled_card}) {
    if (card >= static_cast<int>(setup_.cards))
      throw OptionError("there is no card " + std::to_string(card) + " to fail");
  }
}

void Bench::plan_traffic(const Options& options) {
  const std::string capture_dir = options.get("pcap_out", "");
  const std::string routes_file = options.get("routes", "");
  const unsigned cards = setup_.cards;
  const auto most = host_config_.max_frame;

  TrafficConfig config;
  config.sizes = Sizes::parse(options.get("size", "64"));
  config.frames = options.get("frames", std::uint64_t{0});
  config.duration = options.get("duration_ps", Time{0});
  config.flows = options.get("flows", 64u);
  config.seed = options.get("seed", std::uint64_t{1});
  config.rate = parse_rate(options.get("rate", "1.0"), kLineRate);
  config.flow_order = setup_.in_turn ? FlowOrder::kRoundRobin : FlowOrder::kRandom;
  const std::string limit = "the MTU of " + std::to_string(most - kVlanAndHeader) + " allows";
  if (config.sizes.high > most + kFcsBytes) {
    throw OptionError("size " + std::to_string(config.sizes.high) + ": longer than " + limit);
  }
  std::shared_ptr<const Capture> shared;
  if (const std::string path = options.get("pcap", ""); !path.empty())
    shared = Capture::read(path, most, limit);
  bool captures = shared != nullptr;
  for (unsigned p = 0; p < cards; ++p) {
    const std::string path = options.get("pcap." + std::to_string(p), "");
    if (!path.empty()) port_[p].plan.capture = Capture::read(path, most, limit), captures = true;
  }
  routes_ = routes_file.empty() ? default_routes(cards, captures)
                                : route::read_routes(routes_file, cards);
  host_config_.promiscuous = captures;

  hostile_every_ = options.get("bad_ip_every", std::uint64_t{0});
  const auto plan = [&](const char* name) {
    const auto every = options.get(name, std::uint64_t{0});
    return every ? FaultPlan{1.0 / static_cast<double>(every), 0} : FaultPlan{};
  };
  MacConfig mac;
  mac.rate = kLineRate;
  mac.clock_hz = 125e6;
  mac.bad_fcs = plan("bad_fcs_every");
  mac.runt = plan("runt_every");
  mac.oversize = plan("oversize_every");
  mac.oversize_bytes = most + 4 + kFcsBytes;

  unsigned inputs = 0;
  for (unsigned p = 0; p < cards; ++p) {
    Port& port = port_[p];
    port.streams.assign(std::size_t{cards} * host_config_.classes, -1);
    const auto own = port.plan.capture;
    port.plan = config;
    port.plan.source = static_cast<std::uint16_t>(p);
    port.plan.src_mac = 0x0200'0000'0300 + p;
    port.plan.dst_mac = host_config_.own_mac[p];
    port.plan.capture = own ? own : captures ? shared : nullptr;
    port.sends = port.plan.capture || (!captures && !setup_.outputs[p].empty());
    if (own == nullptr && shared) port.plan.deal_index = p, port.plan.deal_count = cards;
    inputs += port.sends;
    if (!captures && port.sends) plan_flows(p, options);

    mac.seed = config.seed + 1000 + p;
    port.mac = std::make_unique<ByteMac>(mac, machine_->mac_tx(p), machine_->mac_rx(p));
    simulation_.add(machine_->mac_clock(), *port.mac);
    if (!capture_dir.empty()) {
      port.capture =
          std::make_unique<PcapWriter>(capture_dir + "/wire" + std::to_string(p) + ".pcap");
    }
    port.mac->on_transmitted([this, p](std::span<const std::uint8_t> bytes, Time arrived) {
      delivered(p, bytes, arrived);
    });
    port.mac->on_receiving([this, p](const Frame& frame, WireFault fault, Time started, Time) {
      offered(p, frame, fault, started);
    });
  }
  if (inputs == 0) throw OptionError("no input has traffic");
  const double high = options.get("high", 0.0);
  by_class_ = !captures && high > 0 && high < 1;
}

// Addresses that the routes send where the setup wants them, and their types of service.
void Bench::plan_flows(unsigned p, const Options& options) {
  TrafficConfig& plan = port_[p].plan;
  const RouteTrie trie(routes_);
  Random random(plan.seed * 77 + p);
  const double high = options.get("high", 0.0);
  const auto& outputs = setup_.outputs[p];
  std::vector<std::vector<Route>> by_port(setup_.cards);
  for (const Route& route : routes_) by_port[route.port].push_back(route);
  for (std::uint32_t f = 0; f < plan.flows; ++f) {
    const unsigned out = outputs[f % outputs.size()];
    const auto& choice = by_port[out];
    std::uint32_t address = 0;
    bool found = false;
    for (int tries = 0; tries < 1000 && !found && !choice.empty(); ++tries) {
      const Route& route = choice[random.below(choice.size())];
      address = route.prefix | (static_cast<std::uint32_t>(random.next()) & ~route.mask());
      const unsigned net = address >> 24;
      found = net != 0 && net != 127 && net < 224 && trie.find(address) == out;
    }
    if (!found) throw OptionError("routes: no address leads to port " + std::to_string(out));
    plan.destinations.push_back(address);
    // As many of the flows to each output as is their share.
    const auto n = static_cast<double>(f / outputs.size());
    const bool is_high = std::floor((n + 1) * high + 1e-9) > std::floor(n * high + 1e-9);
    plan.tos.push_back(is_high ? kTos[0] : std::uint8_t{0});
  }
}

int Bench::stream(unsigned in, unsigned out, unsigned cls) {
  const unsigned last = host_config_.classes - 1;
  const unsigned key = by_class_ ? std::min(cls, last) : last;
  int& s = port_[in].streams[std::size_t{out} * host_config_.classes + key];
  if (s < 0) {
    std::string name = std::to_string(in) + "->" + std::to_string(out);
    if (by_class_) name += key == 0 ? "/high" : "/low";
    s = score_.stream(name);
    to_port_[out].push_back(s);
  }
  return s;
}

void Bench::offered(unsigned p, const Frame& frame, WireFault fault, Time started) {
  last_activity_ = simulation_.now();
  Port& port = port_[p];
  const auto drop = [&](const char* why) {
    if (port.drop_stream < 0) port.drop_stream = score_.stream(std::to_string(p) + "->drop");
    score_.offered(port.drop_stream, frame.bytes(), 0, started);
    ++port.expected_drops[why];
  };
  switch (fault) {
    case WireFault::kBadFcs:
      return drop("bad_fcs");
    case WireFault::kRunt:
      return drop("runt");
    case WireFault::kOversize:
      return drop("oversize");
    case WireFault::kNone:
      break;
  }
  static thread_local Frame out;
  out.assign(frame.bytes());
  const Verdict verdict = reference_->forward(p, {out.data.data(), out.size});
  if (verdict.drop) return drop(verdict.drop);
  if (verdict.slow && !machine_->slow_path()) return drop("no_slow_path");
  // Order is kept within a class, on the fast path and on the slow path.
  const std::uint32_t flow = (frame.flow * 2 + verdict.slow) * host_config_.classes + verdict.cls;
  // With classes ignored a frame still counts as what its type of service says.
  const unsigned cls = by_class_ && (frame.data[15] & kTosMask) == kTos[0] ? 0 : ~0u;
  score_.offered(stream(p, verdict.port, cls), out.bytes(), flow, started);
}

void Bench::delivered(unsigned p, std::span<const std::uint8_t> bytes, Time arrived) {
  last_activity_ = simulation_.now();
  if (port_[p].capture) port_[p].capture->write(arrived, bytes);
  // Its content says which input it came from; if none, any stream to this port may have it.
  const auto& streams = to_port_[p];
  int s = score_.waiting_for(streams, bytes);
  if (s < 0) s = streams.empty() ? stream(p == 0 ? 1 : 0, p, ~0u) : streams.front();
  score_.delivered(s, bytes, arrived);
}

// ---- the run

double Bench::progress() const {
  double done = 0;
  unsigned sources = 0;
  for (const Port& port : port_) {
    if (!port.traffic) continue;
    const TrafficConfig& c = port.plan;
    const double frames = c.frames ? static_cast<double>(c.frames)
                          : c.capture
                              ? static_cast<double>(c.capture->packets().size()) / c.deal_count
                              : 0;
    const double part = frames > 0 ? static_cast<double>(port.traffic->stats().frames) / frames
                                   : static_cast<double>(simulation_.now() - traffic_start_) /
                                         static_cast<double>(std::max<Time>(c.duration, 1));
    done += std::min(part, 1.0);
    ++sources;
  }
  return sources ? done / sources : 1;
}

void Bench::run() {
  for (unsigned c = 0; c < setup_.cards; ++c) machine_->set_reset(c, true);
  machine_->attach();
  simulation_.run_for(200 * kNanosecond);
  for (unsigned c = 0; c < setup_.cards; ++c) machine_->set_reset(c, false);
  simulation_.run_for(kMicrosecond);
  machine_->release();
  simulation_.run_for(kMicrosecond);

  host_ = std::make_unique<Host>(host_config_, simulation_, machine_->cpu(), memory_, routes_);
  host_->probe();
  machine_->found();
  for (unsigned c = 0; c < setup_.cards; ++c)
    card_routes_.emplace_back(routes_, c, setup_.cards, host_->lpm_nodes());
  ReferenceConfig reference{host_config_.own_mac,     host_config_.next_hop,
                            host_config_.fast_path,   host_config_.rewrite_source,
                            host_config_.promiscuous, host_config_.qos,
                            host_config_.classes};
  reference_ = std::make_unique<Reference>(reference, routes_, card_routes_);
  host_->start(card_routes_);
  simulation_.run_for(5 * kMicrosecond);

  traffic_start_ = last_activity_ = simulation_.now();
  machine_->mark(0);
  for (Port& port : port_) {
    if (!port.sends) continue;
    port.plan.start = traffic_start_;
    port.traffic = std::make_unique<Traffic>(port.plan);
    port.source = std::make_unique<route::Hostile>(*port.traffic, hostile_every_);
    port.mac->set_source(port.source.get());
  }
  if (faults_.dead_card >= 0) {
    simulation_.at(traffic_start_ + faults_.dead_at, [this](Time) {
      machine_->set_dead(static_cast<unsigned>(faults_.dead_card));
      machine_->set_reset(static_cast<unsigned>(faults_.dead_card), true);
    });
  }
  if (faults_.stalled_card >= 0) {
    const Time from = traffic_start_ + faults_.stall_at;
    const auto card = static_cast<unsigned>(faults_.stalled_card);
    simulation_.at(from, [this, card](Time) { machine_->set_stalled(card, true); });
    simulation_.at(from + faults_.stall_for,
                   [this, card](Time) { machine_->set_stalled(card, false); });
  }

  double shown = 0;
  const auto sources_done = [&] {
    return std::all_of(port_.begin(), port_.end(), [](const Port& port) {
      return !port.traffic || (port.traffic->done() && port.mac->rx_idle());
    });
  };
  while (!sources_done()) {
    simulation_.run_for(kStep);
    if (const double part = progress(); part - shown >= 0.01)
      std::fprintf(stderr, "progress %.2f\n", shown = part);
  }
  traffic_end_ = simulation_.now();
  machine_->mark(1);
  host_busy_ = host_->stats().busy;
  // Full rings and FIFOs still have to drain; in a short run that is all there is.
  if (score_.totals().delivered >= kEnough) score_.end_rates();
  for (const Port& port : port_) {
    for (const int s : port.streams)
      delivered_by_end_.push_back(s < 0 ? 0 : score_.counts(s).delivered);
  }
  const bool faulty = faults_.dead_card >= 0 || faults_.stalled_card >= 0;
  const Time quiet =
      kQuiet + host_config_.cpu_per_packet * 4 + (faulty ? 2 * timeout_ + faults_.stall_for : 0);
  last_activity_ = simulation_.now();
  while (score_.under_way() != 0 && simulation_.now() - last_activity_ < quiet) {
    simulation_.run_for(kStep);
    if (!host_->idle()) last_activity_ = simulation_.now();
  }
  collect();
}

// ---- what did not arrive

std::uint64_t Bench::missing(int s) const {
  const std::uint64_t away = score_.under_way(s), known = score_.counts(s).dropped_total();
  return away > known ? away - known : 0;
}

// A count of frames that may have been of any of these streams: to those that miss some. What is
// left over is put on the first, where it will not add up.
void Bench::attribute(const std::vector<int>& streams, const char* reason, std::uint64_t count) {
  for (const int s : streams) {
    const std::uint64_t here = std::min(count, missing(s));
    score_.dropped(s, reason, here);
    count -= here;
  }
  if (count == 0) return;
  if (streams.empty()) {
    extra_failures_.push_back(std::to_string(count) + " frames dropped (" + reason +
                              ") that nobody sent");
  } else {
    score_.dropped(streams.front(), reason, count);
  }
}

std::vector<int> Bench::streams_from(unsigned in, int cls) const {
  std::vector<int> found;
  for (unsigned out = 0; out < setup_.cards; ++out) {
    for (unsigned k = 0; k < host_config_.classes; ++k) {
      const int s = port_[in].streams[std::size_t{out} * host_config_.classes + k];
      if (s >= 0 && (cls < 0 || !by_class_ || !host_config_.qos || static_cast<int>(k) == cls))
        found.push_back(s);
    }
  }
  if (port_[in].drop_stream >= 0) found.push_back(port_[in].drop_stream);
  return found;
}

void Bench::collect_card(unsigned c) {
  static constexpr Counter kCounters[] = {
      {"rx_frames", EMERY_REG(rx_frames)},
      {"requests", EMERY_REG(sched_requests)},
      {"responses", EMERY_REG(sched_responses)},
      {"bursts", EMERY_REG(sched_bursts)},
      {"empty_bursts", EMERY_REG(sched_empty)},
      {"null_requests", EMERY_REG(sched_null)},
      {"packets", EMERY_REG(sched_packets)},
      {"packets_received", EMERY_REG(sched_packets_received)},
      {"discarded", EMERY_REG(sched_discarded)},
      {"request_timeouts", EMERY_REG(sched_request_timeout)},
      {"burst_timeouts", EMERY_REG(sched_burst_timeout)},
      {"aborted", EMERY_REG(sched_aborted)},
      {"stale_responses", EMERY_REG(sched_stale_res)},
      {"stale_bursts", EMERY_REG(sched_stale_burst)},
      {"malformed", EMERY_REG(sched_malformed)},
      {"slow_rx_frames", EMERY_REG(slow_rx_frames)},
      {"slow_rx_too_long", EMERY_REG(slow_rx_too_long)},
      {"slow_rx_bus_error", EMERY_REG(slow_rx_bus_error)},
      {"slow_tx_frames", EMERY_REG(slow_tx_frames)},
      {"slow_tx_bad", EMERY_REG(slow_tx_bad)},
      {"slow_tx_bus_error", EMERY_REG(slow_tx_bus_error)},
      {"tx_fast_frames", EMERY_REG(tx_fast_frames)},
      {"tx_slow_frames", EMERY_REG(tx_slow_frames)},
      {"tx_overflow", EMERY_REG(tx_overflow)},
      {"no_slow_path", EMERY_REG(slow_none)},
      {"bad_writes", EMERY_REG(bus_bad_write)},
      {"master_aborts", EMERY_REG(bus_master_abort)},
      {"retries", EMERY_REG(bus_retry)},
      {"out_fast_max", EMERY_REG(out_fast_max)},
      {"out_slow_max", EMERY_REG(out_slow_max)},
  };
  static constexpr Counter kDrops[] = {
      {"bad_fcs", EMERY_REG(rx_bad_fcs)},     {"runt", EMERY_REG(rx_runt)},
      {"oversize", EMERY_REG(rx_oversize)},   {"disabled", EMERY_REG(rx_disabled)},
      {"header", EMERY_REG(drop_header)},     {"checksum", EMERY_REG(drop_checksum)},
      {"ttl", EMERY_REG(drop_ttl)},           {"no_route", EMERY_REG(drop_no_route)},
      {"not_ours", EMERY_REG(drop_not_ours)}, {"no_slow_path", EMERY_REG(slow_none)},
  };
  Port& port = port_[c];
  for (const auto& [name, offset] : kCounters) counters_[c][name] = host_->read(c, offset);
  for (const auto& [name, offset] : kDrops) port.drops[name] += host_->read(c, offset);
  for (const auto& [name, count] : host_->drops(c)) port.drops[name] += count;

  // Input FIFOs: those to a peer hold one stream's frames (or one a class), the slow path's any.
  struct Left {
    unsigned dest, cls;
    std::uint64_t dropped, words;
  };
  std::vector<Left> slow;
  const unsigned last = host_config_.classes - 1;
  for (unsigned n = 0; n < setup_.cards; ++n) {
    const bool peer = n + 1 < setup_.cards;
    const unsigned d = peer ? n : host_->slow_destination();
    for (unsigned k = 0; k <= last; ++k) {
      const std::size_t at = kQueue + (4 * d + k) * sizeof(queue_regs_t);
      const Left left{d, k, host_->read(c, at + offsetof(queue_regs_t, dropped)),
                      host_->read(c, at + offsetof(queue_regs_t, words))};
      queue_max_[c].push_back(host_->read(c, at + offsetof(queue_regs_t, max)));
      if (!peer) {
        slow.push_back(left);
        continue;
      }
      std::vector<int> streams;
      const unsigned out = CardRoutes::card(c, d);
      for (unsigned s = 0; s <= last; ++s) {
        const int number = port.streams[std::size_t{out} * host_config_.classes + s];
        if (number >= 0 && (!by_class_ || !host_config_.qos || s == k)) streams.push_back(number);
      }
      attribute(streams, "input_fifo_full", left.dropped);
      // Frames still waiting for a peer that does not take them: at least two words each.
      std::uint64_t waiting = 0;
      for (const int s : streams) waiting += missing(s);
      if (left.words != 0) attribute(streams, "stranded", std::min(waiting, left.words / 2));
    }
  }

  // What the host would have dropped, a card without it drops for want of a slow path.
  if (!machine_->slow_path()) {
    std::uint64_t for_host = 0;
    for (const auto& [name, count] : port.expected_drops) {
      const std::uint64_t dropped = port.drops[name];
      if (name != "no_slow_path" && count > dropped) for_host += count - dropped;
    }
    port.expected_drops["no_slow_path"] += for_host;
  }

  const auto any = streams_from(c, -1);
  for (const auto& [name, count] : port.drops) {
    if (count == 0) continue;
    if (port.drop_stream < 0) port.drop_stream = score_.stream(std::to_string(c) + "->drop");
    score_.dropped(port.drop_stream, name, count);
    if (count > port.expected_drops[name]) {
      extra_failures_.push_back("port " + std::to_string(c) + ": " + std::to_string(count) +
                                " frames dropped (" + name + "), " +
                                std::to_string(port.expected_drops[name]) + " expected");
    }
  }
  for (const Left& left : slow) {
    attribute(streams_from(c, static_cast<int>(left.cls)), "slow_fifo_full", left.dropped);
    std::uint64_t waiting = 0;
    for (const int s : any) waiting += missing(s);
    if (left.words != 0) attribute(any, "stranded", std::min(waiting, left.words / 2));
  }
  attribute(any, "rx_fifo_full", host_->read(c, EMERY_REG(rx_fifo_full)));
  attribute(any, "too_long", counters_[c]["slow_rx_too_long"]);
}

void Bench::collect() {
  counters_.resize(setup_.cards);
  queue_max_.resize(setup_.cards);
  for (unsigned c = 0; c < setup_.cards; ++c) {
    if (!dead(c)) collect_card(c);
  }
  for (unsigned c = 0; c < setup_.cards; ++c) {
    if (dead(c)) continue;
    attribute(to_port_.at(c), "discarded", counters_[c]["discarded"]);
    attribute(to_port_.at(c), "tx_error",
              counters_[c]["slow_tx_bad"] + counters_[c]["slow_tx_bus_error"]);
  }
  if (faults_.dead_card < 0) return;
  // Nobody can ask the dead card what it lost.
  const auto card = static_cast<unsigned>(faults_.dead_card);
  for (const auto& streams : {streams_from(card, -1), to_port_.at(card)}) {
    for (const int s : streams) score_.dropped(s, "dead_card", missing(s));
  }
}

std::vector<std::string> Bench::failures() const {
  std::vector<std::string> lines = score_.failures();
  lines.insert(lines.end(), extra_failures_.begin(), extra_failures_.end());
  const auto fail = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) lines.push_back(std::to_string(count) + " " + what);
  };
  machine_->add_failures(lines);
  for (unsigned c = 0; c < setup_.cards; ++c) {
    const auto& mac = port_[c].mac->stats();
    if (dead(c)) continue;
    fail(mac.tx_underruns, "transmit underruns");
    fail(mac.tx_aborted, "frames aborted on the wire");
    fail(mac.tx_protocol_errors, "MAC protocol errors: " + mac.tx_first_protocol_error);
    fail(counters_[c].at("tx_overflow"), "frames too many for an output FIFO");
    fail(counters_[c].at("bad_writes"), "writes that a card could not take");
  }
  return lines;
}

void Bench::close() {
  for (Port& port : port_) {
    if (port.capture) port.capture->close();
  }
}

// Jain's index of the share of its frames that each input and output pair got, by the end of
// traffic.
double Bench::jain() const {
  std::vector<double> got;
  for (std::size_t p = 0; p < port_.size(); ++p) {
    const auto& streams = port_[p].streams;
    for (std::size_t i = 0; i < streams.size(); i += host_config_.classes) {
      std::uint64_t frames = 0, offered = 0;
      for (std::size_t k = i; k < i + host_config_.classes; ++k) {
        if (streams[k] < 0) continue;
        frames += delivered_by_end_[p * streams.size() + k];
        offered += score_.counts(streams[k]).offered;
      }
      if (offered != 0) got.push_back(static_cast<double>(frames) / static_cast<double>(offered));
    }
  }
  double sum = 0, squares = 0;
  for (const double x : got) sum += x, squares += x * x;
  return squares > 0 ? sum * sum / (static_cast<double>(got.size()) * squares) : 1;
}

void Bench::write(JsonWriter& json, double wall_seconds) const {
  json.begin_object().field("schema", 1).field("system", EMERY_SYSTEM);
  json.field("simulated_s", static_cast<double>(simulation_.now()) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles")
      .field("core", simulation_.cycles(machine_->bus_clock()))
      .field("mac", simulation_.cycles(machine_->mac_clock()))
      .end_object();
  score_.write(json);

  const auto seconds = static_cast<double>(std::max<Time>(traffic_end_ - traffic_start_, 1));
  json.object("resources");
  machine_->write_summary(json);
  json.field("cpu_busy", static_cast<double>(host_busy_) / seconds).field("jain", jain());
  std::uint64_t packets = 0, bursts = 0;
  for (const auto& counters : counters_) {
    if (counters.empty()) continue;
    packets += counters.at("packets");
    bursts += counters.at("bursts");
  }
  json.field("packets_per_burst",
             bursts ? static_cast<double>(packets) / static_cast<double>(bursts) : 0.0);
  if (by_class_) {
    for (unsigned k = 0; k < host_config_.classes; k += host_config_.classes - 1) {
      Scoreboard::Counts sum;
      Histogram latency;
      std::uint64_t by_end = 0;
      for (std::size_t p = 0; p < port_.size(); ++p) {
        const auto& streams = port_[p].streams;
        for (std::size_t i = k; i < streams.size(); i += host_config_.classes) {
          if (streams[i] < 0) continue;
          sum += score_.counts(streams[i]);
          latency.merge(score_.latency(streams[i]));
          by_end += delivered_by_end_[p * streams.size() + i];
        }
      }
      json.object(k == 0 ? "high" : "low")
          .field("offered", sum.offered)
          .field("delivered", sum.delivered)
          .field("dropped", sum.dropped_total())
          .field("mpps", static_cast<double>(by_end) / seconds * 1e6)
          .field("offered_mpps", static_cast<double>(sum.offered) / seconds * 1e6)
          .field("lost_share", sum.offered ? static_cast<double>(sum.dropped_total()) /
                                                 static_cast<double>(sum.offered)
                                           : 0.0);
      json.key("latency_ns");
      latency.write_ns(json);
      json.end_object();
    }
  }
  machine_->write_details(json);
  json.key("host");
  host_->write_json(json);
  json.array("cards");
  for (unsigned c = 0; c < setup_.cards; ++c) {
    json.begin_object();
    json.field("trie_nodes", card_routes_[c].entries().size() / 16)
        .field("trie_cut", card_routes_[c].cut());
    for (const auto& [name, count] : counters_[c]) json.field(name, count);
    json.array("queue_max");
    for (const std::uint64_t words : queue_max_[c]) json.value(words);
    json.end_array();
    json.key("mac");
    port_[c].mac->stats().write(json);
    json.end_object();
  }
  json.end_array().end_object().end_object();
}

}  // namespace
}  // namespace emery::direct_router

int main(int argc, char** argv) {
  return emery::run_simulator<emery::direct_router::Bench>(argc, argv);
}
