// SPDX-License-Identifier: Apache-2.0
// tile-router on the bench: the grid, loaded through its boot port, with DRAMs behind its memory
// slots and Ethernet wires behind its linecards.
//
// Streams are named IN->OUT by ports. What is not to be forwarded is offered on IN->drop, and the
// tiles' counters say why it did not come out. A frame is offered in the form it must have behind
// the router, which the judge says. Frames enter when the chip takes them: linecards stall, they do
// not drop.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/route/hostile.hpp"
#include "bench/route/routes.hpp"
#include "bench/run/main.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/traffic.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/chip.hpp"
#include "systems/tile_router/dir24.hpp"
#include "systems/tile_router/judge.hpp"
#include "systems/tile_router/linecard.hpp"

namespace emery::tile_router {
namespace {

constexpr unsigned kMostFrame = 1514;  // without FCS
constexpr Time kStep = kMicrosecond;
constexpr Time kQuiet = 3 * kMicrosecond;   // without a delivery: see whether all is accounted for
constexpr Time kSettle = 2 * kMicrosecond;  // for the programs to get ready
constexpr std::uint64_t kEnough = 200;      // frames delivered that a rate can be taken from
constexpr std::array kUses = {"retire", "fetch",  "load",    "bank",
                              "pipe",   "halted", "receive", "send"};  // clock_use_e
constexpr std::array kSides = {"core", "north", "east", "south", "west", "other network"};
constexpr std::array kNetworks = {"static1", "static2", "gdn", "mdn"};
constexpr unsigned kTileLinks = 20;  // of each network, by side
constexpr std::array kSlotCounters = {"mem_reads", "mem_writes", "mem_bad", "in_frames",
                                      "in_bad",    "out_frames", "out_bad", "stray"};

class Bench final : public Component {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json, double wall_seconds) const;
  std::vector<std::string> failures() const;
  void close();

  // Component, on the one clock: what the cores do.
  void sample(Time) override {
    if (!measuring_) return;
    for (std::size_t t = 0; t < uses_.size(); ++t) ++uses_[t][model_->use_o[t] & 7];
  }
  void drive() override {}

 private:
  struct Port {
    TrafficConfig plan;
    std::unique_ptr<Traffic> traffic;
    std::unique_ptr<route::Hostile> source;
    std::unique_ptr<WireIn> in;
    std::unique_ptr<WireOut> out;
    std::unique_ptr<PcapWriter> capture;
    std::vector<int> streams;  // by output; -1: none yet
    int drop_stream = -1;
    std::map<std::string, std::uint64_t> expected_drops;
  };
  struct TileCounts {
    std::uint64_t clock = 0;  // when they were read, from the start of traffic
    std::array<std::uint32_t, 3> cache{};
    std::array<std::uint32_t, kTileLinks> words{};
  };

  unsigned ports() const { return static_cast<unsigned>(image_.linecards.size()); }
  void plan_traffic(const Options& options);
  void random_routes(const Options& options);
  void routes_of_captures();
  void plan_flows(unsigned port, const std::string& pattern,
                  const std::vector<route::Routes>& by_port, const route::RouteTrie& trie);
  void connect(const Options& options);
  int stream(unsigned in, unsigned out);
  void entered(unsigned port, const Frame& frame, Time now);
  void left(unsigned port, std::span<const std::uint8_t> bytes, Time now);
  double progress() const;
  std::uint32_t read(std::uint32_t address);
  void boot();
  void snapshot();
  std::uint64_t read_counters();
  void attribute(const std::vector<int>& streams, const std::string& reason, std::uint64_t count);
  void collect();
  bool trapped();
  std::string waiting();
  std::uint64_t sum(const std::string& name) const;
  void write_stages(JsonWriter& json) const;
  void write_tiles(JsonWriter& json) const;

