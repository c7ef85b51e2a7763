// SPDX-License-Identifier: Apache-2.0
// The line outside a chip that has XGMII of 64 bits at its pins (rtl/mac/xgmii_pkg.sv): the clock
// is the line's, a word in each. Where the two ways have a clock each, there is an instance for
// each.
//
// Transmit side: what the device drives is looked at lane by lane: preamble, FCS, Terminate, the
// gap (at least 9 bytes, and 12 in the mean to 3 bytes), nothing else between frames but Idle. What
// is wrong is a protocol error; a frame with Error characters is one that was aborted. Receive
// side: plays frames of a FrameSource, none before its start time, with preamble, FCS and gaps of
// 12 bytes in the mean (deficit idle count), from lane 0 or 4 on. A bad FCS is one: a bit of the
// frame is flipped. `pause` is a PAUSE frame, said again as long as it takes. An approximation: PCS
// and FEC take no time (add it to `propagation`).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bench/sim/member.hpp"
#include "bench/wire/mac_end.hpp"

namespace emery {

/// CRC-32 of Ethernet, eight tables: a word at a time.
class EthernetCrc {
 public:
  static std::uint32_t of(std::span<const std::uint8_t> bytes) {
    static const EthernetCrc made;
    std::uint32_t crc = ~0u;
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, &bytes[i], 8);
      word ^= crc;
      crc = 0;
      for (unsigned k = 0; k < 8; ++k) crc ^= made.table_[7 - k][word >> 8 * k & 255];
    }
    for (; i < bytes.size(); ++i) crc = crc >> 8 ^ made.table_[0][(crc ^ bytes[i]) & 255];
    return ~crc;
  }

 private:
  EthernetCrc() {
    for (unsigned n = 0; n < 256; ++n) {
      std::uint32_t crc = n;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
      table_[0][n] = crc;
    }
    for (unsigned k = 1; k < 8; ++k)
      for (unsigned n = 0; n < 256; ++n)
        table_[k][n] = table_[k - 1][n] >> 8 ^ table_[0][table_[k - 1][n] & 255];
  }
  std::uint32_t table_[8][256];
};

/// One direction, as pointers into the Verilated model.
struct XgmiiPins {
  std::uint64_t* data = nullptr;
  std::uint8_t* ctl = nullptr;
  const std::uint8_t* reset = nullptr;  // of the MAC's side, where the device may reset it

  /// The pins that the model has as ports of the type xgmii_pins_t.
  template <class Pins>
  static XgmiiPins of(Pins& pins, const std::uint8_t* reset = nullptr) {
    return {&pins.EMERY_MEMBER(data), &pins.EMERY_MEMBER(ctl), reset};
  }
};

class XgmiiLine final : public MacEnd {
 public:
  static constexpr std::uint8_t kIdle = 0x07, kStart = 0xfb, kTerminate = 0xfd, kError = 0xfe,
                                kPreamble = 0x55, kSfd = 0xd5;

  /// Either direction may be left out (pins with null `data`). `hz`: of its clock.
  XgmiiLine(const MacConfig& config, double hz, const XgmiiPins& tx, const XgmiiPins& rx)
      : MacEnd(config), tx_(tx), rx_(rx), byte_(1e12 / hz / 8) {}

  /// Who plays to the device where this only listens: it is there that PAUSE goes out.
  void pauses_by(XgmiiLine* other) { pauses_by_ = other; }
  void pause(Time until) override { (pauses_by_ ? pauses_by_ : this)->paused_until_ = until; }
  unsigned rx_unseen() const override { return playing_ && !own_ && at_ <= 16; }
  Time tx_began() const override { return tx_began_; }
  bool tx_idle(Time) const override { return !in_frame_; }

  void sample(Time now) override {
    if (tx_.data) sample_tx(now);
    if (rx_.data) sample_rx(now);
  }
  void drive() override {
    if (!rx_.data) return;
    *rx_.data = word_;
    *rx_.ctl = ctl_;
  }

