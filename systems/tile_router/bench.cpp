// SPDX-License-Identifier: Apache-2.0
// tile-router on the bench: the grid, loaded through its boot port, with DRAMs behind its memory
// slots and Ethernet wires behind its linecards.
//
// Streams are those of Crossings; what the router says for itself is on router->OUT (host.hpp).
// What is not to be forwarded is offered on IN->drop, and the tiles' counters say why it did not
// come out. A frame is offered in the form it must have behind the router, which the judge says.
// Frames enter when the chip takes them: linecards stall, they do not drop.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/route/addresses.hpp"
#include "bench/route/hostile.hpp"
#include "bench/route/station.hpp"
#include "bench/run/crossings.hpp"
#include "bench/run/main.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/chip.hpp"
#include "systems/tile_router/counters.hpp"
#include "systems/tile_router/destinations.hpp"
#include "systems/tile_router/entries.hpp"
#include "systems/tile_router/host.hpp"
#include "systems/tile_router/judge.hpp"
#include "systems/tile_router/memories.hpp"
#include "systems/tile_router/report.hpp"
#include "systems/tile_router/tiles.hpp"
#include "systems/tile_router/updates.hpp"
#include "systems/tile_router/wires.hpp"

namespace emery::tile_router {
namespace {

constexpr unsigned kMostFrame = 1514;  // without FCS
constexpr Time kStep = kMicrosecond;
constexpr Time kQuiet = 3 * kMicrosecond;  // without a delivery: see whether all is accounted for
enum Stage : unsigned { kLineIn, kFrameSender, kLineOut };  // of a frame's way
constexpr Time kSettle = 2 * kMicrosecond;                  // for the programs to get ready

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

 private:
  struct Port {
    std::unique_ptr<route::Hostile> source;  // null: silent
    std::unique_ptr<WordLineIn> in;
    std::unique_ptr<WordLineOut> out;
    Trace::Number entering = Trace::kNone;
    Output* output = nullptr;
  };

  unsigned ports() const { return static_cast<unsigned>(image_.linecards.size()); }
  void connect_port(unsigned port);
  void add_traffic(const Options& options);
  void entered(unsigned port, const Frame& frame, Time now);
  void offer_as(unsigned port, const Verdict& verdict, std::span<const std::uint8_t> in,
                std::span<const std::uint8_t> out, std::uint32_t flow, Time now,
                std::uint32_t turn);
  void settle(const std::vector<Unsettled::Settled>& frames);
  void left(unsigned port, std::span<const std::uint8_t> bytes, Time now);
  void end_measuring();
  bool trapped();
  void look_at_the_rest();
  void stuck();
  std::uint64_t inside() const;

