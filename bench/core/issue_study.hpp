// SPDX-License-Identifier: Apache-2.0
// How many instructions a clock a stream of instructions allows, by kind of processor (core-nic
// paper, section 2.2 and table 2).
//
// A perfect pipeline is bound by its width and by results that are usable a clock after their
// instruction was issued; with stalls a loaded word takes a clock more, and one instruction a clock
// may access memory. Out of order means any number of instructions in flight and renamed registers;
// a load waits for the last store to its word. Without branch prediction nothing younger than a
// branch or jump issues before the clock after it; with one prediction a clock the second branch
// waits for the next clock, and with perfect prediction branches are like any other instruction.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace emery {

/// What matters of an instruction. Register 0 stands for none.
struct IssueInstruction {
  unsigned rd = 0, rs1 = 0, rs2 = 0;
  bool branch = false;  // jumps too
  bool load = false, store = false;
  std::uint32_t word = 0;  // of the access
};

enum class BranchPrediction { kPerfect, kOneAClock, kNone };

class IssueStudy {
 public:
  struct Config {
    bool in_order = true;
    unsigned width = 1;
    bool stalls = false;
    BranchPrediction prediction = BranchPrediction::kPerfect;

    std::string name() const {
      static constexpr std::array kPrediction = {"pbp", "pbp1", "none"};
      return std::string(in_order ? "io" : "ooo") + std::to_string(width) + "_" +
             (stalls ? "stalls" : "perfect") + "_" + kPrediction[static_cast<unsigned>(prediction)];
    }
  };

  explicit IssueStudy(const Config& config) : config_(config) {}

  void issue(const IssueInstruction& i) {
    std::uint64_t at = std::max({ready_[i.rs1], ready_[i.rs2], earliest_});
    if (i.load) {
      if (const auto stored = stored_.find(i.word); stored != stored_.end())
        at = std::max(at, stored->second);
    }
    if (i.branch && config_.prediction == BranchPrediction::kOneAClock) {
      at = std::max(at, next_branch_);
      if (config_.in_order) at = slot(at, i);
      // The one after it may be predicted a clock later; what follows this one, with it.
      const std::uint64_t predicted = config_.in_order ? at : std::max(earliest_, next_branch_);
      next_branch_ = predicted + 1;
      earliest_ = std::max(earliest_, predicted);
    }
    at = slot(at, i);
    take(at, i);
    if (config_.in_order) earliest_ = std::max(earliest_, at);
    if (i.branch && config_.prediction == BranchPrediction::kNone)
      earliest_ = std::max(earliest_, at + 1);
    const std::uint64_t usable = at + (i.load && config_.stalls ? 2 : 1);
    if (i.rd != 0) ready_[i.rd] = usable;
    if (i.store) stored_[i.word] = at + 1;
    last_ = std::max(last_, at);
    ++issued_;
  }

  const Config& config() const { return config_; }
  std::uint64_t clocks() const { return issued_ == 0 ? 0 : last_ + 1; }
  double ipc() const {
    return issued_ == 0 ? 0 : static_cast<double>(issued_) / static_cast<double>(clocks());
  }

 private:
  // Clocks with no room left lead to a later one; paths are cut short as they are walked.
  struct Full {
    std::vector<std::uint32_t> next;  // how many clocks further to look
    std::uint64_t find(std::uint64_t at) {
      std::uint64_t end = at;
      while (end < next.size() && next[end] != 0) end += next[end];
      while (at < end && at < next.size()) {
        const std::uint64_t step = next[at];
        next[at] = static_cast<std::uint32_t>(end - at);
        at += step;
      }
      return end;
    }
    void fill(std::uint64_t at) {
      if (next.size() <= at) next.resize(at + 1024);
      next[at] = 1;
    }
  };

  std::uint64_t slot(std::uint64_t at, const IssueInstruction& i) {
    const bool memory = config_.stalls && (i.load || i.store);
    for (;;) {
      const std::uint64_t free = full_.find(at);
      at = memory ? memory_full_.find(free) : free;
      if (at == free) return at;
    }
  }

  void take(std::uint64_t at, const IssueInstruction& i) {
    if (used_.size() <= at) used_.resize(at + 1024);
    if (++used_[at] == config_.width) full_.fill(at);
    if (config_.stalls && (i.load || i.store)) memory_full_.fill(at);
  }

  Config config_;
  std::array<std::uint64_t, 32> ready_{};
  std::unordered_map<std::uint32_t, std::uint64_t> stored_;
  std::vector<std::uint8_t> used_;
  Full full_, memory_full_;
  std::uint64_t earliest_ = 0, next_branch_ = 0, last_ = 0, issued_ = 0;
};

}  // namespace emery
