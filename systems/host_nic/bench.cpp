// SPDX-License-Identifier: Apache-2.0
// host-nic on the bench: the NIC's RTL between a PCIe link with its host on one side and Ethernet
// wires on the other.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "Vhost_nic.h"
#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/runner.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/wire/mac.hpp"
#include "host_nic.h"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/faults.hpp"

namespace emery::host_nic {
namespace {

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr double kLineRate = 100e9;
constexpr Time kQuiet = 500 * kMicrosecond;  // nothing more is coming when nothing came for so long
constexpr unsigned kVlanAndHeader = 18;

class Bench final : public Component {
 public:
  explicit Bench(const Options& options);
  // The whole run: reset, driver, traffic, drain, counters.
  void run();
  void write(JsonWriter& json, double wall_seconds) const;
  std::vector<std::string> failures() const;
  void close();

  // Component, on the core clock: the driver and what feeds it.
  void sample(Time now) override;
  void drive() override {}

 private:
  struct Port {
    std::unique_ptr<Mac> mac;
    TrafficConfig plan;  // of what comes on its wire
    std::unique_ptr<Traffic> receive;
    std::unique_ptr<PcapWriter> capture;
    int tx_stream = 0, rx_stream = 0;
  };
  // What an interface is to send.
  struct Sender {
    TrafficConfig plan;
    std::unique_ptr<Traffic> traffic;
    Frame frame{};
    bool loaded = false;
  };
  struct Arrival {
    std::uint64_t timestamp;
    std::vector<std::uint8_t> bytes;
  };

  void connect();
  void plan_traffic(const Options& options);
  void start_traffic();
  void feed(unsigned interface, Time now);
  bool sources_done() const;
  double progress() const;
  void collect_drops();
  std::string stream_name(const char* direction, unsigned port) const;