  void open() override;
  void look() override;
  bool offered() override;
  bool settled() override {
    return inside() == drops_ && host_.settled(counters_) && (!updates_ || updates_->idle());
  }
  void account() override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  BootImage image_;
  VerilatedModel<Chip> model_;
  int clock_;
  BootPort boot_;
  Tiles tiles_;
  Counters counters_;
  double line_rate_;
  Workload workload_;
  route::Routes routes_;
  Judge judge_;
  Host host_;
  Crossings crossings_;
  std::vector<Port> port_;
  Memories memories_;
  std::vector<route::Destination> destinations_;
  std::unique_ptr<Updates> updates_;  // where routes change
  unsigned pipelines_a_port_;
  Time patience_;
  bool timed_;
  Time looked_ = 0;
  std::uint64_t boot_clocks_ = 0, drops_ = 0;
  Entries entries_;
  std::uint64_t measured_frames_ = 0;  // that entered while resources were measured
  double jain_ = 0;                    // of those that entered while measured
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kQuiet),
      image_(BootImage::read(options.get<std::string>("boot_image"))),
      model_("tile_router"),
      clock_(model_.add_clock(simulation_, "core", options.get<unsigned>("tile_mhz") * 1'000'000ull,
                              1, model_->clk_i)),
      boot_(*model_),
      tiles_(*model_, image_, simulation_, clock_, boot_),
      counters_(image_, simulation_, boot_, options.us("counters_us")),
      line_rate_(options.get<double>("line_gbps") * 1e9),
      workload_(options,
                {line_rate_, kMostFrame, "the 1514 bytes (1518 with FCS) a linecard takes"},
                ports()),
      routes_(routes_of(options, workload_)),
      judge_(routes_, route::StationOption(options).station(), image_),
      host_(options, image_, routes_),
      crossings_(score_, ports()),
      port_(ports()),
      memories_(*model_, image_, routes_, options.get<unsigned>("dram_latency")),
      pipelines_a_port_(std::max(1u, image_.pipelines() / ports())),
      // What stands on a wire, in and out, moves.
      patience_(options.us("patience_us") +
                2 * LineClock(line_rate_).after(kMostFrame + kFcsBytes + kLineOverhead)),
      timed_(options.get<bool>("timed")),
      entries_(ports()) {
  options.get<std::string>("version");  // the image is made from these
  options.get<unsigned>("linecards");
  options.get<bool>("own_addresses");
  lay_out(*model_, image_.columns, image_.rows, image_.lines());
  model_.open_waves(waves());
  model_.attach(simulation_);
  simulation_.add(clock_, boot_);
  simulation_.add(clock_, tiles_);
  memories_.connect(simulation_, clock_);
  if (trace()) trace()->add_way({"line_in", "frame_sender", "line_out", "wire"});
  for (unsigned p = 0; p < ports(); ++p) connect_port(p);
  add_traffic(options);
  updates_ = Updates::of(options, image_, routes_, destinations_, boot_, judge_);
  if (updates_) simulation_.add(clock_, *updates_);
}

void Bench::connect_port(unsigned p) {
  Port& port = port_[p];
  port.out = std::make_unique<WordLineOut>(
      wire_out(*model_, image_.linecards[p].out), line_rate_,
      [this, p](std::span<const std::uint8_t> bytes, Time now) { left(p, bytes, now); });
  port.in = std::make_unique<WordLineIn>(
      wire_in(*model_, image_.linecards[p].in),
      [this, p](const Frame& frame, Time now) { entered(p, frame, now); });
  if (trace()) {
    port.in->on_received(
        [this, &port](Time now) { trace()->mark(port.entering, kFrameSender, now); });
  }
  simulation_.add(clock_, *port.out);
  simulation_.add(clock_, *port.in);
  port.output = add_output("wire" + std::to_string(p) + ".pcap");
}

void Bench::add_traffic(const Options& options) {
  const auto pattern = options.get<std::string>("pattern");
  const auto hostile_every = options.get<std::uint64_t>("bad_ip_every");
  const route::Addresses addresses(routes_, ports());
  for (unsigned p = 0; p < ports(); ++p) {
    auto plan = workload_.port(p);
    if (!plan) continue;
    plan->flows = std::max(1u, plan->flows / ports());
    plan->source = static_cast<std::uint16_t>(p);
    plan->src_mac = 0x0200'0000'0300 + p;
    plan->dst_mac = image_.linecards[p].mac;
    plan->readdress = route::StationOption(options).readdress;
    if (!plan->capture) {
      plan->destinations =
          destinations(pattern, p, plan->flows, plan->seed, routes_, addresses, ports());
      for (const std::uint32_t to : plan->destinations) destinations_.push_back({p, to});
    }
    port_[p].source = std::make_unique<route::Hostile>(add_source(*plan), hostile_every);
  }
}

void Bench::entered(unsigned p, const Frame& frame, Time now) {
  moved();
  entries_.entered(p);
  // A linecard with two pipelines deals its frames to them in turn; order is kept within each.
  const auto turn = static_cast<std::uint32_t>(frame.seq % pipelines_a_port_);
  if (updates_) {
    port_[p].entering = Trace::kNone;
    return updates_->frames().keep(p, turn, frame.bytes(), frame.flow, now);
  }
  static thread_local Frame out;
  out.assign(frame.bytes());
  const Verdict verdict = judge_.forward(p, {out.data.data(), out.size});
  if (verdict.drop) host_.asked(verdict.drop, frame.bytes(), p, now);
  offer_as(p, verdict, frame.bytes(), out.bytes(), frame.flow, now, turn);
  if (trace()) port_[p].entering = trace()->newest();
}

// What the router is to make of a frame that came in.
void Bench::offer_as(unsigned p, const Verdict& verdict, std::span<const std::uint8_t> in,
                     std::span<const std::uint8_t> out, std::uint32_t flow, Time now,
                     std::uint32_t turn) {
  if (verdict.drop) {
    offer(crossings_.expect_drop(p, verdict.drop), in, flow, now);
    lost(verdict.drop);
    return refused(in);
  }
  sent_as(in);
  offer(crossings_.stream(p, verdict.port), out, flow, now, turn);
  queue(turn);
}

void Bench::settle(const std::vector<Unsettled::Settled>& frames) {
  for (const auto& [in, form] : frames)
    offer_as(in.port, form.verdict, in.frame, form.bytes, in.flow, in.started, in.lane);
}

void Bench::left(unsigned p, std::span<const std::uint8_t> bytes, Time now) {
  if (const auto asked = host_.said(p, bytes)) offer(crossings_.from_router(p), bytes, 0, *asked);
  if (updates_) settle(updates_->frames().came_out(p, bytes));
  deliver(crossings_.arrived(p, bytes, p), bytes, now, port_[p].output);
  stage(kLineOut, port_[p].out->began());
}

// ---- the run

void Bench::open() {
  const Time period = simulation_.period(clock_);
  model_->rst_i = 1;
  simulation_.run_for(20 * period);
  model_->rst_i = 0;
  for (const auto& [address, value] : image_.writes) boot_.write(address, value);
  const Time deadline =
      simulation_.now() + (static_cast<Time>(image_.writes.size()) + 100) * 20 * period;
  if (!simulation_.run_until([&] { return boot_.idle(); }, deadline))
    throw std::runtime_error("the boot port does not answer");
  boot_clocks_ = simulation_.cycles(clock_);
  simulation_.run_for(kSettle);
  for (Port& port : port_) {
    if (port.source) port.in->set_source(port.source.get());
  }
  tiles_.begin();
  if (updates_) updates_->start(simulation_.now());
}

bool Bench::offered() {
  return std::all_of(port_.begin(), port_.end(), [](const Port& port) { return port.in->done(); });
}

void Bench::look() {
  counters_.look([this] { return entries_.all(); });
  if (updates_ && updates_->busy()) moved();
  if (updates_ && draining()) updates_->stop();
  if (draining()) return look_at_the_rest();
  const Time duration = workload_.common().duration;
  if (duration && simulation_.now() >= traffic_start() + duration) {
    for (Port& port : port_) port.in->stop();
  }
  const auto ended = [](const Port& port) { return port.source && port.in->done(); };
  if (tiles_.measuring() && std::any_of(port_.begin(), port_.end(), ended)) end_measuring();
  if (trapped()) return;
  const auto stalled = [](const Port& port) { return port.in->stalled(); };
  if (quiet() >= patience_ && std::any_of(port_.begin(), port_.end(), stalled)) stuck();
}

void Bench::look_at_the_rest() {
  if (simulation_.now() - std::max(last_move(), looked_) >= kQuiet) {
    drops_ = counters_.read();
    looked_ = simulation_.now();
  }
  if (!trapped() && quiet() >= patience_ && !settled()) stuck();
}

void Bench::end_measuring() {
  measured_frames_ = entries_.all();
  std::vector<bool> with_traffic;
  for (const Port& port : port_) with_traffic.push_back(port.source != nullptr);
  jain_ = entries_.jain(with_traffic);
  memories_.measured(tiles_.clocks());
  tiles_.end();  // last: it reads what they counted, and frames go on meanwhile
}

bool Bench::trapped() {
  for (const std::string& line : tiles_.traps()) give_up(line);
  return given_up();
}

void Bench::stuck() {
  drops_ = counters_.read();
  give_up("nothing moves for " + std::to_string(patience_ / kMicrosecond) + " us, " +
          std::to_string(inside() - drops_) + " frames are inside:" + tiles_.waiting());
}

// A frame that came out wrong is not inside any more.
std::uint64_t Bench::inside() const {
  const std::uint64_t away = score_.under_way() + (updates_ ? updates_->frames().size() : 0);
  return away - std::min(away, score_.totals().corrupted);
}

void Bench::account() {
  if (tiles_.measuring()) end_measuring();
  counters_.read();
  if (updates_) settle(updates_->rest(counters_, crossings_));
  counters_.account(crossings_, trouble());
  host_.account(counters_, simulation_.now(), trouble());
  counters_.read_slots();
}

// ---- the result

void Bench::check(Findings& findings) const {
  counters_.check(findings);
  if (updates_) updates_->check(findings, memories_);
  for (unsigned p = 0; p < ports(); ++p) {
    findings.add(port_[p].out->violations(),
                 "protocol errors at the wire of port " + std::to_string(p));
  }
  memories_.check(findings);
  findings.add(boot_.unmapped(), "accesses of the boot port where no block is");
}

void Bench::report(JsonWriter& json) const {
  json.field("columns", image_.columns).field("rows", image_.rows);
  json.field("jain", jain_);
  json.field("boot_clocks", boot_clocks_).field("routes", routes_.size());
  json.field("measured_clocks", tiles_.clocks());
  write_latency(json, crossings_.latency(), simulation_.period(clock_));
  tiles_.write_stages(json, measured_frames_, timed_,
                      [this](const std::string& name) { return counters_.sum(name); });
  tiles_.write(json);
  counters_.write(json);
  if (updates_) updates_->write(json);
  json.object("linecards");
  for (unsigned p = 0; p < ports(); ++p) write_linecard(json, p, image_.linecards[p], *port_[p].in);
  json.end_object();
  json.field("busiest_memory", memories_.busiest()).key("memories");
  memories_.write(json);
}

}  // namespace
}  // namespace emery::tile_router

int main(int argc, char** argv) {
  return emery::run_simulator<emery::tile_router::Bench>(argc, argv);
}
