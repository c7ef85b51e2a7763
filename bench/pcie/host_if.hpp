// SPDX-License-Identifier: Apache-2.0
// What a driver sees of the machine: the one interface between driver models and whatever stands
// for the host. What an operating system makes of it for every driver is in host_calls.hpp.
//
// Blocking calls (config_*, wait) run the simulation and must come from outside of it; code that
// runs inside (callbacks, components) uses mmio_read_async and mmio_write. MMIO writes are posted
// and keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "bench/pcie/host_memory.hpp"
#include "bench/sim/simulation.hpp"

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
  using WriteHandler = HostMemory::WriteHandler;

  virtual ~HostInterface() = default;

  // ---- configuration: the device as enumeration left it; 32 bits, aligned
  virtual const PciDevice& device() const = 0;
  virtual std::uint32_t config_read(std::uint16_t offset) = 0;
  virtual void config_write(std::uint16_t offset, std::uint32_t value,
                            unsigned byte_enables = 0xf) = 0;
  // From inside the simulation; done gets what was read (0 of a write), and whether that went well.
  virtual void config_read_async(std::uint16_t offset, ReadDone done) = 0;
  virtual void config_write_async(std::uint16_t offset, std::uint32_t value, unsigned byte_enables,
                                  ReadDone done) = 0;

  // ---- its registers, by bus address. Reads are of 1 to 8 bytes that do not cross an 8-byte
  // border, and give all ones when they failed; writes are one packet per 64 bytes.
  virtual void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) = 0;
  virtual void mmio_write(std::uint64_t addr, const void* from, unsigned bytes) = 0;
  // How many writes a CPU can make before it would stand still because so many wait for the link. A
  // driver model makes no more; writes are taken all the same.
  virtual std::size_t mmio_room() const = 0;

  // ---- memory the device can reach. The CPU uses it by pointer, which takes no time; null when
  // the range is not within one allocation. `handler` is told of the device's writes.
  virtual std::uint64_t dma_alloc(std::uint64_t bytes, std::uint64_t align = HostMemory::kPage) {
    return memory().alloc(bytes, align);
  }
  void dma_free(std::uint64_t addr) { memory().free(addr); }
  std::uint8_t* dma_pointer(std::uint64_t addr, std::uint64_t bytes) {
    return memory().pointer(addr, bytes);
  }
  int watch(std::uint64_t addr, std::uint64_t bytes, WriteHandler handler) {
    return memory().watch(addr, bytes, std::move(handler));
  }

  // ---- interrupts
  virtual MsixMessage msix_message(unsigned vector) const = 0;
  virtual void on_vector(VectorHandler handler) = 0;

  // ---- time
  Time now() const { return simulation().now(); }
  // Runs until done() holds; false when `timeout` went by first.
  bool wait(const std::function<bool()>& done, Time timeout) {
    return simulation().run_until(done, now() + timeout);
  }

 protected:
  virtual HostMemory& memory() = 0;
  virtual Simulation& simulation() const = 0;
};

// The same of a whole slot, which is what a guest gets. A function of a device with several is
// none: messages of all of them are its slot's.
class SlotInterface : public HostInterface {
 public:
  using MessageHandler = std::function<void(MsixMessage message)>;

  // Interrupts as the device has sent them.
  virtual void on_message(MessageHandler handler) = 0;
};

}  // namespace emery
