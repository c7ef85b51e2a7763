// SPDX-License-Identifier: Apache-2.0
// What of a run is written as waves: a window of its time, with the numbers of frames beside the
// model's signals (scope `frames`).
#pragma once

#include <cstdint>
#include <string>

#include "bench/sim/time.hpp"

namespace emery {

struct Waves {
  std::string path;            // empty: none
  Time from = 0, to = kNever;  // what is outside is not written
  // Numbers of the frames offered and delivered last, as a trace has them; null: not shown.
  const std::uint32_t* offered = nullptr;
  const std::uint32_t* delivered = nullptr;
};

}  // namespace emery
