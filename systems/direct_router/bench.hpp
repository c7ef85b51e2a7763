// SPDX-License-Identifier: Apache-2.0
// direct-router on the bench: N cards in a machine (a PCI-X bus, or a PCI Express switch), the PC
// they are in, a Gigabit Ethernet wire at each card.
//
// Streams are those of Crossings; with a mix of priorities there is one a class, as in 0->2/high.
// What is not to be forwarded is offered on IN->drop, and the device's and host's counters say why
// it did not come out. A frame is offered in the form it must have behind the router, which the
// reference router says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/route/addresses.hpp"
#include "bench/route/hostile.hpp"
#include "bench/run/crossings.hpp"
#include "bench/run/run.hpp"
#include "bench/wire/mac.hpp"
#include "systems/direct_router/accounts.hpp"
#include "systems/direct_router/burst_watch.hpp"
#include "systems/direct_router/card_reset.hpp"
#include "systems/direct_router/control_plane.hpp"
#include "systems/direct_router/host.hpp"
#include "systems/direct_router/hostile_card.hpp"
#include "systems/direct_router/machine.hpp"
#include "systems/direct_router/reference.hpp"
#include "systems/direct_router/scenario.hpp"
#include "systems/direct_router/settings.hpp"
#include "systems/direct_router/table_writer.hpp"
#include "systems/direct_router/tables.hpp"
#include "systems/direct_router/unsettled.hpp"
#include "systems/direct_router/updates.hpp"

namespace emery::direct_router {

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the bus clock, behind the bus: the host.
  void sample(Time now) override {
    if (host_) host_->poll(now);
    if (updates_) updates_->poll(now, draining());
    if (control_plane_) control_plane_->poll(now, draining());
    if (hostile_ && running() && !draining())
      hostile_->clock(machine_->cpu(), host_->base(faults_.lost()->card));
  }

 private:
  struct Port {
    std::unique_ptr<ByteMac> mac;
    std::unique_ptr<route::Hostile> source;
    Output* output = nullptr;
    // Of a live run: at the wire, and the kernel's; what the kernel gets.
    Tap *wire = nullptr, *kernel = nullptr;
    Output* kernel_output = nullptr;
  };

  void connect_port(unsigned port, const Options& options);
  bool add_traffic(unsigned port, const Options& options);
  void plan_flows(unsigned port, TrafficConfig& plan, double high);
  void watch_ways();
  void change_routes();
  void join_kernel(const Options& options);
  void to_kernel(unsigned port, std::span<const std::uint8_t> bytes);
  void entered(unsigned port, const Frame& frame, WireFault fault, Time started, Time arrives);
  void offer_as(unsigned port, const Verdict& verdict, std::span<const std::uint8_t> in,
                std::span<const std::uint8_t> out, std::uint32_t flow, Time started,
                std::uint32_t lane);
  void settle(const Unsettled::Waiting& frame, const Unsettled::Form& form);
  void left(unsigned port, std::span<const std::uint8_t> bytes, Time arrived);

  void open() override;
  bool offered() override;
  void look() override;
  bool settled() override;
  Time busy_until() const override;
  bool at_rest() const override { return machine_->at_rest(); }
  void account() override;
  void inspect() override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;
  void report_notes(JsonWriter& json) const;

  Scenario scenario_;
  Workload workload_;
  HostMemory memory_;
  std::unique_ptr<Machine> machine_;
  Tables tables_;
  HostConfig host_config_;
  bool by_class_;
  Crossings crossings_;
  Accounts accounts_;
  std::optional<route::Addresses> addresses_;
  std::unique_ptr<Host> host_;
  std::vector<route::Destination> destinations_;
  std::unique_ptr<route::ChangeSource> changes_;
  std::optional<TableWriter> writer_;  // where routes change
  std::optional<Updates> updates_;
  Rtnetlink* kernel_;  // of a live run
  std::vector<int> interfaces_;
  std::optional<ControlPlane> control_plane_;
  std::optional<Unsettled> unsettled_;  // where routes change
  std::optional<BurstWatch> bursts_;    // a traced run
  std::vector<CardRoutes> card_routes_;
  std::unique_ptr<Reference> reference_;
  std::vector<Port> port_;
  CardFaults faults_;
  std::optional<HostileCard> hostile_;
  CardReset reset_;
  std::uint64_t hostile_every_;
  std::uint32_t flows_;
  double updates_per_s_;
  Time update_lead_;
  unsigned message_words_;
  bool load_directly_;            // of the cards' tables what is in their memories
  std::uint64_t cut_frames_ = 0;  // to the host because the cards' tables are too small
  Time patience_;                 // at the end
  Time traffic_end_ = 0, host_busy_ = 0;
};

}  // namespace emery::direct_router
