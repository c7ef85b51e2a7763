// SPDX-License-Identifier: Apache-2.0
// The hard block of an Intel P-tile: an Endpoint whose pins are two segments of 256 bits each way,
// headers beside (Intel 683059; rtl/pcie/ptile_pkg.sv names the fields).
//
// `ready` speaks of a clock some clocks later, as the block has it: valid in another clock, a gap
// inside a packet, a start inside one or a wrong end are counted. Settings and credits are told by
// turns. An approximation: how much room the block has for completions is not modelled (the logic
// meters them), and it sends to the logic whenever it may.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/pcie/endpoint.hpp"

namespace emery {

class PTileEndpoint final : public Endpoint {
 public:
  PTileEndpoint(const EndpointConfig& config, PcieLink& link, const EndpointPins& pins)
      : Endpoint(config, link, pins), pins_(pins.ptile) {
    show_up(true);
  }

  void sample(Time now) override {
    link_.up.service(now);
    sample_function_reset();
    for (const Tlp& tlp : ended_) {
      if (tlp.is_completion()) read_progress(tlp, now);
      link_.down.release(tlp.fc_class(), tlp.data_credits(), now);
    }
    ended_.clear();
    while (const Tlp* tlp = link_.down.front(now)) {
      // What comes for a function that is being reset is not expected any more.
      const bool late = resets_function_ && tlp->is_completion();
      if (late) read_progress(*tlp, now);
      if (late || !for_logic(*tlp)) {
        deal_with(*tlp, now);
        continue;
      }
      ++stats_.rx_tlps;
      to_logic_.push(*tlp);
      link_.down.pop();
    }
    if (!deaf_) take(now);
    tx_ready_was_ = tx_ready_was_ << 1 | *pins_.tx_ready;
    rx_ready_was_ = rx_ready_was_ << 1 | *pins_.rx_ready;
    if (!own_.empty() || !tx_queue_.empty()) launch(now);
  }

  void drive() override {
    drive_function_reset();
    *pins_.tx_ready = has_room(tx_queue_);
    // In the clock after this edge, and so many clocks after it was allowed.
    give(rx_ready_was_ >> (kRxLatency - 1) & 1);
    tell();
  }

  void reset(Time now) override {
    Endpoint::reset(now);
    for (const Tlp& tlp : ended_) link_.down.release(tlp.fc_class(), tlp.data_credits(), now);
    ended_.clear();
    while (!to_logic_.empty()) {
      link_.down.release(to_logic_.front().fc_class(), to_logic_.front().data_credits(), now);
      to_logic_.pop();
    }
    offset_ = 0;
    giving_ = false;
    tx_ready_was_ = rx_ready_was_ = 0;
    *pins_.rx_valid = 0;
  }

  std::size_t held() const override { return Endpoint::held() + to_logic_.size() + ended_.size(); }

 private:
  static constexpr unsigned kSegs = 2, kSegBytes = 32, kTxLatency = 3, kRxLatency = 27;

  // ---- from the logic

  void take(Time now) {
    const bool allowed = tx_ready_was_ >> (kTxLatency - 1) & 1;
    const unsigned valid = *pins_.tx_valid;
    if (valid && !allowed) ++stats_.tx_malformed;
    if (valid) ++stats_.tx_beats;
    if (!allowed && (in_packet_ || !tx_queue_.empty())) ++stats_.tx_stall_clocks;
    for (unsigned s = 0; s < kSegs; ++s) {
      if (valid >> s & 1) {
        tx_part(*pins_.tx_sop >> s & 1, *pins_.tx_eop >> s & 1, pins_.tx_hdr + 4 * s,
                pins_.tx_data + 8 * s, kSegBytes, now);
      } else if (in_packet_ && allowed) {
        ++stats_.tx_malformed;  // a gap
      }
    }
  }

  // ---- to the logic

  void give(bool allowed) {
    unsigned valid = 0, sop = 0, eop = 0;
    if (!allowed && !to_logic_.empty()) ++stats_.rx_stall_clocks;
    for (unsigned s = 0; allowed && s < kSegs && !to_logic_.empty(); ++s) {
      const Tlp& tlp = to_logic_.front();
      valid |= 1u << s;
      if (!giving_) {
        sop |= 1u << s;
        for (unsigned i = 0; i < 4; ++i) pins_.rx_hdr[4 * s + 3 - i] = tlp.dw[i];
        giving_ = true;
        offset_ = 0;
      }
      if (offset_ < tlp.bytes)
        std::memcpy(pins_.rx_data + 8 * s, tlp.payload + offset_,
                    std::min(kSegBytes, tlp.bytes - offset_));
      offset_ += kSegBytes;
      if (offset_ < tlp.bytes) continue;
      eop |= 1u << s;
      giving_ = false;
      ended_.push_back(tlp);
      to_logic_.pop();
    }
    stats_.rx_beats += valid != 0;
    *pins_.rx_valid = static_cast<std::uint8_t>(valid);
    *pins_.rx_sop = static_cast<std::uint8_t>(sop);
    *pins_.rx_eop = static_cast<std::uint8_t>(eop);
  }

  // ---- settings and credits, a clock each

  void tell() {
    turn_ = (turn_ + 1) % 32;
    *pins_.cfg_add = static_cast<std::uint8_t>(turn_);
    *pins_.cfg_func = 0;
    *pins_.cfg_ctl = setting(turn_);
    *pins_.wide_tag = space_.wide_tag();
    static constexpr FcClass kClass[] = {kPosted, kNonPosted, kCompletion};
    const unsigned kind = turn_ % 8, data = kind / 4;
    *pins_.limit_of = static_cast<std::uint8_t>(kind);
    if (kind % 4 == 3) {
      *pins_.limit = 0;
      return;
    }
    const FcClass c = kClass[kind % 4];
    const LinkDirection& up = link_.up;
    *pins_.limit = up.infinite(c)
                       ? std::uint16_t{0}
                       : static_cast<std::uint16_t>(data ? up.limit_data(c) - base_d_[c]
                                                         : up.limit_header(c) - base_h_[c]);
  }

  std::uint16_t setting(unsigned add) const {
    unsigned value = 0;
    if (add == 0x00)
      value = space_.memory_enabled() << 15 | space_.bus_master() << 7 |
              space_.extended_tag() << 6 | space_.max_read_request() << 3 | space_.max_payload();
    if (add == 0x01)
      value = space_.relaxed_ordering() << 13 | (requester_ >> 3 & 0x1f) << 8 | requester_ >> 8;
    if (add == 0x0c) value = space_.msix_masked() << 6 | space_.msix_enabled() << 5;
    return static_cast<std::uint16_t>(value);
  }

  PTilePins pins_;
  TlpFifo to_logic_;
  std::vector<Tlp> ended_;  // those whose end is on the pins, without their payload
  bool giving_ = false;     // the first of to_logic_ has begun
  std::uint32_t offset_ = 0;
  std::uint32_t tx_ready_was_ = 0, rx_ready_was_ = 0;  // bit n: n + 1 edges ago
  unsigned turn_ = 0;
};

}  // namespace emery
