// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/functions_bench.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "bench/pcie/host_calls.hpp"
#include "host_nic.h"
#include "queue_formats.hpp"
#include "systems/host_nic/device_counts.hpp"
#include "systems/host_nic/drops.hpp"
#include "systems/host_nic/settings.hpp"
#include "systems/host_nic/ways.hpp"

namespace emery::host_nic {

namespace {

constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 200 * kMicrosecond;
constexpr unsigned kMostOutstanding = 512;
constexpr Time kFunctionReset = 100 * kMicrosecond;  // a real host waits 100 ms

FunctionConfig with_functions(const Options& options) {
  FunctionConfig config = function(options);
  config.functions = options.get<unsigned>("functions");
  return config;
}

}  // namespace

FunctionsBench::FunctionsBench(const Options& options, const FunctionSettings& settings)
    : Run(options, kStep, kQuiet + interrupt_hold(options)),
      model_("host_nic"),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      workload_(options, line(options), options.get<unsigned>("ports")),
      host_(slot(options), simulation_, memory_),
      iommu_(settings.count),
      reset_at_(settings.reset_at ? settings.reset_at : kNever),
      addresses_(settings.addresses) {
  // What does not go with functions is refused by system.toml.
  for (const std::string& key : options.endings("")) options.get<std::string>(key);
  const unsigned count = settings.count;
  model_.open_waves(waves());
  host_.attach(core_, with_functions(options),
               EndpointPins::of(model_->pcie_i, model_->pcie_o,
                                options.get<std::string>("pcie_interface"), 128));
  MacConfig mac;
  mac.rate = line_rate(options);
  const unsigned gbps = port_gbps(options), ports = options.get<unsigned>("ports");
  const MacClocks clocks = MacClocks::add(model_, simulation_, options, gbps, ports);
  for (unsigned p = 0; p < ports; ++p) {
    ports_.push_back(std::make_unique<MacPort>(mac, gbps, *model_, p));
    simulation_.add(clocks.tx[p], ports_[p]->tx);
    simulation_.add(clocks.rx[p], ports_[p]->rx);
  }
  simulation_.add(core_, *this);

  DriverConfig config = driver_config(options, workload_);
  config.tx_queues = options.get<unsigned>("tx_queues") / count;
  config.rx_queues = options.get<unsigned>("rx_queues") / count;
  slice_ = config.rx_queues;
  // Until the card has cleared its queues and tables.
  clear_ = std::max({options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"),
                     addresses_.on() ? 128 * count : 0}) +
           64;
  functions_.resize(count);
  for (unsigned n = 0; n < count; ++n)
    functions_[n].host = std::make_unique<FunctionHost>(host_.root, iommu_, n);
  if (settings.hostile) {
    hostile_ = std::make_unique<HostileFunction>(
        *functions_.back().host, std::min(config.tx_queues, config.rx_queues), ports,
        settings.reset_every, options.get<std::uint64_t>("seed"), addresses_.on());
  }
  for (unsigned n = 0; n < count; ++n) add_function(n, config);
  add_traffic(options);
}

void FunctionsBench::add_function(unsigned n, const DriverConfig& of_each) {
  Function& f = functions_[n];
  if (is_hostile(n)) return;
  DriverConfig config = of_each;
  if (!addresses_.joins(n)) config.coalesce_bytes = 0;
  config.functions = n == 0 ? static_cast<unsigned>(functions_.size()) : 0;
  f.driver = std::make_unique<Driver>(*f.host, config);
  f.driver->on_receive = [this, n](const Received& r, Time now) {
    Function& to = functions_[n];
    ++to.received;
    const unsigned port = queue_pkg::rx_flags_t{r.flags}.port();
    const auto place = addresses_.of(r.frame, port);
    if (place.function != n)
      ++to.strangers;
    else if (place.queue != r.queue)
      ++to.misdealt;
    deliver(to.rx_stream.at(port), r.frame, now, nullptr);
  };
  f.driver->on_sent = [this](unsigned, unsigned, bool, std::uint64_t, Time) { moved(); };
}

// The wire brings frames for all; each function sends an equal share of the rate.
void FunctionsBench::add_traffic(const Options& options) {
  const auto direction = options.get<std::string>("direction");
  const auto count = static_cast<unsigned>(functions_.size());
  const auto ports = static_cast<unsigned>(ports_.size());
  const TrafficConfig plan = *workload_.port(0);
  for (unsigned n = 0; n < count; ++n) {
    Function& f = functions_[n];
    if (!f.driver) continue;
    const std::string name = std::to_string(n);
    if (direction != "rx") f.tx_stream = score_.stream("tx" + name);
    for (unsigned p = 0; direction != "tx" && p < ports; ++p)
      f.rx_stream.push_back(
          score_.stream("rx" + name + (ports > 1 ? "p" + std::to_string(p) : "")));
    if (direction == "rx") continue;
    TrafficConfig own = plan;
    own.rate *= static_cast<double>(ports) / count;
    own.frames = plan.frames == 0 ? 0 : std::max<std::uint64_t>(plan.frames * ports / count, 1);
    addresses_.address_sent(own, n);
    own.source = static_cast<std::uint16_t>(n);
    f.sends = &add_source(own);
  }
  for (unsigned p = 0; p < ports; ++p) {
    watch_port(p);
    if (direction == "tx") continue;
    TrafficConfig wire = *workload_.port(p);
    wire.source = static_cast<std::uint16_t>(0x100 + p);
    addresses_.address_received(wire);
    wire.train = options.get<unsigned>("train");
    wire.tcp = options.get<bool>("receive_coalescing");
    MacEnd& mac = ports_[p]->rx;
    mac.set_source(&add_source(wire, [&mac] { return mac.rx_idle(); }));
  }
}

void FunctionsBench::watch_port(unsigned p) {
  ports_[p]->tx.on_transmitted([this](std::span<const std::uint8_t> bytes, Time arrived) {
    const auto origin = Traffic::origin(bytes);
    if (!origin || origin->source >= functions_.size() ||
        functions_[origin->source].tx_stream < 0) {
      ++of_hostile_;
      return;
    }
    ++functions_[origin->source].sent;
    deliver(functions_[origin->source].tx_stream, bytes, arrived, nullptr);
  });
  ports_[p]->rx.on_receiving([this, p](const Frame& frame, WireFault, Time started, Time arrives) {
    const Function& to = functions_[addresses_.of(frame.bytes(), p).function];
    if (!to.driver) {
      ++to_hostile_;
      return;
    }
    offer_from_wire(to.rx_stream[p], frame, nullptr, started, kRxBuffer, arrives);
    moved();
  });
}

void FunctionsBench::feed(Function& f, Time now) {
  while (f.sends && f.driver->tx_outstanding() < kMostOutstanding &&
         f.driver->due() < host_.root.mmio_room()) {
    const Frame* frame = f.sends->due(now);
    if (!frame) return;
    if (!f.driver->transmit(0, frame->flow % f.driver->tx_queues(), frame->bytes())) return;
    offer(f.tx_stream, frame->bytes(), frame->flow, now);
    f.sends->pop();
    moved();
  }
}

void FunctionsBench::sample(Time now) {
  if (!running()) return;
  // Each in its turn comes first.
  const std::size_t count = functions_.size(), first = simulation_.cycles(core_) % count;
  for (std::size_t i = 0; i < count; ++i) {
    Function& f = functions_[(first + i) % count];
    if (!f.driver || f.away || !host_.root.mmio_room()) continue;
    f.driver->poll(now);
    feed(f, now);
    f.driver->flush();
  }
  if (hostile_ && !draining()) hostile_->clock(now);
}

// ---- the run

void FunctionsBench::open() {
  std::vector<std::uint8_t*> resets = {&model_->rst_i};
  for (unsigned p = 0; p < ports_.size(); ++p) {
    resets.push_back(&model_->mac_tx_rst_i[p]);
    resets.push_back(&model_->mac_rx_rst_i[p]);
  }
  model_.reset(simulation_, resets, 100 * kNanosecond);
  simulation_.run_for(clear_ * kCoreClock);
  host_.root.enumerate();
  host_.root.enable_functions(static_cast<unsigned>(functions_.size()), iommu_);
  for (Function& f : functions_) {
    f.host->enumerated();
    if (!f.driver) continue;
    f.driver->probe();
    f.driver->open();
    if (hostile_) {
      emnic_queue_state state;
      emnic_tx_state(emnic_tx_queue(f.driver->core(), 0, 0), &state);
      hostile_->knows(state.ring_bus);
      emnic_rx_state(emnic_rx_queue(f.driver->core(), 0, 0), &state);
      hostile_->knows(state.buffers_bus);
    }
  }
  addresses_.set_up(functions_[0].driver->core(), functions_[0].driver->rx_queues());
  if (hostile_) hostile_->open();
  host_.count_from_here();
}

// ---- a function-level reset of one that behaves

void FunctionsBench::look() {
  if (!draining() && reset_at_ != kNever && simulation_.now() >= traffic_start() + reset_at_)
    reset_function();
}

std::vector<int> FunctionsBench::streams_of(const Function& f) const {
  std::vector<int> streams = f.rx_stream;
  if (f.tx_stream >= 0) streams.push_back(f.tx_stream);
  return streams;
}

void FunctionsBench::reset_function() {
  reset_at_ = kNever;
  was_reset_ = true;
  Function& f = last_that_behaves();
  f.away = true;
  f.host->config_write(device_control(*f.host), kInitiateReset, 0x2);
  f.host->wait([] { return false; }, kFunctionReset);
  f.driver->reopen();
  for (const int stream : streams_of(f)) in_reset_.push_back(score_.under_way(stream));
  f.away = false;
}

// What was under way when it was open again may be lost, and nothing that came later.
void FunctionsBench::lose_in_reset() {
  const auto streams = streams_of(last_that_behaves());
  for (std::size_t i = 0; i < in_reset_.size(); ++i) {
    const std::uint64_t missing =
        score_.under_way(streams[i]) - score_.counts(streams[i]).dropped_total();
    const std::uint64_t lost = std::min(missing, in_reset_[i]);
    if (lost != 0) score_.dropped(streams[i], "reset", lost);
    lost_ += lost;
  }
}

// A function that has been reset has no queue in use, whatever it wrote last. The physical one sees
// the registers of all.
void FunctionsBench::count_left_on() {
  Driver& driver = *functions_[0].driver;
  const auto last = static_cast<std::uint32_t>(functions_.size() - 1);
  const auto look = [&](std::size_t region, std::uint32_t each) {
    for (std::uint32_t n = last * each; n < (last + 1) * each; ++n) {
      const auto at = static_cast<std::uint32_t>(region + n * sizeof(desc_queue_regs__stride20_t));
      left_on_ += emnic_read(driver.core(), at + 8) & 1;
    }
  };
  look(offsetof(host_nic_t, interface[0].txq), driver.tx_queues());
  look(offsetof(host_nic_t, interface[0].txcq), driver.tx_queues());
  look(offsetof(host_nic_t, interface[0].rxq), slice_);
  look(offsetof(host_nic_t, interface[0].rxcq), slice_);
}

// What was dropped before a queue was found is nobody's.
void FunctionsBench::account() {
  if (hostile_) hostile_->close();
  trouble().add(
      DeviceCounts::levels(*functions_[0].driver, simulation_, simulation_.now() + kQuiet).lines());
  emnic* const core = functions_[0].driver->core();
  if (hostile_) count_left_on();
  for (const DropReason& reason : kReceiveDrops) {
    if (reason.counter != EMNIC_PORT_rx_fifo_full && reason.counter != EMNIC_PORT_rx_buffer_full)
      continue;
    for (unsigned p = 0; p < ports_.size(); ++p) {
      std::uint64_t left = emnic_get_counter(core, reason.counter, 0, p);
      for (const Function& f : functions_) {
        if (f.rx_stream.empty()) continue;
        const auto lost = std::min(left, score_.under_way(f.rx_stream[p]));
        if (lost != 0) score_.dropped(f.rx_stream[p], reason.name, lost);
        left -= lost;
      }
    }
  }
  lose_in_reset();
  outside_ = emnic_read(core, offsetof(host_nic_t, device.function_outside));
  resets_ = emnic_read(core, offsetof(host_nic_t, device.function_resets));
  for (unsigned p = 0; p < ports_.size(); ++p)
    spoofed_ += emnic_get_counter(core, EMNIC_PORT_tx_spoofed, 0, p);
  for (unsigned p = 0; p < ports_.size(); ++p)
    joined_ += emnic_get_counter(core, EMNIC_PORT_rx_joined, 0, p);
  for (unsigned n = 0; n < functions_.size(); ++n)
    if (functions_[n].driver)
      readdressed_ += addresses_.changed(functions_[n].driver->core(), n == 0, n);
}

MacStats FunctionsBench::stats() const {
  MacStats sum = ports_[0]->stats();
  for (std::size_t p = 1; p < ports_.size(); ++p) sum = sum + ports_[p]->stats();
  return sum;
}

bool FunctionsBench::at_rest() const { return host_.at_rest(); }

void FunctionsBench::check(Findings& findings) const {
  host_.check(findings);
  stats().check(findings);
  findings.add(readdressed_, "addresses of functions that are not as they were set");
  findings.add(left_on_, "queues in use of a function that has been reset");
  for (unsigned n = 0; n < functions_.size(); ++n) {
    const Function& f = functions_[n];
    const Iommu::Refused& refused = iommu_.refused(n);
    if (!f.driver) continue;
    const std::string name = "function " + std::to_string(n) + ": ";
    findings.add(refused.reads + refused.writes + refused.interrupts,
                 name + "accesses that the IOMMU refused");
    findings.add(f.strangers, name + "frames of other functions");
    findings.add(f.misdealt, name + "frames in another queue than their hash says");
    findings.add(f.driver->error_count(), name + "errors of its queues");
    f.driver->check(findings);
  }
}

void FunctionsBench::report(JsonWriter& json) const {
  host_.write_busy(json);
  json.array("functions");
  for (unsigned n = 0; n < functions_.size(); ++n) {
    const Function& f = functions_[n];
    json.begin_object()
        .field("hostile", is_hostile(n))
        .field("sent", f.sent)
        .field("received", f.received)
        .field("refused_reads", iommu_.refused(n).reads)
        .field("refused_writes", iommu_.refused(n).writes)
        .field("refused_interrupts", iommu_.refused(n).interrupts);
    if (f.driver) {
      json.key("driver");
      f.driver->write(json);
      f.driver->write_errors(json);
    }
    json.end_object();
  }
  json.end_array();
  json.field("function_outside", outside_).field("function_resets", resets_);
  json.object("function_reset").field("struck", was_reset_).field("lost", lost_).end_object();
  json.field("function_spoofed", spoofed_).field("segments_joined", joined_);
  json.object("hostile").field("frames_to", to_hostile_).field("frames_from", of_hostile_);
  if (hostile_) {
    json.key("did");
    hostile_->write(json);
  }
  json.end_object();
  host_.write(json, "pcie_");
  json.key("mac");
  stats().write(json);
}

}  // namespace emery::host_nic