  Simulation simulation_;
  VerilatedModel<Vhost_nic> model_;
  unsigned interfaces_, ports_;  // ports of one interface
  int core_, mac_clock_;
  std::string direction_;
  PcieLink link_;
  HostMemory memory_;
  RootComplex root_;
  std::unique_ptr<Endpoint> endpoint_;
  Driver driver_;
  Faults faults_;
  Scoreboard score_;
  std::vector<Port> port_;
  std::vector<Sender> sender_;
  std::unique_ptr<PcapWriter> host_capture_;
  std::vector<Arrival> arrivals_;
  unsigned most_outstanding_;
  unsigned tx_queues_, rx_queues_;
  Time dma_timeout_;
  bool running_ = false;
  Time last_activity_ = 0, traffic_start_ = 0, traffic_end_ = 0;
  Time up_busy_ = 0, down_busy_ = 0;  // of the link, before traffic
  std::uint32_t dma_timeouts_ = 0, dma_errors_ = 0, dma_late_ = 0,
                dma_unexpected_ = 0;  // the device's own counts
};

// 0 leaves it to the number of queues: 65,536 slots for all, 16 to 1024 each.
unsigned ring_slots(unsigned wanted, unsigned queues) {
  return wanted ? wanted : std::clamp(std::bit_floor(65536 / queues), 16u, 1024u);
}

DriverConfig driver_config(const Options& options) {
  DriverConfig c;
  const auto flows = options.get("flows", 64u);
  c.tx_queues = options.get("tx_queues", 256u);
  c.rx_queues = options.get("rx_queues", 256u);
  const bool capture = options.has("pcap") || options.has("pcap.0");
  // A capture is replayed in its order: one queue a port.
  c.tx_queues = std::min(c.tx_queues, capture ? options.get("ports", 1u) : flows);
  c.rx_queues = std::min(c.rx_queues, 128u);
  c.tx_ring = ring_slots(options.get("tx_ring", 0u), c.tx_queues);
  c.rx_ring = ring_slots(options.get("rx_ring", 0u), c.rx_queues);
  c.max_frame = options.get("mtu", 9000u) + kVlanAndHeader;
  c.segments = options.get("segments", c.segments);
  c.tx_burst = options.get("burst", c.tx_burst);
  c.interrupts = options.get("interrupts", c.interrupts);
  c.cpus = options.get("cpus", c.cpus);
  c.cpu_per_packet = options.get("cpu_ns_per_packet", 0) * kNanosecond;
  c.dma_timeout_clocks = options.get("dma_timeout_us", 1000u) * (kCoreHz / 1'000'000);
  return c;
}

LinkConfig link_config(const Options& options) { return LinkConfig::from(options); }

RootConfig root_config(const Options& options) {
  RootConfig c;
  c.memory_latency = options.get("read_latency_ns", 350) * kNanosecond;
  c.jitter = options.get("read_jitter_ns", 0) * kNanosecond;
  c.reorder = c.jitter != 0;
  c.max_payload = options.get("mps", c.max_payload);
  c.max_read_request = options.get("mrrs", c.max_read_request);
  c.seed = options.get("seed", std::uint64_t{1});
  return c;
}

Bench::Bench(const Options& options)
    : model_("host_nic"),
      interfaces_(options.get("interfaces", 1u)),
      ports_(options.get("ports", 1u)),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      mac_clock_(model_.add_clock(simulation_, "mac", 322'265'625, 1, model_->mac_clk_i)),
      direction_(options.get("direction", "both")),
      link_(link_config(options), PcieLink::root_credits(), PcieLink::device_credits()),
      root_(root_config(options), simulation_, link_, memory_),
      driver_(root_, driver_config(options)),
      faults_(options, driver_config(options)),
      port_(interfaces_ * ports_),
      sender_(interfaces_) {
  if (const std::string waves = options.get("waves", ""); !waves.empty()) model_.open_waves(waves);
  connect();
  plan_traffic(options);
  tx_queues_ = options.get("tx_queues", 256u);
  rx_queues_ = options.get("rx_queues", 256u);
  dma_timeout_ = driver_config(options).dma_timeout_clocks * 4 * kNanosecond;
  // Enough for blocks of eight on every queue, twice.
  most_outstanding_ = 16 * driver_.tx_queues() + 512;

  driver_.on_receive = [this](const Received& received, Time now) {
    last_activity_ = now;
    if (received.interface == 0) faults_.received(driver_, root_, received.queue, now);
    const unsigned port = received.flags >> 4 & 3;
    score_.delivered(port_.at(received.interface * ports_ + port).rx_stream, received.frame, now);
    if (host_capture_) {
      arrivals_.push_back({received.timestamp, {received.frame.begin(), received.frame.end()}});
    }
  };
  driver_.on_sent = [this](unsigned, unsigned, bool, std::uint64_t, Time now) {
    last_activity_ = now;
  };
}

std::string Bench::stream_name(const char* direction, unsigned port) const {
  return port_.size() == 1 ? direction : direction + std::to_string(port);
}

void Bench::connect() {
  EndpointConfig config;
  config.function.bar0_bytes = 64 << 20;
  config.function.msix_table = 0x10000;
  config.function.msix_pba = 0x18000;
  endpoint_ = std::make_unique<Endpoint>(config, link_, EndpointPins::of(*model_));
  simulation_.add(core_, *endpoint_);
  simulation_.add(core_, root_);
  simulation_.add(core_, *this);
}

void Bench::plan_traffic(const Options& options) {
  const std::string capture_dir = options.get("pcap_out", "");
  const bool transmit = direction_ != "rx", receive = direction_ != "tx";
  if (!capture_dir.empty() && receive)
    host_capture_ = std::make_unique<PcapWriter>(capture_dir + "/host.pcap");

  TrafficConfig config;
  config.sizes = Sizes::parse(options.get("size", "64"));
  config.frames = options.get("frames", std::uint64_t{0});
  config.duration = options.get("duration_ps", Time{0});
  config.flows = options.get("flows", 64u);
  config.train = options.get("train", 1u);
  config.seed = options.get("seed", std::uint64_t{1});
  const double rate = parse_rate(options.get("rate", "1.0"), kLineRate);
  const auto most = static_cast<std::uint32_t>(options.get("mtu", 9000u) + kVlanAndHeader);
  const std::string limit = "the MTU of " + std::to_string(most - kVlanAndHeader) + " allows";
  if (config.sizes.high + 0u > most + kFcsBytes) {
    throw OptionError("size " + std::to_string(config.sizes.high) + ": longer than " + limit);
  }

  const auto count = static_cast<std::uint32_t>(port_.size());
  std::shared_ptr<const Capture> shared;
  if (const std::string path = options.get("pcap", ""); !path.empty())
    shared = Capture::read(path, most, limit);
  std::vector<std::shared_ptr<const Capture>> own(count);
  for (unsigned p = 0; p < count; ++p) {
    const std::string path = options.get("pcap." + std::to_string(p), "");
    if (!path.empty()) own[p] = Capture::read(path, most, limit);
  }

  for (unsigned p = 0; p < count; ++p) {
    Port& port = port_[p];
    Vhost_nic& m = *model_;
    const FramePins tx{&m.mac_tx_valid_o[p], &m.mac_tx_ready_i[p], m.mac_tx_data_o[p].data(),
                       &m.mac_tx_len_o[p],   &m.mac_tx_sop_o[p],   &m.mac_tx_eop_o[p],
                       &m.mac_tx_err_o[p]};
    const FramePins rx{&m.mac_rx_valid_i[p],      nullptr,
                       m.mac_rx_data_i[p].data(), &m.mac_rx_len_i[p],
                       &m.mac_rx_sop_i[p],        &m.mac_rx_eop_i[p],
                       &m.mac_rx_err_i[p]};
    MacConfig mac;
    mac.rate = kLineRate;
    mac.seed = config.seed + 1000 + p;
    set_wire_faults(options, most, mac);
    port.mac = std::make_unique<Mac>(mac, tx, rx);
    simulation_.add(mac_clock_, *port.mac);

    if (transmit) {
      port.tx_stream = score_.stream(stream_name("tx", p));
      if (!capture_dir.empty()) {
        port.capture =
            std::make_unique<PcapWriter>(capture_dir + "/wire" + std::to_string(p) + ".pcap");
      }
    }
    port.mac->on_transmitted([this, p](std::span<const std::uint8_t> bytes, Time arrived) {
      score_.delivered(port_[p].tx_stream, bytes, arrived);
      if (port_[p].capture) port_[p].capture->write(arrived, bytes);
      last_activity_ = simulation_.now();
    });
    if (receive) {
      port.rx_stream = score_.stream(stream_name("rx", p));
      TrafficConfig traffic = config;
      traffic.rate = rate;
      traffic.source = static_cast<std::uint16_t>(0x100 + p);
      traffic.capture = own[p] ? own[p] : shared;
      if (!own[p] && shared) traffic.deal_index = p, traffic.deal_count = count;
      port.plan = traffic;
      port.mac->on_receiving([this, p](const Frame& frame, WireFault, Time started, Time) {
        score_.offered(port_[p].rx_stream, frame.bytes(), frame.flow, started);
        last_activity_ = simulation_.now();
      });
    }
  }
  if (!transmit) return;
  for (unsigned i = 0; i < interfaces_; ++i) {
    TrafficConfig traffic = config;
    traffic.rate = rate * ports_;
    traffic.source = static_cast<std::uint16_t>(i);
    traffic.capture = own[i * ports_] ? own[i * ports_] : shared;
    if (!own[i * ports_] && shared) traffic.deal_index = i, traffic.deal_count = interfaces_;
    sender_[i].plan = traffic;
  }
}

void Bench::start_traffic() {
  traffic_start_ = last_activity_ = simulation_.now();
  if (direction_ != "tx") {
    for (Port& port : port_) {
      port.plan.start = traffic_start_;
      port.receive = std::make_unique<Traffic>(port.plan);
      port.mac->set_source(port.receive.get());
    }
  }
  if (direction_ != "rx") {
    for (Sender& sender : sender_) {
      sender.plan.start = traffic_start_;
      sender.traffic = std::make_unique<Traffic>(sender.plan);
    }
  }
  running_ = true;
}

// Hands the driver what is due, as far as rings and backlog allow.
void Bench::feed(unsigned interface, Time now) {
  Sender& sender = sender_[interface];
  if (!sender.traffic) return;
  while (driver_.tx_outstanding() < most_outstanding_) {
    if (!sender.loaded && !(sender.loaded = sender.traffic->next(sender.frame))) return;
    if (sender.frame.start > now) return;
    const unsigned queue = sender.frame.flow / sender.plan.deal_count % driver_.tx_queues();
    const int stream = port_[interface * ports_ + queue % ports_].tx_stream;
    const bool stopped = driver_.tx_stopped(interface, queue);
    if (!stopped && !driver_.transmit(interface, queue, sender.frame.bytes())) return;
    score_.offered(stream, sender.frame.bytes(), sender.frame.flow, now);
    sender.loaded = false;
    last_activity_ = now;
    if (stopped) {
      score_.dropped(stream, "queue_stopped", 1);
    } else if (interface == 0) {
      faults_.transmitted(driver_, root_, queue, now);
    }
  }
}

void Bench::sample(Time now) {
  if (!running_) return;
  driver_.poll(now);
  for (unsigned i = 0; i < interfaces_; ++i) feed(i, now);
  driver_.flush();
}

bool Bench::sources_done() const {
  for (const Sender& sender : sender_) {
    if (sender.traffic && (sender.loaded || !sender.traffic->done())) return false;
  }
  for (const Port& port : port_) {
    if (port.receive && !(port.receive->done() && port.mac->rx_idle())) return false;
  }
  return true;
}

void Bench::run() {
  model_->rst_i = 1;
  model_->mac_rst_i = 1;
  model_.attach(simulation_);
  simulation_.run_for(100 * kNanosecond);
  model_->rst_i = 0;
  model_->mac_rst_i = 0;
  // The queue managers clear their RAMs, one queue a clock.
  simulation_.run_for((std::max(tx_queues_, rx_queues_) + 64) * 4 * kNanosecond);

  driver_.probe();
  driver_.open();
  up_busy_ = link_.up.busy_time();
  down_busy_ = link_.down.busy_time();
  start_traffic();

  double shown = 0;
  bool done = false;
  while (!done) {
    simulation_.run_for(2 * kMicrosecond);
    const Time quiet = simulation_.now() - last_activity_;
    done = sources_done() ? (score_.under_way() == 0 || quiet > kQuiet + faults_.pause())
                          : quiet > dma_timeout_ + kQuiet;
    if (const double part = progress(); part - shown >= 0.01) {
      std::fprintf(stderr, "progress %.2f\n", shown = part);
    }
  }
  traffic_end_ = last_activity_;
  running_ = false;
  collect_drops();
}

double Bench::progress() const {
  double done = 0;
  unsigned sources = 0;
  const auto add = [&](const Traffic& traffic) {
    const TrafficConfig& config = traffic.config();
    const double frames =
        config.frames    ? static_cast<double>(config.frames)
        : config.capture ? static_cast<double>(config.capture->packets().size()) / config.deal_count
                         : 0;
    const double part = frames > 0 ? static_cast<double>(traffic.stats().frames) / frames
                                   : static_cast<double>(simulation_.now() - traffic_start_) /
                                         static_cast<double>(std::max<Time>(config.duration, 1));
    done += std::min(part, 1.0);
    ++sources;
  };
  for (const Sender& sender : sender_) {
    if (sender.traffic) add(*sender.traffic);
  }
  for (const Port& port : port_) {
    if (port.receive) add(*port.receive);
  }
  return sources ? done / sources : 1;
}

// The device's own counters say what became of frames that did not arrive.
void Bench::collect_drops() {
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
  for (unsigned i = 0; i < interfaces_; ++i) {
    for (unsigned p = 0; p < ports_; ++p) {
      const Port& port = port_[i * ports_ + p];
      if (direction_ != "tx") {
        for (const Reason& reason : kReceive) {
          if (const auto count = driver_.port_register(i, p, reason.offset)) {
            score_.dropped(port.rx_stream, reason.name, count);
          }
        }
      }
      if (direction_ != "rx") {
        if (const auto count = driver_.port_register(i, p, offsetof(Regs, tx_errors))) {
          score_.dropped(port.tx_stream, "tx_error", count);
        }
        if (const auto count = driver_.tx_stranded(i, p))
          score_.dropped(port.tx_stream, "queue_stopped", count);
      }
    }
  }
  driver_.read_error_registers();
  dma_timeouts_ = driver_.device_register(offsetof(nic_device_regs_t, dma_timeouts));
  dma_errors_ = driver_.device_register(offsetof(nic_device_regs_t, dma_errors));
  dma_late_ = driver_.device_register(offsetof(nic_device_regs_t, dma_late));
  dma_unexpected_ = driver_.device_register(offsetof(nic_device_regs_t, dma_unexpected));
}

std::vector<std::string> Bench::failures() const {
  std::vector<std::string> lines = score_.failures();
  const auto fail = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) lines.push_back(std::to_string(count) + " " + what);
  };
  fail(endpoint_->stats().fc_violations, "TLPs sent without credit");
  fail(endpoint_->stats().tx_malformed, "malformed TLPs sent");
  fail(root_.stats().protocol_errors,
       "PCIe protocol errors: " + root_.stats().first_protocol_error);
  for (const Port& port : port_) {
    fail(port.mac->stats().tx_underruns, "transmit underruns");
    fail(port.mac->stats().tx_protocol_errors,
         "MAC protocol errors: " + port.mac->stats().tx_first_protocol_error);
  }
  return lines;
}

