// SPDX-License-Identifier: Apache-2.0
// The flows of a source: addresses and ports of each, IPv4 or IPv6, VLAN tag, how much of the
// traffic each has, and how long it lasts before another takes its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sim/random.hpp"

namespace emery {

/// Numbers 0 ... n-1, drawn by weights.
class Draw {
 public:
  Draw() = default;
  /// Throws std::invalid_argument when all weights are 0.
  explicit Draw(const std::vector<std::uint64_t>& weights);
  std::uint32_t operator()(Random& random) const;

 private:
  std::vector<std::uint64_t> up_to_;  // sums of the weights
};

/// The share of each flow in the frames.
struct FlowWeights {
  bool equal = true;
  double zipf = 0;                   // flow n (from 1) as n to the power of -zipf; 0: `given`
  std::vector<std::uint64_t> given;  // the last is that of all flows after it

  /// "equal", "zipf:S", "W,W,..."; otherwise std::invalid_argument.
  static FlowWeights parse(const std::string& text);
  std::vector<std::uint64_t> of(std::uint32_t flows) const;
};

/// How many frames a flow has.
struct FlowLength {
  enum class Kind { kEndless, kFixed, kGeometric, kZipf };
  static constexpr std::uint32_t kLongest = 65536;  // of Zipf

  Kind kind = Kind::kEndless;
  std::uint32_t mean = 0;  // of a fixed or geometric length
  double zipf = 0;         // n frames as n to the power of -zipf, up to kLongest

  /// "N", "geometric:N", "zipf:S"; otherwise std::invalid_argument.
  static FlowLength parse(const std::string& text);
};

struct FlowsConfig {
  std::uint32_t flows = 64;  // at a time
  FlowWeights weights;
  FlowLength length;
  double ipv6 = 0, vlan = 0;  // the part of the frames, as near as whole flows come to it
  std::vector<std::uint32_t>
      destinations;  // IPv4 of flow f is destinations[f % size]; empty: addresses from the seed
  std::vector<std::uint16_t> vlan_ids;  // of the tag of flow f vlan_ids[f % size]; empty: any
  std::vector<std::uint8_t> tos;        // type of service of flow f is tos[f % size]; empty: 0
};

/// An IPv6 flow has the same addresses in the lower half of longer ones.
struct Flow {
  std::uint32_t number = 0;  // in the order in which they begin
  std::uint32_t src_ip = 0, dst_ip = 0;
  std::uint16_t src_port = 0, dst_port = 0;
  std::uint8_t tos = 0;
  bool ipv6 = false;
  std::uint16_t vlan = 0;      // its ID; 0: no tag
  std::uint64_t left = 0;      // frames
  std::uint32_t sent = 0;      // bytes of payload, where it is TCP,
  std::uint16_t segments = 0;  // and frames
};

class Flows {
 public:
  /// Draws from `random`, for each flow once. What else is random follows from `seed`.
  Flows(FlowsConfig config, Random& random, std::uint64_t seed);

  /// A place, by weights where they are not equal.
  std::uint32_t pick(Random& random) const {
    return config_.weights.equal ? static_cast<std::uint32_t>(random.below(config_.flows))
                                 : draw_(random);
  }
  /// The flow of the next frame at a place: one that has ended is replaced.
  Flow& take(std::uint32_t place);
  std::uint32_t count() const { return config_.flows; }
  /// How many have begun.
  std::uint32_t begun() const { return begun_; }
  /// Shares of the frames, as the weights have them: of IPv6, and of IPv6 with a tag.
  double ipv6() const { return ipv6_; }
  double ipv6_tagged() const { return ipv6_tagged_; }

 private:
  void begin(Flow& flow, std::uint32_t place, std::uint64_t drawn);
  std::uint64_t length();
  void mix(const std::vector<std::uint64_t>& weights);
  std::vector<bool> some(const std::vector<std::uint64_t>& weights, double part);

  FlowsConfig config_;
  Random random_;
  Draw draw_, lengths_;
  double geometric_ = 0;  // mean of the exponential distribution that a length is the whole part of
  std::uint32_t base_, begun_ = 0;
  std::vector<Flow> flows_;  // by place
  double ipv6_ = 0, ipv6_tagged_ = 0;
};

}  // namespace emery
