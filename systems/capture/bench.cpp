// SPDX-License-Identifier: Apache-2.0
// capture on the bench: the RTL between a 100G wire (or its own generator) and one or two PCIe
// links into the same host memory, the capture library on that host, and consumers that take the
// packets out of the rings.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vcapture.h"
#include "bench/run/main.hpp"
#include "bench/run/memory_trace.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "cap_formats.hpp"
#include "capture.h"
#include "systems/capture/card.hpp"
#include "systems/capture/generator_source.hpp"
#include "systems/capture/host.hpp"
#include "systems/capture/intruder.hpp"
#include "systems/capture/links.hpp"
#include "systems/capture/shared_rings.hpp"

namespace emery::capture {
namespace {

constexpr Time kStep = 1 * kMicrosecond;
constexpr Time kEmpty = 20 * kMicrosecond;  // the device's buffers are when nothing came so long
constexpr Time kPatience = 1000 * kMicrosecond;
constexpr std::uint64_t kEntry = cap_pkg::cap_entry_t::kBytes;

// Of a packet's way; the generator's packets are never in the first buffer.
enum Stage : unsigned { kOffered, kCapBuffer, kDmaWrite, kCapLink, kConsumer };

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the core clock: the consumers.
  void sample(Time now) override;
  void close() override;

 private:
  void add_source_of(const Options& options);
  void open_library();
  void got(unsigned ring, const emcap_packet& packet, Time now);
  Landed landed(unsigned ring, const emcap_packet& packet);
  void take(std::span<const std::uint8_t> bytes, std::uint64_t stamp, Time now,
            const Landed& landed);

  void open() override;
  void look() override;
  bool offered() override;
  bool settled() override;
  Time busy_until() const override;
  double progress() const override;
  void account() override;
  bool at_rest() const override { return links_.at_rest(); }
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vcapture> model_;
  CardClocks clocks_;
  emcap_config rings_;
  ConsumerConfig consuming_;
  HostMemory memory_;
  std::optional<MemoryTrace> memory_trace_;  // a traced run
  Links links_;
  Machine machine_{memory_};
  emcap* device_ = nullptr;
  std::unique_ptr<Consumers> consumers_;
  Time patience_;
  std::optional<GeneratorSource> generator_;  // else the wire
  std::unique_ptr<Mac> mac_;
  int stream_;
  Output* output_;
  SharedRings shared_rings_;

  bool serving_ = false, stopped_ = false;
  Time start_ = 0, source_end_ = 0, next_point_ = 0;
  Consumers::Busy busy_;  // until the source ended
  unsigned fill_max_ = 0;
  emcap_stats stats_{};
  emcap_counters counters_{};
  std::uint32_t settings_refused_ = 0;
  Intruder intruder_;
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kPatience),
      model_("capture"),
      clocks_(CardClocks::add(model_, simulation_)),
      rings_(ring_config(options)),
      consuming_(ConsumerConfig::from(options)),
      links_(options, simulation_, memory_, clocks_.core,
             [this, interface = options.get<std::string>("pcie_interface")](unsigned l) {
               return EndpointPins::of(model_->pcie_i[l], model_->pcie_o[l], interface);
             }),
      // What waits for company, and for the library's look at the links, is still to come.
      patience_(std::max(kPatience, 2 * (options.fine_us("flush_us") + options.us("service_us")))),
      stream_(score_.stream("rx")),
      output_(add_output("host.pcap", Output::Order::kByTime, "host.pcapng")),
      shared_rings_(consuming_),
      intruder_(options, rings_.rings) {
  model_.open_waves(waves());
  score_.in_blocks();
  simulation_.add(clocks_.core, *this);
  add_source_of(options);
  if (!trace()) return;
  trace()->add_way({generator_ ? "cap_generator" : "mac_rx", "cap_buffer", "dma_write", "cap_link",
                    "consumer", "taken"});
  memory_trace_.emplace(*trace(), memory_);
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].root.observe(&*memory_trace_);
}

