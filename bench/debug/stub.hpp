// SPDX-License-Identifier: Apache-2.0
// gdb's remote protocol above the packets: what a packet is answered, when cores are to stop.
//
// All stop together, and run together: a core that gdb steps has the others run on, since they are
// one piece of hardware. A core stops at a breakpoint when the instruction before it has retired;
// no code is patched. It stops at a watched word when the instruction that has accessed it has
// retired. gdb takes breakpoints out while it steps a core over one, and believes that the others
// stand: those it has taken out hold until it has all cores run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/debug/target.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/sha256.hpp"

namespace emery {

class DebugStub {
 public:
  enum class Wish { kStay, kGo, kDetach, kKill };

  explicit DebugStub(DebugTarget& target) : target_(target), stepping_(target.cores()) {}

  /// The answer to a packet; none while the cores are to run: it comes when they stop.
  std::optional<std::string> answer(std::string_view packet);
  /// What is to happen after the packet that was answered last.
  Wish wish() const { return wish_; }
  /// From now on packets are not acknowledged.
  bool silent() const { return silent_; }

  // ---- while the cores run

  void retired(unsigned core, std::uint32_t next_pc, const DebugAccess& access);
  void trapped(unsigned core, unsigned signal) { stops_.push_back({core, signal, {}}); }
  void interrupt() { stops_.push_back({chosen_, kInterrupted, {}}); }
  /// Whether there is a stop to report.
  bool stopped(Time now) {
    now_ = now;
    if (now >= until_) time_is_up();
    return !stops_.empty();
  }
  /// The answer that was put off. The cores stand.
  std::string stop();

  /// Writes to memory that were made, and a digest of what they were.
  std::uint64_t writes() const { return writes_; }
  std::string changes() const { return Sha256(changes_).hex(); }

 private:
  static constexpr unsigned kInterrupted = 2, kTrap = 5;  // signals
  static constexpr std::size_t kMostPoints = 1024;

  enum Kind : std::uint32_t { kSoftware, kHardware, kWrite, kRead, kAccess };  // of packets Z, z
  struct Point {
    std::uint32_t kind, address, bytes;
    bool operator==(const Point&) const = default;
    bool sees(const DebugAccess& access) const;
  };
  struct Stop {
    unsigned core, signal;
    std::optional<Point> at;
    bool stepped = false;
  };

  std::string query(std::string_view packet);
  std::string object(std::string_view packet) const;
  std::string threads() const;
  std::string monitor(std::string_view command);
  std::string stop_after(std::string_view time);
  std::string text_of(unsigned core, unsigned number) const;
  std::string registers() const;
  std::string read(std::string_view range) const;
  std::string write(std::string_view rest, bool binary);
  std::string insert(std::string_view rest);
  std::string remove(std::string_view rest);
  std::string choose(std::string_view rest);
  std::optional<std::string> resume(std::string_view actions);
  std::optional<std::string> go(bool all);
  bool core_of(std::string_view thread, unsigned& core) const;
  bool stands(const Stop& stop) const;
  void time_is_up();

  DebugTarget& target_;
  std::vector<Point> points_;  // those that are set
  std::vector<Point> out_;     // taken out since gdb had all cores run
  std::vector<Stop> stops_;    // not reported yet, in their order
  std::vector<bool> stepping_;
  std::string last_ = "T05thread:1;";  // what was reported last
  Sha256 changes_;
  std::uint64_t writes_ = 0;
  unsigned chosen_ = 0;  // core
  Wish wish_ = Wish::kStay;
  bool silent_ = false;
  Time now_ = 0, until_ = kNever, after_ = 0;  // after_: of the next time they run; 0: no end
};

}  // namespace emery
