// SPDX-License-Identifier: Apache-2.0
// The CPU's way to several devices: 32-bit accesses to registers and configuration spaces, whatever
// the bus. Accesses are done in order; writes are posted, reads call back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace emery {

class CpuPort {
 public:
  /// `ok` is false, and the value all ones, when nobody answered.
  using OnRead = std::function<void(std::uint32_t value, bool ok)>;

  virtual ~CpuPort() = default;

  /// Addresses are multiples of 4.
  virtual void write(std::uint64_t address, std::uint32_t value) = 0;
  virtual void read(std::uint64_t address, OnRead on_read) = 0;
  virtual void config_write(unsigned device, unsigned reg, std::uint32_t value) = 0;
  virtual void config_read(unsigned device, unsigned reg, OnRead on_read) = 0;

  /// Nothing of the CPU's is under way.
  virtual bool quiet() const = 0;
  /// When quiet, writes may still be on their way: a read of the device waits for them.
  virtual bool buffers_writes() const = 0;
  /// Accesses not done yet.
  virtual std::size_t requests() const = 0;
};

}  // namespace emery
