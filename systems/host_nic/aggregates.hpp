// SPDX-License-Identifier: Apache-2.0
// Received TCP segments that the card has joined under one record, taken apart again into the very
// frames that came: headers of the first, with the fields that go on from one to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

class Aggregates {
 public:
  /// Hands on each frame of a record: as it is where there is one, or its data is not whole. The
  /// frames behind the first have stamps of a nanosecond more each: the record has the first one's.
  void each_frame(const emnic_completion& record,
                  const std::function<void(const emnic_completion&)>& take);

  std::uint64_t taken() const { return taken_; }
  std::uint64_t frames() const { return frames_; }

 private:
  std::vector<std::uint8_t> frame_;
  std::uint64_t taken_ = 0, frames_ = 0;
};

}  // namespace emery::host_nic
