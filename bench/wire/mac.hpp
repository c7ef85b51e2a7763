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
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/sim/member.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"

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

/// Which frames a fault strikes: each with a probability, and the nth (from 1).
struct FaultPlan {
  double rate = 0;
  std::uint64_t nth = 0;

  /// One in so many, at random, as that setting says; 0: none.
  static FaultPlan one_in(const Options& options, const std::string& setting) {
    const auto every = options.get<std::uint64_t>(setting);
    return {every ? 1.0 / static_cast<double>(every) : 0.0, 0};
  }
};

enum class WireFault { kNone, kBadFcs, kRunt, kOversize };

/// As a reason to drop the frame; null when there is none.
inline const char* reason(WireFault fault) {
  static constexpr const char* kReasons[] = {nullptr, "bad_fcs", "runt", "oversize"};
  return kReasons[static_cast<unsigned>(fault)];
}

struct MacConfig {
  double rate = 100e9;            // bits a second on the line
  double clock_hz = 322'265'625;  // of the stream; only to refuse a line the stream cannot carry
  Time propagation = 5'000;       // ps, each way: 1 m of fibre
  std::size_t tx_buffer_beats = 8;
  FaultPlan bad_fcs{}, runt{},
      oversize{};  // received frames; one fault a frame, the first that strikes
  std::uint32_t oversize_bytes = 9022;  // with FCS, at most 9220
  std::uint64_t seed = 1;

  /// The settings bad_fcs_every, runt_every and oversize_every.
  void read_faults(const Options& options) {
    bad_fcs = FaultPlan::one_in(options, "bad_fcs_every");
    runt = FaultPlan::one_in(options, "runt_every");
    oversize = FaultPlan::one_in(options, "oversize_every");
  }
};

struct MacStats {
  std::uint64_t tx_frames = 0;  // good ones
  std::uint64_t tx_bytes = 0;   // with FCS
  std::uint64_t tx_padded = 0;
  std::uint64_t tx_aborted = 0;    // ended with err
  std::uint64_t tx_underruns = 0;  // frames
  std::uint64_t tx_protocol_errors = 0;
  std::string tx_first_protocol_error;
  std::uint64_t rx_frames = 0;  // all, faulty ones too
  std::uint64_t rx_bytes = 0;   // with FCS, as on the wire
  std::uint64_t rx_padded = 0;
  std::uint64_t rx_bad_fcs = 0;
  std::uint64_t rx_runts = 0;
  std::uint64_t rx_oversize = 0;

  /// The two ways of a port that has an instance for each.
  MacStats operator+(const MacStats& other) const {
    MacStats sum = *this;
    for (auto x : {&MacStats::tx_frames, &MacStats::tx_bytes, &MacStats::tx_padded,
                   &MacStats::tx_aborted, &MacStats::tx_underruns, &MacStats::tx_protocol_errors,
                   &MacStats::rx_frames, &MacStats::rx_bytes, &MacStats::rx_padded,
                   &MacStats::rx_bad_fcs, &MacStats::rx_runts, &MacStats::rx_oversize})
      sum.*x += other.*x;
    if (sum.tx_first_protocol_error.empty())
      sum.tx_first_protocol_error = other.tx_first_protocol_error;
    return sum;
  }
  /// What the device did wrong at the stream.
  void check(Findings& findings) const {
    findings.add(tx_underruns, "transmit underruns");
    findings.add(tx_protocol_errors, "MAC protocol errors: " + tx_first_protocol_error);
  }
  void write(JsonWriter& json) const {
    json.begin_object();
    json.field("tx_frames", tx_frames).field("tx_bytes", tx_bytes).field("tx_padded", tx_padded);
    json.field("tx_aborted", tx_aborted).field("tx_underruns", tx_underruns);
    json.field("tx_protocol_errors", tx_protocol_errors);
    if (tx_protocol_errors != 0) json.field("tx_first_protocol_error", tx_first_protocol_error);
    json.field("rx_frames", rx_frames).field("rx_bytes", rx_bytes).field("rx_padded", rx_padded);
    json.field("rx_bad_fcs", rx_bad_fcs)
        .field("rx_runts", rx_runts)
        .field("rx_oversize", rx_oversize);
    json.end_object();
  }
};

template <std::uint32_t kBeat>
class BasicMac final : public Component {
 public:
  /// A good frame the device sent; `arrived` is when its last bit is at the far end (up to a
  /// buffer's time ahead of now).
  using OnTransmitted = std::function<void(std::span<const std::uint8_t> bytes, Time arrived)>;
  /// A frame begins towards the device: as it was before any fault; its first bit leaves at
  /// `started`, its last is at the device at `arrives`.
  using OnReceiving =
      std::function<void(const Frame& frame, WireFault fault, Time started, Time arrives)>;

  /// Either direction may be left out (pins with a null `valid`). Throws std::invalid_argument for
  /// a bad configuration.
  BasicMac(const MacConfig& config, const FramePins& tx, const FramePins& rx)
      : config_(config),
        tx_(tx),
        rx_(rx),
        tx_line_(config.rate),
        rx_line_(config.rate),
        random_(config.seed) {
    // The worst frame is a byte longer than its first beat: two beats in its line time. (One of
    // single bytes has a beat for each byte of the line.)
    if (config.rate > (kBeat == 1
                           ? config.clock_hz * 8
                           : config.clock_hz / 2 * 8 * (kBeat + 1 + kFcsBytes + kLineOverhead)))
      throw std::invalid_argument("mac: the stream is too slow for this line rate");
    if (config.tx_buffer_beats == 0)
      throw std::invalid_argument("mac: tx_buffer_beats must not be 0");
    if (config.oversize_bytes < 1519 || config.oversize_bytes - kFcsBytes > frame_.data.size())
      throw std::invalid_argument("mac: oversize_bytes must be 1519 ... 9220");
  }

