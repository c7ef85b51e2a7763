// SPDX-License-Identifier: Apache-2.0
// What all ports outside a chip have in common, whatever their pins: where the frames come from
// that they play, the faults made in them, who is told, and what is counted.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {

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
  std::uint32_t oversize_bytes = kFrameBuffer + kFcsBytes;  // longer than any source's
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

/// The outside of a port, one way or both.
class MacEnd : public Component {
 public:
  /// A good frame the device sent; `arrived` is when its last bit is at the far end (up to a
  /// buffer's time ahead of now).
  using OnTransmitted = std::function<void(std::span<const std::uint8_t> bytes, Time arrived)>;
  /// A frame begins towards the device: as it was before any fault; its first bit leaves at
  /// `started`, its last is at the device at `arrives`.
  using OnReceiving =
      std::function<void(const Frame& frame, WireFault fault, Time started, Time arrives)>;

  /// Where received frames come from (null: from nowhere); their start times count from `origin`.
  void set_source(FrameSource* source, Time origin = 0) {
    source_ = source;
    origin_ = origin;
  }
  void on_transmitted(OnTransmitted callback) { on_transmitted_ = std::move(callback); }
  void on_receiving(OnReceiving callback) { on_receiving_ = std::move(callback); }
  /// The device has let go the receive side's reset: it sees the next beat.
  void on_rx_reset_end(std::function<void()> callback) { on_rx_reset_end_ = std::move(callback); }
  /// The far end has the device send no frame that has not begun, until that time.
  virtual void pause(Time until) = 0;
  /// Frames that have begun on the line, of which the device sees the first beat at the next edge
  /// or later.
  virtual unsigned rx_unseen() const = 0;
  /// The source had nothing more when asked last, and everything it gave has been played.
  bool rx_idle() const { return !loaded_; }
  /// When the frame that was sent last, or is being sent, left the device.
  virtual Time tx_began() const = 0;
  /// No frame is half taken and the last one has left.
  virtual bool tx_idle(Time now) const = 0;
  const MacStats& stats() const { return stats_; }
  const MacConfig& config() const { return config_; }

 protected:
  /// Throws std::invalid_argument for a bad configuration.
  explicit MacEnd(const MacConfig& config) : config_(config), random_(config.seed) {
    constexpr std::uint32_t kLeast = kMinFrame + kFcsBytes + 1, kMost = kFrameBuffer + kFcsBytes;
    if (config.oversize_bytes < kLeast || config.oversize_bytes > kMost)
      throw std::invalid_argument("mac: oversize_bytes must be " + std::to_string(kLeast) +
                                  " ... " + std::to_string(kMost));
  }

  /// A frame of the device has come to its end, at `last`.
  void sent(const Frame& frame, bool aborted, bool padded, Time last) {
    if (aborted) {
      ++stats_.tx_aborted;
      return;
    }
    ++stats_.tx_frames;
    stats_.tx_bytes += frame.size + kFcsBytes;
    stats_.tx_padded += padded;
    if (on_transmitted_) on_transmitted_(frame.bytes(), last + config_.propagation);
  }
  void protocol_error(const std::string& what, Time now) {
    if (stats_.tx_protocol_errors++ == 0)
      stats_.tx_first_protocol_error = what + " at " + std::to_string(now) + " ps";
  }
  void see_reset(bool resets) {
    if (rx_resets_ && !resets && on_rx_reset_end_) on_rx_reset_end_();
    rx_resets_ = resets;
  }

  /// The source's next frame is in frame_.
  bool take() {
    if (!source_ || !source_->next(frame_)) return false;
    loaded_ = true;
    stats_.rx_padded += frame_.pad_to_minimum();
    frame_.start += origin_;
    return true;
  }
  /// It begins, with a fault or without. `times(size)`: when its first bit leaves, and when its
  /// last one does.
  template <class Times>
  void begin_frame(Times times) {
    ++stats_.rx_frames;
    fault_ = choose_fault();
    const std::uint32_t size = faulty_size();
    const auto [started, last] = times(size);
    if (on_receiving_) on_receiving_(frame_, fault_, started, last + config_.propagation);
    spoil(size);
    stats_.rx_bytes += size + kFcsBytes;
  }

  MacConfig config_;
  MacStats stats_;
  Frame frame_{};
  bool loaded_ = false;  // frame_ waits or is played
  WireFault fault_ = WireFault::kNone;

 private:
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

  Random random_;
  FrameSource* source_ = nullptr;
  Time origin_ = 0;
  bool rx_resets_ = false;
  OnTransmitted on_transmitted_;
  OnReceiving on_receiving_;
  std::function<void()> on_rx_reset_end_;
};

}  // namespace emery
