// SPDX-License-Identifier: Apache-2.0
// What became of frames that did not arrive: lost in a reset, or counted by the device or its
// driver.
#pragma once

#include <cstdint>
#include <utility>

#include "bench/run/slot_reset.hpp"
#include "bench/score/scoreboard.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/joiner.hpp"
#include "systems/host_nic/ports.hpp"

namespace emery::host_nic {

/// Why a port drops a frame that has come over the wire, and the counter that says how often.
struct DropReason {
  const char* name;
  emnic_counter counter;
};
inline constexpr DropReason kReceiveDrops[] = {{"bad_fcs", EMNIC_PORT_rx_bad_fcs},
                                               {"runt", EMNIC_PORT_rx_runt},
                                               {"oversize", EMNIC_PORT_rx_oversize},
                                               {"fifo_full", EMNIC_PORT_rx_fifo_full},
                                               {"buffer_full", EMNIC_PORT_rx_buffer_full},
                                               {"no_descriptor", EMNIC_PORT_rx_no_descriptor},
                                               {"queue_stopped", EMNIC_PORT_rx_queue_stopped},
                                               {"descriptor_error", EMNIC_PORT_rx_descriptor_error},
                                               {"dma_error", EMNIC_PORT_rx_dma_error},
                                               {"truncated", EMNIC_PORT_rx_truncated}};

class Drops {
 public:
  Drops(Scoreboard& score, Driver& driver, Joiner& joiner, Ports& ports)
      : score_(score), driver_(driver), joiner_(joiner), ports_(ports) {}

  /// A reset ends: what is under way of a stream is lost, but for so many frames.
  void in_reset(int stream, std::uint64_t unseen) { lost_ += gone(stream, unseen); }
  /// What the drivers have handed over to be sent is lost, too; the frames of the reset under way.
  std::uint64_t lose();
  /// What device and driver have counted, on so many interfaces. `stream`: the transmit rings are
  /// streams. Takes simulated time.
  void account(unsigned interfaces, bool stream);

 private:
  std::uint64_t gone(int stream, std::uint64_t unseen);
  void account_received(int stream, unsigned interface, unsigned port);
  void account_sent(int stream, unsigned interface, unsigned port, bool is_stream);
  void dropped(int stream, const char* why, std::uint64_t count) {
    if (count != 0) score_.dropped(stream, why, count);
  }

  Scoreboard& score_;
  Driver& driver_;
  Joiner& joiner_;
  Ports& ports_;
  std::uint64_t lost_ = 0;  // received ones, in the reset under way
};

/// What a reset of the slot does to the card, and what its registers say of it; how it is opened
/// again is for its bench to say.
SlotReset::System of_card(Ports& ports, Drops& drops, Driver& driver);

}  // namespace emery::host_nic