 private:
  static constexpr std::uint64_t kIdleWord = 0x0707070707070707;
  Time bytes(std::uint64_t count) const {
    return static_cast<Time>(static_cast<double>(count) * byte_ + 0.5);
  }

  // ---- what the device sends. A word at `now` has been on the pins since the clock before.
  void sample_tx(Time now) {
    // Of a frame that the device was sending nothing more comes.
    if (tx_.reset && *tx_.reset) {
      in_frame_ = false;
      gap_ = kGapBytes;
      return;
    }
    if (!in_frame_ && *tx_.ctl == 0xff && *tx_.data == kIdleWord) {
      gap_ += 8;
      return;
    }
    if (in_frame_ && at_tx_ >= 8 && *tx_.ctl == 0 && out_.size + 8 <= out_.data.size()) {
      std::memcpy(out_.data.data() + out_.size, tx_.data, 8);
      out_.size += 8;
      return;
    }
    for (unsigned i = 0; i < 8; ++i)
      lane(static_cast<std::uint8_t>(*tx_.data >> 8 * i), *tx_.ctl >> i & 1, i, now - bytes(8 - i));
  }

  void lane(std::uint8_t byte, bool control, unsigned number, Time began) {
    if (!in_frame_) {
      between(byte, control, number, began);
    } else if (control && byte == kTerminate) {
      in_frame_ = false;
      gap_ = 1;
      end(began);
    } else if (at_tx_ < 8) {
      if (control || byte != (at_tx_ == 7 ? kSfd : kPreamble))
        protocol_error("a wrong preamble", began);
      ++at_tx_;
    } else if (out_.size == out_.data.size()) {
      if (!overlong_) protocol_error("frame without an end", began);
      overlong_ = true;
    } else {
      aborted_ |= control;
      if (control && byte != kError) protocol_error("a control character in a frame", began);
      out_.data[out_.size++] = byte;
    }
  }

  void between(std::uint8_t byte, bool control, unsigned number, Time began) {
    if (control && byte == kStart) {
      if (number % 4 != 0) protocol_error("a Start in lane " + std::to_string(number), began);
      owed_ = std::max(0, owed_ + static_cast<int>(kGapBytes) - static_cast<int>(gap_));
      if (gap_ < 9 || owed_ > 3)
        protocol_error("a gap of " + std::to_string(gap_) + " bytes", began);
      in_frame_ = true;
      aborted_ = overlong_ = false;
      at_tx_ = 1;
      out_.size = 0;
      tx_began_ = began;
    } else {
      if (!control || byte != kIdle) protocol_error("not Idle between frames", began);
      ++gap_;
    }
  }

  void end(Time began) {
    if (overlong_) return;
    if (aborted_) {
      sent(out_, true, false, began);
      return;
    }
    if (out_.size < kMinFrame + kFcsBytes) {
      protocol_error("a runt", began);
      return;
    }
    out_.size -= kFcsBytes;
    std::uint32_t fcs;
    std::memcpy(&fcs, out_.data.data() + out_.size, kFcsBytes);
    if (fcs != EthernetCrc::of(out_.bytes())) {
      protocol_error("a wrong FCS", began);
      return;
    }
    if (out_.size > 14 && out_.data[12] == 0x88 && out_.data[13] == 0x08) return;  // MAC control
    sent(out_, false, false, began);
  }

  // ---- what it receives: the word that is on the pins from `now` on.
  void sample_rx(Time now) {
    see_reset(rx_.reset && *rx_.reset);
    word_ = kIdleWord;
    ctl_ = 0xff;
    if (playing_ && at_ != 0 && at_ + 8 <= wire_.size()) {
      std::memcpy(&word_, wire_.data() + at_, 8);
      ctl_ = 0;
      at_ += 8;
      return;
    }
    for (unsigned i = 0; i < 2; ++i) column(i, now + bytes(4 * i));
  }

