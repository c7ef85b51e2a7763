// SPDX-License-Identifier: Apache-2.0
// host-nic on the bench: the NIC's RTL between a PCIe link with its host on one side and Ethernet
// wires on the other.
#include <algorithm>
#include <cstddef>
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
#include "queue_formats.hpp"
#include "systems/host_nic/device_counts.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/drops.hpp"
#include "systems/host_nic/faults.hpp"
#include "systems/host_nic/functions_bench.hpp"
#include "systems/host_nic/joiner.hpp"
#include "systems/host_nic/offloads.hpp"
#include "systems/host_nic/ports.hpp"
#include "systems/host_nic/ptp_bench.hpp"
#include "systems/host_nic/queue_meter.hpp"
#include "systems/host_nic/record_file.hpp"
#include "systems/host_nic/settings.hpp"
#include "systems/host_nic/shared_queues.hpp"
#include "systems/host_nic/steered_flows.hpp"
#include "systems/host_nic/traffic_plans.hpp"
#include "systems/host_nic/tx_sources.hpp"
#include "systems/host_nic/ways.hpp"

namespace emery::host_nic {
namespace {

constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 500 * kMicrosecond;

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the core clock: the driver and what feeds it.
  void sample(Time now) override;

 private:
  void connect_port(unsigned port);
  void add_traffic();
  unsigned used_interfaces() { return faults_.first_interface_only() ? 1 : ports_.interfaces(); }
  void received(const Received& received, Time now);
  bool offer_frame(unsigned interface, unsigned queue, std::uint32_t flow, const Frame& frame,
                   Time now);

