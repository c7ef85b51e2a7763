// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the reads of one card's NIC (the settings fault, fault_card, fault_frame): a
// descriptor that is none, or memory that answers badly. It strikes once, at the frame of that
// number that the software router sends by the card, or takes from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "bench/pcie/read_fault.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "queue_formats.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::direct_router {

struct NicFaultPlan {
  std::string name;
  std::uint64_t frame;
  unsigned card;
  Time pause;

  explicit NicFaultPlan(const Options& options)
      : name(options.get<std::string>("fault")),
        frame(options.get<std::uint64_t>("fault_frame")),
        card(options.get<unsigned>("fault_card")),
        pause(fault_pause(name, options.us("dma_timeout_us"))) {}
  bool any() const { return name != "none" && name != "hostile_registers"; }
};

class NicFault {
 public:
  /// `root`: whose memory the NIC reads.
  NicFault(const NicFaultPlan& plan, RootComplex& root)
      : name_(plan.name), frame_(plan.frame), pause_(plan.pause), root_(root) {}

  /// The NIC is made to read what is not there.
  bool reads_wild() const { return name_ == "wild_address"; }

  /// A frame is in the transmit ring, in this buffer, of which the NIC was not told.
  void sent(emnic_tx* queue, std::uint64_t buffer, unsigned bytes) {
    if (of_receive() || !strikes()) return;
    emnic_queue_state state;
    emnic_tx_state(queue, &state);
    const std::uint64_t at = kDescriptor * (state.newest & (state.slots - 1));
    if (name_ == "null_address") return set_address(state.ring + at, 0);
    if (name_ == "wild_address") return set_address(state.ring + at, kNowhere);
    ReadFault fault = read_fault(name_, pause_);
    fault.addr = name_ == "lost_descriptor" ? state.ring_bus + at : buffer;
    fault.bytes = name_ == "lost_descriptor" ? 1 : bytes;
    root_.inject(fault);
  }

  /// A frame was taken from this ring; it strikes beyond what the NIC has read already.
  void received(emnic_rx* queue) {
    if (!of_receive() || !strikes()) return;
    emnic_queue_state state;
    emnic_rx_state(queue, &state);
    const unsigned ahead = std::min(state.slots / 2, 256u);
    const std::uint64_t at = kDescriptor * ((state.done - 1u + ahead) & (state.slots - 1));
    if (name_ == "rx_null_address") return set_address(state.ring + at, 0);
    ReadFault fault;
    fault.addr = state.ring_bus + at;
    fault.bytes = 1;
    root_.inject(fault);
  }

  /// Fields of the object that is open.
  void write(JsonWriter& json) const {
    json.field("kind", name_).field("struck", struck_);
    if (struck_) json.field("frame", frame_);
  }

 private:
  static constexpr std::uint64_t kDescriptor = queue_pkg::desc_t::kBytes;

  bool of_receive() const { return name_ == "rx_null_address" || name_ == "lost_rx_descriptor"; }
  bool strikes() {
    if (struck_ || ++count_ != frame_) return false;
    struck_ = true;
    return true;
  }
  static void set_address(std::uint8_t* descriptor, std::uint64_t address) {
    std::memcpy(descriptor, &address, sizeof address);
  }

  std::string name_;
  std::uint64_t frame_, count_ = 0;
  Time pause_;
  RootComplex& root_;
  bool struck_ = false;
};

}  // namespace emery::direct_router
