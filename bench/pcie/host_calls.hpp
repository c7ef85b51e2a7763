// SPDX-License-Identifier: Apache-2.0
// What an operating system does for every driver, made of HostInterface alone.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/pcie/host_if.hpp"

namespace emery {

/// A read that waits for its answer; all ones when it failed. Runs the simulation.
inline std::uint64_t mmio_read(HostInterface& host, std::uint64_t addr, unsigned bytes) {
  // Shared, because the answer may come after this call has been left by an exception.
  struct Answer {
    std::uint64_t value = 0;
    bool there = false;
  };
  const auto answer = std::make_shared<Answer>();
  host.mmio_read_async(addr, bytes,
                       [answer](std::uint64_t value, bool) { *answer = {value, true}; });
  host.wait([&] { return answer->there; }, kNever - host.now());
  return answer->value;
}

/// Writes 1 to 8 bytes that do not cross an 8-byte border.
inline void mmio_write(HostInterface& host, std::uint64_t addr, std::uint64_t value,
                       unsigned bytes) {
  if (bytes == 0 || (addr & 7) + bytes > 8)
    throw std::invalid_argument("mmio_write: bad size or alignment");
  host.mmio_write(addr, &value, bytes);
}

/// 32-bit registers, by their offset in BAR 0.
inline std::uint32_t read32(HostInterface& host, std::uint32_t offset) {
  return static_cast<std::uint32_t>(mmio_read(host, host.device().bar0 + offset, 4));
}
inline void write32(HostInterface& host, std::uint32_t offset, std::uint32_t value) {
  mmio_write(host, host.device().bar0 + offset, value, 4);
}

inline void set_bus_master(HostInterface& host, bool on) {
  const std::uint32_t command = host.config_read(0x04) & 0xffff;
  host.config_write(0x04, on ? command | 4 : command & ~4u, 0x3);
}

/// Where Device Control is, and its bit that asks for a function-level reset.
constexpr std::uint32_t kInitiateReset = 1u << 15;
inline std::uint16_t device_control(const HostInterface& host) {
  return static_cast<std::uint16_t>(host.device().pcie_cap + 8);
}

inline void set_msix_vector(HostInterface& host, unsigned entry, unsigned vector, bool masked) {
  const MsixMessage message = host.msix_message(vector);
  const std::uint64_t at = host.device().bar0 + host.device().msix_table + 16ull * entry;
  mmio_write(host, at, static_cast<std::uint32_t>(message.addr), 4);
  mmio_write(host, at + 4, message.addr >> 32, 4);
  mmio_write(host, at + 8, message.data, 4);
  mmio_write(host, at + 12, masked ? 1 : 0, 4);
}

/// Fills the first `vectors` entries of the MSI-X table, unmasked, and enables MSI-X.
inline void enable_msix(HostInterface& host, unsigned vectors) {
  const PciDevice& d = host.device();
  if (d.msix_cap == 0 || vectors > static_cast<unsigned>(d.msix_vectors)) {
    throw std::invalid_argument("device has " + std::to_string(d.msix_vectors) + " MSI-X vectors");
  }
  const std::uint32_t control = host.config_read(d.msix_cap) >> 16;
  host.config_write(d.msix_cap, (control | 0xc000u) << 16, 0xc);  // enabled, all masked
  for (unsigned v = 0; v < vectors; ++v) set_msix_vector(host, v, v, false);
  mmio_read(host, d.bar0 + d.msix_table, 4);  // the entries are there before the first message
  host.config_write(d.msix_cap, ((control & ~0x4000u) | 0x8000u) << 16, 0xc);
}

inline void disable_msix(HostInterface& host) {
  const std::uint16_t at = host.device().msix_cap;
  if (at != 0) host.config_write(at, host.config_read(at) & ~0x8000'0000u, 0xc);
}

}  // namespace emery