  /// Where received frames come from (null: from nowhere); their start times count from `origin`.
  void set_source(FrameSource* source, Time origin = 0) {
    source_ = source;
    origin_ = origin;
  }
  /// The far end has the device send no frame that has not begun, until that time.
  void pause(Time until) { paused_until_ = until; }
  /// Frames that have begun on the line, of which the device sees the first beat at the next edge
  /// or later.
  unsigned rx_unseen() const { return (beat_.valid && beat_.sop) || (playing_ && offset_ == 0); }
  void on_transmitted(OnTransmitted callback) { on_transmitted_ = std::move(callback); }
  void on_receiving(OnReceiving callback) { on_receiving_ = std::move(callback); }
  /// The device has let go the receive side's reset: it sees the next beat.
  void on_rx_reset_end(std::function<void()> callback) { on_rx_reset_end_ = std::move(callback); }

  /// The source had nothing more when asked last, and everything it gave has been played.
  bool rx_idle() const { return !loaded_; }
  /// When the first beat of the frame taken last, or being taken, was.
  Time tx_began() const { return tx_began_; }
  /// No frame is half taken and the last one has left.
  bool tx_idle(Time now) const { return !in_frame_ && tx_line_.now() <= now; }
  const MacStats& stats() const { return stats_; }
  const MacConfig& config() const { return config_; }

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
    if (late_) {
      ++stats_.tx_underruns;
    } else if (aborted) {
      ++stats_.tx_aborted;
    } else {
      ++stats_.tx_frames;
      stats_.tx_bytes += out_.size + kFcsBytes;
      stats_.tx_padded += padded;
      if (on_transmitted_)
        on_transmitted_(out_.bytes(), tx_line_.after(last) + config_.propagation);
    }
    tx_line_.advance(last + kGapBytes);
  }

  void protocol_error(const std::string& what, Time now) {
    if (stats_.tx_protocol_errors++ == 0)
      stats_.tx_first_protocol_error = what + " at " + std::to_string(now) + " ps";
  }

  void sample_rx(Time now) {
    const bool resets = rx_.reset && *rx_.reset;
    if (rx_resets_ && !resets && on_rx_reset_end_) on_rx_reset_end_();
    rx_resets_ = resets;
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
    if (!source_ || !source_->next(frame_)) return false;
    loaded_ = true;
    stats_.rx_padded += frame_.pad_to_minimum();
    frame_.start += origin_;
    rx_line_.wait_until(frame_.start);
    started_ = rx_line_.now();
    return true;
  }

  void begin() {
    playing_ = true;
    ++stats_.rx_frames;
    fault_ = choose_fault();
    const std::uint32_t size = faulty_size();
    if (on_receiving_)
      on_receiving_(frame_, fault_, started_,
                    rx_line_.after(kPreambleBytes + size + kFcsBytes) + config_.propagation);
    spoil(size);
    stats_.rx_bytes += size + kFcsBytes;
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

  bool strikes(const FaultPlan& plan) {
    return (plan.nth != 0 && stats_.rx_frames == plan.nth) ||
           (plan.rate > 0 && random_.chance(plan.rate));
  }

  WireFault choose_fault() {
    if (strikes(config_.bad_fcs)) return ++stats_.rx_bad_fcs, WireFault::kBadFcs;
    if (strikes(config_.runt)) return ++stats_.rx_runts, WireFault::kRunt;
    if (strikes(config_.oversize)) return ++stats_.rx_oversize, WireFault::kOversize;
    return WireFault::kNone;
  }

  std::uint32_t faulty_size() {
    if (fault_ == WireFault::kRunt)
      return static_cast<std::uint32_t>(random_.between(1, kMinFrame - 1));
    if (fault_ == WireFault::kOversize) return config_.oversize_bytes - kFcsBytes;
    return frame_.size;
  }

  void spoil(std::uint32_t size) {
    if (fault_ == WireFault::kBadFcs) {
      const std::uint64_t bit = random_.below(8u * frame_.size);
      frame_.data[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    }
    if (size > frame_.size) std::memset(frame_.data.data() + frame_.size, 0xa5, size - frame_.size);
    frame_.size = size;
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

  MacConfig config_;
  FramePins tx_, rx_;
  MacStats stats_;

  LineClock tx_line_;   // start of the frame now taken, then end of its gap
  Frame out_{};         // the frame now taken
  Ring<Time> leaving_;  // when each beat in the buffer has left
  Time tx_began_ = 0;
  bool in_frame_ = false;
  bool late_ = false;
  bool ready_ = false, rx_resets_ = false;
  Time paused_until_ = 0;
  OnTransmitted on_transmitted_;

  LineClock rx_line_;  // start of the frame now played
  FrameSource* source_ = nullptr;
  Time origin_ = 0;
  Frame frame_{};
  bool loaded_ = false;  // frame_ waits or is played
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
  WireFault fault_ = WireFault::kNone;
  Beat beat_;
  Random random_;
  OnReceiving on_receiving_;
  std::function<void()> on_rx_reset_end_;
};

using Mac = BasicMac<64>;
using WordMac = BasicMac<8>;
using ByteMac = BasicMac<1>;

}  // namespace emery
