// SPDX-License-Identifier: Apache-2.0
// The Ethernet port outside the chip: MAC and wire at a MAC stream of rtl/packet/eth_pkg.sv, 512
// bits (`Mac`), 64 bits (`WordMac`) or 8 bits (`ByteMac`, whose stream has no `len`) wide, or at
// the pins of a CMAC block (rtl/mac/cmac_pkg.sv), which stamps received frames with the timer it is
// given: at the first clock after the preamble, and sent frames for which it is asked likewise.
// Where the two ways have a clock each, there is an instance for each.
//
// Transmit side: takes the device's frames at line rate. A frame begins on the wire with its first
// beat (cut-through) or when the line is free; preamble 8, FCS 4 and gap 12 bytes are added, short
// frames are padded. `ready` falls while the small buffer is full. A beat that comes after its turn
// on the wire is an underrun: the frame is counted and lost, as with an `err` at its end. Receive
// side: plays frames of a FrameSource, none before its start time, as beats: one as soon as its
// last byte has come, the last one when the FCS has. Faults are made here: a bad FCS (`err`, and
// one bit of the frame flipped), runts, oversize frames. An approximation in these points: PCS, FEC
// and MAC pipelines take no time (add it to `propagation`); the gap is always 12 bytes (a real one
// is 12 on average); the FCS is not computed, `err` stands for it; after an underrun the line goes
// on as planned.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/sim/member.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/wire/mac_end.hpp"

namespace emery {

/// One direction of a MAC stream, as pointers into the Verilated model. data: the bytes of a beat
/// as they lie in the model's words, first byte in bits 7:0 of word 0.
struct FramePins {
  std::uint8_t* valid = nullptr;
  std::uint8_t* ready = nullptr;  // transmit only
  void* data = nullptr;
  std::uint8_t* len = nullptr;  // not where beats are single bytes
  std::uint8_t* sop = nullptr;
  std::uint8_t* eop = nullptr;
  std::uint8_t* err = nullptr;
  const std::uint8_t* reset = nullptr;   // of the block's side, where the device may reset it
  std::uint64_t* keep = nullptr;         // lanes in use: where it is there is neither len nor sop
  const std::uint32_t* timer = nullptr;  // where the block stamps: the device's time, and what it
  std::uint32_t* stamp = nullptr;        // was: received, with the first beat; 80 bits each
  // Transmit, where it stamps: what is to be done with a frame's time, its tag, with the first
  // beat; and the tag with the stamp when it comes.
  const std::uint8_t* stamp_op = nullptr;
  const std::uint16_t* stamp_tag = nullptr;
  std::uint8_t* stamp_valid = nullptr;
  std::uint16_t* stamp_tag_out = nullptr;

  /// The pins of a CMAC that the model has as ports of the types cmac_in_t and cmac_out_t.
  template <class In, class Out>
  static FramePins cmac_tx(In& in, Out& out) {
    auto& tx = out.EMERY_MEMBER(tx);
    return {.valid = &tx.EMERY_MEMBER(tvalid),
            .ready = &in.EMERY_MEMBER(tx_tready),
            .data = tx.EMERY_MEMBER(tdata).data(),
            .eop = &tx.EMERY_MEMBER(tlast),
            .err = &tx.EMERY_MEMBER(tuser),
            .reset = &out.EMERY_MEMBER(tx_reset),
            .keep = &tx.EMERY_MEMBER(tkeep),
            .timer = out.EMERY_MEMBER(tx_systemtimer).data(),
            .stamp = in.EMERY_MEMBER(tx_ptp_tstamp).data(),
            .stamp_op = &out.EMERY_MEMBER(tx_ptp_1588op),
            .stamp_tag = &out.EMERY_MEMBER(tx_ptp_tag_field),
            .stamp_valid = &in.EMERY_MEMBER(tx_ptp_tstamp_valid),
            .stamp_tag_out = &in.EMERY_MEMBER(tx_ptp_tstamp_tag)};
  }
  template <class In, class Out>
  static FramePins cmac_rx(In& in, Out& out) {
    auto& rx = in.EMERY_MEMBER(rx);
    return {.valid = &rx.EMERY_MEMBER(tvalid),
            .data = rx.EMERY_MEMBER(tdata).data(),
            .eop = &rx.EMERY_MEMBER(tlast),
            .err = &rx.EMERY_MEMBER(tuser),
            .reset = &out.EMERY_MEMBER(rx_reset),
            .keep = &rx.EMERY_MEMBER(tkeep),
            .timer = out.EMERY_MEMBER(rx_systemtimer).data(),
            .stamp = in.EMERY_MEMBER(rx_ptp_tstamp).data()};
  }
};

template <std::uint32_t kBeat>
class BasicMac final : public MacEnd {
 public:
  /// Either direction may be left out (pins with a null `valid`). Throws std::invalid_argument for
  /// a bad configuration.
  BasicMac(const MacConfig& config, const FramePins& tx, const FramePins& rx)
      : MacEnd(config), tx_(tx), rx_(rx), tx_line_(config.rate), rx_line_(config.rate) {
    // The worst frame is a byte longer than its first beat: two beats in its line time. (One of
    // single bytes has a beat for each byte of the line.)
    if (config.rate > (kBeat == 1
                           ? config.clock_hz * 8
                           : config.clock_hz / 2 * 8 * (kBeat + 1 + kFcsBytes + kLineOverhead)))
      throw std::invalid_argument("mac: the stream is too slow for this line rate");
    if (config.tx_buffer_beats == 0)
      throw std::invalid_argument("mac: tx_buffer_beats must not be 0");
  }

