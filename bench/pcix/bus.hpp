// SPDX-License-Identifier: Apache-2.0
// A PCI-X bus segment: resolves what its agents drive, arbitrates, watches the protocol.
//
// Agents are Verilated cards (`add_card`, by their pins) and C++ agents (`add_agent`). GNT# of one
// agent is low at any time; when a transaction starts, the grant moves on to the next agent that
// asks, while the bus is still busy (hidden arbitration), so a transaction may follow another
// without an idle clock besides the turnaround. The grant goes round among the agents; one on the
// first level is asked after each of those in the round (the two-level arbiter of PCI 2.2, section
// 3.4; a chipset is alone on the first level, so that its completions do not wait for all cards).
// Card n's IDSEL is AD[16 + n].
// Approximation: no latency timer (a transaction keeps the bus for its up to 516 clocks), wires
// take no time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pcix/agent.hpp"
#include "bench/pcix/pcix.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// A card's pins in the Verilated model.
struct PcixPins {
  const std::uint8_t *req_n, *frame_n, *irdy_n, *master_oe;
  const std::uint8_t *devsel_n, *trdy_n, *stop_n, *target_oe;
  const std::uint64_t* ad;
  const std::uint8_t *cbe_n, *ad_oe;
  std::uint8_t *gnt_n_in, *idsel_in, *frame_n_in, *irdy_n_in, *devsel_n_in, *trdy_n_in, *stop_n_in;
  std::uint64_t* ad_in;
  std::uint8_t* cbe_n_in;
};

struct PcixBusStats {
  std::uint64_t clocks = 0;
  std::uint64_t busy_clocks = 0;  // of transactions, turnaround included
  std::uint64_t words = 0;        // data phases that moved one, of writes and completions
  std::uint64_t writes = 0, reads = 0, completions = 0, configs = 0;
  std::uint64_t wait_clocks = 0;  // data phases that moved nothing
  std::uint64_t retries = 0, disconnects = 0, target_aborts = 0, master_aborts = 0;
  std::uint64_t violations = 0;
  std::string first_violation;

  void write(JsonWriter& json) const;
};

class PcixBus final : public Component {
 public:
  enum class Level { kFirst, kRound };

  /// Is told of each word that is written to memory, with the address of its transaction.
  using OnWrite = std::function<void(std::uint64_t address, std::uint64_t word, Time now)>;
  void on_write(OnWrite callback) { on_write_ = std::move(callback); }

  /// Numbers of agents count from 0 in the order they are added.
  int add_card(const PcixPins& pins);
  int add_agent(PcixAgent& agent, Level level = Level::kRound);

  /// While held in reset nothing is driven or granted.
  void set_reset(bool reset) { reset_ = reset; }
  /// It and the bus no longer see each other.
  void set_dead(int agent, bool dead) { slots_.at(static_cast<std::size_t>(agent)).dead = dead; }
  /// It is no longer granted the bus.
  void set_ungranted(int agent, bool on) {
    slots_.at(static_cast<std::size_t>(agent)).ungranted = on;
  }

  const PcixBusStats& stats() const { return stats_; }
  /// Clocks so far in which this agent was master, and words it moved.
  std::uint64_t busy_clocks(int agent) const {
    return slots_.at(static_cast<std::size_t>(agent)).busy;
  }
  std::uint64_t words(int agent) const { return slots_.at(static_cast<std::size_t>(agent)).words; }
  const PcixWires& wires() const { return wires_; }

  void sample(Time now) override;
  void drive() override;

 private:
  struct Slot {
    PcixPins pins{};
    PcixAgent* agent = nullptr;  // null: a card
    bool first_level = false, dead = false, ungranted = false;
    PcixDrive driven{};
    std::uint64_t busy = 0, words = 0;
  };

  static PcixDrive read(const PcixPins& pins);
  void write_inputs(std::size_t i);
  void watch(Time now);
  void arbitrate();
  bool asks(std::size_t slot) const;
  bool grant(std::size_t slot);
  bool grant_first_level();
  void violation(const std::string& what, Time now);

  std::vector<Slot> slots_;
  PcixWires wires_;
  PcixTracker tracker_;
  std::size_t granted_ = 0, master_ = 0;
  std::size_t last_in_round_ = 0;  // where the round goes on
  bool grant_ = false, granted_before_ = false;
  std::size_t granted_before_to_ = 0;
  bool moved_on_ = false;  // the grant has been passed on since the transaction began
  bool reset_ = true;
  const char* conflict_ = nullptr;
  OnWrite on_write_;
  PcixBusStats stats_;
};

}  // namespace emery
