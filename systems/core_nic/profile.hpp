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
#include "core_formats.hpp"
#include "systems/core_nic/image.hpp"

namespace emery::core_nic {

// What a core without networks does in a clock: core_pkg::clock_use_e up to Sleep. In those before
// Halted it is at work.
inline constexpr unsigned kUses = core_pkg::Sleep + 1;
std::string_view clock_use_name(unsigned use);

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

  // The fields `ipc`, `ipc_awake` (of the clocks in which cores did not wait for work), `clock_use`
  // and `core_ipc` of the open object; then `functions`, with numbers
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
