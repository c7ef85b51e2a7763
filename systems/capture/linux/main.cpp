// SPDX-License-Identifier: Apache-2.0
// capture in the PCIe slots of a guest machine (bench/guest), one a link: a Linux of its own drives
// the card. The wire's traffic begins 10 us after that first turns capture on; a link that is lost
// is lost that long after.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "Vcapture.h"
#include "bench/guest/beside.hpp"
#include "bench/guest/guests.hpp"
#include "bench/run/output.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac.hpp"
#include "systems/capture/card.hpp"
#include "systems/capture/links.hpp"

namespace emery::capture {
namespace {

constexpr Time kBefore = 10 * kMicrosecond;

class Bench {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json) const;
  Findings findings() const;

 private:
  void start();
  std::optional<std::uint64_t> activity();

  Simulation simulation_;
  VerilatedModel<Vcapture> model_;
  CardClocks clocks_;
  HostMemory memory_;
  Links links_;
  Mac mac_;
  Source source_;
  std::optional<Guests> guests_;
  std::optional<Output> capture_;
  bool started_ = false;
};

MacConfig wire(const Options& options) {
  MacConfig config;
  config.rate = kLineRate;
  config.seed = options.get<std::uint64_t>("seed") + 1000;
  config.bad_fcs = FaultPlan::one_in(options, "bad_fcs_every");
  return config;
}

Bench::Bench(const Options& options)
    : model_("capture"),
      clocks_(CardClocks::add(model_, simulation_)),
      links_(options, simulation_, memory_, clocks_.core,
             [this, interface = options.get<std::string>("pcie_interface")](unsigned l) {
               return EndpointPins::of(model_->pcie_i[l], model_->pcie_o[l], interface);
             }),
      mac_(wire(options), FramePins{}, mac_rx(*model_)),
      source_(
          *Workload(options, line(), 1).port(0), [this] { return mac_.rx_idle(); },
          [](const Source&) {}) {
  model_.open_waves({.path = options.get("waves", "")});
  simulation_.add(clocks_.mac, mac_);
  mac_.set_source(&source_);
  if (const std::string path = options.get("capture", ""); !path.empty())
    capture_.emplace(std::vector<std::string>{path}, Output::Order::kByTime);
  mac_.on_receiving([this](const Frame& frame, WireFault, Time started, Time) {
    if (capture_) capture_->write(guests_->calendar(started), frame.bytes());
  });

  guests_.emplace(simulation_, [this] { return activity(); });
  if (options.has("terminal")) guests_->with_terminal(Descriptor(options.get<int>("terminal")));
  guests_->on_register = [this](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    if (offset == EMERY_REG(control) && (bytes[0] & CAP_REGS__CONTROL__ENABLE_bm) != 0) start();
  };
  std::vector<SlotInterface*> slots;
  for (unsigned l = 0; l < links_.count(); ++l) slots.push_back(&links_[l].root);
  guests_->add(options.get<std::string>("folder"), slots, memory_);
}

void Bench::start() {
  if (started_) return;
  started_ = true;
  simulation_.at(simulation_.now() + kBefore, [this](Time now) {
    source_.start(now);
    links_.start(nullptr);
  });
}

// Changes with whatever moves; none while something does for sure.
std::optional<std::uint64_t> Bench::activity() {
  if (!links_.at_rest() || !mac_.rx_idle() || (started_ && !source_.finished())) return {};
  std::uint64_t sum = 0;
  for (unsigned l = 0; l < links_.count(); ++l) {
    const RootStats& root = links_[l].root.stats();
    sum += root.writes + root.mmio_reads + root.mmio_writes;
  }
  return sum;
}

void Bench::run() {
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].endpoint->show_up(false);
  model_.reset(simulation_, {&model_->rst_i, &model_->mac_rst_i}, kReset);
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].endpoint->show_up(true);
  simulation_.run_for(kMicrosecond);
  for (unsigned l = 0; l < links_.count(); ++l) links_[l].root.enumerate();
  guests_->run();
  if (capture_) capture_->close();
}

Findings Bench::findings() const {
  Findings findings;
  links_.check_rules(findings);
  mac_.stats().check(findings);
  return findings;
}

void Bench::write(JsonWriter& json) const {
  json.begin_object()
      .field("simulated_ns", guests_->now() / kNanosecond)
      .field("clocks_stood_still_ns", guests_->skipped() / kNanosecond)
      .field("core_clocks", simulation_.cycles(0));
  json.key("mac");
  mac_.stats().write(json);
  json.end_object();
}

}  // namespace
}  // namespace emery::capture

int main(int argc, char** argv) { return emery::run_beside<emery::capture::Bench>(argc, argv); }
