// SPDX-License-Identifier: Apache-2.0
// One function of a device with several (SR-IOV), as its driver sees the machine: its configuration
// space and BAR, and memory that the IOMMU grants to it alone.
#pragma once

#include <cstdint>
#include <utility>

#include "bench/pcie/config_space.hpp"
#include "bench/pcie/iommu.hpp"
#include "bench/pcie/root_complex.hpp"

namespace emery {

class FunctionHost final : public HostInterface {
 public:
  /// `number` 0 is the physical function.
  FunctionHost(RootComplex& root, Iommu& iommu, unsigned number)
      : root_(root), iommu_(iommu), number_(number) {}

  /// The device has been found, and its virtual functions enabled.
  void enumerated() {
    device_ = root_.device();
    if (number_ == 0) return;
    device_.id = static_cast<std::uint16_t>(device_.id + ConfigSpace::kFirstVirtual + number_ - 1);
    device_.bar0 = root_.virtual_bar0() + (number_ - 1) * device_.bar0_bytes;
  }

  const PciDevice& device() const override { return device_; }
  std::uint32_t config_read(std::uint16_t offset) override {
    return root_.config_read_of(device_.id, offset);
  }
  void config_write(std::uint16_t offset, std::uint32_t value, unsigned byte_enables) override {
    root_.config_write_of(device_.id, offset, value, byte_enables);
  }
  void config_read_async(std::uint16_t offset, ReadDone done) override {
    root_.config_async_of(device_.id, false, offset, 0, 0xf, std::move(done));
  }
  void config_write_async(std::uint16_t offset, std::uint32_t value, unsigned byte_enables,
                          ReadDone done) override {
    root_.config_async_of(device_.id, true, offset, value, byte_enables, std::move(done));
  }
  void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) override {
    root_.mmio_read_async(addr, bytes, std::move(done));
  }
  void mmio_write(std::uint64_t addr, const void* from, unsigned bytes) override {
    root_.mmio_write(addr, from, bytes);
  }
  std::size_t mmio_room() const override { return root_.mmio_room(); }
  std::uint64_t dma_alloc(std::uint64_t bytes, std::uint64_t align) override {
    const std::uint64_t addr = HostInterface::dma_alloc(bytes, align);
    iommu_.grant(number_, addr, bytes);
    return addr;
  }
  MsixMessage msix_message(unsigned vector) const override {
    return root_.msix_message(number_ << 16 | vector);
  }
  void on_vector(VectorHandler handler) override {
    root_.on_function_vector(number_, std::move(handler));
  }

 private:
  HostMemory& memory() override { return root_.memory(); }
  Simulation& simulation() const override { return root_.simulation(); }

  RootComplex& root_;
  Iommu& iommu_;
  unsigned number_;
  PciDevice device_;
};

}  // namespace emery
