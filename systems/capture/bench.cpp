// SPDX-License-Identifier: Apache-2.0
// capture on the bench: the RTL between a 100G wire (or its own generator) and one or two PCIe
// links into the same host memory, the capture library on that host, and consumers that take the
// packets out of the rings.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "Vcapture.h"
#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/run/main.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/member.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/wire/mac.hpp"
#include "capture.h"
#include "systems/capture/generator.hpp"
#include "systems/capture/host.hpp"

namespace emery::capture {
namespace {

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr double kLineRate = 100e9;
constexpr Time kReset = 100 * kNanosecond;
constexpr Time kStep = 1 * kMicrosecond;
constexpr Time kDrainTimeout =
    1000 * kMicrosecond;  // nothing more is coming when nothing came for so long
constexpr std::uint64_t kSerial = 0x0011'22ff'fe33'4455;
constexpr std::uint32_t kNotYet = 1u << 22;  // a packet number so far ahead is no number

std::uint32_t device_register(std::size_t offset) {
  return static_cast<std::uint32_t>(offsetof(capture_t, device) + offset);
}
#define EMERY_REG(name) device_register(offsetof(cap_regs_t, name))

// What happens to one link during the run; times from the start of traffic, 0: never.
struct LinkFaults {
  unsigned link = 1;
  double rate = 1;
  Time lost_at = 0, back_at = 0, stall_at = 0, stall_for = 0;
};

class Bench final : public Component {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json, double wall_seconds) const;
  std::vector<std::string> failures() const;
  void close();

  // Component, on the core clock.
  void sample(Time now) override;
  void drive() override {}

 private:
  struct Link {
    std::unique_ptr<PcieLink> wire;
    std::unique_ptr<RootComplex> root;
    std::unique_ptr<Endpoint> endpoint;
    Time busy_before = 0;
  };
  struct Arrival {
    Time time;
    std::vector<std::uint8_t> bytes;
  };
  struct Waiting {  // a packet of a ring that several consumers share
    std::uint32_t block;
    Time time;
    std::uint64_t stamp;
    std::vector<std::uint8_t> bytes;
  };
  struct Point {
    Time time;
    std::uint64_t payload[2];
  };

  void read_options(const Options& options);
  void connect();
  void open();
  void start();
  void plan_faults();
  void link_event(bool lost, Time now);
  bool source_done();
  void drain();
  void settle_drops();
  void got(unsigned ring, const emcap_packet& packet, Time now);
  void deliver(std::span<const std::uint8_t> bytes, std::uint64_t stamp, Time now);
  void offer_until(std::uint64_t number, Time time);
  void past_the_frontier();
  double payload_gbps(unsigned link) const;
  Time traffic_time() const { return std::max<Time>(source_end_ - traffic_start_, 1); }

  Simulation simulation_;
  VerilatedModel<Vcapture> model_;
  int core_, mac_clock_;
  unsigned links_;
  LinkFaults faults_;
  HostMemory memory_;
  std::vector<Link> link_;
  Machine machine_{memory_};
  emcap* device_ = nullptr;
  std::unique_ptr<Consumers> consumers_;
  Scoreboard score_;
  int stream_ = 0;

  // Settings.
  bool from_generator_ = true, past_frontier_ = false;
  emcap_config rings_{};
  ConsumerConfig consuming_;
  GeneratorConfig generating_;
  double rate_ = 0;  // bits a second; 0: as fast as it goes
  std::uint64_t frames_ = 0;
  Time duration_ = 0, service_every_ = 0;
  TrafficConfig plan_;

  std::unique_ptr<Generator> generator_;
  std::uint64_t offered_ = 0;
  std::unique_ptr<Traffic> traffic_;
  std::unique_ptr<Mac> mac_;
  std::unique_ptr<PcapWriter> capture_, capture_ng_;  // the same as pcap and as pcapng
  std::vector<Arrival> arrivals_;
  std::vector<std::vector<Waiting>> waiting_;  // by ring; empty when no ring is shared

