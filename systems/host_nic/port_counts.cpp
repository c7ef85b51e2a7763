// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/port_counts.hpp"

#include <algorithm>

#include "bench/wire/mac_control.hpp"

namespace emery::host_nic {

void PortCounts::add_size(emnic_port_counts& counts, std::size_t frame) {
  const std::size_t size = frame + kFcsBytes;
  if (size == 64) ++counts.size_64;
  if (size >= 65 && size <= 127) ++counts.size_65;
  if (size >= 128 && size <= 255) ++counts.size_128;
  if (size >= 256 && size <= 511) ++counts.size_256;
  if (size >= 512 && size <= 1023) ++counts.size_512;
  if (size >= 1024 && size <= 1518) ++counts.size_1024;
  if (size >= 1519) ++counts.size_1519;
}

void PortCounts::add_good(emnic_port_counts& counts, std::span<const std::uint8_t> frame) {
  ++counts.packets;
  counts.bytes += frame.size() + kFcsBytes;
  add_size(counts, frame.size());
  const unsigned opcode = is_mac_control(frame) ? mac_control_opcode(frame) : 0;
  if (opcode == kPauseOpcode) {
    ++counts.pause;
  } else if (opcode == kPfcOpcode) {
    ++counts.pfc;
  } else if (std::all_of(frame.begin(), frame.begin() + 6, [](auto x) { return x == 0xff; })) {
    ++counts.broadcast;
  } else if (frame[0] & 1) {
    ++counts.multicast;
  }
}

void PortCounts::received(std::span<const std::uint8_t> frame, WireFault fault) {
  if (keeps_control_ && fault == WireFault::kNone && is_mac_control(frame)) return;
  if (fault == WireFault::kRunt) {
    ++rx_.undersize;
  } else if (fault == WireFault::kOversize || frame.size() > max_frame_) {
    ++rx_.oversize;
  } else if (fault == WireFault::kBadFcs) {
    ++rx_.crc_errors;
    add_size(rx_, frame.size());
  } else {
    add_good(rx_, frame);
  }
}

void PortCounts::check(const std::string& what, std::uint64_t card, std::uint64_t wire) {
  if (card != wire)
    findings_.add(what + ": the card counts " + std::to_string(card) + ", the wire " +
                  std::to_string(wire));
}

void PortCounts::check_all(const std::string& way, const emnic_port_counts& card,
                           const emnic_port_counts& wire) {
#define EMERY_CHECK(count, name) check(way + name, card.count, wire.count);
  EMNIC_PORT_COUNTS(EMERY_CHECK)
#undef EMERY_CHECK
}

void PortCounts::compare(emnic* core, unsigned interface, unsigned port, const MacStats& line) {
  const std::string of =
      "interface " + std::to_string(interface) + ", port " + std::to_string(port);
  for (const bool transmit : {true, false}) {
    const int status =
        emnic_get_port_counts(core, interface, transmit, port, transmit ? &card_tx_ : &card_rx_);
    if (status != 0) return findings_.add(of + ": its counters: " + emnic_error(status));
  }
  if (resets_ != 1) return;
  emnic_port_counts tx = tx_, rx = rx_, sent = card_tx_, came = card_rx_;
  // Of a frame that was broken off the wire does not say how long it was to be.
  if (line.tx_aborted == 0) check_all(of + ", sent, ", sent, tx);
  check(of + ", sent bad", sent.crc_errors, line.tx_aborted);
  check(of + ", received, all",
        came.packets + came.crc_errors + came.fragments + came.undersize + came.oversize +
            came.lost_crossing,
        rx.packets + rx.crc_errors + rx.undersize + rx.oversize);
  const auto lost = [&](emnic_counter counter) {
    return emnic_get_counter(core, counter, interface, port);
  };
  check(of + ", lost before the buffer", came.lost_crossing, lost(EMNIC_PORT_rx_fifo_full));
  check(of + ", lost in the buffer", came.lost_buffer, lost(EMNIC_PORT_rx_buffer_full));
  check(of + ", dropped by the hook", came.lost_hook, lost(EMNIC_PORT_rx_hook));
  if (came.lost_crossing != 0) return;
  // How long an oversize frame was is not known in the card, of a short one not here.
  if (rx.oversize == 0 && !keeps_control_)
    check(of + ", received bytes, all", came.bytes + came.bad_bytes, line.rx_bytes);
  came.undersize += came.fragments;
  came.fragments = 0;
  rx.bad_bytes = came.bad_bytes;
  rx.lost_buffer = came.lost_buffer;
  rx.lost_hook = came.lost_hook;
  check_all(of + ", received, ", came, rx);
}

void PortCounts::write(JsonWriter& json) const {
  json.begin_object();
  for (const emnic_port_counts* way : {&card_tx_, &card_rx_}) {
    json.object(way == &card_tx_ ? "tx" : "rx");
#define EMERY_FIELD(count, name) json.field(#count, way->count);
    EMNIC_PORT_COUNTS(EMERY_FIELD)
#undef EMERY_FIELD
    json.end_object();
  }
  json.end_object();
}

}  // namespace emery::host_nic
