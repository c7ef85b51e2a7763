// SPDX-License-Identifier: Apache-2.0
// Simulated time: integer picoseconds since the start of the run.
#pragma once

#include <cstdint>

namespace emery {

using Time = std::int64_t;

inline constexpr Time kNanosecond = 1'000;
inline constexpr Time kMicrosecond = 1'000'000;
inline constexpr Time kNever = INT64_MAX;

}  // namespace emery
