// SPDX-License-Identifier: Apache-2.0
// host-nic on the bench: the NIC's RTL between a PCIe link with its host on one side and Ethernet
// wires on the other.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Vhost_nic.h"
#include "bench/run/main.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/run/slot_reset.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/cmac.hpp"
#include "host_nic.h"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/faults.hpp"
#include "systems/host_nic/offloads.hpp"
#include "systems/host_nic/steered_flows.hpp"

namespace emery::host_nic {
namespace {

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr Time kCoreClock = 4 * kNanosecond;
constexpr double kLineRate = 100e9;
constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 500 * kMicrosecond;
constexpr unsigned kVlanAndHeader = 18;
constexpr unsigned kMostOutstanding = 8192;

bool wide_tags(const Options& options) { return options.get<unsigned>("tags") > 256; }

PcieSettings slot(const Options& options) {
  PcieSettings s(options);
  s.root.wide_tags = wide_tags(options);
  return s;
}

FunctionConfig function(const Options& options) {
  FunctionConfig f;
  f.wide_tags = wide_tags(options);
  f.bar0_bytes = std::bit_ceil(sizeof(host_nic_t));
  f.msix_table = offsetof(host_nic_t, msix.entry);
  f.msix_pba = offsetof(host_nic_t, msix.pending);
  return f;
}

// 0 leaves it to the number of queues: so many slots for all, within bounds.
unsigned ring_slots(unsigned wanted, unsigned queues, bool stream = false) {
  if (wanted) return wanted;
  if (stream) return std::clamp(std::bit_floor((1u << 21) / queues), 2048u, 32768u);
  return std::clamp(std::bit_floor(65536 / queues), 16u, 1024u);
}

DriverConfig driver_config(const Options& options, const Workload& workload) {
  DriverConfig c{};
  // A capture is replayed in its order: one queue a port.
  c.tx_queues =
      std::min(options.get<unsigned>("tx_queues"),
               workload.captures() ? options.get<unsigned>("ports") : workload.common().flows);
  c.rx_queues =
      std::min(options.get<unsigned>("rx_queues"), std::max(128u, workload.common().flows));
  c.tx_ring = ring_slots(options.get<unsigned>("tx_ring"), c.tx_queues);
  c.tx_stream = options.get<std::string>("tx_mode") == "stream";
  // Granules: 4 MB for all, 8 kB, in which the longest frame has room, to 512 kB each.
  if (c.tx_stream) c.tx_ring = std::clamp(std::bit_floor((1u << 18) / c.tx_queues), 512u, 32768u);
  c.rx_stream = options.get<std::string>("rx_mode") == "stream";
  c.rx_ring = ring_slots(options.get<unsigned>("rx_ring"), c.rx_queues, c.rx_stream);
  c.max_frame = options.get<unsigned>("mtu") + kVlanAndHeader;
  c.segments = options.get<unsigned>("segments");
  c.tx_burst = options.get<unsigned>("burst");
  c.tx_checksum = options.get<bool>("tx_checksum");
  const auto push = options.get<std::string>("tx_push");
  c.tx_push = push == "frame"        ? TxPush::kFrame
              : push == "descriptor" ? TxPush::kDescriptor
                                     : TxPush::kNone;
  c.recover = options.get<bool>("recover");
  c.interrupts = options.get<bool>("interrupts");
  if (const auto every = options.get<unsigned>("doorbell"))
    c.doorbell_batch = c.refill_batch = every;
  c.cpus = options.get<unsigned>("cpus");
  c.cpu_per_packet = options.ns("cpu_ns_per_packet");
  c.dma_timeout_clocks = options.get<unsigned>("dma_timeout_us") * (kCoreHz / 1'000'000);
  c.dma_overtaken_clocks = options.get<unsigned>("dma_overtaken_us") * (kCoreHz / 1'000'000);
  return c;
}

Workload::Line line(const Options& options) {
  const auto mtu = options.get<unsigned>("mtu");
  return {kLineRate, mtu + kVlanAndHeader, "the MTU of " + std::to_string(mtu) + " allows"};
}

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the core clock: the driver and what feeds it.
  void sample(Time now) override;