  BootImage image_;
  Simulation simulation_;
  VerilatedModel<Chip> model_;
  int clock_;
  BootPort boot_;
  std::vector<Port> port_;
  std::map<unsigned, Dram> drams_;  // by slot
  route::Routes routes_;
  std::vector<std::uint32_t> table_;  // the image of the lookup tables
  std::unique_ptr<Judge> judge_;
  Scoreboard score_;
  std::vector<std::vector<int>> to_port_;  // streams, by output
  double line_rate_;
  unsigned pipelines_a_port_ = 1;
  std::uint64_t hostile_every_;
  Time duration_, patience_, traffic_start_ = 0, traffic_end_ = 0, last_activity_ = 0;
  bool timed_;
  std::uint64_t start_clock_ = 0, end_clock_ = 0, boot_clocks_ = 0, entered_ = 0;
  std::uint64_t measured_frames_ = 0;  // that entered while resources were measured
  bool measuring_ = false;
  std::vector<std::array<std::uint64_t, 8>> uses_;  // clocks, by tile
  std::vector<TileCounts> tiles_;
  std::map<unsigned, std::array<std::uint32_t, 8>> slots_;
  std::map<unsigned, std::array<double, 2>> dram_use_;  // by slot: reading, writing
  std::vector<std::uint32_t> counters_;                 // as image_.counters
  std::vector<std::string> trouble_;
};

Bench::Bench(const Options& options)
    : image_(BootImage::read(options.get("boot_image", ""))),
      model_("tile_router"),
      clock_(model_.add_clock(simulation_, "core", options.get("tile_mhz", 425u) * 1'000'000ull, 1,
                              model_->clk_i)),
      boot_(*model_),
      port_(ports()),
      to_port_(ports()),
      line_rate_(options.get("line_gbps", 20.0) * 1e9),
      hostile_every_(options.get("bad_ip_every", std::uint64_t{0})),
      duration_(options.get("duration_ps", Time{0})),
      patience_(options.get("patience_us", 100) * kMicrosecond),
      timed_(options.get("timed", false)),
      uses_(image_.columns * image_.rows),
      tiles_(image_.columns * image_.rows) {
  options.get("version", "");  // the image is made from these
  options.get("linecards", 0);
  if (const std::string waves = options.get("waves", ""); !waves.empty()) model_.open_waves(waves);
  const auto lookups =
      std::count_if(image_.tiles.begin(), image_.tiles.end(),
                    [](const BootImage::Tile& tile) { return tile.role == "lookup"; });
  pipelines_a_port_ = std::max(1u, static_cast<unsigned>(lookups) / ports());
  model_.attach(simulation_);
  plan_traffic(options);
  connect(options);
}

// ---- traffic and routes

void Bench::plan_traffic(const Options& options) {
  const std::string routes_file = options.get("routes", "");
  const std::string pattern = options.get("pattern", "random");
  const bool null = image_.version == "null";
  TrafficConfig config;
  config.sizes = Sizes::parse(options.get("size", "64"));
  config.frames = options.get("frames", std::uint64_t{0});
  config.duration = duration_;
  config.flows = std::max(1u, options.get("flows", 128u) / ports());
  config.seed = options.get("seed", std::uint64_t{1});
  config.rate = parse_rate(options.get("rate", "1.0"), line_rate_);
  if (config.sizes.high > kMostFrame + kFcsBytes)
    throw OptionError("size " + std::to_string(config.sizes.high) +
                      ": linecards take frames of up to 1518 bytes");
  const auto read_capture = [&](const std::string& path) {
    return Capture::read(path, kMostFrame, "the 1514 a linecard takes");
  };
  std::shared_ptr<const Capture> shared;
  if (const std::string path = options.get("pcap", ""); !path.empty()) shared = read_capture(path);
  bool captures = shared != nullptr;
  for (unsigned p = 0; p < ports(); ++p) {
    const std::string path = options.get("pcap." + std::to_string(p), "");
    if (!path.empty()) port_[p].plan.capture = read_capture(path), captures = true;
  }
  for (unsigned p = 0; p < ports(); ++p) {
    Port& port = port_[p];
    port.streams.assign(ports(), -1);
    const auto own = port.plan.capture;
    port.plan = config;
    port.plan.source = static_cast<std::uint16_t>(p);
    port.plan.src_mac = 0x0200'0000'0300 + p;
    port.plan.dst_mac = 0x0200'0000'0100 + p;
    port.plan.capture = own ? own : shared;
    if (own == nullptr && shared) port.plan.deal_index = p, port.plan.deal_count = ports();
  }

  std::vector<Route> entries;
  if (!routes_file.empty()) {
    entries = Dir24::read(routes_file, ports());
    routes_ = route::read_routes(routes_file, ports());
  } else if (captures) {
    routes_of_captures();
  } else {
    random_routes(options);
  }
  if (entries.empty()) {
    for (const route::Route& r : routes_)
      entries.push_back(
          {r.prefix, static_cast<std::uint8_t>(r.length), static_cast<std::uint8_t>(r.port), 0});
  }
  options.get("prefix_length", 32u);
  if (!null) table_ = Dir24::build(entries);
  judge_ = std::make_unique<Judge>(routes_, null);
  if (captures) return;
  std::vector<route::Routes> by_port(ports());
  for (const route::Route& r : routes_) by_port[r.port].push_back(r);
  const route::RouteTrie trie(routes_);
  for (unsigned p = 0; p < ports(); ++p) plan_flows(p, pattern, by_port, trie);
}

// As the paper has it: addresses at random, each with an output at random (and one more for each
// output, so that none is without).
void Bench::random_routes(const Options& options) {
  const unsigned length = options.get("prefix_length", 32u);
  const std::uint32_t count = std::max(4u, options.get("flows", 128u));
  Random random(options.get("seed", std::uint64_t{1}) * 31 + 7);
  std::set<std::uint32_t> seen;
  while (seen.size() < count) {
    const auto address = static_cast<std::uint32_t>(random.next());
    const unsigned net = address >> 24;
    const route::Route r{address & route::Route{0, length, 0}.mask(), length,
                         seen.size() < ports() ? static_cast<unsigned>(seen.size())
                                               : static_cast<unsigned>(random.below(ports()))};
    if (net == 0 || net == 127 || net >= 224 || !seen.insert(r.prefix).second) continue;
    routes_.push_back(r);
  }
}

// Each network of 24 bits that a captured packet goes to has an output at random.
void Bench::routes_of_captures() {
  std::set<std::uint32_t> seen;
  Random random(port_[0].plan.seed * 31 + 7);
  for (const Port& port : port_) {
    if (!port.plan.capture) continue;
    for (const Capture::Packet& packet : port.plan.capture->packets()) {
      const auto bytes = port.plan.capture->bytes(packet);
      if (bytes.size() < 34 || bytes[12] != 8 || bytes[13] != 0) continue;
      const std::uint32_t prefix =
          std::uint32_t{bytes[30]} << 24 | std::uint32_t{bytes[31]} << 16 | bytes[32] << 8;
      if (seen.insert(prefix).second)
        routes_.push_back({prefix, 24, static_cast<unsigned>(random.below(ports()))});
    }
  }
  if (routes_.empty()) routes_.push_back({0, 0, 0});
}

// Addresses that the routes send where the pattern wants them.
void Bench::plan_flows(unsigned p, const std::string& pattern,
                       const std::vector<route::Routes>& by_port, const route::RouteTrie& trie) {
  TrafficConfig& plan = port_[p].plan;
  Random random(plan.seed * 77 + p);
  const bool shares = routes_.size() < 2 * plan.flows * ports();  // the paper's: each has its own
  for (std::uint32_t f = 0; f < plan.flows; ++f) {
    unsigned out = static_cast<unsigned>(random.below(ports()));
    if (pattern == "permutation") out = (p + 1) % ports();
    if (pattern == "hotspot") out = 0;
    if (pattern == "random" && shares) out = routes_[random.below(routes_.size())].port;
    const auto& choice = by_port[out];
    std::uint32_t address = 0;
    bool found = false;
    for (int tries = 0; tries < 1000 && !found && !choice.empty(); ++tries) {
      const route::Route& r = choice[random.below(choice.size())];
      address = r.prefix | (static_cast<std::uint32_t>(random.next()) & ~r.mask());
      const unsigned net = address >> 24;
      found = net != 0 && net != 127 && net < 224 && trie.find(address) == out;
    }
    if (!found) throw OptionError("routes: no address leads to port " + std::to_string(out));
    plan.destinations.push_back(address);
  }
}

void Bench::connect(const Options& options) {
  const std::string capture_dir = options.get("pcap_out", "");
  const unsigned latency = options.get("dram_latency", 16u);
  simulation_.add(clock_, boot_);
  simulation_.add(clock_, *this);
  for (const auto& [slot, use] : image_.memories) {
    Dram& dram = drams_.try_emplace(slot, *model_, slot, latency).first->second;
    if (use == "table") dram.load(table_);
    simulation_.add(clock_, dram);
  }
  for (unsigned p = 0; p < ports(); ++p) {
    Port& port = port_[p];
    const auto left_at = [this, p](std::span<const std::uint8_t> bytes, Time now) {
      left(p, bytes, now);
    };
    port.out = std::make_unique<WireOut>(*model_, image_.linecards[p].out, line_rate_, left_at);
    simulation_.add(clock_, *port.out);
    if (!capture_dir.empty())
      port.capture =
          std::make_unique<PcapWriter>(capture_dir + "/wire" + std::to_string(p) + ".pcap");
  }
}

int Bench::stream(unsigned in, unsigned out) {
  int& s = port_[in].streams[out];
  if (s < 0) {
    s = score_.stream(std::to_string(in) + "->" + std::to_string(out));
    to_port_[out].push_back(s);
  }
  return s;
}

void Bench::entered(unsigned p, const Frame& frame, Time now) {
  last_activity_ = now;
  ++entered_;
  static thread_local Frame out;
  out.assign(frame.bytes());
  const Verdict verdict = judge_->forward(p, {out.data.data(), out.size});
  Port& port = port_[p];
  if (verdict.drop) {
    if (port.drop_stream < 0) port.drop_stream = score_.stream(std::to_string(p) + "->drop");
    score_.offered(port.drop_stream, frame.bytes(), 0, now);
    ++port.expected_drops[verdict.drop];
    return;
  }
  // A linecard with two pipelines deals its frames to them in turn; order is kept within each.
  const auto turn = static_cast<std::uint32_t>(frame.seq % pipelines_a_port_);
  score_.offered(stream(p, verdict.port), out.bytes(), frame.flow * pipelines_a_port_ + turn, now);
}

void Bench::left(unsigned p, std::span<const std::uint8_t> bytes, Time now) {
  last_activity_ = now;
  if (port_[p].capture) port_[p].capture->write(now, bytes);
  // Its content says which input it came from; if none, any stream to this port may have it.
  const auto& streams = to_port_[p];
  int s = score_.waiting_for(streams, bytes);
  if (s < 0) s = streams.empty() ? stream(p, p) : streams.front();
  score_.delivered(s, bytes, now);
}

// ---- the run

std::uint32_t Bench::read(std::uint32_t address) {
  std::optional<std::uint32_t> got;
  boot_.read(address, [&](std::uint32_t value) { got = value; });
  simulation_.run_until([&] { return got.has_value(); }, simulation_.now() + kMicrosecond);
  if (!got) throw std::runtime_error("the boot port does not answer");
  return *got;
}

void Bench::boot() {
  model_->rst_i = 1;
  simulation_.run_for(20 * simulation_.period(clock_));
  model_->rst_i = 0;
  for (const auto& [address, value] : image_.writes) boot_.write(address, value);
  const Time deadline = simulation_.now() + (static_cast<Time>(image_.writes.size()) + 100) * 20 *
                                                simulation_.period(clock_);
  if (!simulation_.run_until([&] { return boot_.idle(); }, deadline))
    throw std::runtime_error("the boot port does not answer");
  boot_clocks_ = simulation_.cycles(clock_);
  simulation_.run_for(kSettle);
}

double Bench::progress() const {
  double done = 0;
  for (const Port& port : port_) {
    const TrafficConfig& c = port.plan;
    const double frames = c.frames ? static_cast<double>(c.frames)
                          : c.capture
                              ? static_cast<double>(c.capture->packets().size()) / c.deal_count
                              : 0;
    const double share = port.in->done() ? 1
                         : duration_ ? static_cast<double>(simulation_.now() - traffic_start_) /
                                           static_cast<double>(duration_)
                                     : static_cast<double>(port.traffic->stats().frames) / frames;
    done += std::min(1.0, share) / ports();
  }
  return done;
}

bool Bench::trapped() {
  for (unsigned t = 0; t < uses_.size(); ++t) {
    if (model_->trap_o[t] == 0) continue;
    char pc[16];
    std::snprintf(pc, sizeof pc, "0x%08x", read(BootMap::tile(t, BootMap::kTrapPc)));
    trouble_.push_back("tile " + std::to_string(t) + " (" + image_.role(t) + ") trapped (" +
                       std::to_string(model_->trap_o[t]) + ") at pc " + pc);
  }
  return !trouble_.empty();
}

// Which switches and cores wait, and for what.
std::string Bench::waiting() {
  std::string text;
  for (const BootImage::Tile& tile : image_.tiles) {
    const std::uint32_t state = read(BootMap::tile(tile.number, BootMap::kSwitch));
    const std::uint32_t needs = read(BootMap::tile(tile.number, BootMap::kSwitchNeeds));
    const unsigned use = model_->use_o[tile.number] & 7;
    std::string line;
    if (state & 1 << 16) {
      line = " switch at " + std::to_string(state & 0xffff) + " waits for";
      for (unsigned bit = 0; bit < 24; ++bit) {
        if (!(needs >> bit & 1)) continue;
        line += bit < 12 ? " a word from " : " room to ";
        line += std::string(kSides[bit % 6]) + " on network " + (bit / 6 % 2 ? "2," : "1,");
      }
    }
    if (use >= 6)
      line += std::string(" core waits ") + (use == 6 ? "for a word," : "for room in a network,");
    if (line.empty()) continue;
    line.back() = ';';
    text += " tile " + std::to_string(tile.number) + " (" + tile.role + " " +
            std::to_string(tile.pipeline) + "):" + line;
  }
  return text;
}

// What the tiles have sent, at the end of traffic.
void Bench::snapshot() {
  for (unsigned t = 0; t < tiles_.size(); ++t) {
    TileCounts& counts = tiles_[t];
    for (unsigned i = 0; i < 3; ++i) counts.cache[i] = read(BootMap::tile(t, BootMap::kCache + i));
    for (unsigned i = 0; i < kTileLinks; ++i)
      counts.words[i] = read(BootMap::tile(t, BootMap::kStatic + i));
    counts.clock = simulation_.cycles(clock_) - start_clock_;
  }
}

// Reads what the programs count; the sum of what they say they have dropped.
std::uint64_t Bench::read_counters() {
  counters_.clear();
  std::uint64_t drops = 0;
  for (const BootImage::Counter& counter : image_.counters) {
    counters_.push_back(read(counter.address));
    if (counter.name.starts_with("drop_")) drops += counters_.back();
  }
  return drops;
}

void Bench::run() {
  boot();
  traffic_start_ = last_activity_ = simulation_.now();
  start_clock_ = simulation_.cycles(clock_);
  for (unsigned p = 0; p < ports(); ++p) {
    Port& port = port_[p];
    port.plan.start = traffic_start_;
    port.traffic = std::make_unique<Traffic>(port.plan);
    port.source = std::make_unique<route::Hostile>(*port.traffic, hostile_every_);
    port.in = std::make_unique<WireIn>(
        *model_, image_.linecards[p].in, *port.source,
        [this, p](const Frame& frame, Time now) { entered(p, frame, now); });
    simulation_.add(clock_, *port.in);
  }
  measuring_ = true;
  double shown = 0;
  const auto done = [](const Port& port) { return port.in->done(); };
  const auto moving = [&] { return simulation_.now() - last_activity_ < patience_; };
  const auto stalled = [](const Port& port) { return port.in->stalled(); };
  bool stuck = false;
  while (!stuck && !std::all_of(port_.begin(), port_.end(), done)) {
    simulation_.run_for(kStep);
    if (duration_ && simulation_.now() >= traffic_start_ + duration_) {
      for (Port& port : port_) port.in->stop();
    }
    if (measuring_ && std::any_of(port_.begin(), port_.end(), done)) {
      measuring_ = false;
      traffic_end_ = simulation_.now();
      end_clock_ = simulation_.cycles(clock_);
      measured_frames_ = entered_;
      for (const auto& [slot, dram] : drams_) {
        const auto clocks = static_cast<double>(end_clock_ - start_clock_);
        dram_use_[slot] = {static_cast<double>(dram.reads()) / clocks,
                           static_cast<double>(dram.writes()) / clocks};
      }
      snapshot();
      if (score_.totals().delivered >= kEnough) score_.end_rates();
    }
    if (const double part = progress(); part - shown >= 0.01)
      std::fprintf(stderr, "progress %.2f\n", shown = part);
    stuck = trapped() || (!moving() && std::any_of(port_.begin(), port_.end(), stalled));
  }
  std::uint64_t drops = 0;
  Time looked = 0;
  // A frame that came out wrong is not inside any more.
  const auto inside = [this] {
    const std::uint64_t away = score_.under_way();
    return away - std::min(away, score_.totals().corrupted);
  };
  while (!stuck && inside() != drops) {
    simulation_.run_for(kStep);
    if (simulation_.now() - std::max(last_activity_, looked) >= kQuiet) {
      drops = read_counters();
      looked = simulation_.now();
    }
    stuck = trapped() || (!moving() && inside() != drops);
  }
  if (stuck && trouble_.empty()) {
    drops = read_counters();
    trouble_.push_back("nothing moves for " + std::to_string(patience_ / kMicrosecond) + " us, " +
                       std::to_string(inside() - drops) + " frames are inside:" + waiting());
  }
  if (traffic_end_ == 0) {
    traffic_end_ = simulation_.now();
    end_clock_ = simulation_.cycles(clock_);
    measured_frames_ = entered_;
  }
  collect();
}

// A count of frames that may have been of any of these streams: to those that miss some. What is
// left over is put on the first, where it will not add up.
void Bench::attribute(const std::vector<int>& streams, const std::string& reason,
                      std::uint64_t count) {
  for (const int s : streams) {
    const std::uint64_t away = score_.under_way(s), known = score_.counts(s).dropped_total();
    const std::uint64_t here = std::min(count, away > known ? away - known : 0);
    if (here) score_.dropped(s, reason, here);
    count -= here;
  }
  if (count == 0) return;
  if (streams.empty()) {
    trouble_.push_back(std::to_string(count) + " frames dropped (" + reason + ") that nobody sent");
  } else {
    score_.dropped(streams.front(), reason, count);
  }
}

void Bench::collect() {
  read_counters();
  std::vector<std::map<std::string, std::uint64_t>> drops(ports());
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const BootImage::Counter& counter = image_.counters[i];
    if (counters_[i] == 0 || !counter.name.starts_with("drop_")) continue;
    const std::string reason = counter.name.substr(5);
    const auto tile = std::find_if(
        image_.tiles.begin(), image_.tiles.end(),
        [&](const BootImage::Tile& candidate) { return candidate.number == counter.tile; });
    if (tile->role == "output") {
      attribute(to_port_.at(tile->pipeline), reason, counters_[i]);
    } else {
      drops[image_.port_of(tile->pipeline)][reason] += counters_[i];
    }
  }
  for (unsigned p = 0; p < ports(); ++p) {
    Port& port = port_[p];
    for (const auto& [reason, count] : drops[p]) {
      if (port.drop_stream < 0) port.drop_stream = score_.stream(std::to_string(p) + "->drop");
      score_.dropped(port.drop_stream, reason, count);
      if (count > port.expected_drops[reason])
        trouble_.push_back("port " + std::to_string(p) + ": " + std::to_string(count) +
                           " frames dropped (" + reason + "), " +
                           std::to_string(port.expected_drops[reason]) + " expected");
    }
  }
  std::set<unsigned> slots;
  for (const auto& [slot, use] : image_.memories) slots.insert(slot);
  for (const BootImage::Linecard& card : image_.linecards) slots.insert({card.in, card.out});
  for (const unsigned slot : slots) {
    for (unsigned i = 0; i < 8; ++i)
      slots_[slot][i] = read(BootMap::slot(slot, BootMap::kSlotCounters + 8 + i));
  }
}