  void pause(Time until) override { paused_until_ = until; }
  unsigned rx_unseen() const override {
    return (beat_.valid && beat_.sop) || (playing_ && offset_ == 0);
  }
  /// When the first beat of the frame taken last, or being taken, was.
  Time tx_began() const override { return tx_began_; }
  bool tx_idle(Time now) const override { return !in_frame_ && tx_line_.now() <= now; }

  void sample(Time now) override {
    if (tx_.valid) sample_tx(now);
    if (tx_.stamp_valid) sample_tx_stamp(now);
    if (rx_.timer) {
      std::move(timer_.begin() + 1, timer_.end(), timer_.begin());
      timer_.back() = {now, {rx_.timer[0], rx_.timer[1], rx_.timer[2]}};
    }
    if (rx_.valid) sample_rx(now);
  }

  void drive() override {
    if (tx_.valid) *tx_.ready = ready_;
    if (tx_.stamp_valid) drive_tx_stamp();
    if (rx_.valid) drive_rx();
  }

 private:
  static_assert(kBeat >= 1 && kBeat <= 64, "beats of up to 512 bits");
  static_assert(std::endian::native == std::endian::little,
                "beats are copied as they lie in the model's words");

  static constexpr std::uint8_t kTwoStep = 2;  // cmac_pkg::TxTwoStep

  struct Beat {
    bool valid = false, sop = false, eop = false, err = false;
    std::uint32_t offset = 0;
    std::uint8_t len = 0;
  };

  void sample_tx(Time now) {
    while (!leaving_.empty() && leaving_.front() <= now) leaving_.pop();
    // Of a frame that the device was sending nothing more comes.
    if (tx_.reset && *tx_.reset) {
      ready_ = in_frame_ = false;
      return;
    }
    if (tx_.keep && in_frame_ && !*tx_.valid) protocol_error("a gap inside a frame", now);
    if (ready_ && *tx_.valid) take_beat(now);
    ready_ = leaving_.size() < config_.tx_buffer_beats && (in_frame_ || now >= paused_until_);
  }

  // At the first clock after the preamble, with what the timer is then.
  void sample_tx_stamp(Time now) {
    tx_stamped_ = !tx_stamps_.empty() && now >= tx_stamps_.front().at;
    if (!tx_stamped_) return;
    tx_stamp_tag_ = tx_stamps_.front().tag;
    tx_stamps_.pop();
    tx_stamp_ = {now, {tx_.timer[0], tx_.timer[1], tx_.timer[2]}};
  }
  void drive_tx_stamp() {
    *tx_.stamp_valid = tx_stamped_;
    if (!tx_stamped_) return;
    *tx_.stamp_tag_out = tx_stamp_tag_;
    std::memcpy(tx_.stamp, tx_stamp_.words, sizeof tx_stamp_.words);
  }

  void take_beat(Time now) {
    const bool eop = *tx_.eop != 0;
    const bool sop = tx_.keep ? !in_frame_ : *tx_.sop != 0;
    if (tx_.keep && (*tx_.keep & (*tx_.keep + 1)) != 0) protocol_error("lanes left out", now);
    const std::uint32_t len = kBeat == 1 ? 1
                              : tx_.keep ? static_cast<std::uint32_t>(std::popcount(*tx_.keep))
                                         : *tx_.len;
    if (sop == in_frame_)
      protocol_error(in_frame_ ? "sop inside a frame" : "no sop at the start of a frame", now);
    if (len == 0 || len > kBeat || (!eop && len != kBeat))
      protocol_error("bad len " + std::to_string(len), now);
    if (sop) {
      tx_line_.wait_until(now);
      tx_began_ = now;
      if (tx_.stamp_op && *tx_.stamp_op == kTwoStep)
        tx_stamps_.push({tx_line_.after(kPreambleBytes), *tx_.stamp_tag});
      out_.size = 0;
      late_ = false;
    }
    in_frame_ = !eop;
    late_ = late_ || now > tx_line_.after(kPreambleBytes + out_.size);
    if (out_.size + kBeat > out_.data.size()) {
      protocol_error("frame without an end", now);
      out_.size = 0;
      late_ = true;
    }
    std::memcpy(out_.data.data() + out_.size, tx_.data, kBeat);
    out_.size += len <= kBeat ? len : kBeat;
    leaving_.push(tx_line_.after(kPreambleBytes + out_.size));
    if (eop) send(*tx_.err != 0);
  }

