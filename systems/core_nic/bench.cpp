// SPDX-License-Identifier: Apache-2.0
// core-nic on the bench: the NIC's RTL with its firmware between a PCIe link with its host, an
// Ethernet wire and a frame memory.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "Vcore_nic.h"
#include "bench/dram/ddr.hpp"
#include "bench/run/main.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac.hpp"
#include "core_nic.h"
#include "ids_formats.hpp"
#include "systems/core_nic/driver.hpp"
#include "systems/core_nic/drops.hpp"
#include "systems/core_nic/image.hpp"
#include "systems/core_nic/measurement.hpp"
#include "systems/core_nic/observer.hpp"
#include "systems/core_nic/ways.hpp"

namespace emery::core_nic {
namespace {

constexpr double kLineRate = 10e9;
constexpr unsigned kMostFrame = 1514;         // without FCS
constexpr Time kStep = 2 * kMicrosecond;      // between looks at how the run goes
constexpr Time kSettled = 30 * kMicrosecond;  // without a delivery: see what is accounted for
constexpr Time kBoot = 5'000 * kMicrosecond;  // for the firmware to get ready
constexpr double kMeasureFrom = 0.1;          // of the traffic
#define EMERY_REG(name) offsetof(core_nic_regs_t, name)

FramePins mac_tx(Vcore_nic& m) {
  return {&m.mac_tx_valid_o, &m.mac_tx_ready_i, &m.mac_tx_data_o, &m.mac_tx_len_o,
          &m.mac_tx_sop_o,   &m.mac_tx_eop_o,   &m.mac_tx_err_o};
}

FramePins mac_rx(Vcore_nic& m) {
  return {&m.mac_rx_valid_i, nullptr,         &m.mac_rx_data_i, &m.mac_rx_len_i,
          &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i};
}

DdrPins dram_pins(Vcore_nic& m) {
  return {&m.dram_cmd_o,      &m.dram_bank_o, &m.dram_addr_o,     &m.dram_dq_valid_o,
          m.dram_dq_o.data(), &m.dram_dm_o,   m.dram_dq_i.data(), dram_pkg::DramSlots};
}

FunctionConfig function() {
  FunctionConfig f;
  f.vendor = ids_pkg::IdVendor;
  f.device = ids_pkg::IdCoreNic;
  f.class_code = ids_pkg::ClassEthernet;
  f.bar0_bytes = std::bit_ceil(sizeof(core_nic_t));
  f.msix_vectors = 1;
  f.msix_table = offsetof(core_nic_t, msix.entry);
  f.msix_pba = offsetof(core_nic_t, msix.pending);
  return f;
}

PcieSettings slot(const Options& options) {
  PcieSettings s(options);
  if (options.get<std::string>("interconnect") != "ideal") return s;
  s.link.gen = 5;
  s.link.lanes = 16;
  s.link.latency = 20 * kNanosecond;
  s.root.ingress = s.root.memory_latency = s.root.jitter = s.root.tail = s.root.wake = 0;
  s.root.write_time = 0;
  s.root.reorder = false;
  return s;
}

DriverConfig driver_config(const Options& options) {
  DriverConfig c{};
  c.cores = options.get<unsigned>("cores");
  c.send_ring = options.get<unsigned>("send_ring");
  c.receive_ring = options.get<unsigned>("receive_ring");
  c.segments = options.get<unsigned>("segments");
  c.payload_offset = options.get<unsigned>("payload_offset");
  c.receive_slots = options.get<unsigned>("receive_slots");
  c.watchdog_clocks = static_cast<unsigned>(options.get<std::uint64_t>("watchdog_us") *
                                            Clocks::core_thirds_of(options) / 3);
  c.drop_udp_port = options.get<unsigned>("drop_udp_port");
  c.queues = options.get<unsigned>("receive_queues");
  c.cpu_per_frame = options.ns("cpu_ns_per_frame");
  return c;
}

MacConfig mac_config(const Options& options) {
  MacConfig c;
  c.rate = kLineRate;
  c.clock_hz = 156'250'000;
  c.oversize_bytes = 1600;
  c.seed = options.get<std::uint64_t>("seed") + 1000;
  c.read_faults(options);
  return c;
}

Clocks add_clocks(const Options& options, Simulation& simulation,
                  VerilatedModel<Vcore_nic>& model) {
  Clocks c(options);
  c.core = model.add_clock(simulation, "core", c.core_thirds * 1'000'000ull, 3, model->core_clk_i);
  c.mem = model.add_clock(simulation, "mem", c.mem_mhz * 1'000'000ull, dram_pkg::DramSlots,
                          model->mem_clk_i);
  return c;
}

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the host clock: the driver and what feeds it.
  void sample(Time now) override;

 private:
  void connect_wire();
  void add_traffic(const Options& options);
  void boot();
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
  };
}

void Bench::sample(Time now) {
  if (!serving_) return;
  driver_.work(now, [&] {
    const Frame* frame = sender_ ? sender_->due(now) : nullptr;
    if (!frame || !driver_.transmit(frame->bytes())) return false;
    offer(tx_stream_, frame->bytes(), frame->flow, now);
    if (ways_) ways_->put();
    sender_->pop();
    return true;
  });
}

// ---- the run

void Bench::open() {
  Vcore_nic& m = *model_;
  model_.reset(simulation_, {&m.core_rst_i, &m.mem_rst_i, &m.host_rst_i, &m.mac_rst_i},
               200 * kNanosecond);
  simulation_.run_for(1 * kMicrosecond);
  host_.root.enumerate();
  driver_.probe();
  driver_.load(image_);
  observer_.halt(simulation_.now());
  driver_.start();
  boot();
  if (given_up()) return;
  serving_ = true;
  driver_.open();
  simulation_.run_for(10 * kMicrosecond);  // receive descriptors are fetched
  const Time from = simulation_.now() + stall_after_;
  if (stall_for_ != 0) host_.root.stall(from, from + stall_for_);
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
  if (trouble.empty() && quiet() > patience_ + stall_for_) {
    if (serving_ && drops_->read(driver_)) return moved();
    trouble = "no frame has moved for " + std::to_string(patience_ / kMicrosecond) + " us";
    if (const std::string missing = drops_->missing(score_); !missing.empty())
      trouble += ": " + missing;
  }
  if (!trouble.empty()) give_up(trouble);
}

void Bench::look() {
  // A source that ends before another has given so much leaves no time to measure in.
  if (offering_ && !measurement_.begun() && progress() >= kMeasureFrom) measurement_.begin();
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
}

// ---- the result

void Bench::check(Findings& findings) const {
  host_.check(findings);
  findings.add(host_.root.stats().wild_writes, "writes to host memory that nobody gave the device");
  findings.add(host_.root.stats().unsupported, "reads of host memory that nobody gave the device");
  findings.add(ddr_.stats().violations,
               "violations at the frame memory: " + ddr_.stats().first_violation);
  mac_.stats().check(findings);
}

void Bench::report(JsonWriter& json) const {
  measurement_.write(json, traffic_start());
  host_.write(json, "pcie_");
  json.key("driver");
  driver_.write(json);
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