std::vector<std::string> Bench::failures() const {
  std::vector<std::string> lines = trouble_;
  const auto fail = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) lines.push_back(std::to_string(count) + " " + what);
  };
  for (const auto& [slot, counts] : slots_) {
    const std::string where = " at slot " + std::to_string(slot);
    fail(counts[2], "malformed messages to the memory" + where);
    fail(counts[4], "frames too long or malformed messages" + where);
    fail(counts[6], "malformed messages or failed reads" + where);
    fail(counts[7], "stray words" + where);
  }
  for (unsigned p = 0; p < ports(); ++p)
    fail(port_[p].out->violations(), "protocol errors at the wire of port " + std::to_string(p));
  for (const auto& [slot, dram] : drams_)
    fail(dram.outside(), "accesses beyond the memory at slot " + std::to_string(slot));
  fail(boot_.unmapped(), "accesses of the boot port to nobody");
  const std::vector<std::string> rest = score_.failures();
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

void Bench::close() {
  for (Port& port : port_) {
    if (port.capture) port.capture->close();
  }
}

// ---- the result

std::uint64_t Bench::sum(const std::string& name) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (image_.counters[i].name == name) total += counters_[i];
  }
  return total;
}

// Clocks a frame costs a tile of each role, but for waiting.
void Bench::write_stages(JsonWriter& json) const {
  const double share = static_cast<double>(end_clock_ - start_clock_);
  std::map<std::string, std::array<double, 3>> roles;  // working, waiting, tiles
  for (const BootImage::Tile& tile : image_.tiles) {
    const auto& use = uses_[tile.number];
    auto& role = roles[tile.role];
    role[0] += static_cast<double>(use[0] + use[1] + use[2] + use[3] + use[4]);
    role[1] += static_cast<double>(use[6] + use[7]);
    role[2] += 1;
  }
  const auto frames = static_cast<double>(measured_frames_);
  json.object("stages");
  for (const auto& [role, clocks] : roles) {
    if (role == "path") continue;
    json.object(role)
        .field("clocks_per_frame", frames > 0 ? clocks[0] / frames : 0.0)
        .field("busy", share > 0 ? clocks[0] / (share * clocks[2]) : 0.0);
    if (const auto all = static_cast<double>(sum("frames_in")); timed_ && all > 0)
      json.field("task_clocks", static_cast<double>(sum("clocks_" + role)) / all);
    json.end_object();
  }
  json.end_object();
}

