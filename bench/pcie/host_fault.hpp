// SPDX-License-Identifier: Apache-2.0
// The fault of a run (settings `fault` and `fault_frame`), by the names that all systems have for
// it. It strikes once, at the frame of that number among those of its kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// An address of memory that there is not.
constexpr std::uint64_t kNowhere = 0x5555'0000'0000;  // HostMemory never maps this

class HostFault {
 public:
  /// `timeout`: after which the device gives a read up.
  HostFault(const Options& options, Time timeout)
      : name_(options.get<std::string>("fault")),
        frame_(options.get<std::uint64_t>("fault_frame")),
        timeout_(timeout) {}

  const std::string& name() const { return name_; }
  bool is(std::string_view name) const { return name_ == name; }
  /// It goes by frames received, not by those sent.
  bool of_receive() const { return is("rx_null_address") || is("lost_rx_descriptor"); }
  /// How long nothing may move because of it.
  Time pause() const {
    return is("late_completion") ? 2 * timeout_ : name_.starts_with("lost") ? timeout_ : 0;
  }

  /// There is one more frame of its kind: whether this is the one.
  bool strikes() {
    if (struck_ || is("none") || ++count_ != frame_) return false;
    struck_ = true;
    return true;
  }
  bool struck() const { return struck_; }

  /// Of the next read there: `late_completion` comes after it was given up, `poisoned_completion`
  /// is poisoned; of what else is lost there is none.
  ReadFault read(std::uint64_t addr, std::uint64_t bytes) const {
    ReadFault fault;
    fault.addr = addr;
    fault.bytes = bytes;
    if (is("late_completion")) {
      fault.kind = ReadFault::Kind::kDelay;
      fault.delay = pause();
    } else if (is("poisoned_completion")) {
      fault.kind = ReadFault::Kind::kPoison;
    }
    return fault;
  }

  /// Fields of the object that is open.
  void write(JsonWriter& json) const {
    json.field("kind", name_).field("struck", struck_);
    if (struck_) json.field("frame", frame_);
  }

 private:
  std::string name_;
  std::uint64_t frame_, count_ = 0;
  Time timeout_;
  bool struck_ = false;
};

}  // namespace emery