 private:
  struct Port {
    std::unique_ptr<CmacPort> mac;
    Output* output = nullptr;
    int tx_stream = 0, rx_stream = 0;
  };

  void connect_port(unsigned port, const Options& options);
  std::optional<TrafficConfig> receive_plan(unsigned port) const;
  void add_traffic();
  void received(const Received& received, Time now);
  void feed(unsigned interface, Time now);
  std::string stream_name(const char* direction, unsigned port) const;
  bool transmits() const { return direction_ != "rx"; }
  bool receives() const { return direction_ != "tx"; }

  void open() override;
  void look() override;
  void settle();
  std::vector<std::uint8_t*> reset_pins();
  SlotReset::System reset_system();
  std::uint64_t lose();
  bool held_up();
  void find_levels();
  bool settled() override;
  Time busy_until() const override { return driver_.busy_until(); }
  void account() override;
  bool at_rest() const override { return host_.at_rest() && !driver_.restarting(); }
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vhost_nic> model_;
  unsigned interfaces_, ports_;  // ports of one interface
  int core_;
  CmacClocks mac_clocks_;
  std::string direction_;
  Workload workload_;
  DriverConfig driver_config_;
  HostMemory memory_;
  PcieHost host_;
  Driver driver_;
  Faults faults_;
  SlotReset reset_;
  RecordCheck records_;
  std::ofstream record_file_;  // host.csv
  std::vector<Port> port_;
  std::vector<Source*> sender_;  // of each interface; null: it sends nothing
  Output* host_output_ = nullptr;
  unsigned most_outstanding_, most_queues_, steered_flows_, train_;
  SteeredFlows steered_;
  PcieHost::Busy before_;  // traffic
  struct {
    std::uint32_t timeouts, errors, late, unexpected;
  } dma_{};  // the device's own counts
  std::uint64_t settings_refused_ = 0, pushed_ = 0, push_dropped_ = 0;
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kQuiet),
      model_("host_nic"),
      interfaces_(options.get<unsigned>("interfaces")),
      ports_(options.get<unsigned>("ports")),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      mac_clocks_(CmacClocks::add(model_, simulation_, options, interfaces_ * ports_)),
      direction_(options.get<std::string>("direction")),
      workload_(options, line(options), interfaces_ * ports_),
      driver_config_(driver_config(options, workload_)),
      host_(slot(options), simulation_, memory_),
      driver_(host_.root, driver_config_),
      faults_(options, driver_config_),
      reset_(options),
      records_(interfaces_, ports_, driver_config_.rx_queues, driver_config_.tx_queues),
      port_(interfaces_ * ports_),
      sender_(interfaces_),
      // Enough for blocks of eight on every queue, twice, and for many round trips.
      most_outstanding_(std::min(16 * driver_.tx_queues() + 512, kMostOutstanding)),
      most_queues_(
          std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"))),
      steered_flows_(options.get<unsigned>("steered_flows")),
      train_(options.get<unsigned>("train")) {
  model_.open_waves(waves());
  host_.attach(core_, function(options),
               EndpointPins::of(model_->pcie_i, model_->pcie_o,
                                options.get<std::string>("pcie_interface"), 128));
  simulation_.add(core_, *this);
  // Frames come to the host in another order than over the wire.
  if (receives()) host_output_ = add_output("host.pcap", Output::Order::kByTime);
  if (host_output_) {
    record_file_.open(options.get("pcap_out", "") + "/host.csv");
    record_file_ << "timestamp_ns,interface,port,queue,hash,hash_type,csum,bytes\n";
  }
  for (unsigned p = 0; p < port_.size(); ++p) connect_port(p, options);
  faults_.on_pause = [this](Time until) { port_[0].mac->tx.pause(until); };
  add_traffic();
  driver_.on_receive = [this](const Received& r, Time now) { received(r, now); };
  driver_.on_sent = [this](unsigned interface, unsigned queue, bool error, std::uint64_t stamp,
                           Time now) {
    if (!error) records_.sent(interface, queue, stamp, now);
    moved();
  };
}

std::string Bench::stream_name(const char* direction, unsigned port) const {
  return port_.size() == 1 ? direction : direction + std::to_string(port);
}

void Bench::connect_port(unsigned p, const Options& options) {
  Port& port = port_[p];
  MacConfig config;
  config.rate = kLineRate;
  config.seed = workload_.common().seed + 1000 + p;
  set_wire_faults(options, driver_config_.max_frame, config);
  port.mac = std::make_unique<CmacPort>(config, model_->mac_i[p], model_->mac_o[p]);
  simulation_.add(mac_clocks_.tx[p], port.mac->tx);
  simulation_.add(mac_clocks_.rx[p], port.mac->rx);
  if (transmits()) {
    port.tx_stream = score_.stream(stream_name("tx", p));
    port.output = add_output("wire" + std::to_string(p) + ".pcap");
  }
  if (receives()) port.rx_stream = score_.stream(stream_name("rx", p));
  port.mac->tx.on_transmitted([this, &port](std::span<const std::uint8_t> bytes, Time arrived) {
    deliver(port.tx_stream, bytes, arrived, port.output);
    reset_.delivered(port.tx_stream, arrived);
  });
  port.mac->rx.on_receiving([this, &port](const Frame& frame, WireFault, Time started, Time) {
    offer(port.rx_stream, frame.bytes(), frame.flow, started);
    moved();
  });
}

// What a port is to receive.
std::optional<TrafficConfig> Bench::receive_plan(unsigned p) const {
  auto plan = workload_.port(p);
  if (plan) {
    plan->train = train_;
    plan->source = static_cast<std::uint16_t>(0x100 + p);
  }
  return plan;
}

void Bench::add_traffic() {
  const std::size_t used = faults_.first_interface_only() ? ports_ : port_.size();
  for (unsigned p = 0; receives() && p < used; ++p) {
    const auto plan = receive_plan(p);
    if (!plan) continue;
    Mac& mac = port_[p].mac->rx;
    mac.set_source(&add_source(*plan, [&mac] { return mac.rx_idle(); }));
  }
  for (unsigned i = 0; transmits() && i * ports_ < used; ++i) {
    auto plan = workload_.port(i * ports_, i, interfaces_);
    if (!plan) continue;
    plan->train = train_;
    plan->rate *= ports_;
    plan->source = static_cast<std::uint16_t>(i);
    sender_[i] = &add_source(*plan);
  }
}

void Bench::received(const Received& r, Time now) {
  if (r.interface == 0) faults_.received(driver_, host_.root, r.queue, now);
  const unsigned port = queue_pkg::rx_flags_t{r.flags}.port();
  records_.received(r, port, now);
  if (record_file_.is_open()) {
    record_file_ << r.timestamp << ',' << r.interface << ',' << port << ',' << r.queue << ','
                 << r.hash << ',' << unsigned{queue_pkg::rx_flags_t{r.flags}.hash_type()} << ','
                 << r.csum << ',' << r.frame.size() << '\n';
  }
  const int stream = port_.at(r.interface * ports_ + port).rx_stream;
  deliver(stream, r.frame, now, host_output_, static_cast<Time>(r.timestamp) * kNanosecond);
  reset_.delivered(stream, now);
}

// Hands the driver what is due, as far as rings and backlog allow.
void Bench::feed(unsigned interface, Time now) {
  Source* sender = sender_[interface];
  if (!sender) return;
  // The CPU stands still where a doorbell would find no room.
  while (driver_.tx_outstanding() < most_outstanding_ && driver_.due() < host_.root.mmio_room()) {
    const Frame* frame = sender->due(now);
    if (!frame) return;
    const unsigned queue = frame->flow / sender->plan().deal_count % driver_.tx_queues();
    const int stream = port_[interface * ports_ + queue % ports_].tx_stream;
    const bool stopped = driver_.tx_stopped(interface, queue);
    if (!stopped && !driver_.transmit(interface, queue, frame->bytes())) return;
    offer(stream, frame->bytes(), frame->flow, now);
    sender->pop();
    moved();
    if (stopped) {
      score_.dropped(stream, "queue_stopped", 1);
    } else if (interface == 0) {
      faults_.transmitted(driver_, host_.root, queue, now);
    }
  }
}

void Bench::sample(Time now) {
  if (!running() || reset_.under_way() || !host_.root.mmio_room()) return;
  driver_.poll(now);
  for (unsigned i = 0; i < interfaces_; ++i) feed(i, now);
  faults_.clock(host_.root);
  driver_.flush();
}

// ---- the run

// Of the core, and of both ways of all ports.
std::vector<std::uint8_t*> Bench::reset_pins() {
  std::vector<std::uint8_t*> pins{&model_->rst_i};
  for (unsigned p = 0; p < port_.size(); ++p)
    pins.insert(pins.end(), {&model_->mac_tx_rst_i[p], &model_->mac_rx_rst_i[p]});
  return pins;
}

// Out of reset the queue managers clear their RAMs, one queue a clock.
void Bench::settle() {
  records_.started(simulation_.now());
  simulation_.run_for((most_queues_ + 64) * kCoreClock);
}

void Bench::open() {
  model_.reset(simulation_, reset_pins(), 100 * kNanosecond);
  settle();
  host_.root.enumerate();
  driver_.probe();
  driver_.open();
  records_.table(driver_.interfaces().front().rss_entries);
  for (unsigned p = 0; receives() && steered_flows_ != 0 && p < port_.size(); ++p) {
    if (const auto plan = receive_plan(p))
      steered_.steer(driver_, records_, p / ports_, p % ports_, *plan, steered_flows_,
                     simulation_.now());
  }
  before_ = host_.busy();
}

SlotReset::System Bench::reset_system() {
  SlotReset::System system;
  system.hold = [this](bool held) {
    for (std::uint8_t* pin : reset_pins()) *pin = held;
    for (const Port& port : port_) port.mac->tx.device_reset(held);
  };
  system.lose = [this] { return lose(); };
  system.settle = [this] { settle(); };
  system.dropped = [this] {
    return driver_.device_register(offsetof(nic_device_regs_t, dma_unexpected));
  };
  system.open = [this] {
    driver_.reopen();
    moved();
  };
  for (const Port& port : port_) {
    if (transmits()) system.streams.push_back(port.tx_stream);
    if (receives()) system.streams.push_back(port.rx_stream);
  }
  return system;
}

// What was with the device when it left reset, or with its driver, will not come out; but for
// frames on the line of which it has seen nothing yet.
std::uint64_t Bench::lose() {
  std::uint64_t sum = 0;
  const auto gone = [&](int stream, std::uint64_t unseen) {
    const std::uint64_t frames =
        score_.under_way(stream) - score_.counts(stream).dropped_total() - unseen;
    score_.dropped(stream, "reset", frames);
    sum += frames;
  };
  for (const Port& port : port_) {
    if (transmits()) gone(port.tx_stream, 0);
    if (receives()) gone(port.rx_stream, port.mac->rx.rx_unseen());
  }
  return sum;
}

// A frame is due that the driver has not taken.
bool Bench::held_up() {
  return std::any_of(sender_.begin(), sender_.end(), [this](Source* sender) {
    return sender && sender->due(simulation_.now()) != nullptr;
  });
}

// A read that is never answered holds everything up until it times out; after that the device has
// stopped for good.
void Bench::look() {
  if (!draining() && reset_.due(traffic_start(), simulation_.now() + kStep))
    reset_.strike(traffic_start(), simulation_, host_, memory_, reset_system());
  if (quiet() > driver_config_.dma_timeout_clocks * kCoreClock + kQuiet && held_up()) give_up();
}

bool Bench::settled() { return score_.under_way() == 0 || quiet() > kQuiet + faults_.pause(); }

// The device's own counters say what became of frames that did not arrive.
void Bench::account() {
  using Regs = nic_port_regs__stride1000_t;
  struct Reason {
    const char* name;
    std::size_t offset;
  };
#define EMERY_REASON(name)           \
  {                                  \
    #name, offsetof(Regs, rx_##name) \
  }
  static constexpr Reason kReceive[] = {EMERY_REASON(bad_fcs),       EMERY_REASON(runt),
                                        EMERY_REASON(oversize),      EMERY_REASON(fifo_full),
                                        EMERY_REASON(buffer_full),   EMERY_REASON(no_descriptor),
                                        EMERY_REASON(queue_stopped), EMERY_REASON(descriptor_error),
                                        EMERY_REASON(dma_error),     EMERY_REASON(truncated)};
#undef EMERY_REASON
  const unsigned used = faults_.first_interface_only() ? 1 : interfaces_;
  for (unsigned i = 0; i < used; ++i) {
    for (unsigned p = 0; p < ports_; ++p) {
      const Port& port = port_[i * ports_ + p];
      for (const Reason& reason : kReceive) {
        if (!receives()) break;
        if (const auto count = driver_.port_register(i, p, reason.offset))
          score_.dropped(port.rx_stream, reason.name, count);
      }
      if (!transmits()) continue;
      // Of streams what is lost is all stranded; that register counts reads.
      const bool frames = !driver_config_.tx_stream;
      if (const auto count = driver_.port_register(i, p, offsetof(Regs, tx_errors));
          frames && count)
        score_.dropped(port.tx_stream, "tx_error", count);
      if (const auto count = driver_.tx_stranded(i, p))
        score_.dropped(port.tx_stream, "queue_stopped", count);
    }
  }
  driver_.read_error_registers();
  find_levels();
  settings_refused_ = driver_.settings_refused();
  for (unsigned i = 0; driver_config_.tx_push != TxPush::kNone && i < interfaces_; ++i) {
    pushed_ += driver_.interface_register(i, offsetof(nic_interface_regs_t, tx_pushed));
    push_dropped_ += driver_.interface_register(i, offsetof(nic_interface_regs_t, tx_push_dropped));
  }
  const auto device = [&](std::size_t offset) { return driver_.device_register(offset); };
  dma_.timeouts = device(offsetof(nic_device_regs_t, dma_timeouts));
  dma_.errors = device(offsetof(nic_device_regs_t, dma_errors));
  dma_.late = device(offsetof(nic_device_regs_t, dma_late));
  dma_.unexpected = device(offsetof(nic_device_regs_t, dma_unexpected));
}

// What the device holds must be back, at the latest when the last lost read has timed out.
void Bench::find_levels() {
  Findings held;
  const Time until = simulation_.now() + driver_config_.dma_timeout_clocks * kCoreClock + kQuiet;
  do {
    held = {};
    driver_.find_levels(held);
    if (!held.lines().empty()) simulation_.run_for(10 * kMicrosecond);
  } while (!held.lines().empty() && simulation_.now() < until);
  trouble().add(held.lines());
}

void Bench::check(Findings& findings) const {
  host_.check(findings);
  records_.check(findings);
  reset_.check(host_, findings);
  findings.add(driver_.stale_writes(), "writes to memory of rings that were given up");
  for (const Port& port : port_) port.mac->stats().check(findings);
}

void Bench::report(JsonWriter& json) const {
  const double seconds =
      static_cast<double>(std::max<Time>(last_move() - traffic_start(), 1)) / 1e12;
  const auto gbps = [&](std::uint64_t bytes) {
    return 8e-9 * static_cast<double>(bytes) / seconds;
  };
  PcieHost::write_busy(json, before_, host_.busy(), seconds);
  json.field("tlp_payload_up_gbps", gbps(host_.link.up.stats().payload_bytes))
      .field("tlp_payload_down_gbps", gbps(host_.link.down.stats().payload_bytes));
  host_.write(json, "pcie_");
  json.key("driver");
  driver_.write(json);
  json.object("dma_read")
      .field("timeouts", dma_.timeouts)
      .field("errors", dma_.errors)
      .field("late", dma_.late)
      .field("unexpected", dma_.unexpected)
      .end_object();
  json.field("settings_refused", settings_refused_).key("steering");
  steered_.write(json);
  json.object("tx_push").field("taken", pushed_).field("in_vain", push_dropped_).end_object();
  json.key("resets");
  reset_.write(json);
  json.key("fault");
  faults_.write(json);
  json.key("device_errors");
  driver_.write_errors(json);
  json.key("error_registers");
  driver_.write_error_registers(json);
  json.array("macs");
  for (const Port& port : port_) port.mac->stats().write(json);
  json.end_array();
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) { return emery::run_simulator<emery::host_nic::Bench>(argc, argv); }