void Bench::add_source_of(const Options& options) {
  MacConfig config;
  config.rate = kLineRate;
  config.seed = options.get<std::uint64_t>("seed") + 1000;
  config.bad_fcs = FaultPlan::one_in(options, "bad_fcs_every");
  mac_ = std::make_unique<Mac>(config, FramePins{}, mac_rx(*model_));
  simulation_.add(clocks_.mac, *mac_);

  std::uint32_t longest = 0;
  if (options.get<std::string>("source") == "generator") {
    generator_.emplace(options, kLineRate, kCoreHz,
                       [this](std::span<const std::uint8_t> bytes, std::uint32_t flow, Time when) {
                         offer(stream_, bytes, flow, when);
                       });
    longest = generator_->longest();
  } else {
    const Workload workload(options, line(), 1);
    const TrafficConfig plan = *workload.port(0);
    longest = plan.longest();
    if (plan.capture) {
      for (const Capture::Packet& packet : plan.capture->packets())
        longest = std::max(longest, packet.size);
    }
    mac_->set_source(&add_source(plan, [this] { return mac_->rx_idle(); }));
    mac_->on_receiving([this](const Frame& frame, WireFault fault, Time started, Time arrives) {
      offer_from_wire(stream_, frame, reason(fault), started, kCapBuffer, arrives);
      moved();
    });
  }
  if (longest + 16 > rings_.block_bytes) {
    throw OptionError("block_kb: a packet of " + std::to_string(longest) +
                      " bytes does not fit into a block");
  }
}

// ---- to the start of traffic

void Bench::open() {
  Vcapture& m = *model_;
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].endpoint->show_up(false);
  model_.reset(simulation_, {&m.rst_i, &m.mac_rst_i}, kReset);
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].endpoint->show_up(true);
  simulation_.run_for(kMicrosecond);
  open_library();
  intruder_.open(device_);
  if (generator_) generator_->set_up(device_);
  emcap_start(device_, generator_.has_value());
  serving_ = true;
  if (generator_) generator_->enable(device_, true);
  start_ = next_point_ = simulation_.now();
  links_.start(device_);
  intruder_.start(device_);
}

// Finds the device as the library does, sets up the rings, and the consumers on them.
void Bench::open_library() {
  for (unsigned l = 0; l < links_.count(); ++l) {
    links_[l].root.enumerate();
    machine_.add(links_[l].root);
  }
  const emcap_ops ops = machine_.ops();
  if (const int status = emcap_open(&ops, &rings_, &device_); status != 0)
    throw std::runtime_error(std::string("capture library: ") + emcap_error(status));
  if (emcap_links(device_) != links_.count())
    throw std::runtime_error("capture library: not all links found");
  consumers_ = std::make_unique<Consumers>(
      device_, consuming_,
      [this](unsigned ring, const emcap_packet& packet, Time now) { got(ring, packet, now); });
  const std::uint64_t entries = machine_.allocation(1),
                      per_ring = std::uint64_t{rings_.blocks} * kEntry;
  memory_.watch(entries, machine_.allocation_bytes(1),
                [this, entries, per_ring](std::uint64_t addr, std::uint32_t) {
                  consumers_->wake(static_cast<unsigned>((addr - entries) / per_ring));
                });
}

// ---- packets as they come

void Bench::sample(Time now) {
  if (!serving_) return;
  if (now >= next_point_) {
    next_point_ += kStep;
    if (source_end_ == 0) links_.mark(now);
    for (unsigned r = 0; r < rings_.rings; ++r)
      fill_max_ = std::max(fill_max_, emcap_fill(device_, r));
  }
  consumers_->poll(now);
  if (!stopped_) intruder_.clock(links_);
}

void Bench::got(unsigned ring, const emcap_packet& packet, Time now) {
  moved();
  const Landed when = memory_trace_ ? landed(ring, packet) : Landed();
  if (shared_rings_.any()) return shared_rings_.keep(ring, packet, when, now);
  take({packet.data, packet.stored}, packet.time_ns, now, when);
  queue(ring);
}

Landed Bench::landed(unsigned ring, const emcap_packet& packet) {
  const std::uint64_t place = ring * rings_.blocks + ((packet.block - 1) & (rings_.blocks - 1)),
                      entry = machine_.allocation(1) + place * kEntry;
  return {memory_trace_->written(packet.data, packet.stored),
          memory_trace_->written(memory_.pointer(entry, kEntry), kEntry)};
}

// The device's clock starts at zero when its reset ends.
void Bench::take(std::span<const std::uint8_t> bytes, std::uint64_t stamp, Time now,
                 const Landed& landed) {
  const Time stamped =
      rings_.timestamps ? std::min(now, kReset + static_cast<Time>(stamp) * kNanosecond) : now;
  if (generator_) generator_->arrived(bytes, stamped);
  deliver(stream_, bytes, now, output_, stamped);
  stage(kDmaWrite, landed.packet.first);
  stage(kCapLink, landed.packet.last);
  stage(kConsumer, landed.entry.last);
}