  void column(unsigned half, Time now) {
    if (!playing_) {
      if (gap_left_ != 0) {
        --gap_left_;
        return;
      }
      if (!next(now)) {
        deficit_ = 0;
        return;
      }
      playing_ = true;
      at_ = 0;
    }
    std::uint8_t lanes[4];
    std::uint8_t control = 0;
    for (unsigned i = 0; i < 4; ++i, ++at_) {
      lanes[i] = at_ < wire_.size() ? wire_[at_] : at_ == wire_.size() ? kTerminate : kIdle;
      if (at_ == 0 || at_ >= wire_.size()) control |= static_cast<std::uint8_t>(1u << i);
    }
    std::uint32_t four;
    std::memcpy(&four, lanes, 4);
    word_ = (word_ & ~(0xffffffffull << 32 * half)) | std::uint64_t{four} << 32 * half;
    ctl_ = static_cast<std::uint8_t>((ctl_ & ~(15u << 4 * half)) | unsigned{control} << 4 * half);
    if (at_ <= wire_.size()) return;
    // With Terminate the gap has begun.
    const auto odd = static_cast<unsigned>(wire_.size() % 4);
    const bool shorter = deficit_ + odd <= 3;
    gap_left_ = shorter || odd == 0 ? 2 : 3;
    deficit_ = odd == 0 ? deficit_ : shorter ? deficit_ + odd : deficit_ + odd - 4;
    playing_ = false;
    if (!own_) loaded_ = false;
  }

  // The next frame is in wire_, if one begins now.
  bool next(Time now) {
    if (now < paused_until_ && now >= pause_again_) {
      pause_frame(paused_until_ - now);
      pause_again_ = now + bytes(64 * 30'000);
      own_ = true;
      return true;
    }
    own_ = false;
    if (!loaded_ && !take()) return false;
    // Its first bit leaves the far end earlier than it is here.
    if (now - config_.propagation < frame_.start) return false;
    begin_frame([&](std::uint32_t size) {
      const Time left = now - config_.propagation;
      return std::pair(left, left + bytes(kPreambleBytes + size + kFcsBytes));
    });
    // (A flipped bit has the FCS of the frame as it was.)
    make(frame_.bytes(), fault_ == WireFault::kBadFcs);
    return true;
  }

  void make(std::span<const std::uint8_t> frame, bool spoilt) {
    wire_.assign(8, kPreamble);
    wire_[0] = kStart;
    wire_[7] = kSfd;
    wire_.insert(wire_.end(), frame.begin(), frame.end());
    const std::uint32_t fcs = EthernetCrc::of(frame) ^ (spoilt ? 1u : 0u);
    for (unsigned i = 0; i < kFcsBytes; ++i)
      wire_.push_back(static_cast<std::uint8_t>(fcs >> 8 * i));
  }

  void pause_frame(Time time) {
    std::array<std::uint8_t, kMinFrame> frame{0x01, 0x80, 0xc2, 0, 0,    1, 2, 0,
                                              0,    0,    0,    1, 0x88, 8, 0, 1};
    const auto quanta = std::min<Time>(65'535, time / bytes(64) + 1);
    frame[16] = static_cast<std::uint8_t>(quanta >> 8);
    frame[17] = static_cast<std::uint8_t>(quanta);
    make(frame, false);
  }

  XgmiiPins tx_, rx_;
  double byte_;  // ps

  Frame out_{};
  bool in_frame_ = false, aborted_ = false, overlong_ = false;
  unsigned at_tx_ = 0;      // bytes of the preamble
  std::uint64_t gap_ = 12;  // bytes since the last frame, Terminate counted
  int owed_ = 0;            // bytes by which gaps were short
  Time tx_began_ = 0;

  std::vector<std::uint8_t> wire_;  // the frame that is played, from Start to FCS
  std::size_t at_ = 0;
  bool playing_ = false, own_ = false;
  unsigned gap_left_ = 0;  // columns
  unsigned deficit_ = 0;
  std::uint64_t word_ = kIdleWord;
  std::uint8_t ctl_ = 0xff;
  XgmiiLine* pauses_by_ = nullptr;
  Time paused_until_ = 0, pause_again_ = 0;
};

}  // namespace emery
