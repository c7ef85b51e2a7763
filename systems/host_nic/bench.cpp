// SPDX-License-Identifier: Apache-2.0
// host-nic on the bench: the NIC's RTL between a PCIe link with its host on one side and Ethernet
// wires on the other.
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Vhost_nic.h"
#include "bench/run/main.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/run/slot_reset.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/cmac.hpp"
#include "host_nic.h"
#include "queue_formats.hpp"
#include "systems/host_nic/device_counts.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/faults.hpp"
#include "systems/host_nic/offloads.hpp"
#include "systems/host_nic/ptp_bench.hpp"
#include "systems/host_nic/queue_meter.hpp"
#include "systems/host_nic/queue_sources.hpp"
#include "systems/host_nic/settings.hpp"
#include "systems/host_nic/steered_flows.hpp"
#include "systems/host_nic/ways.hpp"

namespace emery::host_nic {
namespace {

constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 500 * kMicrosecond;
constexpr unsigned kMostOutstanding = 8192;

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the core clock: the driver and what feeds it.
  void sample(Time now) override;

 private:
  struct Port {
    std::unique_ptr<CmacPort> mac;
    Output* output = nullptr;
    Tap* tap = nullptr;
    int tx_stream = 0, rx_stream = 0;
  };

  void connect_port(unsigned port, const Options& options);
  std::optional<TrafficConfig> receive_plan(unsigned port) const;
  void add_traffic();
  void received(const Received& received, Time now);
  void feed(unsigned interface, Time now);
  bool offer_frame(unsigned interface, unsigned queue, std::uint32_t flow, const Frame& frame,
                   Time now);
  void meter_queues(const Options& options);
  std::string stream_name(const char* direction, unsigned port) const;
  bool transmits() const { return direction_ != "rx"; }
  bool receives() const { return direction_ != "tx"; }

