// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the first guest's slot: the option `fault`, of those kinds that need no
// driver of the bench's. It strikes once, when the frame numbered `fault_frame` has left the card:
// at the next read of memory, whatever that is of.
#pragma once

#include <cstdint>
#include <string>

#include "bench/pcie/root_complex.hpp"
#include "bench/sim/options.hpp"

namespace emery::host_nic {

class SlotFaults {
 public:
  explicit SlotFaults(const Options& options)
      : frame_(options.get<std::uint64_t>("fault_frame")),
        lasts_(options.get<unsigned>("fault_us") * kMicrosecond) {
    const auto name = options.get<std::string>("fault");
    if (name == "lost_completion") {
      kind_ = Kind::kRead;
    } else if (name == "poisoned_completion") {
      kind_ = Kind::kRead;
      read_.kind = ReadFault::Kind::kPoison;
    } else if (name == "slow_host") {
      kind_ = Kind::kStall;
    } else if (name != "none") {
      throw OptionError("fault: '" + name +
                        "' is of the bench's driver; with a Linux there are lost_completion, "
                        "poisoned_completion and slow_host");
    }
  }

  void transmitted(RootComplex& root, Time now) {
    if (kind_ == Kind::kNone || ++count_ != frame_) return;
    if (kind_ == Kind::kStall) {
      root.stall(now, now + lasts_);
    } else {
      root.inject(read_);
    }
  }

 private:
  enum class Kind { kNone, kRead, kStall };
  Kind kind_ = Kind::kNone;
  ReadFault read_;
  std::uint64_t frame_, count_ = 0;
  Time lasts_;
};

}  // namespace emery::host_nic
