// SPDX-License-Identifier: Apache-2.0
// host-nic in the PCIe slots of guest machines (bench/guest): a Linux of its own drives each card.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Vhost_nic.h"
#include "bench/guest/beside.hpp"
#include "bench/guest/guests.hpp"
#include "bench/guest/proxy_guests.hpp"
#include "bench/guest/vfio_guests.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/card.hpp"
#include "systems/host_nic/linux/network.hpp"
#include "systems/host_nic/linux/slot_faults.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {
namespace {

// Where a user-mode Linux has MSI-X messages go (arch/um/drivers/virt-pci.c).
constexpr std::uint64_t kMessages = 0xa'0000;

PcieSettings slot_of_guest(const Options& options) {
  PcieSettings settings = slot(options);
  if (options.get<std::string>("lane") != "uml") return settings;
  settings.root.interrupt_base = kMessages;
  settings.root.interrupt_bytes = 4;
  return settings;
}

// Those that the option `lane` says. `until`: a descriptor that ends the run when it can be read;
// `terminal`: one that can be read when something is typed at the first one's terminal.
std::unique_ptr<GuestMachines> machines(const Options& options, Simulation& simulation,
                                        Stillness::Activity activity) {
  const auto lane = options.get<std::string>("lane");
  if (lane == "uml") {
    auto found = std::make_unique<Guests>(simulation, std::move(activity));
    if (options.has("terminal")) found->with_terminal(Descriptor(options.get<int>("terminal")));
    return found;
  }
  if (lane == "qemu") return std::make_unique<ProxyGuests>(simulation, std::move(activity));
  if (lane != "vfio-user") throw OptionError("lane: '" + lane + "'");
  auto found = std::make_unique<VfioGuests>(simulation, std::move(activity));
  if (options.has("until")) found->end_with(Descriptor(options.get<int>("until")));
  return found;
}

class Bench {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json) const;
  Findings findings() const;

 private:
  std::optional<std::uint64_t> activity() const;

  const Options& options_;
  Simulation simulation_;
  VerilatedModel<Vhost_nic> model_;
  std::vector<std::unique_ptr<Card>> cards_;
  std::unique_ptr<GuestMachines> guests_;
  std::optional<Network> network_;
  SlotFaults faults_;
};

Bench::Bench(const Options& options)
    : options_(options), model_("host_nic", options.get<unsigned>("guests")), faults_(options) {
  const auto count = options.get<unsigned>("guests");
  const auto folder = options.get<std::string>("folder");
  const CardClocks clocks = CardClocks::add(model_, simulation_, port_gbps(options), count);
  model_.open_waves({.path = options.get("waves", "")});
  guests_ = machines(options, simulation_, [this] { return activity(); });
  for (unsigned i = 0; i < count; ++i) {
    cards_.push_back(
        std::make_unique<Card>(options, slot_of_guest(options), simulation_, clocks, model_[i], i));
    Card& card = *cards_.back();
    guests_->add(folder, {&card.host.root}, card.memory);
  }
  network_.emplace(options, simulation_, cards_,
                   [this](Time simulated) { return guests_->calendar(simulated); });
  network_->on_left = [this](unsigned card) {
    if (card == 0) faults_.transmitted(*cards_[0], model_[0], simulation_);
  };
}

std::optional<std::uint64_t> Bench::activity() const {
  std::uint64_t sum = 0;
  for (const auto& card : cards_) {
    if (!card->idle(simulation_.now())) return std::nullopt;
    sum += card->activity();
  }
  if (network_->under_way() != 0) return std::nullopt;
  return sum;
}

void Bench::run() {
  Card::start(model_, simulation_, options_, cards_);
  guests_->run();
  network_->close();
}

Findings Bench::findings() const {
  Findings findings;
  for (const auto& card : cards_) card->check(findings);
  network_->check(findings);
  return findings;
}

void Bench::write(JsonWriter& json) const {
  json.begin_object();
  json.field("simulated_ns", guests_->now() / kNanosecond);
  json.field("clocks_stood_still_ns", guests_->skipped() / kNanosecond);
  json.field("core_clocks", simulation_.cycles(0));
  json.array("cards");
  for (const auto& card : cards_) card->write(json);
  json.end_array();
  network_->write(json);
  json.end_object();
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) { return emery::run_beside<emery::host_nic::Bench>(argc, argv); }
