// SPDX-License-Identifier: Apache-2.0
// A PCIe slot with the device in it: the link, the root complex above it, the hard block below, and
// what the run's result says of them.
#pragma once

#include <algorithm>
#include <cstdint>
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

  /// What the link, and RQ at the pins, have done is counted from here ...
  void count_from_here() { from_ = to_ = done(); }
  /// ... to here, unless it is said again.
  void count_to_here() { to_ = done(); }

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
  /// The shares of that time in which they were busy with packets; of RQ where there is one.
  void write_busy(JsonWriter& json) const;
  /// Data in packets, of that time.
  void write_payload(JsonWriter& json) const;
  /// What each part has counted, as fields of the open object; those of the link are named
  /// `prefix`up and `prefix`down.
  void write(JsonWriter& json, const std::string& prefix) const;

  PcieLink link;
  RootComplex root;
  std::unique_ptr<Endpoint> endpoint;

 private:
  struct Done {
    Time at = 0, up = 0, down = 0, rq = 0;  // the time each has been busy
    std::uint64_t payload_up = 0, payload_down = 0;
  };
  Done done() const;
  double seconds() const {
    return static_cast<double>(std::max<Time>(to_.at - from_.at, 1)) / 1e12;
  }

  Simulation& simulation_;
  int clock_ = 0;
  Done from_, to_;
};

}  // namespace emery
