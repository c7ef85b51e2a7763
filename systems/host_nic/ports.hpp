// SPDX-License-Identifier: Apache-2.0
// The ports of a card, those of one interface after those of another: the MACs at them, and their
// streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Vhost_nic.h"
#include "bench/live/live.hpp"
#include "bench/run/output.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/mac_port.hpp"
#include "systems/host_nic/faults.hpp"
#include "systems/host_nic/port_counts.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {

struct Port {
  std::unique_ptr<MacPort> mac;
  std::unique_ptr<PortCounts> counts;
  int tx_stream = 0, rx_stream = 0;
  Output* output = nullptr;
  Tap* tap = nullptr;
};

class Ports {
 public:
  Ports(const Options& options, std::uint32_t max_frame, VerilatedModel<Vhost_nic>& model,
        Simulation& simulation, Scoreboard& score)
      : model_(*model),
        direction_(ways(options)),
        interfaces_(options.get<unsigned>("interfaces")),
        of_interface_(options.get<unsigned>("ports")),
        port_(interfaces_ * of_interface_) {
    const unsigned gbps = port_gbps(options);
    const bool shared = options.get<bool>("shared_queues");
    const MacClocks clocks = MacClocks::add(model, simulation, options, gbps, size());
    for (unsigned p = 0; p < size(); ++p) {
      Port& port = port_[p];
      MacConfig config;
      config.rate = line_rate(options);
      config.seed = options.get<std::uint64_t>("seed") + 1000 + p;
      set_wire_faults(options, max_frame, config);
      port.mac = std::make_unique<MacPort>(config, gbps, model_, p);
      port.counts = std::make_unique<PortCounts>(max_frame, gbps != 100);
      simulation.add(clocks.tx[p], port.mac->tx);
      simulation.add(clocks.rx[p], port.mac->rx);
      const std::string number = size() == 1 ? "" : std::to_string(p);
      if (transmit())
        port.tx_stream = score.stream("tx" + (shared ? of(p / of_interface_) : number));
      if (receive()) port.rx_stream = score.stream("rx" + number);
    }
  }

  /// TCP goes both ways, whoever sends the data.
  static std::string ways(const Options& options) {
    return options.get("traffic", "frames") == "tcp" ? "both"
                                                     : options.get<std::string>("direction");
  }
  bool transmit() const { return direction_ != "rx"; }
  bool receive() const { return direction_ != "tx"; }
  unsigned interfaces() const { return interfaces_; }
  unsigned of_interface() const { return of_interface_; }
  unsigned size() const { return static_cast<unsigned>(port_.size()); }
  Port& operator[](unsigned p) { return port_[p]; }
  const Port& operator[](unsigned p) const { return port_[p]; }
  Port& at(unsigned interface, unsigned p) { return port_.at(interface * of_interface_ + p); }

  /// Number of an interface in the name of what all its ports send, where they share its queues.
  std::string of(unsigned interface) const {
    return interfaces_ == 1 ? "" : std::to_string(interface);
  }

  /// Resets of the core, and of both ways of all ports.
  std::vector<std::uint8_t*> resets() {
    std::vector<std::uint8_t*> pins{&model_.rst_i};
    for (unsigned p = 0; p < size(); ++p)
      pins.insert(pins.end(), {&model_.mac_tx_rst_i[p], &model_.mac_rx_rst_i[p]});
    return pins;
  }
  std::vector<int> streams() const {
    std::vector<int> streams;
    for (const Port& port : port_) {
      for (const auto& [there, stream] :
           {std::pair{transmit(), port.tx_stream}, {receive(), port.rx_stream}})
        if (there && std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
    }
    return streams;
  }
  /// Frames that have left by each.
  std::vector<std::uint64_t> left() const {
    std::vector<std::uint64_t> frames;
    for (const Port& port : port_) frames.push_back(port.mac->stats().tx_frames);
    return frames;
  }
  /// Interface that sends a stream; -1: it is received.
  std::vector<int> sent_by() const {
    std::vector<int> interface;
    for (unsigned p = 0; p < size(); ++p) {
      const auto stream = static_cast<std::size_t>(port_[p].tx_stream);
      if (stream >= interface.size()) interface.resize(stream + 1, -1);
      interface[stream] = static_cast<int>(p / of_interface_);
    }
    return interface;
  }

  /// What the card has counted of each. Takes simulated time.
  void compare_counts(emnic* core) {
    for (unsigned p = 0; p < size(); ++p)
      port_[p].counts->compare(core, p / of_interface_, p % of_interface_, port_[p].mac->stats());
  }

  void check(Findings& findings) const {
    for (const Port& port : port_) {
      port.mac->stats().check(findings);
      findings.add(port.counts->findings().lines());
    }
  }
  void write(JsonWriter& json) const {
    json.key("macs").begin_array();
    for (const Port& port : port_) port.mac->stats().write(json);
    json.end_array();
    json.key("port_counters").begin_array();
    for (const Port& port : port_) port.counts->write(json);
    json.end_array();
  }

 private:
  Vhost_nic& model_;
  std::string direction_;
  unsigned interfaces_, of_interface_;
  std::vector<Port> port_;
};

}  // namespace emery::host_nic