void Bench::write_tiles(JsonWriter& json) const {
  const auto clocks = static_cast<double>(std::max<std::uint64_t>(end_clock_ - start_clock_, 1));
  double busiest = 0, busiest_core = 0;
  std::string name;
  json.array("tiles");
  for (unsigned t = 0; t < tiles_.size(); ++t) {
    const TileCounts& counts = tiles_[t];
    json.begin_object().field("tile", t).field("role", image_.role(t));
    json.object("use");
    for (std::size_t u = 0; u < kUses.size(); ++u)
      json.field(kUses[u], static_cast<double>(uses_[t][u]) / clocks);
    json.end_object();
    const double work = 1 - static_cast<double>(uses_[t][5] + uses_[t][6] + uses_[t][7]) / clocks;
    busiest_core = std::max(busiest_core, work);
    json.object("links");
    for (unsigned n = 0; n < 4; ++n) {
      json.array(kNetworks[n]);
      for (unsigned side = 0; side < 5; ++side) {
        const double use = counts.clock ? static_cast<double>(counts.words[5 * n + side]) /
                                              static_cast<double>(counts.clock)
                                        : 0.0;
        json.value(use);
        if (use > busiest) {
          busiest = use;
          name =
              std::string(kNetworks[n]) + " of tile " + std::to_string(t) + " to " + kSides[side];
        }
      }
      json.end_array();
    }
    json.end_object();
    json.field("cache_accesses", counts.cache[0])
        .field("cache_reads", counts.cache[1])
        .field("cache_writes", counts.cache[2])
        .end_object();
  }
  json.end_array();
  json.field("busiest_core", busiest_core).field("busiest_link", busiest);
  json.field("busiest_link_is", name);
}

