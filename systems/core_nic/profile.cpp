// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/profile.hpp"

#include <algorithm>

namespace emery::core_nic {

std::string_view clock_use_name(unsigned use) {
  switch (use) {
    case core_pkg::Retire:
      return "retire";
    case core_pkg::StallFetch:
      return "instruction_miss";
    case core_pkg::StallLoad:
      return "load";
    case core_pkg::StallBank:
      return "bank_conflict";
    case core_pkg::StallStore:
      return "store_buffer";
    case core_pkg::StallPipe:
      return "pipeline";
    case core_pkg::Halted:
      return "halted";
    default:
      return "sleep";
  }
}

Profile::Kind Profile::kind(std::uint32_t instruction) {
  switch (instruction & 127) {
    case 0x03:
      return {true, false};
    case 0x23:
      return {false, true};
    case 0x2f:  // atomics
    case 0x0b:  // set, update
      return {true, true};
    default:
      return {false, false};
  }
}

std::uint64_t Profile::total(unsigned use) const {
  std::uint64_t sum = 0;
  for (const auto& core : cores_) sum += core[use];
  return sum;
}

std::uint64_t Profile::accesses() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const Kind k = kind(image_.program()[i]);
    if (k.load || k.store) sum += clocks_[i * kStride + core_pkg::Retire];
  }
  return sum;
}

void Profile::write_use(JsonWriter& json) const {
  std::uint64_t all = 0;
  for (unsigned use = 0; use < kUses; ++use) all += total(use);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  const std::uint64_t asleep = total(core_pkg::Sleep);
  json.field("ipc", share(total(core_pkg::Retire), all))
      .field("ipc_awake", share(total(core_pkg::Retire), all - asleep));
  json.object("clock_use");
  for (unsigned use = 0; use < kUses; ++use)
    json.field(clock_use_name(use), share(total(use), all));
  json.end_object();
  json.array("core_ipc");
  for (const auto& core : cores_) {
    std::uint64_t clocks = 0;
    for (const std::uint64_t n : core) clocks += n;
    json.value(share(core[core_pkg::Retire], clocks));
  }
  json.end_array();
}

void Profile::write_functions(JsonWriter& json, double frames) const {
  struct Sum {
    std::size_t function;
    std::uint64_t uses[kUses] = {}, loads = 0, stores = 0, clocks = 0;
  };
  std::vector<Sum> sums(image_.functions().size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].function = i;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint64_t* c = &clocks_[i * kStride];
    if (std::all_of(c, c + core_pkg::Halted, [](std::uint64_t n) { return n == 0; })) continue;
    Sum& sum = sums[image_.function_at(static_cast<std::uint32_t>(4 * i))];
    for (unsigned use = 0; use < core_pkg::Halted; ++use) {
      sum.uses[use] += c[use];
      sum.clocks += c[use];
    }
    const Kind k = kind(image_.program()[i]);
    if (k.load) sum.loads += c[core_pkg::Retire];
    if (k.store && !k.load) sum.stores += c[core_pkg::Retire];
  }
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    return a.clocks != b.clocks ? a.clocks > b.clocks : a.function < b.function;
  });
  const auto each = [&](std::uint64_t n) {
    return frames > 0 ? static_cast<double>(n) / frames : 0;
  };
  json.array("functions");
  for (const Sum& sum : sums) {
    if (sum.clocks == 0) continue;
    json.begin_object()
        .field("name", image_.functions()[sum.function].name)
        .field("clocks", sum.clocks)
        .field("instructions", sum.uses[core_pkg::Retire])
        .field("accesses", sum.loads + sum.stores)
        .field("instructions_a_frame", each(sum.uses[core_pkg::Retire]))
        .field("accesses_a_frame", each(sum.loads + sum.stores))
        .field("clocks_a_frame", each(sum.clocks));
    for (unsigned use = core_pkg::StallFetch; use < core_pkg::Halted; ++use)
      json.field(clock_use_name(use), sum.uses[use]);
    json.end_object();
  }
  json.end_array();
}

}  // namespace emery::core_nic
