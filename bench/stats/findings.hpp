// SPDX-License-Identifier: Apache-2.0
// What is wrong with a run, in words.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace emery {

/// Findings about a run, a line each.
class Findings {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }
  /// Nothing when the count is 0.
  void add(std::uint64_t count, const std::string& what) {
    if (count != 0) add(std::to_string(count) + " " + what);
  }
  void add(const std::vector<std::string>& lines) {
    lines_.insert(lines_.end(), lines.begin(), lines.end());
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace emery