// ---- the run

void Bench::look() {
  if (links_.look()) consumers_->wake_all();
}

bool Bench::offered() {
  const Time time = simulation_.now() - start_;
  if (!(generator_ ? generator_->done(device_, time) : sources_finished())) return false;
  source_end_ = simulation_.now();
  busy_ = consumers_->busy(source_end_);
  moved();
  return true;
}

Time Bench::busy_until() const {
  return std::max(consumers_->busy_until(), links_.stalled_until());
}

double Bench::progress() const {
  return generator_ ? generator_->part(simulation_.now() - start_) : Run::progress();
}

// What the source gave is still in the device's buffers; capture is turned off when they are empty.
bool Bench::settled() {
  if (!stopped_) {
    if (quiet() < kEmpty) return false;
    emcap_stop(device_);
    stopped_ = true;
  }
  // Those that look() has just woken find out whether there is anything for them.
  consumers_->poll(simulation_.now());
  return (consumers_->idle() && emcap_drained(device_)) || quiet() >= patience_;
}

void Bench::account() {
  serving_ = false;
  shared_rings_.in_order([this](unsigned ring, const SharedRings::Packet& p) {
    take(p.bytes, p.stamp, p.time, p.landed);
    queue(ring);
  });
  emcap_get_stats(device_, &stats_);
  emcap_get_counters(device_, &counters_);
  settings_refused_ = emcap_read(device_, EMERY_REG(settings_refused));
  if (generator_) generator_->offer_until(counters_.generated, simulation_.now());
  score_.dropped(stream_, "ring_full", counters_.ring_full);
  score_.dropped(stream_, "too_long", counters_.too_long);
  score_.dropped(stream_, "filtered", counters_.filtered);
  score_.dropped(stream_, "link_lost", stats_.lost_packets);
  // Those of a consumer that gives nothing back: it is handed no more. Any other leaves none
  // behind.
  if (consuming_.misbehaviour == Misbehaviour::kNoPut)
    score_.dropped(stream_, "not_taken", emcap_waiting(device_));
  if (generator_) return;
  score_.dropped(stream_, "bad_fcs", counters_.rx_bad_fcs);
  score_.dropped(stream_, "runt", counters_.rx_runt);
  score_.dropped(stream_, "oversize", counters_.rx_oversize);
  score_.dropped(stream_, "fifo_full", counters_.rx_fifo_full);
  score_.dropped(stream_, "buffer_full", counters_.rx_buffer_full);
}

void Bench::close() {
  Run::close();
  consumers_.reset();
  emcap_close(device_);
}

// ---- the result

void Bench::check(Findings& findings) const {
  links_.check(findings);
  findings.add(stats_.damaged, "blocks with a torn record");
  intruder_.check(counters_, findings);
}

void Bench::report(JsonWriter& json) const {
  const Time end = source_end_ == 0 ? simulation_.now() : source_end_;
  const Consumers::Busy busy = source_end_ == 0 ? consumers_->busy(end) : busy_;
  const auto time = static_cast<double>(std::max<Time>(end - start_, 1));
  double sum = 0;
  for (unsigned l = 0; l < links_.count(); ++l) {
    sum += links_.payload_gbps(l);
    json.field("link" + std::to_string(l) + "_payload_gbps", links_.payload_gbps(l));
  }
  json.field("tlp_payload_gbps", sum)
      .field("consumer_busy", static_cast<double>(busy.all) / time / consuming_.consumers)
      .field("consumer_busiest", static_cast<double>(busy.most) / time)
      .field("ring_fill_max", fill_max_)
      .field("blocks", stats_.blocks)
      .field("lost_blocks", stats_.lost_blocks)
      .field("lost_packets", stats_.lost_packets)
      .field("link_losses", stats_.link_losses)
      .field("bad_puts", stats_.bad_puts)
      .field("bad_returns", counters_.bad_returns)
      .field("settings_refused", settings_refused_)
      .field("captured", counters_.captured)
      .field("rx_frames", counters_.rx_frames);
  links_.write(json, counters_);
  intruder_.write(json);
  json.key("mac");
  mac_->stats().write(json);
}

}  // namespace
}  // namespace emery::capture

int main(int argc, char** argv) { return emery::run_simulator<emery::capture::Bench>(argc, argv); }
