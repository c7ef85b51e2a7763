// SPDX-License-Identifier: Apache-2.0
// Cards behind a PCI Express switch: each a hard block and a link of its own. The CPU above the
// switch sets them up and reads their counters; with `host_path` its memory is there too, and a NIC
// in each card. What cards send each other passes from port to port.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "Vdirect_router_pcie.h"
#include "bench/pcie/host_calls.hpp"
#include "bench/pcie/make_endpoint.hpp"
#include "bench/pcie/pcie_switch.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/pcie/switch_cpu.hpp"
#include "bench/pcie/switch_slot.hpp"
#include "bench/run/pcie_host.hpp"
#include "direct_formats.hpp"
#include "direct_router.h"
#include "host_nic.h"
#include "ids_formats.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/nic_fault.hpp"
#include "systems/direct_router/nic_rings.hpp"

namespace emery::direct_router {
namespace {

// With a way through the host the NIC's registers are above the card's.
constexpr std::uint64_t kHostBarBytes = std::uint64_t{1} << direct_pkg::HostBarW;
static_assert(sizeof(direct_router_t) <= direct_pkg::HostBase &&
                  offsetof(host_nic_t, interface[1]) <= kHostBarBytes - direct_pkg::HostBase,
              "BAR 0 has room for the card, and for a NIC of one interface");
constexpr std::uint64_t kUserHz = 125'000'000;  // as hard blocks of narrow links have it
constexpr unsigned kDeviceControl = ConfigSpace::kPcieCap + 8;

LinkConfig link_config(const Options& options) {
  LinkConfig config = LinkConfig::from(options);
  config.speed = options.get<double>("pcie_speed");
  return config;
}

SwitchConfig switch_config(const Options& options) { return {options.ns("switch_latency_ns")}; }

FunctionConfig function_config(bool host_path, std::uint64_t bar_bytes) {
  FunctionConfig function;
  function.vendor = ids_pkg::IdVendor;
  function.device = ids_pkg::IdDirectRouter;
  function.class_code = ids_pkg::ClassEthernet;
  function.bar0_bytes = bar_bytes;
  function.bar0_prefetchable = false;
  function.max_payload = 512;
  function.function_reset = true;
  function.msix_vectors = host_path ? 32 : 0;
  function.msix_table = direct_pkg::HostBase + offsetof(host_nic_t, msix.entry);
  function.msix_pba = direct_pkg::HostBase + offsetof(host_nic_t, msix.pending);
  return function;
}

NicTimeouts nic_timeouts(const Options& options) {
  constexpr auto kMhz = static_cast<unsigned>(kUserHz / 1'000'000);
  return {options.get<unsigned>("dma_timeout_us") * kMhz,
          options.get<unsigned>("dma_overtaken_us") * kMhz};
}

RootConfig root_config(const Options& options, unsigned cards) {
  RootConfig config;
  config.memory_latency = options.ns("read_latency_ns");
  config.extended_tag = false;
  config.bus = SwitchCpu::kFirstBus;
  config.devices = cards;
  return config;
}

EndpointConfig endpoint_config(const FunctionConfig& function) {
  EndpointConfig config;
  config.function = function;
  // Little is held behind the logic's back: messages wait for what is before them.
  config.tx_tlps = 2;
  config.tx_bytes = 512;
  return config;
}

class PcieMachine final : public CardMachine<Vdirect_router_pcie> {
 public:
  PcieMachine(const Options& options, unsigned cards, Simulation& simulation, HostMemory& memory)
      : CardMachine(options, cards, simulation, kUserHz, 1),
        host_path_(options.get<bool>("host_path")),
        function_(function_config(host_path_, bar_bytes())),
        timeouts_(nic_timeouts(options)),
        fault_plan_(options, options.us("dma_timeout_us")),
        fault_card_(options.get<unsigned>("fault_card")),
        mps_(options.get<unsigned>("mps")),
        switch_(switch_config(options)),
        root_link_(LinkConfig{}),
        cpu_(root_link_, switch_, bar_bytes()) {
    for (unsigned c = 0; c < cards; ++c) {
      Card& card = card_.emplace_back();
      card.link = std::make_unique<PcieLink>(link_config(options), CreditConfig::from(options));
      cpu_.add_device(*card.link);
      card.endpoint = make_endpoint(endpoint_config(function_), *card.link,
                                    EndpointPins::of(model_[c].pcie_i, model_[c].pcie_o,
                                                     options.get<std::string>("pcie_interface")));
      simulation.add(bus_clock_, *card.endpoint);
    }
    simulation.add(bus_clock_, switch_);
    simulation.add(bus_clock_, cpu_);
    const RootConfig memory_config = root_config(options, cards);
    if (!host_path_) return;
    root_.emplace(memory_config, simulation, root_link_, memory);
    root_->serve(static_cast<int>(mps_), 512);
    cpu_.add_memory(*root_);
    simulation.add(bus_clock_, *root_);
    if (NicFault::has(fault_plan_)) fault_.emplace(fault_plan_, *root_);
  }

