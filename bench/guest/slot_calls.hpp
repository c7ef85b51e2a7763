// SPDX-License-Identifier: Apache-2.0
// What a machine beyond a socket does to its slot, made of HostInterface alone. But for ConfigPart
// all of it runs the simulation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/pcie/host_calls.hpp"
#include "bench/pcie/host_if.hpp"

namespace emery {

/// 1 to 4 bytes of one word of configuration space.
struct ConfigPart {
  std::uint16_t addr;
  unsigned bytes;

  std::uint16_t word() const { return static_cast<std::uint16_t>(addr & 0xffc); }
  unsigned enables() const { return ((1u << bytes) - 1) << (addr & 3); }
  std::uint32_t placed(std::uint32_t value) const { return value << 8 * (addr & 3); }
  std::uint32_t taken_from(std::uint32_t word) const {
    const std::uint64_t mask = (std::uint64_t{1} << 8 * bytes) - 1;
    return static_cast<std::uint32_t>(word >> 8 * (addr & 3) & mask);
  }
};

/// Until the link has taken enough for one more write of a register.
inline void wait_for_room(HostInterface& host) {
  if (host.mmio_room() == 0)
    host.wait([&host] { return host.mmio_room() != 0; }, kNever - host.now());
}

/// What `ask(n, done)` gives for each n below `count`, some on their way at a time. All ones where
/// that fails.
template <class Ask>
std::vector<std::uint64_t> read_side_by_side(HostInterface& host, std::size_t count, Ask ask) {
  constexpr std::size_t kMost = 32;
  struct Answers {  // shared, because some may come after an exception
    std::vector<std::uint64_t> values;
    std::size_t there = 0;
  };
  const auto answers = std::make_shared<Answers>();
  answers->values.resize(count);
  for (std::size_t asked = 0; answers->there < count;) {
    for (; asked < count && asked - answers->there < kMost; ++asked) {
      ask(asked, [answers, asked](std::uint64_t value, bool) {
        answers->values[asked] = value;
        ++answers->there;
      });
    }
    const std::size_t before = answers->there;
    host.wait([&] { return answers->there != before; }, kNever - host.now());
  }
  return std::move(answers->values);
}

/// A function-level reset as an operating system does it: what enumeration has set is as it was,
/// what a driver sets is not. False when the device does not come back.
inline bool reset_function(HostInterface& host) {
  constexpr Time kSettles = 100 * kMicrosecond;  // 100 ms of a real one
  constexpr int kLooks = 10;
  constexpr std::uint32_t kInitiate = 1u << 15;
  const PciDevice& d = host.device();
  const auto control = static_cast<std::uint16_t>(d.pcie_cap + 0x08),
             control2 = static_cast<std::uint16_t>(d.pcie_cap + 0x28);
  const std::uint32_t set = host.config_read(control), set2 = host.config_read(control2);
  host.config_write(control, set | kInitiate, 0x3);
  for (int i = 0;; ++i) {
    host.wait([] { return false; }, kSettles);
    if (host.config_read(0) != 0xffff'ffff) break;
    if (i == kLooks) return false;
  }
  host.config_write(0x10, static_cast<std::uint32_t>(d.bar0), 0xf);
  host.config_write(0x14, static_cast<std::uint32_t>(d.bar0 >> 32), 0xf);
  host.config_write(control, set, 0x3);
  host.config_write(control2, set2, 0x3);
  host.config_write(0x04, 2, 0x3);  // memory space
  return true;
}

}  // namespace emery
