// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the reads of one card's NIC (the settings fault, fault_card, fault_frame): a
// descriptor that is none, or memory that answers badly. It strikes once, at the frame of that
// number that the software router sends by the card, or takes from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "bench/pcie/host_fault.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/stats/json.hpp"
#include "queue_formats.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::direct_router {

class NicFault {
 public:
  /// `root`: whose memory the NIC reads.
  NicFault(const HostFault& plan, RootComplex& root) : plan_(plan), root_(root) {}

  /// Whether it is one of this kind: not of none, and not of the card's registers.
  static bool has(const HostFault& plan) {
    return !plan.is("none") && !plan.is("hostile_registers");
  }

  /// The NIC is made to read what is not there.
  bool reads_wild() const { return plan_.is("wild_address"); }

  /// A frame is in the transmit ring, in this buffer, of which the NIC was not told.
  void sent(emnic_tx* queue, std::uint64_t buffer, unsigned bytes) {
    if (plan_.of_receive() || !plan_.strikes()) return;
    emnic_queue_state state;
    emnic_tx_state(queue, &state);
    const std::uint64_t at = kDescriptor * (state.newest & (state.slots - 1));
    if (plan_.is("null_address")) return set_address(state.ring + at, 0);
    if (plan_.is("wild_address")) return set_address(state.ring + at, kNowhere);
    root_.inject(plan_.is("lost_descriptor") ? plan_.read(state.ring_bus + at, 1)
                                             : plan_.read(buffer, bytes));
  }

  /// A frame was taken from this ring; it strikes beyond what the NIC has read already.
  void received(emnic_rx* queue) {
    if (!plan_.of_receive() || !plan_.strikes()) return;
    emnic_queue_state state;
    emnic_rx_state(queue, &state);
    const unsigned ahead = std::min(state.slots / 2, 256u);
    const std::uint64_t at = kDescriptor * ((state.done - 1u + ahead) & (state.slots - 1));
    if (plan_.is("rx_null_address")) return set_address(state.ring + at, 0);
    root_.inject(plan_.read(state.ring_bus + at, 1));
  }

  /// Fields of the object that is open.
  void write(JsonWriter& json) const { plan_.write(json); }

 private:
  static constexpr std::uint64_t kDescriptor = queue_pkg::desc_t::kBytes;

  static void set_address(std::uint8_t* descriptor, std::uint64_t address) {
    std::memcpy(descriptor, &address, sizeof address);
  }

  HostFault plan_;
  RootComplex& root_;
};

}  // namespace emery::direct_router