  void open() override;
  void at_move() override { host_.count_to_here(); }
  void look() override;
  void settle(Time reset_at);
  SlotReset::System reset_system();
  bool settled() override;
  Time busy_until() const override { return driver_.busy_until(); }
  std::string stalled_for() const override { return driver_.stopped_for(); }
  void account() override;
  void inspect() override {
    if (given_up()) return;
    driver_.compare_counts(used_interfaces());
    ports_.compare_counts(driver_.core());
  }
  bool at_rest() const override { return host_.at_rest() && !driver_.restarting(); }
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vhost_nic> model_;
  int core_;
  TrafficPlans plans_;
  DriverConfig driver_config_;
  Ports ports_;
  HostMemory memory_;
  PcieHost host_;
  Driver driver_;
  std::optional<Ways> ways_;  // a traced run
  Faults faults_;
  SlotReset reset_;
  RecordCheck records_;
  std::optional<RecordFile> record_file_;  // with captures
  std::vector<std::uint8_t> tagged_;       // a frame with the tag that was taken out
  std::vector<Tap*> host_tap_;             // of each interface
  TxSources tx_sources_;
  Joiner joiner_;
  std::optional<QueueMeter> queue_meter_;
  Output* host_output_ = nullptr;
  unsigned most_queues_;
  SteeredFlows steered_;
  SharedQueues shared_;
  Drops drops_;
  DeviceCounts counts_;
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kQuiet + interrupt_hold(options)),
      model_("host_nic"),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      plans_(options),
      driver_config_(driver_config(options, plans_.workload())),
      ports_(options, driver_config_.max_frame, model_, simulation_, score_),
      host_(slot(options), simulation_, memory_),
      driver_(host_.root, driver_config_),
      faults_(options, driver_config_),
      reset_(options),
      records_(ports_.interfaces(), ports_.of_interface(), driver_config_),
      tx_sources_(options, ports_.interfaces(), driver_, host_.root),
      joiner_(driver_, driver_config_.tso_bytes),
      most_queues_(
          std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"))),
      steered_(options),
      shared_(options, driver_, line_rate(options)),
      drops_(score_, driver_, joiner_, ports_) {
  model_.open_waves(waves());
  speak_tcp(options, line_rate(options), driver_config_.tso_bytes);
  if (trace()) ways_.emplace(*trace(), host_.root, driver_, ports_.interfaces(), driver_config_);
  host_.attach(core_, function(options),
               EndpointPins::of(model_->pcie_i, model_->pcie_o,
                                options.get<std::string>("pcie_interface"), 128));
  simulation_.add(core_, *this);
  // Frames come to the host in another order than over the wire.
  if (ports_.receive()) host_output_ = add_output("host.pcap", Output::Order::kByTime);
  for (unsigned i = 0; i < ports_.interfaces(); ++i)
    host_tap_.push_back(tap("host" + std::to_string(i)));
  if (host_output_) record_file_.emplace(options.get("pcap_out", "") + "/host.csv");
  for (unsigned p = 0; p < ports_.size(); ++p) connect_port(p);
  faults_.on_pause = [this](Time until) { ports_[0].mac->tx.pause(until); };
  joiner_.on_given = [this](unsigned interface, unsigned queue, Time now) {
    if (interface == 0) faults_.transmitted(driver_, host_.root, queue, now);
  };
  add_traffic();
  // What each transmit queue gets: where it is not all the same.
  if (ports_.transmit() && (tx_sources_.by_queue() || driver_config_.scheduling.own_registers)) {
    queue_meter_.emplace(driver_config_.scheduling, ports_.interfaces(), ports_.of_interface(),
                         driver_.tx_queues(), line_rate(options));
    queue_meter_->watch(score_, ports_.sent_by(), tx_sources_.deal_count());
  }
  driver_.on_receive = [this](const Received& r, Time now) { received(r, now); };
  driver_.on_sent = [this](unsigned interface, unsigned queue, bool error, std::uint64_t stamp,
                           Time now) {
    if (!error) records_.sent(interface, queue, stamp, now);
    moved();
  };
}

void Bench::connect_port(unsigned p) {
  Port& port = ports_[p];
  if (ports_.transmit()) {
    port.output = add_output("wire" + std::to_string(p) + ".pcap");
    port.tap = tap("wire" + std::to_string(p));
  }
  if (ways_ && ports_.transmit()) trace()->takes(port.tx_stream, ways_->sent());
  if (ways_ && ports_.receive()) trace()->takes(port.rx_stream, ways_->received());
  port.mac->tx.on_transmitted([this, &port](std::span<const std::uint8_t> bytes, Time arrived) {
    port.counts->sent(bytes);
    deliver(port.tx_stream, bytes, arrived, port.output);
    if (port.tap) port.tap->write(bytes);
    if (tcp()) tcp()->at_wire(bytes, arrived);
    stage(kCmacTx, port.mac->tx.tx_began());
    reset_.delivered(port.tx_stream, arrived);
  });
  port.mac->rx.on_receiving(
      [this, &port](const Frame& frame, WireFault fault, Time started, Time arrives) {
        port.counts->received(frame.bytes(), fault);
        offer_from_wire(port.rx_stream, frame, reason(fault), started, kRxBuffer, arrives);
        moved();
      });
  // What was inside when it left reset does not come out; what it had seen nothing of will.
  port.mac->rx.on_rx_reset_end([this, &port] {
    port.counts->reset();
    if (ports_.receive()) drops_.in_reset(port.rx_stream, port.mac->rx.rx_unseen());
  });
}

void Bench::add_traffic() {
  if (tcp()) return ports_[0].mac->rx.set_source(&tcp()->peer());
  const unsigned used = used_interfaces();
  for (unsigned p = 0; ports_.receive() && p < used * ports_.of_interface(); ++p) {
    const auto plan = plans_.received(p);
    if (!plan) continue;
    MacEnd& mac = ports_[p].mac->rx;
    mac.set_source(
        &add_source(*plan, [&mac] { return mac.rx_idle(); }, "wire" + std::to_string(p)));
  }
  for (unsigned i = 0; ports_.transmit() && i < used; ++i) {
    const auto plan = plans_.sent(i);
    if (!plan) continue;
    tx_sources_.add(i, *plan, [&](const TrafficConfig& part, bool all) -> Source& {
      return add_source(part, {}, all ? "host" + std::to_string(i) : "");
    });
  }
}

void Bench::received(const Received& r, Time now) {
  if (r.interface == 0) faults_.received(driver_, host_.root, r.queue, now);
  const unsigned port = queue_pkg::rx_flags_t{r.flags}.port();
  records_.received(r, port, now);
  if (record_file_) record_file_->write(r, port);
  const int stream = ports_.at(r.interface, port).rx_stream;
  const auto frame = as_sent(r, tagged_);
  shared_.received(r, port, frame.size());
  deliver(stream, frame, now, host_output_, static_cast<Time>(r.timestamp) * kNanosecond);
  if (Tap* tap = host_tap_[r.interface]) tap->write(frame);
  if (tcp()) tcp()->at_host(frame, now);
  if (ways_) ways_->taken(r);
  reset_.delivered(stream, now);
}

// Gives the driver a frame; false when the queue has no room.
bool Bench::offer_frame(unsigned interface, unsigned queue, std::uint32_t flow, const Frame& frame,
                        Time now) {
  const int stream = ports_.at(interface, queue % ports_.of_interface()).tx_stream;
  const bool stopped = driver_.tx_stopped(interface, queue);
  if (!stopped && !joiner_.transmit(interface, queue, frame.bytes(), now)) return false;
  offer(stream, frame.bytes(), flow, now);
  if (ways_ && !stopped && !joiner_.on()) ways_->put(interface, queue, frame.size);
  moved();
  if (stopped) {
    score_.dropped(stream, "queue_stopped", 1);
    lost("queue_stopped");
  }
  return true;
}

void Bench::sample(Time now) {
  if (!running() || reset_.under_way() || !host_.root.mmio_room()) return;
  driver_.poll(now);
  shared_.clock(now);
  if (tcp()) {
    tcp()->feed(
        now, [this] { return tx_sources_.room(); },
        [&](unsigned n, const Frame& frame) {
          return offer_frame(0, n % driver_.tx_queues(), n, frame, now);
        });
  }
  for (unsigned i = 0; i < ports_.interfaces(); ++i) {
    tx_sources_.feed(i, now, [&](unsigned queue, std::uint32_t flow, const Frame& frame) {
      return offer_frame(i, queue, flow, frame, now);
    });
  }
  joiner_.poll(now);
  faults_.clock(host_.root);
  driver_.flush();
}

void Bench::settle(Time reset_at) {
  records_.started(reset_at);
  shared_.started();
  if (queue_meter_) queue_meter_->started(reset_at);
  simulation_.run_for((most_queues_ + 64) * kCoreClock);  // queue managers clear their RAMs
}

void Bench::open() {
  model_.reset(simulation_, ports_.resets(), 100 * kNanosecond);
  settle(simulation_.now());
  host_.root.enumerate();
  driver_.probe();
  driver_.open();
  records_.table(driver_.interface(0).rss_entries);
  if (faults_.moves_clock()) records_.clock_moves();
  steered_.steer(driver_, records_, ports_, plans_, simulation_.now());
  shared_.opened(simulation_.now());
  host_.count_from_here();
}

SlotReset::System Bench::reset_system() {
  SlotReset::System system = of_card(ports_, drops_, driver_);
  system.settle = [this](Time reset_at) { settle(reset_at); };
  system.open = [this] {
    driver_.reopen();
    if (ways_) ways_->forget();
    moved();
  };
  return system;
}

// A read that nobody answers holds all up until it times out; then the device stays stopped.
void Bench::look() {
  if (!draining() && reset_.due(traffic_start(), simulation_.now() + kStep))
    reset_.strike(traffic_start(), simulation_, host_, memory_, reset_system());
  if (quiet() > driver_config_.dma_timeout_clocks * kCoreClock + patience() &&
      tx_sources_.held_up(simulation_.now()))
    give_up();
}

bool Bench::settled() { return score_.under_way() == 0 || quiet() > patience() + faults_.pause(); }

void Bench::account() {
  drops_.account(used_interfaces(), driver_config_.tx_stream);
  driver_.read_error_registers();
  // At the latest when the last lost read has timed out.
  const Time until =
      simulation_.now() + driver_config_.dma_timeout_clocks * kCoreClock + patience();
  trouble().add(counts_.levels(driver_, simulation_, until).lines());
  counts_.read(driver_, driver_config_.tx_push != EMNIC_PUSH_NONE);
}

void Bench::check(Findings& findings) const {
  host_.check(findings);
  records_.check(findings);
  reset_.check(host_, findings);
  driver_.check(findings);
  shared_.check(ports_.left(), findings);
  ports_.check(findings);
}

void Bench::report(JsonWriter& json) const {
  host_.write_busy(json);
  host_.write_payload(json);
  host_.write(json, "pcie_");
  json.key("driver");
  driver_.write(json);
  driver_.write_counts(json);
  json.key("segmented");
  joiner_.write(json);
  counts_.write_dma(json);
  json.field("settings_refused", counts_.settings_refused()).key("steering");
  steered_.write(json);
  shared_.write(json);
  counts_.write_pushes(json);
  json.key("resets");
  reset_.write(json);
  json.key("fault");
  faults_.write(json);
  driver_.write_errors(json);
  if (queue_meter_) queue_meter_->write(json, score_.meter().window());
  ports_.write(json);
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) {
  using namespace emery;
  using namespace emery::host_nic;
  return run_simulator(argc, argv, [](const Options& options) -> std::unique_ptr<Run> {
    if (PtpSettings(options).on) return std::make_unique<PtpBench>(options);
    if (FunctionSettings(options).count > 1) return std::make_unique<FunctionsBench>(options);
    return std::make_unique<Bench>(options);
  });
}
