// SPDX-License-Identifier: Apache-2.0
// What a driver sees of the host: the one interface between driver models and whatever stands for
// the machine.
//
// Blocking calls (config_*, mmio_read, advance) run the simulation and must come from outside of
// it; code that runs inside (callbacks, components) uses mmio_read_async, mmio_write and at(). MMIO
// writes are posted and keep their order.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "bench/sim/time.hpp"

namespace emery {

// What enumeration found and set.
struct PciDevice {
  std::uint16_t id = 0;  // bus, device, function
  std::uint16_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem = 0;
  std::uint32_t class_code = 0;
  std::uint64_t bar0 = 0, bar0_bytes = 0;
  int max_payload = 128, max_read_request = 128;
  int link_gen = 0, link_lanes = 0;
  std::uint16_t pcie_cap = 0, msix_cap = 0;  // offsets in configuration space, 0: absent
  int msix_vectors = 0;
  std::uint32_t msix_table = 0, msix_pba = 0;  // offsets in BAR 0
};

struct MsixMessage {
  std::uint64_t addr;
  std::uint32_t data;
};

class HostInterface {
 public:
  using ReadDone = std::function<void(std::uint64_t value, bool ok)>;
  using VectorHandler = std::function<void(unsigned vector)>;
  using WriteHandler = std::function<void(std::uint64_t addr, std::uint32_t bytes)>;

  virtual ~HostInterface() = default;

  // ---- the device
  virtual const PciDevice&
  enumerate() = 0;  // finds the device, assigns BAR 0, sets payload and request sizes
  virtual const PciDevice& device() const = 0;
  virtual std::uint32_t config_read(std::uint16_t offset) = 0;  // 32 bits, aligned
  virtual void config_write(std::uint16_t offset, std::uint32_t value,
                            unsigned byte_enables = 0xf) = 0;

  // ---- its registers: 1 to 8 bytes that do not cross an 8-byte border, bus addresses; all ones
  // when the read failed
  virtual std::uint64_t mmio_read(std::uint64_t addr, unsigned bytes) = 0;
  virtual void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) = 0;
  virtual void mmio_write(std::uint64_t addr, std::uint64_t value, unsigned bytes) = 0;
  virtual void mmio_write_block(std::uint64_t addr, const void* from,
                                unsigned bytes) = 0;  // one packet per 64 bytes

  // ---- memory the device can reach; reads and writes by the CPU take no time and throw when
  // unmapped
  virtual std::uint64_t dma_alloc(std::uint64_t bytes, std::uint64_t align = 4096) = 0;
  virtual void dma_free(std::uint64_t addr) = 0;
  virtual void dma_read(std::uint64_t addr, void* to, std::uint64_t bytes) = 0;
  virtual void dma_write(std::uint64_t addr, const void* from, std::uint64_t bytes) = 0;
  virtual std::uint8_t* dma_pointer(std::uint64_t addr,
                                    std::uint64_t bytes) = 0;  // within one allocation, or null
  virtual int watch(std::uint64_t addr, std::uint64_t bytes, WriteHandler handler) = 0;
  virtual void unwatch(int id) = 0;

  // ---- interrupts
  virtual MsixMessage msix_message(unsigned vector) const = 0;
  virtual void on_vector(VectorHandler handler) = 0;

  // ---- time
  virtual Time now() const = 0;
  virtual void advance(Time duration) = 0;
  virtual void at(Time when, std::function<void(Time now)> callback) = 0;
  // Runs until done() holds; false when `timeout` went by first.
  virtual bool wait(const std::function<bool()>& done, Time timeout) = 0;

  // ---- what an operating system does for every driver, made of the above
  void set_bus_master(bool on) {
    const std::uint32_t command = config_read(0x04) & 0xffff;
    config_write(0x04, on ? command | 4 : command & ~4u, 0x3);
  }

  // Fills the first `vectors` entries of the MSI-X table, unmasked, and enables MSI-X.
  void enable_msix(unsigned vectors) {
    const PciDevice& d = device();
    if (d.msix_cap == 0 || vectors > static_cast<unsigned>(d.msix_vectors)) {
      throw std::invalid_argument("device has " + std::to_string(d.msix_vectors) +
                                  " MSI-X vectors");
    }
    const std::uint32_t control = config_read(d.msix_cap) >> 16;
    config_write(d.msix_cap, (control | 0xc000u) << 16, 0xc);  // enabled, all masked
    for (unsigned v = 0; v < vectors; ++v) set_msix_vector(v, v, false);
    mmio_read(d.bar0 + d.msix_table, 4);  // the entries are there before the first message
    config_write(d.msix_cap, ((control & ~0x4000u) | 0x8000u) << 16, 0xc);
  }

  void set_msix_vector(unsigned entry, unsigned vector, bool masked) {
    const MsixMessage message = msix_message(vector);
    const std::uint64_t at = device().bar0 + device().msix_table + 16ull * entry;
    mmio_write(at, static_cast<std::uint32_t>(message.addr), 4);
    mmio_write(at + 4, message.addr >> 32, 4);
    mmio_write(at + 8, message.data, 4);
    mmio_write(at + 12, masked ? 1 : 0, 4);
  }

  std::uint32_t read32(std::uint32_t bar_offset) {
    return static_cast<std::uint32_t>(mmio_read(device().bar0 + bar_offset, 4));
  }
  void write32(std::uint32_t bar_offset, std::uint32_t value) {
    mmio_write(device().bar0 + bar_offset, value, 4);
  }
};

}  // namespace emery
