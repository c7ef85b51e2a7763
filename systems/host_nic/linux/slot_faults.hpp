// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the first guest's slot: the option `fault`, of those kinds that need no
// driver of the bench's. It strikes once, when the frame numbered `fault_frame` has left the card:
// at the next read of memory, whatever that is of; or the card is pulled out, for good.
#pragma once

#include <cstdint>
#include <string>

#include "Vhost_nic.h"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "systems/host_nic/card.hpp"

namespace emery::host_nic {

class SlotFaults {
 public:
  explicit SlotFaults(const Options& options)
      : frame_(options.get<std::uint64_t>("fault_frame")),
        lasts_(options.get<unsigned>("fault_us") * kMicrosecond) {
    const auto name = options.get<std::string>("fault");
    if (name == "lost_completion") {
      kind_ = Kind::kRead;
    } else if (name == "poisoned_completion") {
      kind_ = Kind::kRead;
      read_.kind = ReadFault::Kind::kPoison;
    } else if (name == "slow_host") {
      kind_ = Kind::kStall;
    } else if (name == "surprise_removal") {
      kind_ = Kind::kRemoval;
    } else if (name != "none") {
      throw OptionError("fault: '" + name +
                        "' is of the bench's driver; with a Linux there are lost_completion, "
                        "poisoned_completion, slow_host and surprise_removal");
    }
  }

  void transmitted(Card& card, Vhost_nic& pins, Simulation& simulation) {
    if (kind_ == Kind::kNone || ++count_ != frame_) return;
    const Time now = simulation.now();
    if (kind_ == Kind::kStall) {
      card.host.root.stall(now, now + lasts_);
    } else if (kind_ == Kind::kRead) {
      card.host.root.inject(read_);
    } else {
      simulation.at(now, [&card, &pins](Time then) { remove(card, pins, then); });
    }
  }

 private:
  enum class Kind { kNone, kRead, kStall, kRemoval };

  // Without power: reads give all ones from now on, what is written is gone.
  static void remove(Card& card, Vhost_nic& pins, Time now) {
    pins.rst_i = pins.mac_tx_rst_i[0] = pins.mac_rx_rst_i[0] = 1;
    card.host.endpoint->show_up(false);
    card.host.endpoint->set_link_lost(true, true, now);
    card.host.root.link_lost();
  }

  Kind kind_ = Kind::kNone;
  ReadFault read_;
  std::uint64_t frame_, count_ = 0;
  Time lasts_;
};

}  // namespace emery::host_nic