  CpuPort& cpu() override { return cpu_; }
  bool slow_path() const override { return host_path_; }
  std::unique_ptr<CardRings> make_rings(unsigned card, const RingConfig& config) override {
    auto slot = std::make_unique<SwitchSlot>(cpu_, *root_, card);
    NicFault* const fault = fault_ && card == fault_card_ ? &*fault_ : nullptr;
    return std::make_unique<NicRings>(config, std::move(slot), function_, timeouts_, fault);
  }
  std::uint64_t bar_base() const override { return host_path_ ? 0xc000'0000 : Machine::bar_base(); }
  std::uint64_t bar_bytes() const override {
    return host_path_ ? kHostBarBytes : Machine::bar_bytes();
  }

  void found(unsigned card) override { cpu_.config_write(card, kDeviceControl, control()); }

  void on_write(OnWrite callback) override {
    switch_.on_packet([callback = std::move(callback)](const Tlp& tlp) {
      for (std::uint32_t at = 0; tlp.is_mem_write() && at + 8 <= tlp.bytes; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, tlp.payload + at, sizeof word);
        callback(tlp.addr(), word, tlp.time);
      }
    });
  }

  void mark(int end) override {
    for (Card& card : card_) {
      const Time now = simulation_.now();
      card.at[static_cast<std::size_t>(end)] = {now, card.link->up.busy_time(now),
                                                card.link->down.busy_time(now),
                                                card.link->up.stats(), card.link->down.stats()};
    }
  }
  void set_dead(unsigned card) override {
    card_[card].dead = true;
    card_[card].endpoint->set_link_lost(true, true, simulation_.now());
  }
  void set_stalled(unsigned card, bool stalled) override {
    switch_.set_stalled(cpu_.port(card), stalled);
  }
  void hold(unsigned card, bool held) override {
    Endpoint& endpoint = *card_[card].endpoint;
    card_[card].was_away = true;
    if (held) {
      set_reset(card, true);
      endpoint.show_up(false);
    }
    endpoint.set_link_lost(held, true, simulation_.now());
    if (held) return;
    endpoint.show_up(true);
    set_reset(card, false);
  }
  bool answered(unsigned card) const override { return !root_ || root_->tags_in_use(card) == 0; }
  void reset_function(unsigned card) override {
    card_[card].was_away = true;
    cpu_.config_write(card, kDeviceControl, control() | kInitiateReset);
  }
  bool resets_function(unsigned card) const override {
    return card_[card].endpoint->resets_function();
  }
  void distrust(unsigned card) override { card_[card].distrusted = distrusted_ = true; }

