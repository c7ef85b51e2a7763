// SPDX-License-Identifier: Apache-2.0
// A capture of what came out at one place of a system: written as it comes, or, where it comes in
// another order than that of its stamps, sorted at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/traffic/pcap.hpp"

namespace emery {

class Output {
 public:
  enum class Order { kAsItComes, kByTime };

  /// Several paths: the same in each.
  Output(const std::vector<std::string>& paths, Order order) : order_(order) {
    for (const std::string& path : paths) files_.push_back(std::make_unique<PcapWriter>(path));
  }

  void write(Time time, std::span<const std::uint8_t> bytes) {
    if (order_ == Order::kAsItComes) {
      put(time, bytes);
    } else {
      kept_.push_back({time, {bytes.begin(), bytes.end()}});
    }
  }

  void close() {
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const Kept& a, const Kept& b) { return a.time < b.time; });
    for (const Kept& frame : kept_) put(frame.time, frame.bytes);
    kept_.clear();
    for (const auto& file : files_) file->close();
  }

 private:
  struct Kept {
    Time time;
    std::vector<std::uint8_t> bytes;
  };
  void put(Time time, std::span<const std::uint8_t> bytes) {
    for (const auto& file : files_) file->write(time, bytes);
  }

  std::vector<std::unique_ptr<PcapWriter>> files_;
  Order order_;
  std::vector<Kept> kept_;
};

}  // namespace emery
