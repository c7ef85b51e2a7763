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
#include "systems/host_nic/faults.hpp"
#include "systems/host_nic/settings.hpp"
#include "systems/host_nic/ways.hpp"

namespace emery::host_nic {

namespace {

constexpr Time kStep = 2 * kMicrosecond;
constexpr Time kQuiet = 500 * kMicrosecond;
constexpr unsigned kMostOutstanding = 512;
constexpr Time kFunctionReset = 100 * kMicrosecond;  // a real host waits 100 ms
// With functions, by system.toml.
constexpr const char* kRefused[] = {
    "interfaces",     "queue_rates", "steered_flows",      "fault",
    "fault_frame",    "fault_us",    "reset_at_us",        "reset_kind",
    "reset_every_us", "reset_us",    "tcp_window_kb",      "tcp_rto_us",
    "tcp_delay_us",   "tcp_cpus",    "tcp_ns_per_segment", "tcp_ns_per_kb"};

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
      addresses_(settings.addresses),
      counts_(score_, options.get<unsigned>("tx_queues") / settings.count,
              options.get<unsigned>("rx_queues") / settings.count, options.get<unsigned>("ports"),
              options.get<bool>("shared_queues")),
      restart_every_(options.get<std::uint64_t>("restart_every")),
      counted_(options.get<unsigned>("counted_queues")) {
  for (const char* setting : kRefused) options.get<std::string>(setting);
  const unsigned count = settings.count;
  model_.open_waves(waves());
  host_.attach(core_, with_functions(options),
               EndpointPins::of(model_->pcie_i, model_->pcie_o,
                                options.get<std::string>("pcie_interface"), 128));
  DriverConfig config = driver_config(options, workload_);
  const unsigned gbps = port_gbps(options), ports = options.get<unsigned>("ports");
  const MacClocks clocks = MacClocks::add(model_, simulation_, options, gbps, ports);
  for (unsigned p = 0; p < ports; ++p) {
    MacConfig mac;
    mac.rate = line_rate(options);
    mac.seed = options.get<std::uint64_t>("seed") + 1000 + p;
    set_wire_faults(options, config.max_frame, mac);
    ports_.push_back({std::make_unique<MacPort>(mac, gbps, *model_, p),
                      std::make_unique<PortCounts>(config.max_frame, gbps != 100)});
    simulation_.add(clocks.tx[p], ports_[p].mac->tx);
    simulation_.add(clocks.rx[p], ports_[p].mac->rx);
  }
  simulation_.add(core_, *this);

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
  for (unsigned n = 0; n < count; ++n) add_function(options, n, config);
  add_traffic(options);
}

void FunctionsBench::add_function(const Options& options, unsigned n, const DriverConfig& of_each) {
  Function& f = functions_[n];
  if (is_hostile(n)) return;
  DriverConfig config = of_each;
  if (!addresses_.joins(n)) config.coalesce_bytes = 0;
  config.functions = n == 0 ? static_cast<unsigned>(functions_.size()) : 0;
  f.driver = std::make_unique<Driver>(*f.host, config);
  f.shared = std::make_unique<SharedQueues>(options, *f.driver, line_rate(options));
  f.records = std::make_unique<RecordCheck>(1, static_cast<unsigned>(ports_.size()), config);
  f.driver->on_receive = [this, n](const Received& r, Time now) { took(n, r, now); };
  f.driver->on_sent = [this, &f](unsigned, unsigned queue, bool error, std::uint64_t stamp,
                                 Time now) {
    if (!error) f.records->sent(0, queue, stamp, now);
    moved();
  };
}

// In captures queues have the numbers that the card knows them by.
void FunctionsBench::took(unsigned n, const Received& r, Time now) {
  Function& f = functions_[n];
  const unsigned port = queue_pkg::rx_flags_t{r.flags}.port();
  ++f.received;
  const auto place = addresses_.of(r.frame, port);
  f.strangers += place.function != n;
  f.records->received(r, port, place.function == n ? place.queue : r.queue, now);
  f.shared->received(r, port, r.frame.size());
  if (record_file_) {
    Received of_card = r;
    of_card.queue += n * slice_;
    record_file_->write(of_card, port);
  }
  deliver(f.rx_stream.at(port), r.frame, now, host_output_,
          static_cast<Time>(r.timestamp) * kNanosecond);
  if (restart_every_ && ++arrived_ % restart_every_ == 0) f.driver->restart_rx(0, r.queue);
}

// The wire brings frames for all; each function sends an equal share of the rate.
void FunctionsBench::add_traffic(const Options& options) {
  const auto direction = options.get<std::string>("direction");
  const auto count = static_cast<unsigned>(functions_.size());
  const auto ports = static_cast<unsigned>(ports_.size());
  TrafficConfig plan = *workload_.port(0);
  plan.train = options.get<unsigned>("train");
  if (direction != "tx") host_output_ = add_output("host.pcap", Output::Order::kByTime);
  if (host_output_) record_file_.emplace(options.get("pcap_out", "") + "/host.csv");
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
    if (direction != "rx") ports_[p].output = add_output("wire" + std::to_string(p) + ".pcap");
    connect_port(p);
    if (direction == "tx") continue;
    TrafficConfig wire = *workload_.port(p);
    wire.source = static_cast<std::uint16_t>(0x100 + p);
    addresses_.address_received(wire);
    wire.train = plan.train;
    wire.tcp = options.get<bool>("receive_coalescing");
    MacEnd& mac = ports_[p].mac->rx;
    mac.set_source(&add_source(wire, [&mac] { return mac.rx_idle(); }));
  }
}

void FunctionsBench::connect_port(unsigned p) {
  Port& port = ports_[p];
  port.mac->tx.on_transmitted([this, p](std::span<const std::uint8_t> bytes, Time arrived) {
    ports_[p].counts->sent(bytes);
    const auto origin = Traffic::origin(bytes);
    if (!origin || origin->source >= functions_.size() ||
        functions_[origin->source].tx_stream < 0) {
      ++of_hostile_;
      return;
    }
    ++functions_[origin->source].sent;
    deliver(functions_[origin->source].tx_stream, bytes, arrived, ports_[p].output);
  });
  port.mac->rx.on_receiving(
      [this, p](const Frame& frame, WireFault fault, Time started, Time arrives) {
        ports_[p].counts->received(frame.bytes(), fault);
        const Function& to = functions_[addresses_.of(frame.bytes(), p).function];
        if (!to.driver) {
          ++to_hostile_;
          return;
        }
        offer_from_wire(to.rx_stream[p], frame, reason(fault), started, kRxBuffer, arrives);
        if (fault != WireFault::kNone) counts_.spoilt(to.rx_stream[p], fault);
        moved();
      });
  port.mac->rx.on_rx_reset_end([this, p] { ports_[p].counts->reset(); });
}

void FunctionsBench::feed(Function& f, Time now) {
  while (f.sends && f.driver->tx_outstanding() < kMostOutstanding &&
         f.driver->due() < host_.root.mmio_room()) {
    const Frame* frame = f.sends->due(now);
    if (!frame) return;
    const unsigned queue = frame->flow % f.driver->tx_queues();
    if (!f.driver->transmit(0, queue, frame->bytes())) return;
    offer(f.tx_stream, frame->bytes(), frame->flow, now);
    f.sends->pop();
    moved();
    if (restart_every_ && ++given_ % restart_every_ == 0) f.driver->restart_tx(0, queue);
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
    f.shared->clock(now);
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
  for (const Function& f : functions_)
    if (f.records) f.records->started(simulation_.now());
  simulation_.run_for(clear_ * kCoreClock);
  host_.root.enumerate();
  host_.root.enable_functions(static_cast<unsigned>(functions_.size()), iommu_);
  for (Function& f : functions_) {
    f.host->enumerated();
    if (!f.driver) continue;
    f.driver->probe();
    f.driver->open();
    f.shared->opened(simulation_.now());
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
  Function& f = last_that_behaves();
  was_reset_ = &f;
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
    const std::uint64_t missing = score_.missing(streams[i]);
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

void FunctionsBench::account() {
  if (hostile_) hostile_->close();
  trouble().add(
      DeviceCounts::levels(*functions_[0].driver, simulation_, simulation_.now() + kQuiet).lines());
  emnic* const core = functions_[0].driver->core();
  if (hostile_) count_left_on();
  FunctionCounts::Streams received;
  for (unsigned n = 0; n < functions_.size(); ++n)
    if (!functions_[n].rx_stream.empty()) received.emplace_back(n, functions_[n].rx_stream);
  counts_.account(core, received);
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

// Of a function that was reset the card has counted what its driver never saw.
void FunctionsBench::inspect() {
  emnic* const core = functions_[0].driver->core();
  const auto count = static_cast<unsigned>(functions_.size());
  for (unsigned p = 0; p < ports_.size(); ++p)
    ports_[p].counts->compare(core, 0, p, ports_[p].mac->stats());
  for (unsigned n = 0; n < count; ++n) {
    if (!functions_[n].driver || was_reset_ == &functions_[n]) continue;
    functions_[n].driver->compare_counts(
        [&](unsigned, bool transmit, unsigned queue, emnic_queue_counts& counts) {
          return counts_.read(core, n, transmit, queue, counts);
        },
        (n + 1) * counted_ / count - n * counted_ / count);
  }
}

MacStats FunctionsBench::stats() const {
  MacStats sum = ports_[0].mac->stats();
  for (std::size_t p = 1; p < ports_.size(); ++p) sum = sum + ports_[p].mac->stats();
  return sum;
}

Time FunctionsBench::busy_until() const {
  Time last = 0;
  for (const Function& f : functions_)
    if (f.driver) last = std::max(last, f.driver->busy_until());
  return last;
}

bool FunctionsBench::at_rest() const {
  return host_.at_rest() && std::ranges::none_of(functions_, [](const Function& f) {
           return f.driver && f.driver->restarting();
         });
}

void FunctionsBench::check(Findings& findings) const {
  host_.check(findings);
  stats().check(findings);
  findings.add(readdressed_, "addresses of functions that are not as they were set");
  findings.add(left_on_, "queues in use of a function that has been reset");
  std::vector<std::uint64_t> left;
  for (const Port& port : ports_) left.push_back(port.mac->stats().tx_frames);
  for (unsigned n = 0; n < functions_.size(); ++n) {
    const Function& f = functions_[n];
    const Iommu::Refused& refused = iommu_.refused(n);
    if (!f.driver) continue;
    const std::string name = "function " + std::to_string(n) + ": ";
    findings.add(refused.reads + refused.writes + refused.interrupts,
                 name + "accesses that the IOMMU refused");
    findings.add(f.strangers, name + "frames of other functions");
    findings.add(f.driver->error_count(), name + "errors of its queues");
    f.driver->check(findings);
    Findings own;
    f.records->check(own);
    f.shared->check(left, own);
    for (const std::string& line : own.lines()) findings.add(name + line);
  }
  for (const Port& port : ports_) findings.add(port.counts->findings().lines());
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
  json.object("function_reset")
      .field("struck", was_reset_ != nullptr)
      .field("lost", lost_)
      .end_object();
  json.field("function_spoofed", spoofed_).field("segments_joined", joined_);
  json.object("hostile").field("frames_to", to_hostile_).field("frames_from", of_hostile_);
  if (hostile_) {
    json.key("did");
    hostile_->write(json);
  }
  json.end_object();
  host_.write(json, "pcie_");
  QueueCounts counts;
  SharedQueues shared = *functions_[0].shared;
  for (const Function& f : functions_) {
    if (!f.driver) continue;
    counts += f.driver->counts();
    if (&f != &functions_[0]) shared += *f.shared;
  }
  shared.write(json);
  json.object("queue_counters");
  counts.write(json);
  json.end_object().array("port_counters");
  for (const Port& port : ports_) port.counts->write(json);
  json.end_array().key("mac");
  stats().write(json);
}

}  // namespace emery::host_nic
