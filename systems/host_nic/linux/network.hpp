// SPDX-License-Identifier: Apache-2.0
// What is between the guests' cards: nothing, a wire between two, or a switch (the options
// `switch...`); who listens there: a capture (`capture`), a trace (`trace`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/guest/frame_trace.hpp"
#include "bench/run/output.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/wire/ethernet_switch.hpp"
#include "bench/wire/wire.hpp"
#include "systems/host_nic/card.hpp"

namespace emery::host_nic {

class Network {
 public:
  using Cards = std::vector<std::unique_ptr<Card>>;

  /// `calendar`: the guests' time, of one of the simulation.
  Network(const Options& options, Simulation& simulation, const Cards& cards,
          std::function<Time(Time)> calendar);

  /// Told of each frame that has left a card.
  std::function<void(unsigned card)> on_left;
  /// Frames between the cards.
  std::size_t under_way() const;
  void close();
  void check(Findings& findings) const;
  /// The field `switch` of the open object, where there is one.
  void write(JsonWriter& json) const;

 private:
  void left(unsigned card, std::span<const std::uint8_t> bytes, Time arrived);
  void trace(unsigned from, unsigned to, std::span<const std::uint8_t> bytes, Time arrived,
             const char* dropped);

  double rate_;
  std::function<Time(Time)> calendar_;
  std::optional<Output> capture_;
  std::optional<FrameTrace> trace_;
  std::optional<Wire> wire_;
  std::optional<EthernetSwitch> switch_;
};

}  // namespace emery::host_nic
