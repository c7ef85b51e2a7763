// SPDX-License-Identifier: Apache-2.0
// core-nic on the bench: the NIC's RTL with its firmware between a PCIe link with its host, an
// Ethernet wire and a frame memory.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Vcore_nic.h"
#include "bench/dram/ddr.hpp"
#include "bench/run/main.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/run/slot_reset.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "core_nic.h"
#include "systems/core_nic/driver.hpp"
#include "systems/core_nic/drops.hpp"
#include "systems/core_nic/faults.hpp"
#include "systems/core_nic/image.hpp"
#include "systems/core_nic/measurement.hpp"
#include "systems/core_nic/observer.hpp"
#include "systems/core_nic/pins.hpp"
#include "systems/core_nic/settings.hpp"
#include "systems/core_nic/ways.hpp"

namespace emery::core_nic {
namespace {

constexpr unsigned kMostFrame = 1514;         // without FCS
constexpr Time kStep = 2 * kMicrosecond;      // between looks at how the run goes
constexpr Time kSettled = 30 * kMicrosecond;  // without a delivery: see what is accounted for
constexpr Time kBoot = 5'000 * kMicrosecond;  // for the firmware to get ready
constexpr double kMeasureFrom = 0.1;          // of the traffic
#define EMERY_REG(name) offsetof(core_nic_regs_t, name)

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the host clock: the driver and what feeds it.
  void sample(Time now) override;

 private:
  void connect_wire();
  void add_traffic(const Options& options);
  void boot();
  void let_run();
  std::vector<std::uint8_t*> resets();
  SlotReset::System reset_system();
  void see_whether_it_goes_on();

