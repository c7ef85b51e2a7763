// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/bench.hpp"

#include <algorithm>
#include <cmath>

#include "bench/pcie/host_fault.hpp"
#include "bench/route/station.hpp"
#include "bench/run/main.hpp"

namespace emery::direct_router {
namespace {

constexpr Time kQuiet = 100 * kMicrosecond;
constexpr Time kStep = 2 * kMicrosecond;

// Of a frame's way; the host's are of the slow path.
enum Stage : unsigned { kMacRx, kIpRoute, kBurst, kHost, kSlowTx, kMacTx };

}  // namespace

Bench::Bench(const Options& options)
    : Run(options, kStep, kQuiet),
      scenario_(Scenario::from(options)),
      workload_(options, Workload::Line::of_mtu(options, kLineRate), scenario_.cards),
      machine_(Machine::make(options, scenario_.cards, simulation_, memory_)),
      tables_(tables(options, scenario_, workload_)),
      host_config_(host_config(options, scenario_, *machine_, tables_)),
      by_class_(by_class(options, workload_, tables_)),
      crossings_(
          score_, scenario_.cards,
          by_class_ ? std::vector<std::string>{"/high", "/low"} : std::vector<std::string>{""}),
      accounts_(host_config_, by_class_, score_, crossings_),
      kernel_(rtnetlink()),
      port_(scenario_.cards),
      faults_(options, scenario_.cards),
      reset_(options),
      hostile_every_(options.get<std::uint64_t>("bad_ip_every")),
      flows_(options.get<std::uint32_t>("flows")),
      updates_per_s_(options.get<double>("updates_per_s")),
      update_lead_(update_lead(options)),
      message_words_(options.get<unsigned>("message_bytes") / 8),
      load_directly_(options.get<std::string>("fib_load") == "image") {
  refuse(options, scenario_, *machine_, workload_.captures());
  machine_->open_waves(waves());
  const auto timeout = static_cast<Time>(options.get<double>("timeout_us") * kMicrosecond);
  patience_ =
      kQuiet + host_config_.cpu_per_packet * 4 +
      (faults_.any() ? 2 * timeout + faults_.stall_for : 0) +
      (faults_.fault_card >= 0 ? HostFault(options, options.us("dma_timeout_us")).pause() : 0) +
      (faults_.reset_card >= 0 ? 2 * timeout + options.fine_us("retry_us") : 0);
  simulation_.add(machine_->bus_clock(), *this);
  addresses_.emplace(tables_.routes, scenario_.cards);
  if (kernel_) join_kernel(options);
  if (faults_.hostile) {
    hostile_.emplace(options, machine_->slow_path());
    machine_->distrust(faults_.lost()->card);
    // What it would make of frames from its own line is for nobody to say.
    scenario_.outputs[faults_.lost()->card].clear();
  }
  unsigned inputs = 0;
  for (unsigned p = 0; p < scenario_.cards; ++p) {
    connect_port(p, options);
    inputs += add_traffic(p, options);
  }
  if (inputs == 0) throw OptionError("no input has traffic");
  if (updates_per_s_ > 0)
    changes_ = route::change_source(options, scenario_.cards, tables_.routes, destinations_);
  if (trace())
    trace()->add_way({"mac_rx", "ip_route", "burst", "host", "slow_tx", "mac_tx", "wire"});
}

void Bench::connect_port(unsigned p, const Options& options) {
  Port& port = port_[p];
  port.mac =
      std::make_unique<ByteMac>(mac_config(options, p), machine_->mac_tx(p), machine_->mac_rx(p));
  simulation_.add(machine_->mac_clock(), *port.mac);
  const std::string place = "wire" + std::to_string(p);
  port.output = add_output(place + ".pcap");
  port.wire = tap(place);
  port.mac->on_transmitted(
      [this, p](std::span<const std::uint8_t> bytes, Time arrived) { left(p, bytes, arrived); });
  port.mac->on_receiving([this, p](const Frame& frame, WireFault fault, Time started,
                                   Time arrives) { entered(p, frame, fault, started, arrives); });
}

// False when the port is silent.
bool Bench::add_traffic(unsigned p, const Options& options) {
  auto plan = workload_.port(p);
  if (!plan || (!plan->capture && !kernel_ && scenario_.outputs[p].empty())) return false;
  plan->flow_order = scenario_.in_turn ? FlowOrder::kRoundRobin : FlowOrder::kRandom;
  plan->source = static_cast<std::uint16_t>(p);
  plan->src_mac = 0x0200'0000'0300 + p;
  plan->dst_mac = host_config_.own_mac[p];
  plan->readdress = route::StationOption(options).readdress;
  if (!plan->capture && !kernel_) plan_flows(p, *plan, options.get<double>("high"));
  ByteMac& mac = *port_[p].mac;
  Source& source = add_source(*plan, [&mac] { return mac.rx_idle(); }, "wire" + std::to_string(p));
  port_[p].source = std::make_unique<route::Hostile>(source, hostile_every_);
  mac.set_source(port_[p].source.get());
  return true;
}

// Addresses that the routes send where the scenario wants them, and their types of service.
void Bench::plan_flows(unsigned p, TrafficConfig& plan, double high) {
  Random random(plan.seed * 77 + p);
  const auto& outputs = scenario_.outputs[p];
  for (std::uint32_t f = 0; f < plan.flows; ++f) {
    plan.destinations.push_back(addresses_->pick(outputs[f % outputs.size()], random));
    destinations_.push_back({p, plan.destinations.back()});
    // As many of the flows to each output as is their share.
    const auto n = static_cast<double>(f / outputs.size());
    const bool is_high = std::floor((n + 1) * high + 1e-9) > std::floor(n * high + 1e-9);
    plan.tos.push_back(is_high ? kTos[0] : std::uint8_t{0});
  }
}

void Bench::entered(unsigned p, const Frame& frame, WireFault fault, Time started, Time arrives) {
  moved();
  if (unsettled_ && fault == WireFault::kNone &&
      unsettled_->keep(p, frame.bytes(), frame.flow, started))
    return;
  static thread_local Frame out;
  out.assign(frame.bytes());
  Verdict verdict{reason(fault)};
  if (fault == WireFault::kNone) verdict = reference_->forward(p, {out.data.data(), out.size});
  if (!verdict.drop && verdict.slow && !machine_->slow_path()) verdict.drop = "no_slow_path";
  cut_frames_ += !verdict.drop && verdict.cut;
  // Order is kept within a class, on the fast path and on the slow path.
  const std::uint32_t way = verdict.slow * host_config_.classes + verdict.cls;
  offer_as(p, verdict, frame.bytes(), out.bytes(), frame.flow, started, way);
  stage(kIpRoute, arrives);
  if (verdict.drop) return lost(verdict.drop);
  queue(verdict.cls);
}

// What the routers are to make of a frame that came in.
void Bench::offer_as(unsigned p, const Verdict& verdict, std::span<const std::uint8_t> in,
                     std::span<const std::uint8_t> out, std::uint32_t flow, Time started,
                     std::uint32_t lane) {
  if (verdict.drop) {
    offer(crossings_.expect_drop(p, verdict.drop), in, flow, started);
    return refused(in);
  }
  if (verdict.kernel) return offer(crossings_.to_router(p), in, flow, started, lane);
  accounts_.asked(verdict.port, LineClock(kLineRate).after(out.size() + kFcsBytes + kLineOverhead));
  // With classes ignored a frame still counts as what its type of service says.
  const bool high = (in[15] & kTosMask) == kTos[0];
  sent_as(in);
  offer(crossings_.stream(p, verdict.port, by_class_ && !high), out, flow, started, lane);
}

// One that could come out in several forms has its own order: that in which such frames do.
void Bench::settle(const Unsettled::Waiting& frame, const Unsettled::Form& form) {
  offer_as(frame.port, form.verdict, frame.frame, form.bytes, flows_, frame.started,
           2 * host_config_.classes);
}

void Bench::left(unsigned p, std::span<const std::uint8_t> bytes, Time arrived) {
  if (const auto found = unsettled_ ? unsettled_->came(p, bytes) : std::nullopt)
    settle(found->first, found->second);
  deliver(crossings_.arrived(p, bytes, p == 0 ? 1 : 0), bytes, arrived, port_[p].output);
  reset_.left(p, arrived);
  if (port_[p].wire) port_[p].wire->write(bytes);
  stage(kMacTx, port_[p].mac->tx_began());
}

// ---- a kernel as the control plane

void Bench::join_kernel(const Options& options) {
  interfaces_ = kernel_interfaces(options, scenario_.cards);
  for (unsigned p = 0; p < scenario_.cards; ++p) {
    const std::string place = "host" + std::to_string(p);
    Port& port = port_[p];
    port.kernel = tap(place);
    port.kernel->limit(workload_.common().line_longest);
    port.kernel->station(host_config_.own_mac[p]);
    port.kernel_output = add_output(place + ".pcap");
  }
}

// The host has a frame for it.
void Bench::to_kernel(unsigned p, std::span<const std::uint8_t> bytes) {
  if (const auto found = unsettled_->came(scenario_.cards + p, bytes))
    settle(found->first, found->second);
  deliver(crossings_.to_router(p), bytes, simulation_.now(), port_[p].kernel_output);
  port_[p].kernel->write(bytes);
}

// ---- the run

void Bench::open() {
  for (unsigned c = 0; c < scenario_.cards; ++c) machine_->set_reset(c, true);
  machine_->attach();
  simulation_.run_for(200 * kNanosecond);
  for (unsigned c = 0; c < scenario_.cards; ++c) machine_->set_reset(c, false);
  simulation_.run_for(kMicrosecond);
  machine_->release();
  simulation_.run_for(kMicrosecond);

  const HostConfig& h = host_config_;
  host_ = std::make_unique<Host>(
      h, simulation_, machine_->cpu(), memory_, tables_,
      [this](unsigned card, const RingConfig& rings) { return machine_->make_rings(card, rings); });
  host_->on_answer = [this](std::span<const std::uint8_t> frame, unsigned port) {
    offer(crossings_.from_router(port), frame, 0, simulation_.now());
  };
  if (load_directly_) {
    host_->load_table = [this](unsigned card, std::uint32_t first,
                               std::span<const std::uint32_t> entries) {
      if (TableMemory* table = machine_->table(card)) table->load(4 * first, entries);
    };
  }
  host_->on_found = [this](unsigned card) { machine_->found(card); };
  host_->on_rings = [this](unsigned card, bool sent, Time now) { reset_.moved(card, sent, now); };
  host_->probe();
  for (unsigned c = 0; c < scenario_.cards; ++c) machine_->found(c);
  if (trace()) watch_ways();
  const bool changes = kernel_ || changes_;
  for (unsigned c = 0; c < scenario_.cards; ++c)
    card_routes_.emplace_back(tables_.routes, tables_.addresses, c, scenario_.cards,
                              host_->trie_nodes(), changes);
  const ReferenceConfig reference{h.own_mac,     h.next_hop, h.fast_path, h.rewrite_source,
                                  h.promiscuous, h.qos,      h.classes,   kernel_ != nullptr};
  reference_ = std::make_unique<Reference>(reference, tables_, card_routes_, changes);
  if (kernel_) {
    host_->to_kernel = [this](auto frame, unsigned p) { to_kernel(p, frame); };
    host_->from_kernel = [this](unsigned p, Frame& frame) { return port_[p].kernel->next(frame); };
  }
  host_->start(card_routes_);
  if (changes) change_routes();
  simulation_.run_for(5 * kMicrosecond);
  machine_->mark(0);
  faults_.plan(simulation_, *machine_);
}

void Bench::change_routes() {
  unsettled_.emplace(*reference_);
  writer_.emplace(update_lead_, *host_, *reference_, card_routes_);
  writer_->on_change = [this] { unsettled_->change(); };
  if (kernel_) {
    control_plane_.emplace(*kernel_, interfaces_, *host_, *reference_, *writer_);
    control_plane_->frames_inside = [this] {
      return score_.under_way() != 0 || !unsettled_->empty();
    };
  } else {
    updates_.emplace(updates_per_s_, std::move(changes_), *writer_);
  }
}

// Frames on the bus and in the host are found by their bytes: they have their final form there.
void Bench::watch_ways() {
  host_->on_forward = [this](std::span<const std::uint8_t> frame, Time taken) {
    const Trace::Number n = trace()->seen(frame, kHost, taken);
    trace()->mark(n, kSlowTx, simulation_.now());
  };
  bursts_.emplace(message_words_ - 1, [this](std::span<const std::uint8_t> frame, Time begun) {
    trace()->seen(frame, kBurst, begun);
  });
  for (unsigned c = 0; c < scenario_.cards; ++c) {
    for (unsigned p = 0; p + 1 < scenario_.cards; ++p)
      bursts_->add_window(host_->window(c, p), Host::window_bytes());
  }
  machine_->on_write([this](std::uint64_t address, std::uint64_t word, Time now) {
    bursts_->word(address, word, now);
  });
}

// Of a live run: simulated time goes on while routes change, the host has work, or a frame whose
// way is not known may still come out.
Time Bench::busy_until() const {
  if (!control_plane_) return 0;
  if (!control_plane_->idle() || !host_->idle()) return simulation_.now();
  return unsettled_->empty() ? 0 : last_move() + kQuiet;
}

bool Bench::offered() {
  if (!sources_finished()) return false;
  return std::ranges::all_of(port_, [](const Port& p) { return !p.kernel || p.kernel->empty(); });
}

void Bench::look() {
  if (!draining() && reset_.due(traffic_start(), simulation_.now() + kStep))
    reset_.strike(traffic_start(), simulation_, *machine_, *host_,
                  card_routes_[faults_.lost()->card]);
  if (control_plane_ && !draining()) control_plane_->look();
  if (draining()) {
    if (!host_->idle() || (writer_ && !writer_->idle())) moved();
  } else if (sources_finished()) {
    traffic_end_ = simulation_.now();
    machine_->mark(1);
    host_busy_ = host_->busy(simulation_.now());
    accounts_.end_of_traffic(traffic_end_ - traffic_start());
    moved();
  }
}

bool Bench::settled() {
  const bool waiting = score_.under_way() != 0 || (unsettled_ && !unsettled_->empty());
  return !waiting || quiet() >= patience_;
}

void Bench::account() {
  const auto missed = [this](const Unsettled::Waiting& frame, const Unsettled::Form& form) {
    const Verdict& v = form.verdict;
    return v.drop ? accounts_.unexplained(*host_, frame.port, v.drop)
                  : accounts_.unexplained(*host_, frame.port, v.port);
  };
  if (unsettled_) {
    for (const auto& [frame, form] : unsettled_->rest(missed)) settle(frame, form);
  }
  accounts_.collect(*host_, faults_.lost());
}

// A card that is set up again has given back what it was lent too.
void Bench::inspect() {
  if (!faults_.lost() || faults_.reset_card >= 0)
    trouble().add(host_->levels(simulation_.now() + patience_).lines());
}

}  // namespace emery::direct_router

int main(int argc, char** argv) {
  return emery::run_simulator<emery::direct_router::Bench>(argc, argv);
}
