// SPDX-License-Identifier: Apache-2.0
// What a debugger is shown of a system: cores, their registers, memory. While it looks, simulated
// time stands still, and nothing that it reads leaves a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace emery {

/// An access of an instruction that has retired; a core with none: `bytes` is 0.
struct DebugAccess {
  std::uint32_t address = 0, bytes = 0;
  bool reads = false, writes = false;
};

class DebugTarget {
 public:
  static constexpr unsigned kPc = 32, kRegisters = 33;  // x0 ... x31, pc

  virtual ~DebugTarget() = default;

  virtual unsigned cores() const = 0;
  /// What a core does, for people.
  virtual std::string state(unsigned core) const = 0;
  /// Nothing while it is not known: before the first instruction that has to do with it.
  virtual std::optional<std::uint32_t> reg(unsigned core, unsigned number) const = 0;
  /// False, and nothing is done, unless all of it can be read or written now.
  virtual bool read(std::uint32_t address, std::span<std::uint8_t> bytes) const = 0;
  virtual bool write(std::uint32_t address, std::span<const std::uint8_t> bytes) = 0;
  /// Lines on how far everything is.
  virtual std::string cycles() const = 0;
};

}  // namespace emery