// Frames the host received, in the order of their hardware timestamps: as they came over the wire.
void Bench::close() {
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [](const Arrival& a, const Arrival& b) { return a.timestamp < b.timestamp; });
  for (const Arrival& arrival : arrivals_) {
    host_capture_->write(static_cast<Time>(arrival.timestamp) * kNanosecond, arrival.bytes);
  }
  if (host_capture_) host_capture_->close();
  for (Port& port : port_) {
    if (port.capture) port.capture->close();
  }
}

void Bench::write(JsonWriter& json, double wall_seconds) const {
  const double traffic_s =
      static_cast<double>(std::max<Time>(traffic_end_ - traffic_start_, 1)) / 1e12;
  json.begin_object().field("schema", 1).field("system", "host-nic");
  json.field("simulated_s", static_cast<double>(simulation_.now()) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles")
      .field("core", simulation_.cycles(core_))
      .field("mac", simulation_.cycles(mac_clock_))
      .end_object();
  score_.write(json);

  json.object("resources");
  const auto busy = [&](Time now, Time before) {
    return static_cast<double>(now - before) / 1e12 / traffic_s;
  };
  const auto gbps = [&](std::uint64_t bytes) {
    return 8e-9 * static_cast<double>(bytes) / traffic_s;
  };
  json.field("pcie_up_busy", busy(link_.up.busy_time(), up_busy_))
      .field("pcie_down_busy", busy(link_.down.busy_time(), down_busy_))
      .field("tlp_payload_up_gbps", gbps(link_.up.stats().payload_bytes))
      .field("tlp_payload_down_gbps", gbps(link_.down.stats().payload_bytes));
  json.key("pcie_up");
  link_.up.stats().write(json);
  json.key("pcie_down");
  link_.down.stats().write(json);
  json.key("endpoint");
  endpoint_->stats().write(json);
  json.key("root_complex");
  root_.stats().write(json);
  json.key("driver");
  driver_.write(json);
  json.object("dma_read")
      .field("timeouts", dma_timeouts_)
      .field("errors", dma_errors_)
      .field("late", dma_late_)
      .field("unexpected", dma_unexpected_)
      .end_object();
  json.key("fault");
  faults_.write(json);
  json.key("device_errors");
  driver_.write_errors(json);
  json.key("error_registers");
  driver_.write_error_registers(json);
  json.array("macs");
  for (const Port& port : port_) port.mac->stats().write(json);
  json.end_array().end_object();
  json.end_object();
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) { return emery::run_simulator<emery::host_nic::Bench>(argc, argv); }