  bool running_ = false;
  bool back_ = false;  // the link has come back, and nobody has seen to it yet
  Time traffic_start_ = 0, source_end_ = 0, last_activity_ = 0;
  Time next_point_ = 0;
  std::vector<Point> points_;
  unsigned fill_max_ = 0;
  emcap_stats stats_{};
  emcap_counters counters_{};
  std::uint32_t bad_returns_wanted_ = 0;
};

Bench::Bench(const Options& options)
    : model_("capture"),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      mac_clock_(model_.add_clock(simulation_, "mac", 322'265'625, 1, model_->mac_clk_i)),
      links_(options.get("links", 2u)),
      link_(links_) {
  if (const std::string waves = options.get("waves", ""); !waves.empty()) model_.open_waves(waves);
  read_options(options);
  stream_ = score_.stream("rx");

  for (unsigned l = 0; l < links_; ++l) {
    LinkConfig wire = LinkConfig::from(options);
    if (l == faults_.link) wire.speed = faults_.rate;
    RootConfig root;
    root.max_payload = options.get("mps", root.max_payload);
    root.seed = options.get("seed", std::uint64_t{1}) + l;
    root.bus = static_cast<std::uint8_t>(1 + l);
    root.mmio_base += std::uint64_t{l} << 32;
    link_[l].wire = std::make_unique<PcieLink>(wire);
    link_[l].root = std::make_unique<RootComplex>(root, simulation_, *link_[l].wire, memory_);
  }
  connect();
}

void Bench::read_options(const Options& options) {
  from_generator_ = options.get("source", "generator") == "generator";
  const auto seed = options.get("seed", std::uint64_t{1});
  const std::string pcap = options.get("pcap", "");
  const Sizes sizes = Sizes::parse(from_generator_ ? "64" : options.get("size", "64"));
  frames_ = options.get("frames", std::uint64_t{0});
  duration_ = options.get("duration_ps", Time{0});
  const auto flows = options.get("flows", 64u);
  const std::string rate = options.get("rate", "1.0");
  // Asked for in any case, so that settings of the other source are not "unknown".
  const std::string size = options.get("size", "64");

  rings_.rings = options.get("rings", 8u);
  rings_.block_bytes = options.get("block_kb", 32u) << 10;
  rings_.blocks = options.get("blocks", 64u);
  rings_.flush_clocks = static_cast<unsigned>(std::lround(options.get("flush_us", 2.0) * 250));
  rings_.timestamps = options.get("timestamps", false);
  consuming_.rings = rings_.rings;
  consuming_.consumers = options.get("consumers", 8u);
  consuming_.ns_per_packet = options.get("ns_per_packet", 0.0);
  consuming_.ns_per_byte = options.get("ns_per_byte", 0.0);
  const std::string misbehaviour = options.get("consumer_fault", "none");
  if (misbehaviour == "wrong_put") consuming_.misbehaviour = Misbehaviour::kWrongPut;
  if (misbehaviour == "no_put") consuming_.misbehaviour = Misbehaviour::kNoPut;
  past_frontier_ = misbehaviour == "past_frontier";
  service_every_ = options.get("service_us", 5) * kMicrosecond;

  const auto us = [&](const char* name) {
    return static_cast<Time>(std::llround(options.get(name, 0.0) * kMicrosecond));
  };
  faults_.link = options.get("fault_link", 1u);
  faults_.rate = options.get("link_rate", 1.0);
  faults_.lost_at = us("link_lost_at_us");
  faults_.back_at = us("link_back_at_us");
  faults_.stall_at = us("link_stall_at_us");
  faults_.stall_for = us("link_stall_us");
  const bool any = faults_.rate < 1 || faults_.lost_at || faults_.stall_for;
  if (any && faults_.link >= links_)
    throw OptionError("fault_link: there is no link " + std::to_string(faults_.link));
  if (faults_.lost_at && links_ < 2)
    throw OptionError("link_lost_at_us: with one link nothing is left to go on with");
  if (faults_.back_at && faults_.back_at <= faults_.lost_at) {
    throw OptionError("link_back_at_us: must be later than link_lost_at_us");
  }

  if (consuming_.consumers > rings_.rings && consuming_.consumers % rings_.rings != 0) {
    throw OptionError("consumers: " + std::to_string(consuming_.consumers) + " cannot share " +
                      std::to_string(rings_.rings) + " rings evenly");
  }
  const std::string capture_dir = options.get("pcap_out", "");
  if (!capture_dir.empty()) {
    capture_ = std::make_unique<PcapWriter>(capture_dir + "/host.pcap");
    capture_ng_ = std::make_unique<PcapWriter>(capture_dir + "/host.pcapng");
  }
  waiting_.resize(consuming_.consumers > rings_.rings ? rings_.rings : 0);

  std::uint32_t longest = 0;
  if (from_generator_) {
    if (!pcap.empty()) throw OptionError("pcap: a capture comes over the wire: set source=wire");
    unsigned low = 0, high = 0;
    char rest = 0;
    const int read = std::sscanf(size.c_str(), "%u-%u%c", &low, &high, &rest);
    if ((read != 1 && read != 2) || size.find_first_not_of("0123456789-") != std::string::npos) {
      throw OptionError("size " + size + ": the generator makes packets of one size or of a range");
    }
    if (read == 1) high = low;
    if (low < 64 || high < low || high > Generator::kLongest + kFcsBytes) {
      throw OptionError("size " + size + ": the generator makes 64 ... 16388 bytes with FCS");
    }
    if (!std::has_single_bit(flows) || flows > 65536) {
      throw OptionError("flows " + std::to_string(flows) +
                        ": the generator makes a power of two, up to 65536");
    }
    generating_.seed = static_cast<std::uint32_t>(seed);
    generating_.low = low - kFcsBytes;
    generating_.high = longest = high - kFcsBytes;
    generating_.flow_mask = flows - 1;
    generator_ = std::make_unique<Generator>(generating_);
    rate_ = rate == "1" || rate == "1.0" ? 0 : parse_rate(rate, kLineRate);
  } else {
    plan_.sizes = sizes;
    plan_.frames = frames_;
    plan_.duration = duration_;
    plan_.flows = flows;
    plan_.seed = seed;
    plan_.rate = parse_rate(rate, kLineRate);
    longest = sizes.high - kFcsBytes;
    if (!pcap.empty()) {
      plan_.capture = Capture::read(pcap);
      longest = 0;
      for (const Capture::Packet& packet : plan_.capture->packets())
        longest = std::max(longest, packet.size);
    }
  }
  if (longest + 16 > rings_.block_bytes) {
    throw OptionError("block_kb: a packet of " + std::to_string(longest) +
                      " bytes does not fit into a block");
  }
  const auto every = options.get("bad_fcs_every", std::uint64_t{0});
  MacConfig mac;
  mac.rate = kLineRate;
  mac.seed = seed + 1000;
  if (every) mac.bad_fcs = FaultPlan{1.0 / static_cast<double>(every), 0};
  Vcapture& m = *model_;
  const FramePins rx{&m.mac_rx_valid_i, nullptr,         m.mac_rx_data_i.data(), &m.mac_rx_len_i,
                     &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i};
  mac_ = std::make_unique<Mac>(mac, FramePins{}, rx);
  mac_->on_receiving([this](const Frame& frame, WireFault, Time started, Time) {
    score_.offered(stream_, frame.bytes(), frame.flow, started);
    last_activity_ = simulation_.now();
  });
}

void Bench::connect() {
  Vcapture& m = *model_;
  for (unsigned l = 0; l < links_; ++l) {
    EndpointConfig config;
    config.function.class_code = 0x028000;  // other network controller
    config.function.device = static_cast<std::uint16_t>(0x0010 + l);
    config.function.bar0_bytes = std::bit_ceil(sizeof(capture_t));
    config.function.msix_vectors = 0;
    config.function.serial = kSerial;
    link_[l].endpoint = std::make_unique<Endpoint>(config, *link_[l].wire,
                                                   EndpointPins::of(m.pcie_i[l], m.pcie_o[l]));
    simulation_.add(core_, *link_[l].endpoint);
    simulation_.add(core_, *link_[l].root);
    m.pcie_i[l].EMERY_MEMBER(link_up) = 0;
  }
  simulation_.add(core_, *this);
  simulation_.add(mac_clock_, *mac_);
}

// Finds the device as the library does, sets up the rings, and the consumers on them.
void Bench::open() {
  for (Link& link : link_) {
    link.root->enumerate();
    machine_.add(*link.root);
  }
  const emcap_ops ops = machine_.ops();
  if (const int status = emcap_open(&ops, &rings_, &device_); status != 0) {
    throw std::runtime_error(std::string("capture library: ") + emcap_error(status));
  }
  if (emcap_links(device_) != links_)
    throw std::runtime_error("capture library: not all links found");
  consumers_ = std::make_unique<Consumers>(
      device_, consuming_,
      [this](unsigned ring, const emcap_packet& packet, Time now) { got(ring, packet, now); });
  const std::uint64_t entries = machine_.allocation(1),
                      per_ring = std::uint64_t{rings_.blocks} * 16;
  memory_.watch(entries, machine_.allocation_bytes(1),
                [this, entries, per_ring](std::uint64_t addr, std::uint32_t) {
                  consumers_->wake(static_cast<unsigned>((addr - entries) / per_ring));
                });
}

void Bench::start() {
  if (from_generator_) {
    emcap_write(device_, EMERY_REG(gen_seed), generating_.seed);
    emcap_write(device_, EMERY_REG(gen_len_min), generating_.low);
    emcap_write(device_, EMERY_REG(gen_len_max), generating_.high);
    emcap_write(device_, EMERY_REG(gen_flow_mask), generating_.flow_mask);
    emcap_write(device_, EMERY_REG(gen_count), static_cast<std::uint32_t>(frames_));
    const double bytes_a_clock = rate_ / 8 / static_cast<double>(kCoreHz);
    emcap_write(device_, EMERY_REG(gen_rate),
                static_cast<std::uint32_t>(std::ceil(bytes_a_clock * 256)));
  }
  emcap_start(device_, from_generator_);
  for (Link& link : link_) link.busy_before = link.wire->up.busy_time();
  running_ = true;
  if (from_generator_) {
    emcap_write(device_, EMERY_REG(gen_control), CAP_REGS__GEN_CONTROL__ENABLE_bm);
    emcap_read(device_, EMERY_REG(magic));
  }
  traffic_start_ = last_activity_ = next_point_ = simulation_.now();
  source_end_ = 0;
  if (!from_generator_) {
    plan_.start = traffic_start_;
    traffic_ = std::make_unique<Traffic>(plan_);
    mac_->set_source(traffic_.get());
  }
  plan_faults();
}

void Bench::plan_faults() {
  if (faults_.lost_at) {
    simulation_.at(traffic_start_ + faults_.lost_at, [this](Time now) { link_event(true, now); });
  }
  if (faults_.lost_at && faults_.back_at) {
    simulation_.at(traffic_start_ + faults_.back_at, [this](Time now) { link_event(false, now); });
  }
  if (faults_.stall_for) {
    const Time from = traffic_start_ + faults_.stall_at;
    link_[faults_.link].root->stall(from, from + faults_.stall_for);
  }
}

void Bench::link_event(bool lost, Time now) {
  Link& link = link_[faults_.link];
  link.endpoint->set_link_lost(lost, true, now);
  if (lost) link.root->link_lost();
  model_->pcie_i[faults_.link].EMERY_MEMBER(link_up) = !lost;
  back_ = !lost;
}

// ---- packets as they come

void Bench::sample(Time now) {
  if (!running_) return;
  if (now >= next_point_) {
    next_point_ += kStep;
    Point point{now, {0, 0}};
    for (unsigned l = 0; l < links_; ++l)
      point.payload[l] = link_[l].wire->up.stats().payload_bytes;
    if (source_end_ == 0) points_.push_back(point);
    for (unsigned r = 0; r < rings_.rings; ++r)
      fill_max_ = std::max(fill_max_, emcap_fill(device_, r));
  }
  consumers_->poll(now);
}

// With several consumers on a ring, the ring's order is that of its blocks, whoever looks at them.
void Bench::got(unsigned ring, const emcap_packet& packet, Time now) {
  last_activity_ = now;
  const std::span<const std::uint8_t> bytes{packet.data, packet.stored};
  if (waiting_.empty()) {
    deliver(bytes, packet.time_ns, now);
  } else {
    waiting_[ring].push_back({packet.block, now, packet.time_ns, {bytes.begin(), bytes.end()}});
  }
}

// The device's clock starts at zero when its reset ends.
void Bench::deliver(std::span<const std::uint8_t> bytes, std::uint64_t stamp, Time now) {
  const Time stamped =
      rings_.timestamps ? std::min(now, kReset + static_cast<Time>(stamp) * kNanosecond) : now;
  if (from_generator_) {
    const auto number = Generator::number(bytes);
    // A number of 32 bits stands for the one nearest to what was offered.
    if (number && *number - static_cast<std::uint32_t>(offered_) < kNotYet) {
      offer_until(offered_ + (*number - static_cast<std::uint32_t>(offered_)) + 1, stamped);
    }
  }
  score_.delivered(stream_, bytes, now);
  if (capture_) arrivals_.push_back({stamped, {bytes.begin(), bytes.end()}});
}

// The generator's packets count as offered when one that follows them arrives.
void Bench::offer_until(std::uint64_t number, Time time) {
  for (; offered_ < number; ++offered_) {
    const auto bytes = generator_->packet(static_cast<std::uint32_t>(offered_));
    score_.offered(stream_, bytes, generator_->flow(), time);
  }
}

// ---- the run

bool Bench::source_done() {
  if (!from_generator_) return traffic_->done() && mac_->rx_idle();
  if (frames_) return emcap_read(device_, EMERY_REG(gen_sent)) >= frames_;
  if (simulation_.now() < traffic_start_ + duration_) return false;
  emcap_write(device_, EMERY_REG(gen_control), 0);
  emcap_read(device_, EMERY_REG(magic));
  return true;
}

void Bench::run() {
  model_->rst_i = 1;
  model_->mac_rst_i = 1;
  for (unsigned l = 0; l < links_; ++l) model_->pcie_i[l].EMERY_MEMBER(link_up) = 0;
  model_.attach(simulation_);
  simulation_.run_for(kReset);
  model_->rst_i = 0;
  model_->mac_rst_i = 0;
  for (unsigned l = 0; l < links_; ++l) model_->pcie_i[l].EMERY_MEMBER(link_up) = 1;
  simulation_.run_for(kMicrosecond);
  open();
  start();
  if (past_frontier_) past_the_frontier();

  Time next_service = simulation_.now() + service_every_;
  double shown = 0;
  const auto look = [&] {
    simulation_.run_for(kStep);
    if (back_) {
      // As the operating system does when a device is there again.
      back_ = false;
      if (!emcap_link_lost(device_, faults_.link)) emcap_link_disable(device_, faults_.link);
      link_[faults_.link].root->enumerate();
    }
    if (links_ > 1 && simulation_.now() >= next_service) {
      next_service = simulation_.now() + service_every_;
      emcap_service(device_);
      for (unsigned l = 0; l < links_; ++l) {
        if (emcap_link_lost(device_, l) && !link_[l].wire->lost()) emcap_link_restore(device_, l);
      }
      consumers_->wake_all();
    }
  };
  while (!source_done()) {
    look();
    double part = duration_ ? static_cast<double>(simulation_.now() - traffic_start_) /
                                  static_cast<double>(duration_)
                            : 0;
    if (frames_)
      part = static_cast<double>(from_generator_ ? offered_ : traffic_->stats().frames) /
             static_cast<double>(frames_);
    if (part - shown >= 0.01) std::fprintf(stderr, "progress %.2f\n", shown = std::min(part, 1.0));
  }
  source_end_ = simulation_.now();

  // What the source gave is still in the device's buffers; capture is turned off when they are
  // empty.
  last_activity_ = simulation_.now();
  while (simulation_.now() - last_activity_ < 20 * kMicrosecond) look();
  emcap_stop(device_);
  while (!(consumers_->idle() && emcap_drained(device_)) &&
         simulation_.now() - last_activity_ < kDrainTimeout)
    look();
  settle_drops();
}

void Bench::settle_drops() {
  running_ = false;
  for (std::vector<Waiting>& ring : waiting_) {
    std::stable_sort(ring.begin(), ring.end(),
                     [](const Waiting& a, const Waiting& b) { return a.block < b.block; });
    for (const Waiting& w : ring) deliver(w.bytes, w.stamp, w.time);
  }
  emcap_get_stats(device_, &stats_);
  emcap_get_counters(device_, &counters_);
  if (from_generator_) offer_until(counters_.generated, simulation_.now());
  score_.dropped(stream_, "ring_full", counters_.ring_full);
  score_.dropped(stream_, "too_long", counters_.too_long);
  score_.dropped(stream_, "filtered", counters_.filtered);
  score_.dropped(stream_, "link_lost", stats_.lost_packets);
  if (!from_generator_) {
    score_.dropped(stream_, "bad_fcs", counters_.rx_bad_fcs);
    score_.dropped(stream_, "runt", counters_.rx_runt);
    score_.dropped(stream_, "oversize", counters_.rx_oversize);
    score_.dropped(stream_, "fifo_full", counters_.rx_fifo_full);
    score_.dropped(stream_, "buffer_full", counters_.rx_buffer_full);
  }
}

// A program that bypasses the library and returns blocks that the device has not closed: it must be
// refused.
void Bench::past_the_frontier() {
  for (const std::uint32_t count : {0x10000u, 0x80000000u, 0xffffffffu}) {
    emcap_write(device_,
                static_cast<std::uint32_t>(offsetof(capture_t, ring) +
                                           offsetof(ring_regs__stride20_t, returned)),
                count);
    ++bad_returns_wanted_;
  }
  emcap_read(device_, EMERY_REG(magic));
}

std::vector<std::string> Bench::failures() const {
  std::vector<std::string> lines = score_.failures();
  const auto fail = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) lines.push_back(std::to_string(count) + " " + what);
  };
  for (const Link& link : link_) {
    fail(link.endpoint->stats().fc_violations, "TLPs sent without credit");
    fail(link.endpoint->stats().tx_malformed, "malformed TLPs sent");
    fail(link.root->stats().protocol_errors,
         "PCIe protocol errors: " + link.root->stats().first_protocol_error);
    fail(link.root->stats().wild_writes, "writes outside of the rings");
  }
  fail(stats_.damaged, "blocks with a torn record");
  if (counters_.bad_returns != bad_returns_wanted_) {
    lines.push_back(std::to_string(counters_.bad_returns) + " returned counts refused, not " +
                    std::to_string(bad_returns_wanted_));
  }
  return lines;
}

