// SPDX-License-Identifier: Apache-2.0
// Sources of frames: a capture, or synthetic UDP frames of chosen sizes and flows, paced at a
// chosen rate.
//
// Synthetic frames are valid Ethernet with UDP over IPv4 or IPv6, some with a VLAN tag, with right
// checksums (flows.hpp); one that is too short for its headers is as long as they need. The payload
// begins with the number of the source (16 bits) and of the frame (48 bits), so no two frames of a
// run are the same, and the rest is random. Everything follows from the seed; what is in the frames
// does not follow from when they start (arrivals.hpp). A capture's frames are given as they are
// (but for `readdress`), in file order; its stamps are unused unless `speed` says so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/arrivals.hpp"
#include "bench/traffic/flows.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/traffic/pcap.hpp"

namespace emery {

/// Frame sizes with FCS.
struct Sizes {
  enum class Kind {
    kFixed,  // low
    kRange,  // uniform, low ... high
    kMix,    // those of `round`, each time in another order
    kTurns,  // those of `round`, in its order
  };
  Kind kind = Kind::kFixed;
  std::uint32_t low = 64;
  std::uint32_t high = 64;
  std::vector<std::uint32_t> round = {};

  /// "64", "64-1518", "random" (64-1518), a mix "64:7+594:4+1518" (so many frames of each in a
  /// round, 1 without a number), "imix" (that one), "rfc2544" (its sizes in turn); otherwise
  /// std::invalid_argument.
  static Sizes parse(const std::string& text);
};

/// "0.5" is a fraction of the line rate, "80G" (or k, M, T) bits a second on the line, preamble and
/// gap included.
double parse_rate(const std::string& text, double line_rate);

enum class FlowOrder { kRandom, kRoundRobin };

struct TrafficConfig : FlowsConfig {
  std::shared_ptr<const Capture>
      capture;  // when set, sizes, flows and all from `flow_order` on but `readdress` are unused
  Sizes sizes;
  std::uint64_t frames = 0;  // 0: a capture once, or as many as `duration` holds
  Time duration = 0;         // 0: no limit; else all frames start before `start` + `duration`
  double rate = 100e9;       // bits a second on the line, in the mean, see parse_rate
  double line_rate = 0;      // of the line itself; less than `rate`: as that
  std::uint32_t line_longest = kMaxFrame;  // frame of the line, without FCS
  ArrivalKind arrivals;
  Time start = 0;  // of the first frame
  std::uint64_t seed = 1;
  bool pad_to_minimum =
      true;  // captured frames under 60 bytes come padded, as a MAC would send them
  std::uint32_t deal_index =
      0;  // of the capture's flows only those with flow % deal_count == deal_index
  std::uint32_t deal_count = 1;

  double speed = 0;  // frames start when their stamps say, so many times as fast, and not before
                     // the line is free; 0: as `arrivals` say
  std::int64_t origin_ns = 0;  // the stamp of what starts at `start`
  bool readdress = false;      // captured frames to a unicast address are sent to dst_mac

  FlowOrder flow_order = FlowOrder::kRandom;  // where weights are equal
  std::uint32_t train = 1;                    // frames of a flow in a row
  bool tcp = false;  // synthetic frames with room for its header are segments of TCP streams, one a
                     // flow; the others UDP, as all are without
  std::uint16_t source = 0;  // different in the sources of one run
  std::uint64_t src_mac = 0x020000000001;
  std::uint64_t dst_mac = 0x020000000002;
  std::vector<std::uint64_t> dst_macs;  // of synthetic flow f dst_macs[f % size]; empty: dst_mac

  /// The longest synthetic frame there may be, without FCS.
  std::uint32_t longest() const;
};

struct TrafficStats {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;   // with FCS
  std::uint64_t padded = 0;  // captured frames brought up to the minimum
  std::uint64_t ipv6 = 0, vlan = 0;
};

class Traffic final : public FrameSource {
 public:
  /// Which source a synthetic frame is of, and its number there: from its payload, wherever its
  /// headers have been.
  struct Origin {
    std::uint16_t source;
    std::uint64_t number;
  };
  static std::optional<Origin> origin(std::span<const std::uint8_t> frame);

  /// Throws std::invalid_argument for settings that make no sense, with a line that says which.
  explicit Traffic(TrafficConfig config);

  bool next(Frame& frame) override;

  /// No more frames will come.
  bool done() const { return done_; }
  /// Nothing starts before `t`.
  void wait_until(Time t) { arrivals_->wait_until(t); }
  /// Flows that have begun.
  std::uint32_t flows() const { return flows_ ? flows_->begun() : config_.capture->flows(); }
  const TrafficStats& stats() const { return stats_; }
  const TrafficConfig& config() const { return config_; }

 private:
  bool next_captured(Frame& frame);
  void synthesize(Frame& frame);
  std::uint32_t next_size();
  double mean_size() const;

  TrafficConfig config_;
  Random random_;
  std::optional<Flows> flows_;  // of synthetic frames
  std::optional<Arrivals> arrivals_;
  std::vector<std::uint32_t> dealt_;  // packets of the capture that are ours
  std::size_t next_dealt_ = 0;
  Time pass_ = 0;                     // when this pass of the capture began
  std::vector<std::uint32_t> round_;  // of a mix, in the order it has now
  std::size_t next_in_round_ = 0;
  std::uint32_t train_flow_ = 0;
  TrafficStats stats_;
  bool done_ = false;
};

}  // namespace emery
