// SPDX-License-Identifier: Apache-2.0
// direct-router on the bench: N cards in a machine (a PCI-X bus, or a PCI Express switch), the PC
// they are in, a Gigabit Ethernet wire at each card.
//
// Streams are those of Crossings; with a mix of priorities there is one a class, as in 0->2/high.
// What is not to be forwarded is offered on IN->drop, and the device's and host's counters say why
// it did not come out. A frame is offered in the form it must have behind the router, which the
// reference router says.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/route/addresses.hpp"
#include "bench/route/hostile.hpp"
#include "bench/route/station.hpp"
#include "bench/run/crossings.hpp"
#include "bench/run/main.hpp"
#include "bench/run/run.hpp"
#include "bench/wire/mac.hpp"
#include "systems/direct_router/accounts.hpp"
#include "systems/direct_router/burst_watch.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/reference.hpp"
#include "systems/direct_router/scenario.hpp"
#include "systems/direct_router/settings.hpp"
#include "systems/direct_router/tables.hpp"
#include "systems/direct_router/unsettled.hpp"
#include "systems/direct_router/updates.hpp"

namespace emery::direct_router {
namespace {

constexpr Time kQuiet = 100 * kMicrosecond;
constexpr Time kStep = 2 * kMicrosecond;

// Of a frame's way; the host's are of the slow path.
enum Stage : unsigned { kMacRx, kIpRoute, kBurst, kHost, kSlowTx, kMacTx };

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the bus clock, behind the bus: the host.
  void sample(Time now) override {
    if (host_) host_->poll(now);
    if (updates_) updates_->poll(now, draining());
  }

 private:
  struct Port {
    std::unique_ptr<ByteMac> mac;
    std::unique_ptr<route::Hostile> source;
    Output* output = nullptr;
  };

  void connect_port(unsigned port, const Options& options);
  bool add_traffic(unsigned port, const Options& options);
  void plan_flows(unsigned port, TrafficConfig& plan, double high);
  void watch_ways();
  void entered(unsigned port, const Frame& frame, WireFault fault, Time started, Time arrives);
  void offer_as(unsigned port, const Verdict& verdict, std::span<const std::uint8_t> in,
                std::span<const std::uint8_t> out, std::uint32_t flow, Time started,
                std::uint32_t lane);
  void settle(const Unsettled::Waiting& frame, const Unsettled::Form& form);
  void left(unsigned port, std::span<const std::uint8_t> bytes, Time arrived);

  void open() override;
  void look() override;
  bool settled() override;
  void account() override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;
  void report_notes(JsonWriter& json) const;

