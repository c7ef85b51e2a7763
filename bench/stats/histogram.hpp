// SPDX-License-Identifier: Apache-2.0
// A histogram of times in picoseconds with logarithmic bins: 128 linear bins to each power of two.
//
// Count, minimum, maximum and mean are exact. A percentile (nearest rank) is the middle of its bin,
// so it is wrong by at most 1/256 of itself (0.4 %), and exact below 256 ps. Memory is 8 bytes a
// bin up to the largest value seen: 23 kB for 1 ms.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery {

class Histogram {
 public:
  /// Negative times (a clock skew in a model) count as zero.
  void add(Time t) {
    t = std::max<Time>(t, 0);
    const std::size_t i = bin(static_cast<std::uint64_t>(t));
    if (i >= bins_.size()) bins_.resize(i + 1);
    ++bins_[i];
    min_ = count_ == 0 ? t : std::min(min_, t);
    max_ = std::max(max_, t);
    sum_ += static_cast<double>(t);
    ++count_;
  }

  void merge(const Histogram& other) {
    if (other.count_ == 0) return;
    if (bins_.size() < other.bins_.size()) bins_.resize(other.bins_.size());
    for (std::size_t i = 0; i < other.bins_.size(); ++i) bins_[i] += other.bins_[i];
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    count_ += other.count_;
  }

  std::uint64_t count() const { return count_; }
  Time min() const { return min_; }
  Time max() const { return max_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }

  /// The value that `fraction` of all values do not exceed; 0 when empty.
  Time percentile(double fraction) const {
    if (count_ == 0) return 0;
    const auto rank = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_))), 1, count_);
    std::uint64_t seen = 0;
    std::size_t i = 0;
    while ((seen += bins_[i]) < rank) ++i;
    return std::clamp(middle(i), min_, max_);
  }

  /// {min, p50, p99, p999, max, histogram} in nanoseconds; nulls when nothing was counted. The
  /// histogram: pairs of a value and how many were within 1/32 of it.
  void write_ns(JsonWriter& json) const {
    json.begin_object();
    const auto ns = [&](const char* name, Time t) {
      json.key(name);
      count_ == 0 ? json.null() : json.value(static_cast<double>(t) / kNanosecond);
    };
    ns("min", min_);
    ns("p50", percentile(0.50));
    ns("p99", percentile(0.99));
    ns("p999", percentile(0.999));
    ns("max", max_);
    json.array("histogram");
    for (std::size_t i = 0; i < bins_.size(); i += kWritten) {
      std::uint64_t sum = 0;
      for (std::size_t k = i; k < std::min(i + kWritten, bins_.size()); ++k) sum += bins_[k];
      if (sum == 0) continue;
      json.begin_array();
      json.value(static_cast<double>(middle(i + kWritten / 2)) / kNanosecond).value(sum);
      json.end_array();
    }
    json.end_array().end_object();
  }

 private:
  static constexpr unsigned kSubBits = 7;
  static constexpr std::size_t kWritten = 8;  // bins that are one in a result

  // Values below 2^(kSubBits+1) have a bin of their own; above that a bin is 2^shift wide and the
  // top kSubBits+1 bits name it.
  static std::size_t bin(std::uint64_t v) {
    const auto width = static_cast<unsigned>(std::bit_width(v));
    if (width <= kSubBits + 1) return v;
    const unsigned shift = width - (kSubBits + 1);
    return (std::size_t{shift} << kSubBits) + (v >> shift);
  }

  static Time middle(std::size_t i) {
    if (i < (2u << kSubBits)) return static_cast<Time>(i);
    const std::size_t shift = (i >> kSubBits) - 1;
    const std::uint64_t low = (i - (shift << kSubBits)) << shift;
    return static_cast<Time>(low + (std::uint64_t{1} << shift >> 1));
  }

  std::vector<std::uint64_t> bins_;
  std::uint64_t count_ = 0;
  Time min_ = 0;
  Time max_ = 0;
  double sum_ = 0;
};

}  // namespace emery