// With timestamps in their order, else as the consumers took them.
void Bench::close() {
  if (capture_) {
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
    for (const auto& writer : {capture_.get(), capture_ng_.get()}) {
      for (const Arrival& arrival : arrivals_) writer->write(arrival.time, arrival.bytes);
      writer->close();
    }
  }
  consumers_.reset();
  emcap_close(device_);
}

// Over the middle of the time the source was on.
double Bench::payload_gbps(unsigned link) const {
  if (points_.size() < 4) return 0;
  const Point &a = points_[points_.size() / 4], &b = points_[points_.size() - 2];
  return 8e3 * static_cast<double>(b.payload[link] - a.payload[link]) /
         static_cast<double>(b.time - a.time);
}

void Bench::write(JsonWriter& json, double wall_seconds) const {
  json.begin_object()
      .field("simulated_s", static_cast<double>(simulation_.now()) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles")
      .field("core", simulation_.cycles(core_))
      .field("mac", simulation_.cycles(mac_clock_))
      .end_object();
  score_.write(json);

  const auto seconds = static_cast<double>(traffic_time());
  json.object("resources");
  double sum = 0;
  for (unsigned l = 0; l < links_; ++l) {
    sum += payload_gbps(l);
    json.field("link" + std::to_string(l) + "_payload_gbps", payload_gbps(l));
  }
  json.field("tlp_payload_gbps", sum);
  json.field("consumer_busy",
             static_cast<double>(consumers_->busy_time()) / seconds / consuming_.consumers)
      .field("consumer_busiest", static_cast<double>(consumers_->busiest()) / seconds)
      .field("ring_fill_max", fill_max_)
      .field("blocks", stats_.blocks)
      .field("lost_blocks", stats_.lost_blocks)
      .field("lost_packets", stats_.lost_packets)
      .field("link_losses", stats_.link_losses)
      .field("bad_puts", stats_.bad_puts)
      .field("bad_returns", counters_.bad_returns)
      .field("captured", counters_.captured)
      .field("rx_frames", counters_.rx_frames);
  json.array("links");
  for (unsigned l = 0; l < links_; ++l) {
    json.begin_object()
        .field("blocks", counters_.link_blocks[l])
        .field("entries", counters_.link_entries[l]);
    json.key("up");
    link_[l].wire->up.stats().write(json);
    json.key("down");
    link_[l].wire->down.stats().write(json);
    json.key("endpoint");
    link_[l].endpoint->stats().write(json);
    json.key("root_complex");
    link_[l].root->stats().write(json);
    json.end_object();
  }
  json.end_array();
  json.key("mac");
  mac_->stats().write(json);
  json.end_object().end_object();
}

}  // namespace
}  // namespace emery::capture

int main(int argc, char** argv) { return emery::run_simulator<emery::capture::Bench>(argc, argv); }