  void open() override;
  void look() override;
  bool settled() override;
  Time busy_until() const override { return driver_.busy_until(); }
  void account() override;
  bool at_rest() const override { return host_.at_rest(); }
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vcore_nic> model_;
  Clocks clocks_;
  int host_clock_, mac_clock_;
  std::string direction_;
  Image image_;
  HostMemory memory_;
  PcieHost host_;
  Driver driver_;
  std::optional<Ways> ways_;  // a traced run
  Observer observer_;
  Ddr ddr_;
  WordMac mac_;
  Measurement measurement_;
  Faults faults_;
  SlotReset reset_;
  Source* sender_ = nullptr;
  Output *wire_output_ = nullptr, *host_output_ = nullptr;
  Tap *wire_tap_ = tap("wire0"), *host_tap_ = tap("host0");
  int tx_stream_ = 0, rx_stream_ = 0;
  Time stall_after_, stall_for_, patience_;
  bool serving_ = false;  // the driver polls
  bool offering_ = true;  // the load is what was asked for
  std::optional<Drops> drops_;
};

Bench::Bench(const Options& options)
    : Run(options, kStep, kSettled),
      model_("core_nic"),
      clocks_(add_clocks(options, simulation_, model_)),
      host_clock_(model_.add_clock(simulation_, "host", 125'000'000, 1, model_->host_clk_i)),
      mac_clock_(model_.add_clock(simulation_, "mac", 156'250'000, 1, model_->mac_clk_i)),
      direction_(options.get<std::string>("direction")),
      image_(Image::read(options.get<std::string>("firmware_image"))),
      host_(slot(options), simulation_, memory_),
      driver_(host_.root, driver_config(options)),
      observer_(*model_, image_, options),
      ddr_(DdrConfig{}, dram_pins(*model_)),
      mac_(mac_config(options), mac_tx(*model_), mac_rx(*model_)),
      measurement_({simulation_, clocks_, driver_, observer_, ddr_, host_}),
      faults_(options, driver_config(options)),
      reset_(options),
      stall_after_(options.us("stall_after_us")),
      stall_for_(options.us("stall_us")),
      patience_(options.us("patience_us")) {
  options.get<std::string>("firmware");  // the image is made from it
  observer_.debug(debugger(), ddr_.bytes(), options);
  model_.open_waves(waves());
  model_.keeps(clocks_.core, model_->seen_core_clk_i());
  host_.attach(
      host_clock_, function(),
      EndpointPins::of(model_->pcie_i, model_->pcie_o, options.get<std::string>("pcie_interface")));
  simulation_.add(host_clock_, *this);
  simulation_.add(clocks_.mem, ddr_);
  simulation_.add(clocks_.core, observer_);
  simulation_.add(mac_clock_, mac_);
  add_traffic(options);
  connect_wire();
}

void Bench::add_traffic(const Options& options) {
  const Workload workload(
      options, {kLineRate, kMostFrame, "the 1514 bytes (1518 with FCS) the device takes"}, 1);
  TrafficConfig plan = *workload.port(0);
  if (direction_ != "tx") {
    rx_stream_ = score_.stream("rx");
    host_output_ = add_output("host.pcap");
    plan.source = 0x100;
    mac_.set_source(&add_source(plan, [this] { return mac_.rx_idle(); }, "wire0"));
  }
  if (direction_ != "rx") {
    tx_stream_ = score_.stream("tx");
    wire_output_ = add_output("wire0.pcap");
    plan.source = 0;
    sender_ = &add_source(plan, {}, "host0");
  }
  if (trace()) {
    ways_.emplace(*trace(), host_.root, driver_);
    if (direction_ != "rx") trace()->takes(tx_stream_, ways_->sent());
    if (direction_ != "tx") trace()->takes(rx_stream_, ways_->received());
  }
  drops_.emplace(direction_ != "rx" ? tx_stream_ : -1, direction_ != "tx" ? rx_stream_ : -1);
}

void Bench::connect_wire() {
  mac_.on_transmitted([this](std::span<const std::uint8_t> bytes, Time arrived) {
    deliver(tx_stream_, bytes, arrived, wire_output_);
    if (wire_tap_) wire_tap_->write(bytes);
    stage(kMacTxSend, mac_.tx_began());
    measurement_.sent();
    reset_.delivered(tx_stream_, arrived);
  });
  // Of what was inside when the device's reset ended nothing comes out.
  mac_.on_rx_reset_end([this] {
    if (serving_ && direction_ != "tx") drops_->in_reset(score_, mac_.rx_unseen());
  });
  mac_.on_receiving([this](const Frame& frame, WireFault fault, Time started, Time arrives) {
    offer_from_wire(rx_stream_, frame, reason(fault), started, kMacRxStore, arrives);
  });
  driver_.on_receive = [this](std::span<const std::uint8_t> bytes,
                              std::span<const std::uint8_t> descriptor, Time now) {
    deliver(rx_stream_, bytes, now, host_output_);
    if (host_tap_) host_tap_->write(bytes);
    if (ways_) ways_->taken(bytes, descriptor);
    measurement_.received();
    faults_.received(driver_, host_.root);
    reset_.delivered(rx_stream_, now);
  };
}

void Bench::sample(Time now) {
  if (!serving_ || reset_.under_way()) return;
  faults_.clock(host_.root);
  driver_.work(now, [&] {
    const Frame* frame = sender_ ? sender_->due(now) : nullptr;
    if (!frame || !driver_.transmit(frame->bytes())) return false;
    offer(tx_stream_, frame->bytes(), frame->flow, now);
    if (ways_) ways_->put();
    faults_.transmitted(driver_, host_.root);
    sender_->pop();
    return true;
  });
}

// ---- the run

std::vector<std::uint8_t*> Bench::resets() {
  Vcore_nic& m = *model_;
  return {&m.core_rst_i, &m.mem_rst_i, &m.host_rst_i, &m.mac_rst_i};
}

void Bench::open() {
  model_.reset(simulation_, resets(), 200 * kNanosecond);
  simulation_.run_for(1 * kMicrosecond);
  host_.root.enumerate();
  let_run();
  if (given_up()) return;
  const Time from = simulation_.now() + stall_after_;
  if (stall_for_ != 0) host_.root.stall(from, from + stall_for_);
}

// The driver, as far as receive descriptors are fetched.
void Bench::let_run() {
  driver_.probe();
  driver_.load(image_);
  observer_.halt(simulation_.now());
  driver_.start();
  boot();
  if (given_up()) return;
  serving_ = true;
  driver_.open();
  simulation_.run_for(10 * kMicrosecond);
}

SlotReset::System Bench::reset_system() {
  SlotReset::System system;
  system.hold = [this](bool held) {
    for (std::uint8_t* pin : resets()) *pin = held;
  };
  system.settle = [this](Time) { simulation_.run_for(2 * kMicrosecond); };
  system.lose = [this] { return drops_->lose(score_); };
  system.dropped = [this] { return driver_.read(EMERY_REG(dma_unexpected)); };
  system.late = [this] { return driver_.read(EMERY_REG(dma_late)); };
  system.open = [this] {
    observer_.restart();
    driver_.forget();
    let_run();
    moved();
  };
  if (direction_ != "rx") system.streams.push_back(tx_stream_);
  if (direction_ != "tx") system.streams.push_back(rx_stream_);
  return system;
}

void Bench::boot() {
  const Time deadline = simulation_.now() + kBoot;
  while (!observer_.ready() && !given_up()) {
    simulation_.run_for(kStep);
    moved();
    see_whether_it_goes_on();
    if (!given_up() && simulation_.now() > deadline)
      give_up("the firmware has not got ready within " + std::to_string(kBoot / 1'000'000'000) +
              " ms: it prints R when it is");
  }
}

void Bench::see_whether_it_goes_on() {
  std::string trouble = observer_.trap();
  if (trouble.empty() && observer_.exited() && observer_.exit_code() != 0)
    trouble = "the firmware ended with exit code " + std::to_string(observer_.exit_code());
  if (trouble.empty()) trouble = observer_.mismatch();
  if (trouble.empty()) trouble = driver_.complaint();
  if (trouble.empty() && quiet() > patience_ + stall_for_ + faults_.pause()) {
    if (serving_ && drops_->read(driver_)) return moved();
    trouble = "no frame has moved for " + std::to_string(patience_ / kMicrosecond) + " us";
    if (const std::string missing = drops_->missing(score_); !missing.empty())
      trouble += ": " + missing;
  }
  if (!trouble.empty()) give_up(trouble);
}

void Bench::look() {
  if (!draining() && reset_.due(traffic_start(), simulation_.now() + kStep))
    reset_.strike(traffic_start(), simulation_, host_, memory_, reset_system());
  if (given_up()) return;
  // A source that ends before another has given so much leaves no time to measure in.
  if (offering_ && !reset_.any() && !measurement_.begun() && progress() >= kMeasureFrom)
    measurement_.begin();
  // Beyond this the load is no longer what was asked for.
  if (offering_ && sources_ended() != 0) {
    offering_ = false;
    if (measurement_.begun()) measurement_.end();
  }
  // Nobody waits for anything.
  if (drops_->missing(score_).empty()) moved();
  see_whether_it_goes_on();
}

// Whether every frame was delivered or is in a counter. Reads the counters only when nothing has
// moved for a while.
bool Bench::settled() {
  if (drops_->missing(score_).empty()) return true;
  if (quiet() <= kSettled) return false;
  if (drops_->read(driver_)) moved();
  return drops_->missing(score_).empty();
}

void Bench::account() {
  serving_ = false;
  drops_->read(driver_);
  drops_->account(score_);
  driver_.read_counts();
}

// ---- the result

void Bench::check(Findings& findings) const {
  host_.check(findings);
  reset_.check(host_, findings);
  findings.add(host_.root.stats().wild_writes, "writes to host memory that nobody gave the device");
  if (!faults_.reads_wild())
    findings.add(host_.root.stats().unsupported,
                 "reads of host memory that nobody gave the device");
  findings.add(ddr_.stats().violations,
               "violations at the frame memory: " + ddr_.stats().first_violation);
  mac_.stats().check(findings);
}

void Bench::report(JsonWriter& json) const {
  measurement_.write(json, traffic_start());
  host_.write(json, "pcie_");
  json.key("driver");
  driver_.write(json);
  driver_.write_counts(json);
  json.key("resets");
  reset_.write(json);
  json.key("fault");
  faults_.write(json);
  json.key("mac");
  mac_.stats().write(json);
  json.field("instructions_checked", observer_.checked());
  if (const Studies* studies = observer_.studies()) {
    json.key("studies");
    studies->write(json);
  }
  if (measurement_.ended())
    observer_.profile().write_functions(json, static_cast<double>(measurement_.frames()));
}

}  // namespace
}  // namespace emery::core_nic

int main(int argc, char** argv) { return emery::run_simulator<emery::core_nic::Bench>(argc, argv); }