  void write_summary(JsonWriter& json) const override {
    double most = 0, sum = 0;
    std::uint64_t payload = 0, bytes = 0, tlps = 0;
    for (const Card& card : card_) {
      const auto& [from, to] = card.at;
      const auto time = static_cast<double>(std::max<Time>(to.now - from.now, 1));
      for (const Time busy : {to.up_busy - from.up_busy, to.down_busy - from.down_busy}) {
        most = std::max(most, static_cast<double>(busy) / time);
        sum += static_cast<double>(busy) / time;
      }
      payload += to.up.payload_bytes - from.up.payload_bytes;
      bytes += to.up.wire_bytes - from.up.wire_bytes;
      tlps += to.up.tlps - from.up.tlps;
    }
    json.field("link_busy", most)
        .field("link_busy_mean", sum / (2.0 * static_cast<double>(card_.size())))
        .field("link_payload_share",
               bytes ? static_cast<double>(payload) / static_cast<double>(bytes) : 0.0)
        .field("payload_per_tlp",
               tlps ? static_cast<double>(payload) / static_cast<double>(tlps) : 0.0);
  }
  void write_details(JsonWriter& json) const override {
    json.key("cpu");
    cpu_.stats().write(json);
    if (root_) {
      json.key("root_complex");
      root_->stats().write(json);
    }
    if (fault_) {
      json.object("fault");
      fault_->write(json);
      json.end_object();
    }
    json.array("links");
    for (unsigned c = 0; c < cards_; ++c) {
      const Card& card = card_[c];
      json.begin_object();
      json.key("up");
      card.link->up.stats().write(json);
      json.key("down");
      card.link->down.stats().write(json);
      json.key("endpoint");
      card.endpoint->stats().write(json);
      json.key("port");
      switch_.stats(cpu_.port(c)).write(json);
      json.end_object();
    }
    json.end_array();
  }
  void check(Findings& findings) const override {
    for (unsigned c = 0; c < cards_; ++c) {
      const Card& card = card_[c];
      if (card.dead) continue;
      const EndpointStats& e = card.endpoint->stats();
      const auto fail = [&](std::uint64_t count, const char* what) {
        if (count == 0) return;
        findings.add("card " + std::to_string(c) + ": " + std::to_string(count) + " " + what);
      };
      fail(e.fc_violations, "packets sent without credit");
      fail(e.tx_malformed, "malformed packets sent");
      // While a card has no address; answers to what it asked before it had none; and what it had
      // on its way when its function was reset, which the hard block drops.
      fail(card.was_away ? 0 : e.tx_not_master, "packets sent before it was bus master");
      fail(card.was_away ? 0 : e.rx_unsupported, "packets that missed BAR 0");
      fail(card.was_away ? 0 : e.rx_misrouted, "completions for someone else");
      fail(card.link->up.stats().credit_overruns + card.link->down.stats().credit_overruns,
           "credit overruns on its link");
      if (card.distrusted) continue;
      fail(switch_.stats(cpu_.port(c)).unroutable, "packets the switch has no port for");
    }
    if (root_) {
      findings.add(root_->stats().protocol_errors,
                   "PCIe protocol errors: " + root_->stats().first_protocol_error);
    }
    if (distrusted_) return;
    if (root_) {
      findings.add(root_->stats().wild_writes, "writes to memory that is not there");
      if (!fault_ || !fault_->reads_wild())
        findings.add(root_->stats().unsupported, "reads of memory that is not there");
    }
    findings.add(cpu_.stats().unexpected, "packets the CPU did not expect");
    check_open(findings);
  }
  bool at_rest() const override {
    Findings open;
    check_open(open);
    return open.lines().empty();
  }

 private:
  // What is not back. Of a link that is lost nothing will be.
  void check_open(Findings& findings) const {
    if (distrusted_ || std::ranges::any_of(card_, &Card::dead)) return;
    PcieHost::check_credits(root_link_, findings);
    for (const Card& card : card_) {
      PcieHost::check_credits(*card.link, findings);
      findings.add(card.endpoint->held(), "PCIe packets still in a card");
    }
    findings.add(switch_.held(), "PCIe packets still in the switch");
    if (!root_) return;
    findings.add(root_->reads_open(), "reads still open in the root complex");
    findings.add(root_->tags_in_use(), "PCIe tags not back");
  }

  struct Snapshot {
    Time now = 0, up_busy = 0, down_busy = 0;
    LinkStats up, down;
  };
  struct Card {
    std::unique_ptr<PcieLink> link;
    std::unique_ptr<Endpoint> endpoint;
    std::array<Snapshot, 2> at;
    bool dead = false, was_away = false, distrusted = false;
  };

  std::uint32_t control() const {
    return 0x2810 | static_cast<std::uint32_t>(std::bit_width(mps_ / 128) - 1) << 5;
  }

  bool distrusted_ = false;  // a card is
  bool host_path_;
  FunctionConfig function_;
  NicTimeouts timeouts_;
  HostFault fault_plan_;
  unsigned fault_card_;
  unsigned mps_;
  PcieSwitch switch_;
  PcieLink root_link_;
  SwitchCpu cpu_;
  std::optional<RootComplex> root_;  // with host_path_
  std::optional<NicFault> fault_;
  std::vector<Card> card_;
};

}  // namespace

std::unique_ptr<Machine> Machine::make(const Options& options, unsigned cards,
                                       Simulation& simulation, HostMemory& memory) {
  return std::make_unique<PcieMachine>(options, cards, simulation, memory);
}

}  // namespace emery::direct_router