  Scenario scenario_;
  Workload workload_;
  HostMemory memory_;
  std::unique_ptr<Machine> machine_;
  Tables tables_;
  HostConfig host_config_;
  bool by_class_;
  Crossings crossings_;
  Accounts accounts_;
  std::optional<route::Addresses> addresses_;
  std::unique_ptr<Host> host_;
  std::vector<Destination> destinations_;
  std::optional<Updates> updates_;
  std::optional<Unsettled> unsettled_;  // where routes change
  std::optional<BurstWatch> bursts_;    // a traced run
  std::vector<CardRoutes> card_routes_;
  std::unique_ptr<Reference> reference_;
  std::vector<Port> port_;
  CardFaults faults_;
  std::uint64_t hostile_every_;
  std::uint32_t flows_;
  UpdateConfig update_config_;
  unsigned message_words_;
  bool load_directly_;            // of the cards' tables what is in their memories
  std::uint64_t cut_frames_ = 0;  // to the host because the cards' tables are too small
  Time patience_;                 // at the end
  Time traffic_end_ = 0, host_busy_ = 0;
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kQuiet),
      scenario_(Scenario::from(options)),
      workload_(options, Workload::Line::of_mtu(options, kLineRate), scenario_.cards),
      machine_(Machine::make(options, scenario_.cards, simulation_, memory_)),
      tables_(Tables::make(options.get("routes", ""), scenario_.cards,
                           options.get<unsigned>("classes"), workload_.captures(),
                           options.get<bool>("own_addresses"))),
      host_config_(host_config(options, scenario_, *machine_, tables_)),
      by_class_(by_class(options, workload_, tables_)),
      crossings_(
          score_, scenario_.cards,
          by_class_ ? std::vector<std::string>{"/high", "/low"} : std::vector<std::string>{""}),
      accounts_(host_config_, by_class_, score_, crossings_),
      port_(scenario_.cards),
      faults_(options, scenario_.cards),
      hostile_every_(options.get<std::uint64_t>("bad_ip_every")),
      flows_(options.get<std::uint32_t>("flows")),
      update_config_(update_config(options, scenario_.cards)),
      message_words_(options.get<unsigned>("message_bytes") / 8),
      load_directly_(options.get<std::string>("fib_load") == "image") {
  refuse(options, scenario_, *machine_, tables_, workload_.captures());
  machine_->open_waves(waves());
  const auto timeout = static_cast<Time>(options.get<double>("timeout_us") * kMicrosecond);
  patience_ = kQuiet + host_config_.cpu_per_packet * 4 +
              (faults_.any() ? 2 * timeout + faults_.stall_for : 0);
  simulation_.add(machine_->bus_clock(), *this);
  addresses_.emplace(tables_.routes, scenario_.cards);
  unsigned inputs = 0;
  for (unsigned p = 0; p < scenario_.cards; ++p) {
    connect_port(p, options);
    inputs += add_traffic(p, options);
  }
  if (inputs == 0) throw OptionError("no input has traffic");
  if (trace())
    trace()->add_way({"mac_rx", "ip_route", "burst", "host", "slow_tx", "mac_tx", "wire"});
}

void Bench::connect_port(unsigned p, const Options& options) {
  Port& port = port_[p];
  port.mac =
      std::make_unique<ByteMac>(mac_config(options, p), machine_->mac_tx(p), machine_->mac_rx(p));
  simulation_.add(machine_->mac_clock(), *port.mac);
  port.output = add_output("wire" + std::to_string(p) + ".pcap");
  port.mac->on_transmitted(
      [this, p](std::span<const std::uint8_t> bytes, Time arrived) { left(p, bytes, arrived); });
  port.mac->on_receiving([this, p](const Frame& frame, WireFault fault, Time started,
                                   Time arrives) { entered(p, frame, fault, started, arrives); });
}

// False when the port is silent.
bool Bench::add_traffic(unsigned p, const Options& options) {
  auto plan = workload_.port(p);
  if (!plan || (!plan->capture && scenario_.outputs[p].empty())) return false;
  plan->flow_order = scenario_.in_turn ? FlowOrder::kRoundRobin : FlowOrder::kRandom;
  plan->source = static_cast<std::uint16_t>(p);
  plan->src_mac = 0x0200'0000'0300 + p;
  plan->dst_mac = host_config_.own_mac[p];
  plan->readdress = route::StationOption(options).readdress;
  if (!plan->capture) plan_flows(p, *plan, options.get<double>("high"));
  ByteMac& mac = *port_[p].mac;
  Source& source = add_source(*plan, [&mac] { return mac.rx_idle(); });
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
  cut_frames_ += verdict.cut;
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
  stage(kMacTx, port_[p].mac->tx_began());
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
  host_->probe();
  machine_->found();
  if (trace()) watch_ways();
  const bool changes = update_config_.per_second > 0;
  for (unsigned c = 0; c < scenario_.cards; ++c)
    card_routes_.emplace_back(tables_.routes, tables_.addresses, c, scenario_.cards,
                              host_->trie_nodes(), changes);
  const ReferenceConfig reference{h.own_mac,     h.next_hop, h.fast_path, h.rewrite_source,
                                  h.promiscuous, h.qos,      h.classes};
  reference_ = std::make_unique<Reference>(reference, tables_, card_routes_, changes);
  host_->start(card_routes_);
  if (changes) {
    unsettled_.emplace(*reference_);
    updates_.emplace(update_config_, tables_.routes, destinations_, *host_, *reference_,
                     card_routes_);
    updates_->on_change = [this] { unsettled_->change(); };
  }
  simulation_.run_for(5 * kMicrosecond);
  machine_->mark(0);
  faults_.plan(simulation_, *machine_);
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

void Bench::look() {
  if (draining()) {
    if (!host_->idle() || (updates_ && !updates_->idle())) moved();
  } else if (sources_finished()) {
    traffic_end_ = simulation_.now();
    machine_->mark(1);
    host_busy_ = host_->stats().busy;
    accounts_.end_of_traffic(traffic_end_ - traffic_start());
    moved();
  }
}

bool Bench::settled() {
  const bool waiting = score_.under_way() != 0 || (unsettled_ && !unsettled_->empty());
  return !waiting || quiet() >= patience_;
}

void Bench::account() {
  // What did not come out was dropped where that was possible.
  for (const auto& frame : unsettled_ ? unsettled_->rest() : std::vector<Unsettled::Waiting>()) {
    const auto drop = std::ranges::find_if(frame.forms, [](auto& f) { return f.verdict.drop; });
    settle(frame, drop == frame.forms.end() ? frame.forms.front() : *drop);
  }
  accounts_.collect(*host_, faults_.dead_card);
}

void Bench::check(Findings& findings) const {
  findings.add(accounts_.findings().lines());
  machine_->check(findings);
  host_->check(findings);
  for (unsigned c = 0; c < scenario_.cards; ++c) {
    if (faults_.dead(c)) continue;
    const MacStats& mac = port_[c].mac->stats();
    mac.check(findings);
    findings.add(mac.tx_aborted, "frames aborted on the wire");
    findings.add(accounts_.counter(c, "tx_overflow"), "frames too many for an output FIFO");
    findings.add(accounts_.counter(c, "bad_writes"), "writes that a card could not take");
    findings.add(accounts_.counter(c, "lpm_lost"), "entries too many for a card's memory");
    if (const TableMemory* table = std::as_const(*machine_).table(c))
      findings.add(table->outside(), "accesses beyond a card's memory");
  }
}

void Bench::report(JsonWriter& json) const {
  const Time end = traffic_end_ == 0 ? simulation_.now() : traffic_end_;
  const double seconds = static_cast<double>(std::max<Time>(end - traffic_start(), 1)) / 1e12;
  machine_->write_summary(json);
  json.field("cpu_busy", static_cast<double>(host_busy_) / 1e12 / seconds)
      .field("jain", accounts_.jain());
  const auto packets = static_cast<double>(accounts_.sum("packets")),
             bursts = static_cast<double>(accounts_.sum("bursts"));
  json.field("packets_per_burst", bursts > 0 ? packets / bursts : 0.0);
  accounts_.write_classes(json, seconds);
  machine_->write_details(json);
  json.key("host");
  host_->write_json(json);
  if (updates_) {
    json.object("updates");
    updates_->write(json);
    unsettled_->write(json);
    json.end_object();
  }
  json.array("cards");
  for (unsigned c = 0; c < scenario_.cards; ++c) {
    json.begin_object()
        .field("trie_nodes", card_routes_[c].nodes())
        .field("trie_needed", card_routes_[c].needed())
        .field("trie_cut", card_routes_[c].cut());
    if (const TableMemory* table = std::as_const(*machine_).table(c)) {
      json.key("table");
      table->write(json);
    }
    accounts_.write_card(json, c);
    json.key("mac");
    port_[c].mac->stats().write(json);
    json.end_object();
  }
  json.end_array();
  report_notes(json);
}

void Bench::report_notes(JsonWriter& json) const {
  json.array("notes");
  std::size_t needed = 0;
  for (const CardRoutes& card : card_routes_) needed = std::max(needed, card.needed());
  if (needed > host_->trie_nodes()) {
    json.value("the routes need " + std::to_string(needed) + " nodes, the cards have " +
               std::to_string(host_->trie_nodes()) + " (lpm_nodes, fib_nodes): " +
               std::to_string(cut_frames_) + " frames went through the host for it");
  }
  json.end_array();
}

}  // namespace
}  // namespace emery::direct_router

int main(int argc, char** argv) {
  return emery::run_simulator<emery::direct_router::Bench>(argc, argv);
}