  void send(bool aborted) {
    const bool padded = out_.pad_to_minimum();
    const std::uint64_t last = kPreambleBytes + out_.size + kFcsBytes;
    if (late_)
      ++stats_.tx_underruns;
    else
      sent(out_, aborted, padded, tx_line_.after(last));
    tx_line_.advance(last + kGapBytes);
  }

  void sample_rx(Time now) {
    see_reset(rx_.reset && *rx_.reset);
    beat_.valid = false;
    if (!loaded_ && !load()) return;
    if (!playing_) {
      if (now < started_) return;
      begin();
    }
    if (!stamped_ && now >= stamp_at_) {
      stamp_ = *std::find_if(timer_.begin(), timer_.end(),
                             [this](const Timer& x) { return x.at >= stamp_at_; });
      stamped_ = true;
    }
    if (now < due_) return;
    const std::uint32_t left = frame_.size - offset_;
    const bool eop = left <= kBeat;
    beat_ = {true,    offset_ == 0,
             eop,     eop && fault_ == WireFault::kBadFcs,
             offset_, static_cast<std::uint8_t>(eop ? left : kBeat)};
    offset_ += beat_.len;
    if (eop) {
      rx_line_.advance(kPreambleBytes + frame_.size + kFcsBytes + kGapBytes);
      loaded_ = playing_ = false;
    } else {
      due_ = due();
    }
  }

  bool load() {
    if (!take()) return false;
    rx_line_.wait_until(frame_.start);
    started_ = rx_line_.now();
    return true;
  }

  void begin() {
    playing_ = true;
    const Time started = started_;
    begin_frame([&](std::uint32_t size) {
      return std::pair(started, rx_line_.after(kPreambleBytes + size + kFcsBytes));
    });
    offset_ = 0;
    due_ = due();
    stamped_ = rx_.timer == nullptr;
    stamp_at_ = rx_line_.after(kPreambleBytes) + config_.propagation;
  }

  /// When the beat at `offset_` is there: with its last byte, or with the FCS.
  Time due() const {
    const std::uint32_t left = frame_.size - offset_;
    const std::uint32_t bytes =
        kPreambleBytes + offset_ + (left <= kBeat ? left + kFcsBytes : kBeat);
    return rx_line_.after(bytes) + config_.propagation;
  }

  void drive_rx() {
    if (beat_.valid) {
      // What lies behind the last byte is left over from earlier frames: the device must not look
      // at it.
      std::memcpy(rx_.data, frame_.data.data() + beat_.offset, kBeat);
      if (rx_.keep) {
        *rx_.keep = ~std::uint64_t{0} >> (64 - beat_.len);
      } else {
        if (kBeat != 1) *rx_.len = beat_.len;
        *rx_.sop = beat_.sop;
      }
      if (rx_.stamp && beat_.sop) std::memcpy(rx_.stamp, stamp_.words, sizeof stamp_.words);
      *rx_.eop = beat_.eop;
      *rx_.err = beat_.err;
    }
    *rx_.valid = beat_.valid;
  }

  FramePins tx_, rx_;

  LineClock tx_line_;   // start of the frame now taken, then end of its gap
  Frame out_{};         // the frame now taken
  Ring<Time> leaving_;  // when each beat in the buffer has left
  Time tx_began_ = 0;
  bool in_frame_ = false;
  bool late_ = false;
  bool ready_ = false;
  Time paused_until_ = 0;

  LineClock rx_line_;  // start of the frame now played
  bool playing_ = false;
  Time started_ = 0;
  Time due_ = 0;  // of the next beat
  Time stamp_at_ = 0;
  bool stamped_ = true;
  struct Timer {
    Time at = 0;
    std::uint32_t words[3] = {};
  } stamp_, tx_stamp_;
  struct TxStamp {
    Time at;
    std::uint16_t tag;
  };
  Ring<TxStamp> tx_stamps_;  // asked for
  bool tx_stamped_ = false;
  std::uint16_t tx_stamp_tag_ = 0;
  std::array<Timer, 4> timer_;  // of the last clocks: a frame begins while beats of the last wait
  std::uint32_t offset_ = 0;
  Beat beat_;
};

using Mac = BasicMac<64>;
using WordMac = BasicMac<8>;
using ByteMac = BasicMac<1>;

}  // namespace emery
