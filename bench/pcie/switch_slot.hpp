// SPDX-License-Identifier: Apache-2.0
// A device behind a switch as its driver sees it: HostInterface on the CPU above the switch and the
// memory beside it. The device's registers are a part of its BAR 0 from `offset` on, where those of
// other things lie too.
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>

#include "bench/pcie/config_space.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/cpu_port.hpp"

namespace emery {

class SwitchSlot final : public SlotInterface {
 public:
  SwitchSlot(CpuPort& cpu, RootComplex& root, unsigned number)
      : cpu_(cpu), root_(root), number_(number) {}

  /// Enumeration has put its registers there.
  void found(std::uint64_t registers, const FunctionConfig& function, std::uint64_t offset) {
    device_.bar0 = registers;
    device_.msix_cap = function.msix_vectors ? ConfigSpace::kMsixCap : 0;
    device_.msix_vectors = function.msix_vectors;
    device_.msix_table = function.msix_table - static_cast<std::uint32_t>(offset);
    device_.msix_pba = function.msix_pba - static_cast<std::uint32_t>(offset);
    device_.pcie_cap = ConfigSpace::kPcieCap;
  }

  const PciDevice& device() const override { return device_; }
  std::uint32_t config_read(std::uint16_t offset) override {
    std::uint32_t value = 0;
    bool there = false;
    cpu_.config_read(number_, offset, [&](std::uint32_t v, bool) {
      value = v;
      there = true;
    });
    wait_for([&] { return there; });
    return value;
  }
  // All four bytes are written: those that are not enabled as they read.
  void config_write(std::uint16_t offset, std::uint32_t value, unsigned byte_enables) override {
    const std::uint32_t mask = enabled(byte_enables);
    if (mask != ~0u) value = (value & mask) | (config_read(offset) & ~mask);
    cpu_.config_write(number_, offset, value);
    wait_for([&] { return cpu_.quiet(); });
  }
  void config_read_async(std::uint16_t offset, ReadDone done) override {
    cpu_.config_read(number_, offset, std::move(done));
  }
  void config_write_async(std::uint16_t offset, std::uint32_t value, unsigned byte_enables,
                          ReadDone done) override {
    const std::uint32_t mask = enabled(byte_enables);
    const auto write = [this, offset, value, mask, done = std::move(done)](std::uint32_t old,
                                                                           bool) {
      cpu_.config_write(number_, offset, (value & mask) | (old & ~mask));
      // A read behind it says when it is there.
      cpu_.config_read(number_, offset, [done](std::uint32_t, bool good) { done(0, good); });
    };
    if (mask == ~0u)
      write(0, true);
    else
      cpu_.config_read(number_, offset, write);
  }
  void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) override {
    if (bytes != 4) throw std::invalid_argument("SwitchSlot: a read of other than 4 bytes");
    cpu_.read(addr, std::move(done));
  }
  void mmio_write(std::uint64_t addr, const void* from, unsigned bytes) override {
    for (unsigned at = 0; at < bytes; at += 4) {
      std::uint32_t word;
      std::memcpy(&word, static_cast<const std::uint8_t*>(from) + at, 4);
      cpu_.write(addr + at, word);
    }
  }
  std::size_t mmio_room() const override { return 64; }
  MsixMessage msix_message(unsigned vector) const override { return root_.msix_message(vector); }
  void on_vector(VectorHandler handler) override { root_.on_vector(std::move(handler)); }
  void on_message(MessageHandler handler) override { root_.on_message(std::move(handler)); }

 private:
  HostMemory& memory() override { return root_.memory(); }
  Simulation& simulation() const override { return root_.simulation(); }

  static constexpr Time kPatience = 10'000 * kMicrosecond;

  // The bits of these bytes.
  static std::uint32_t enabled(unsigned bytes) {
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < 4; ++i) mask |= bytes >> i & 1 ? 0xffu << 8 * i : 0;
    return mask;
  }
  void wait_for(const std::function<bool()>& done) {
    if (!wait(done, kPatience)) throw std::runtime_error("a device behind the switch is silent");
  }

  CpuPort& cpu_;
  RootComplex& root_;
  unsigned number_;
  PciDevice device_;
};

}  // namespace emery