void Bench::write(JsonWriter& json, double wall_seconds) const {
  json.begin_object().field("schema", 1).field("system", EMERY_SYSTEM);
  json.field("simulated_s", static_cast<double>(simulation_.now()) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles").field("core", simulation_.cycles(clock_)).end_object();
  score_.write(json);

  json.object("resources");
  json.field("columns", image_.columns).field("rows", image_.rows);
  json.field("boot_clocks", boot_clocks_).field("routes", routes_.size());
  const auto clocks = static_cast<double>(std::max<std::uint64_t>(end_clock_ - start_clock_, 1));
  json.field("khz", static_cast<double>(simulation_.cycles(clock_)) / wall_seconds / 1e3);
  Histogram latency;
  for (const Port& port : port_) {
    for (const int s : port.streams) {
      if (s >= 0) latency.merge(score_.latency(s));
    }
  }
  const double cycles = 1000.0 / static_cast<double>(simulation_.period(clock_));
  json.object("latency_cycles");
  json.field("min", static_cast<double>(latency.min()) / 1000 * cycles)
      .field("p50", static_cast<double>(latency.percentile(0.5)) / 1000 * cycles)
      .field("p99", static_cast<double>(latency.percentile(0.99)) / 1000 * cycles)
      .field("max", static_cast<double>(latency.max()) / 1000 * cycles)
      .end_object();
  json.object("counters");
  std::set<std::string> names;
  for (const BootImage::Counter& counter : image_.counters) names.insert(counter.name);
  for (const std::string& name : names) json.field(name, sum(name));
  json.end_object();
  write_stages(json);
  write_tiles(json);
  json.object("linecards");
  for (unsigned p = 0; p < ports(); ++p) {
    json.object(std::to_string(p))
        .field("in_slot", image_.linecards[p].in)
        .field("out_slot", image_.linecards[p].out)
        .field("words_in", port_[p].in->words())
        .field("stall_clocks", port_[p].in->stall_clocks())
        .end_object();
  }
  json.end_object();
  json.object("memories");
  for (const auto& [slot, use] : image_.memories) {
    const auto it = dram_use_.find(slot);
    json.object(std::to_string(slot))
        .field("holds", use)
        .field("reading", it == dram_use_.end() ? 0.0 : it->second[0])
        .field("writing", it == dram_use_.end() ? 0.0 : it->second[1])
        .end_object();
  }
  json.end_object();
  json.object("slots");
  for (const auto& [slot, counts] : slots_) {
    json.object(std::to_string(slot));
    for (unsigned i = 0; i < 8; ++i) json.field(kSlotCounters[i], counts[i]);
    json.end_object();
  }
  json.end_object();
  json.field("measured_clocks", clocks);
  json.end_object().end_object();
}

}  // namespace
}  // namespace emery::tile_router

int main(int argc, char** argv) {
  return emery::run_simulator<emery::tile_router::Bench>(argc, argv);
}
