// SPDX-License-Identifier: Apache-2.0
// How many frames have come in at each port, and how evenly.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace emery::tile_router {

class Entries {
 public:
  explicit Entries(unsigned ports) : by_port_(ports) {}

  void entered(unsigned port) { ++by_port_[port]; }
  std::uint64_t all() const {
    return std::accumulate(by_port_.begin(), by_port_.end(), std::uint64_t{0});
  }
  /// Jain's index of those ports: the square of the sum over n times the sum of squares.
  double jain(const std::vector<bool>& ports) const {
    double sum = 0, squares = 0, n = 0;
    for (unsigned p = 0; p < by_port_.size(); ++p) {
      if (!ports[p]) continue;
      const auto frames = static_cast<double>(by_port_[p]);
      sum += frames;
      squares += frames * frames;
      ++n;
    }
    return squares > 0 ? sum * sum / (n * squares) : 1;
  }

 private:
  std::vector<std::uint64_t> by_port_;
};

}  // namespace emery::tile_router
