// SPDX-License-Identifier: Apache-2.0
// A device's registers as a table, made from its register description, and a driver that means ill:
// it writes whatever it likes to any of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pcie/host_calls.hpp"
#include "bench/sim/random.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// A register, or an array of them in up to four dimensions, the outermost first.
struct RegisterPlace {
  struct Array {
    std::uint32_t count = 0, stride = 0;
  };
  static constexpr int kArrays = 4;
  const char* name;  // with the names of all it lies in, joined by dots
  std::uint32_t offset;
  bool writable;
  Array arrays[kArrays];
};

/// Writes 0, all ones and random values to the registers of a table in turn, from a seed; of arrays
/// one element at random.
class HostileWriter {
 public:
  /// Whether the register at these indices (0 where there is no array) may be harmed.
  using Allowed = std::function<bool(std::string_view name, const std::uint32_t* index)>;

  HostileWriter(std::span<const RegisterPlace> places, Allowed allowed, std::uint64_t seed)
      : places_(places), allowed_(std::move(allowed)), random_(seed) {}

  /// What is written next: its offset and the value; without a register that may be harmed nothing.
  struct Write {
    std::uint32_t offset, value;
  };
  std::optional<Write> next() {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const RegisterPlace& place = places_[next_++ % places_.size()];
      std::uint32_t index[RegisterPlace::kArrays] = {};
      std::uint32_t offset = place.offset;
      for (int a = 0; a < RegisterPlace::kArrays && place.arrays[a].count; ++a) {
        index[a] = pick(place.arrays[a].count);
        offset += index[a] * place.arrays[a].stride;
      }
      if (!place.writable || !allowed_(place.name, index)) continue;
      written_.insert(place.name);
      ++writes_;
      return Write{offset, value()};
    }
    return {};
  }
  /// One write, now.
  void write(HostInterface& host) {
    if (const std::optional<Write> now = next()) write32(host, now->offset, now->value);
  }
  /// Fields of the object that is open.
  void write(JsonWriter& json) const {
    json.field("writes", writes_).array("registers");
    for (const std::string& name : written_) json.value(name);
    json.end_array();
  }

 private:
  std::uint32_t pick(std::uint32_t count) {
    // Small ones as often as large ones: a device seldom has all a map has room for.
    const std::uint32_t below = std::max(1u, count >> random_.below(std::bit_width(count)));
    return random_.chance(0.1) ? count - 1 : static_cast<std::uint32_t>(random_.below(below));
  }

  std::uint32_t value() {
    switch (random_.below(4)) {
      case 0:
        return 0;
      case 1:
        return ~0u;
      case 2:  // small, or of few bits
        return static_cast<std::uint32_t>(random_.below(256)) << random_.below(25);
      default:
        return static_cast<std::uint32_t>(random_.below(std::uint64_t{1} << 32));
    }
  }

  std::span<const RegisterPlace> places_;
  Allowed allowed_;
  Random random_;
  std::size_t next_ = 0;
  std::uint64_t writes_ = 0;
  std::set<std::string> written_;
};

}  // namespace emery
