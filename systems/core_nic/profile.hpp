// SPDX-License-Identifier: Apache-2.0
// Where the cores' clocks, instructions and memory accesses go, by function of the firmware.
//
// A clock belongs to the instruction that retires in it; one in which nothing does, to the
// instruction of that core that retired last. Accesses are counted by the instructions that make
// them: a load, store or atomic is one, as are `set` and `update`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stats/json.hpp"
#include "systems/core_nic/image.hpp"

namespace emery::core_nic {

// clock_use_e of rtl/core/core_pkg.sv.
enum ClockUse : unsigned {
  kRetire,
  kStallFetch,
  kStallLoad,
  kStallBank,
  kStallPipe,
  kHalted,
  kUses
};
std::string_view clock_use_name(unsigned use);
// trap_e, in words.
std::string_view trap_name(unsigned trap);

class Profile {
 public:
  Profile(const Image& image, unsigned cores)
      : image_(image), cores_(cores), clocks_(kWords * kStride) {}

  void clock(unsigned core, unsigned use, std::uint32_t pc) {
    ++cores_[core][use];
    ++clocks_[(pc / 4 % kWords) * kStride + use];
  }

  std::uint64_t total(unsigned use) const;
  // Loads, stores, atomics of all cores.
  std::uint64_t accesses() const;

  // The fields `ipc`, `clock_use` and `cores` of the open object; then `functions`, with numbers
  // for each of so many frames that went by.
  void write_use(JsonWriter& json) const;
  void write_functions(JsonWriter& json, double frames) const;

 private:
  static constexpr std::size_t kWords = Image::kImemBytes / 4, kStride = 8;
  struct Kind {
    bool load, store;
  };
  static Kind kind(std::uint32_t instruction);

  const Image& image_;
  std::vector<std::array<std::uint64_t, kUses>> cores_;
  std::vector<std::uint64_t> clocks_;  // by instruction and use
};

}  // namespace emery::core_nic
