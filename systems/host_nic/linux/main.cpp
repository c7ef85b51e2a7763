// SPDX-License-Identifier: Apache-2.0
// host-nic in the PCIe slots of guest machines (bench/guest): a Linux of its own drives each card,
// and a wire joins the first two.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "Vhost_nic.h"
#include "bench/guest/guests.hpp"
#include "bench/run/output.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/cmac.hpp"
#include "bench/wire/wire.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {
namespace {

// Where a user-mode Linux has MSI-X messages go (arch/um/drivers/virt-pci.c).
constexpr std::uint64_t kMessages = 0xa'0000;
// A locally administered station address, ff:fe in its middle, and the number of the card.
constexpr std::uint64_t kSerial = 0x0200'00ff'fe00'0000;
constexpr Time kFibre = 10 * kNanosecond;

PcieSettings slot_of_guest(const Options& options) {
  PcieSettings settings = slot(options);
  settings.root.interrupt_base = kMessages;
  settings.root.interrupt_bytes = 4;
  return settings;
}

// A card and the machine that it is in.
struct Card {
  HostMemory memory;
  PcieHost host;
  CmacPort port;

  Card(const Options& options, Simulation& simulation, Vhost_nic& model)
      : host(slot_of_guest(options), simulation, memory),
        port(
            [&] {
              MacConfig config;
              config.rate = line_rate(options);
              return config;
            }(),
            model.mac_i[0], model.mac_o[0]) {}

  void on_transmitted(Mac::OnTransmitted callback) { port.tx.on_transmitted(std::move(callback)); }
  void set_source(FrameSource* source) { port.rx.set_source(source); }

  bool idle(Time now) const { return host.at_rest() && port.tx.tx_idle(now) && port.rx.rx_idle(); }
  // Changes with whatever moves.
  std::uint64_t activity() const {
    const RootStats& root = host.root.stats();
    const MacStats mac = port.stats();
    return root.writes + root.reads + root.interrupts + root.mmio_reads + root.mmio_writes +
           mac.tx_frames + mac.rx_frames;
  }
};

class Bench {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json) const;
  Findings findings() const;

 private:
  std::optional<std::uint64_t> activity() const;

  Simulation simulation_;
  VerilatedModel<Vhost_nic> model_;
  std::vector<std::unique_ptr<Card>> cards_;
  std::unique_ptr<Guests> guests_;
  std::optional<Wire> wire_;
  std::optional<Output> capture_;
  unsigned queues_;
};

Bench::Bench(const Options& options)
    : model_("host_nic", options.get<unsigned>("guests")),
      queues_(std::max(options.get<unsigned>("tx_queues"), options.get<unsigned>("rx_queues"))) {
  const auto count = options.get<unsigned>("guests");
  const auto folder = options.get<std::string>("folder");
  std::vector<std::uint8_t*> core, mac;
  for (unsigned i = 0; i < count; ++i) {
    core.push_back(&model_[i].clk_i);
    mac.insert(mac.end(), {&model_[i].mac_tx_clk_i[0], &model_[i].mac_rx_clk_i[0]});
  }
  const int core_clock = model_.add_clock(simulation_, "core", kCoreHz, 1, core);
  const int mac_clock = model_.add_clock(simulation_, "mac", kCmacHz, 1, mac);
  Waves waves;
  waves.path = options.get("waves", "");
  model_.open_waves(waves);
  guests_ = std::make_unique<Guests>(simulation_, [this] { return activity(); });
  for (unsigned i = 0; i < count; ++i) {
    Vhost_nic& model = model_[i];
    cards_.push_back(std::make_unique<Card>(options, simulation_, model));
    Card& card = *cards_.back();
    FunctionConfig config = function(options);
    config.serial = kSerial + i + 1;
    card.host.attach(core_clock, config,
                     EndpointPins::of(model.pcie_i, model.pcie_o,
                                      options.get<std::string>("pcie_interface"), 128));
    simulation_.add(mac_clock, card.port.tx);
    simulation_.add(mac_clock, card.port.rx);
    guests_->add(folder, card.host.root, [&card](const VhostDevice::Region& region) {
      card.memory.lend(region.addr, region.bytes, region.at);
    });
  }
  if (const std::string path = options.get("capture", ""); !path.empty())
    capture_.emplace(std::vector<std::string>{path}, Output::Order::kByTime);
  const auto seen = [this](unsigned, std::span<const std::uint8_t> bytes, Time arrived) {
    if (capture_) capture_->write(guests_->calendar(arrived), bytes);
  };
  if (count > 1) {
    wire_.emplace(simulation_, line_rate(options), kFibre, *cards_[0], *cards_[1], seen);
  } else {
    cards_[0]->on_transmitted(
        [seen](std::span<const std::uint8_t> bytes, Time arrived) { seen(0, bytes, arrived); });
  }
}

std::optional<std::uint64_t> Bench::activity() const {
  std::uint64_t sum = 0;
  for (const auto& card : cards_) {
    if (!card->idle(simulation_.now())) return std::nullopt;
    sum += card->activity();
  }
  if (wire_ && wire_->under_way(0) + wire_->under_way(1) != 0) return std::nullopt;
  return sum;
}

void Bench::run() {
  std::vector<std::uint8_t*> resets;
  for (unsigned i = 0; i < cards_.size(); ++i) {
    Vhost_nic& model = model_[i];
    resets.insert(resets.end(), {&model.rst_i, &model.mac_tx_rst_i[0], &model.mac_rx_rst_i[0]});
  }
  model_.reset(simulation_, resets, 100 * kNanosecond);
  simulation_.run_for((queues_ + 64) * kCoreClock);  // queue managers clear their RAMs
  for (const auto& card : cards_) card->host.root.enumerate();
  guests_->run();
  if (capture_) capture_->close();
}

Findings Bench::findings() const {
  Findings findings;
  for (const auto& card : cards_) {
    findings.add(card->host.endpoint->stats().fc_violations, "TLPs sent without credit");
    findings.add(card->host.root.stats().protocol_errors,
                 "PCIe protocol errors: " + card->host.root.stats().first_protocol_error);
    findings.add(card->host.root.stats().wild_writes, "writes to memory that is not the guest's");
    card->port.stats().check(findings);
  }
  return findings;
}

void Bench::write(JsonWriter& json) const {
  json.begin_object();
  json.field("simulated_ns", guests_->now() / kNanosecond);
  json.field("clocks_stood_still_ns", guests_->skipped() / kNanosecond);
  json.field("core_clocks", simulation_.cycles(0));
  json.array("cards");
  for (const auto& card : cards_) {
    json.begin_object();
    card->host.write(json, "pcie_");
    json.key("mac");
    card->port.stats().write(json);
    json.end_object();
  }
  json.end_array().end_object();
}

int simulate(const std::string& config) {
  Options options;
  options.read_file(config);
  Bench bench(options);
  std::fputs("ready\n", stderr);
  bench.run();
  JsonWriter json;
  bench.write(json);
  const auto result = options.get<std::string>("result");
  std::ofstream file(result);
  if (!(file << json.text()) || !file.flush()) throw OptionError(result + ": cannot be written");
  const auto lines = bench.findings().lines();
  if (!lines.empty()) std::fprintf(stderr, "integrity: %s\n", lines.front().c_str());
  return lines.empty() ? 0 : 1;
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument(std::string("usage: ") + argv[0] + " CONFIG");
    return emery::host_nic::simulate(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
