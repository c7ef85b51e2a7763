// SPDX-License-Identifier: Apache-2.0
// A PCIe slot with the device in it: the link, the root complex above it, the hard block below, and
// what the run's result says of them.
#pragma once

#include <memory>
#include <string>

#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/pcie/make_endpoint.hpp"
#include "bench/pcie/pcie_link.hpp"
#include "bench/pcie/pins.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// What a slot and its host are like: the settings of bench/pcie/parameters.toml, and `seed`.
struct PcieSettings {
  LinkConfig link;
  RootConfig root;
  CreditConfig credits;  // of the root complex
  CreditConfig card_credits = PcieLink::device_credits();

  explicit PcieSettings(const Options& options)
      : link(LinkConfig::from(options)),
        root(RootConfig::from(options)),
        credits(CreditConfig::from(options)) {
    card_credits.header[kPosted] = options.get<std::uint32_t>("card_credits_ph");
  }
};

class PcieHost {
 public:
  PcieHost(const PcieSettings& settings, Simulation& simulation, HostMemory& memory)
      : link(settings.link, settings.credits, settings.card_credits),
        root(settings.root, simulation, link, memory),
        simulation_(simulation) {}

  /// Puts the device in, whose logic runs at this clock.
  void attach(int clock, const FunctionConfig& function, const EndpointPins& pins) {
    EndpointConfig config;
    config.function = function;
    endpoint = make_endpoint(config, link, pins);
    clock_ = clock;
    simulation_.add(clock, *endpoint);
    simulation_.add(clock, root);
  }

  /// Time the link, and RQ at the pins, have been busy with packets so far.
  struct Busy {
    Time up = 0, down = 0, rq = 0;
  };
  Busy busy() const {
    const auto step = static_cast<double>(simulation_.period(clock_));
    return {link.up.busy_time(simulation_.now()), link.down.busy_time(simulation_.now()),
            static_cast<Time>(endpoint->stats().rq_beats * step)};
  }

  /// Nothing is under way: all packets, tags and credits are back where they were at the start.
  bool at_rest() const;
  /// What went against the rules of the link.
  void check_rules(Findings& findings) const;
  /// Credits of a link, and packets on it, that are not back.
  static void check_credits(const PcieLink& link, Findings& findings);
  /// What is not back. Call it at the end of a run, at rest.
  void check_open(Findings& findings) const;
  /// Both.
  void check(Findings& findings) const;
  /// The shares of a time in which these were busy; of RQ where there is one.
  static void write_busy(JsonWriter& json, const Busy& from, const Busy& to, double seconds);
  /// What each part has counted, as fields of the open object; those of the link are named
  /// `prefix`up and `prefix`down.
  void write(JsonWriter& json, const std::string& prefix) const;

  PcieLink link;
  RootComplex root;
  std::unique_ptr<Endpoint> endpoint;

 private:
  Simulation& simulation_;
  int clock_ = 0;
};

}  // namespace emery