  void open() override;
  void look() override;
  void settle(Time reset_at);
  std::vector<std::uint8_t*> reset_pins();
  SlotReset::System reset_system();
  std::uint64_t lose();
  std::uint64_t gone(int stream, std::uint64_t unseen);
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
  std::optional<Ways> ways_;  // a traced run
  Faults faults_;
  SlotReset reset_;
  std::uint64_t lost_rx_ = 0;  // with the device in the reset under way
  RecordCheck records_;
  std::ofstream record_file_;  // host.csv
  std::vector<Port> port_;
  std::vector<Source*> sender_;  // of each interface; null: it sends nothing, or its queues do
  std::vector<Tap*> host_tap_;   // of each interface
  QueueSources queue_sources_;
  std::optional<QueueMeter> queue_meter_;
  Output* host_output_ = nullptr;
  unsigned most_outstanding_, most_queues_, steered_flows_, train_;
  SteeredFlows steered_;
  PcieHost::Busy before_;  // traffic
  DeviceCounts counts_;
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
      queue_sources_(options),
      // Enough for blocks of eight on every queue, twice, and for many round trips.
      most_outstanding_(std::min(16 * driver_.tx_queues() + 512, kMostOutstanding)),
      most_queues_(
          std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"))),
      steered_flows_(options.get<unsigned>("steered_flows")),
      train_(options.get<unsigned>("train")) {
  model_.open_waves(waves());
  if (trace()) ways_.emplace(*trace(), host_.root, driver_, interfaces_, driver_config_);
  host_.attach(core_, function(options),
               EndpointPins::of(model_->pcie_i, model_->pcie_o,
                                options.get<std::string>("pcie_interface"), 128));
  simulation_.add(core_, *this);
  // Frames come to the host in another order than over the wire.
  if (receives()) host_output_ = add_output("host.pcap", Output::Order::kByTime);
  for (unsigned i = 0; i < interfaces_; ++i) host_tap_.push_back(tap("host" + std::to_string(i)));
  if (host_output_) {
    record_file_.open(options.get("pcap_out", "") + "/host.csv");
    record_file_ << "timestamp_ns,interface,port,queue,hash,hash_type,csum,bytes\n";
  }
  for (unsigned p = 0; p < port_.size(); ++p) connect_port(p, options);
  faults_.on_pause = [this](Time until) { port_[0].mac->tx.pause(until); };
  add_traffic();
  if (transmits()) meter_queues(options);
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
  config.rate = line_rate(options);
  config.seed = workload_.common().seed + 1000 + p;
  set_wire_faults(options, driver_config_.max_frame, config);
  port.mac = std::make_unique<CmacPort>(config, model_->mac_i[p], model_->mac_o[p]);
  simulation_.add(mac_clocks_.tx[p], port.mac->tx);
  simulation_.add(mac_clocks_.rx[p], port.mac->rx);
  if (transmits()) {
    port.tx_stream = score_.stream(stream_name("tx", p));
    port.output = add_output("wire" + std::to_string(p) + ".pcap");
    port.tap = tap("wire" + std::to_string(p));
  }
  if (receives()) port.rx_stream = score_.stream(stream_name("rx", p));
  if (ways_ && transmits()) trace()->takes(port.tx_stream, ways_->sent());
  if (ways_ && receives()) trace()->takes(port.rx_stream, ways_->received());
  port.mac->tx.on_transmitted([this, &port](std::span<const std::uint8_t> bytes, Time arrived) {
    deliver(port.tx_stream, bytes, arrived, port.output);
    if (port.tap) port.tap->write(bytes);
    stage(kCmacTx, port.mac->tx.tx_began());
    reset_.delivered(port.tx_stream, arrived);
  });
  port.mac->rx.on_receiving(
      [this, &port](const Frame& frame, WireFault fault, Time started, Time arrives) {
        offer(port.rx_stream, frame.bytes(), frame.flow, started);
        stage(kRxBuffer, arrives);
        lost(reason(fault));
        if (fault != WireFault::kNone) refused(frame.bytes());
        moved();
      });
  // What was with the device when it left reset will not come out, but for frames on the line of
  // which it has seen nothing yet.
  port.mac->rx.on_rx_reset_end([this, &port] {
    if (receives()) lost_rx_ += gone(port.rx_stream, port.mac->rx.rx_unseen());
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
    mac.set_source(
        &add_source(*plan, [&mac] { return mac.rx_idle(); }, "wire" + std::to_string(p)));
  }
  for (unsigned i = 0; transmits() && i * ports_ < used; ++i) {
    auto plan = workload_.port(i * ports_, i, interfaces_);
    if (!plan) continue;
    plan->train = train_;
    plan->rate *= ports_;
    plan->line_rate *= ports_;
    plan->source = static_cast<std::uint16_t>(i);
    if (queue_sources_.any()) {
      const unsigned queues = driver_.tx_queues();
      for (unsigned q = 0; q < queues; ++q)
        queue_sources_.add(i, add_source(queue_sources_.plan(*plan, i, q, queues)));
    } else {
      sender_[i] = &add_source(*plan, {}, "host" + std::to_string(i));
    }
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
  if (Tap* tap = host_tap_[r.interface]) tap->write(r.frame);
  if (ways_) ways_->taken(r);
  reset_.delivered(stream, now);
}

// What each transmit queue gets: where it is not all the same.
void Bench::meter_queues(const Options& options) {
  if (!queue_sources_.any() && !driver_config_.scheduling.own_registers) return;
  queue_meter_.emplace(driver_config_.scheduling, interfaces_, ports_, driver_.tx_queues(),
                       line_rate(options));
  std::vector<int> interface_of;  // a stream's; -1: it is received
  for (unsigned p = 0; p < port_.size(); ++p) {
    const auto stream = static_cast<std::size_t>(port_[p].tx_stream);
    if (stream >= interface_of.size()) interface_of.resize(stream + 1, -1);
    interface_of[stream] = static_cast<int>(p / ports_);
  }
  const Source* any = sender_.front();
  const std::uint32_t deal = any ? any->plan().deal_count : 1;
  score_.on_matched = [this, interface_of, deal](int stream, std::uint32_t flow,
                                                 std::uint32_t bytes, Time inside, Time time) {
    const auto number = static_cast<std::size_t>(stream);
    if (number >= interface_of.size() || interface_of[number] < 0) return;
    queue_meter_->sent(static_cast<unsigned>(interface_of[number]),
                       flow / deal % driver_.tx_queues(), bytes, inside,
                       time - MacConfig().propagation);
  };
}

// Gives the driver a frame; false when the queue has no room.
bool Bench::offer_frame(unsigned interface, unsigned queue, std::uint32_t flow, const Frame& frame,
                        Time now) {
  const int stream = port_[interface * ports_ + queue % ports_].tx_stream;
  const bool stopped = driver_.tx_stopped(interface, queue);
  if (!stopped && !driver_.transmit(interface, queue, frame.bytes())) return false;
  offer(stream, frame.bytes(), flow, now);
  if (ways_ && !stopped) ways_->put(interface, queue, frame.size);
  moved();
  if (stopped) {
    score_.dropped(stream, "queue_stopped", 1);
    lost("queue_stopped");
  } else if (interface == 0) {
    faults_.transmitted(driver_, host_.root, queue, now);
  }
  return true;
}

// Hands the driver what is due, as far as rings and backlog allow.
void Bench::feed(unsigned interface, Time now) {
  // The CPU stands still where a doorbell would find no room.
  const auto mmio_room = [this] { return driver_.due() < host_.root.mmio_room(); };
  const unsigned queues = driver_.tx_queues();
  queue_sources_.feed(interface, now, [&](unsigned queue, const Frame& frame) {
    return mmio_room() && offer_frame(interface, queue, frame.flow * queues + queue, frame, now);
  });
  Source* sender = sender_[interface];
  if (!sender) return;
  while (driver_.tx_outstanding() < most_outstanding_ && mmio_room()) {
    const Frame* frame = sender->due(now);
    if (!frame) return;
    const unsigned queue = frame->flow / sender->plan().deal_count % queues;
    if (!offer_frame(interface, queue, frame->flow, *frame, now)) return;
    sender->pop();
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
void Bench::settle(Time reset_at) {
  records_.started(reset_at);
  if (queue_meter_) queue_meter_->started(reset_at);
  simulation_.run_for((most_queues_ + 64) * kCoreClock);
}

void Bench::open() {
  model_.reset(simulation_, reset_pins(), 100 * kNanosecond);
  settle(simulation_.now());
  host_.root.enumerate();
  driver_.probe();
  driver_.open();
  records_.table(driver_.interface(0).rss_entries);
  if (faults_.moves_clock()) records_.clock_moves();
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
  };
  system.lose = [this] { return lose(); };
  system.settle = [this](Time reset_at) { settle(reset_at); };
  system.dropped = [this] {
    return emnic_read(driver_.core(), offsetof(nic_device_regs_t, dma_unexpected));
  };
  system.late = [this] {
    return emnic_read(driver_.core(), offsetof(nic_device_regs_t, dma_late));
  };
  system.open = [this] {
    driver_.reopen();
    if (ways_) ways_->forget();
    moved();
  };
  for (const Port& port : port_) {
    if (transmits()) system.streams.push_back(port.tx_stream);
    if (receives()) system.streams.push_back(port.rx_stream);
  }
  return system;
}

// All of a stream that is under way is lost in the reset, but for so many frames.
std::uint64_t Bench::gone(int stream, std::uint64_t unseen) {
  const std::uint64_t frames =
      score_.under_way(stream) - score_.counts(stream).dropped_total() - unseen;
  if (frames != 0) score_.dropped(stream, "reset", frames);
  return frames;
}

// Nor will come out what the driver has handed over to be sent.
std::uint64_t Bench::lose() {
  std::uint64_t sum = std::exchange(lost_rx_, 0);
  for (const Port& port : port_) {
    if (transmits()) sum += gone(port.tx_stream, 0);
  }
  return sum;
}

// A frame is due that the driver has not taken.
bool Bench::held_up() {
  if (queue_sources_.held_up(simulation_.now())) return true;
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
  const unsigned used = faults_.first_interface_only() ? 1 : interfaces_;
  const auto dropped = [&](int stream, const char* why, std::uint64_t count) {
    if (count != 0) score_.dropped(stream, why, count);
  };
  for (unsigned i = 0; i < used; ++i) {
    for (unsigned p = 0; p < ports_; ++p) {
      const Port& port = port_[i * ports_ + p];
      for (const DropReason& reason : kReceiveDrops) {
        if (!receives()) break;
        dropped(port.rx_stream, reason.name,
                emnic_get_counter(driver_.core(), reason.counter, i, p));
      }
      // Only a hook of the user's own drops any: asked, which takes time, where frames are missing.
      if (receives() &&
          score_.under_way(port.rx_stream) > score_.counts(port.rx_stream).dropped_total()) {
        dropped(port.rx_stream, "hook",
                emnic_get_counter(driver_.core(), EMNIC_PORT_rx_hook, i, p));
      }
      if (!transmits()) continue;
      // Of streams what is lost is all stranded; that register counts reads.
      const auto errors = emnic_get_counter(driver_.core(), EMNIC_PORT_tx_errors, i, p);
      dropped(port.tx_stream, "tx_error", driver_config_.tx_stream ? 0 : errors);
      dropped(port.tx_stream, "queue_stopped", driver_.tx_stranded(i, p));
    }
  }
  driver_.read_error_registers();
  find_levels();
  counts_.read(driver_, driver_config_.tx_push != EMNIC_PUSH_NONE);
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
  counts_.write_dma(json);
  json.field("settings_refused", counts_.settings_refused()).key("steering");
  steered_.write(json);
  counts_.write_pushes(json);
  json.key("resets");
  reset_.write(json);
  json.key("fault");
  faults_.write(json);
  json.key("device_errors");
  driver_.write_errors(json);
  json.key("error_registers");
  driver_.write_error_registers(json);
  if (queue_meter_) queue_meter_->write(json, score_.meter().window());
  json.array("macs");
  for (const Port& port : port_) port.mac->stats().write(json);
  json.end_array();
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) {
  using namespace emery;
  return run_simulator(argc, argv, [](const Options& options) -> std::unique_ptr<Run> {
    if (host_nic::PtpSettings(options).on) return std::make_unique<host_nic::PtpBench>(options);
    return std::make_unique<host_nic::Bench>(options);
  });
}
