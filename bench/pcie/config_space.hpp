// SPDX-License-Identifier: Apache-2.0
// The configuration space of an endpoint with one function: type 0 header, one 64-bit BAR, PCI
// Express and MSI-X capabilities, Device Serial Number. Fields that nothing reads back (cache line,
// error reporting, power management) are absent or read zero.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "bench/pcie/pcie_link.hpp"
#include "bench/sim/options.hpp"

namespace emery {

struct FunctionConfig {
  std::uint16_t vendor = 1, device = 1;  // nobody's: rtl/pcie/ids_pkg.sv has those of the systems
  std::uint32_t class_code = 0x020000;   // Ethernet controller
  std::uint8_t revision = 1;
  std::uint64_t bar0_bytes = 16 << 20;  // power of two, at least 4 kB
  bool bar0_prefetchable = true;
  int max_payload = 1024;        // largest the device supports: 128 ... 4096 bytes
  bool wide_tags = false;        // asks with tags of 10 bits
  bool function_reset = false;   // takes function-level resets
  int msix_vectors = 32;         // 0: no MSI-X capability
  std::uint32_t msix_table = 0;  // offsets in BAR 0, multiples of 8
  std::uint32_t msix_pba = 0;
  std::uint64_t serial = 0;  // Device Serial Number capability; 0: none
  // In all: the virtual ones (SR-IOV capability) have BARs and MSI-X tables like this one's.
  unsigned functions = 1;

  void check() const {
    if (!std::has_single_bit(bar0_bytes) || bar0_bytes < 4096)
      throw OptionError("BAR 0: size must be a power of two >= 4096");
    if (max_payload < 128 || max_payload > 4096 ||
        !std::has_single_bit(static_cast<unsigned>(max_payload))) {
      throw OptionError("PCIe max payload must be 128 to 4096, a power of two");
    }
    if (msix_vectors < 0 || msix_vectors > 2048 || msix_table % 8 || msix_pba % 8)
      throw OptionError("MSI-X: bad vectors or offsets");
  }
};

class ConfigSpace {
 public:
  static constexpr std::uint16_t kPcieCap = 0x70, kMsixCap = 0xb0, kSerialCap = 0x100,
                                 kSriovCap = 0x140;
  // Places of virtual functions on the bus, behind that of the physical one.
  static constexpr std::uint16_t kFirstVirtual = 4;

  ConfigSpace(const FunctionConfig& f, const LinkConfig& link) : function_(f), link_(link) {
    f.check();
    reset();
  }

  // As after a conventional or hot reset.
  void reset() {
    const FunctionConfig& f = function_;
    words_.fill(0);
    writable_.fill(0);
    words_[0x00 / 4] = std::uint32_t{f.device} << 16 | f.vendor;
    define(0x04, 0x0010'0000,
           0x0000'0546);  // capability list; memory, master, parity, SERR, INTx disable
    words_[0x08 / 4] = f.class_code << 8 | f.revision;
    define(0x0c, 0, 0xff);
    define(0x10, f.bar0_prefetchable ? 0xc : 0x4,
           static_cast<std::uint32_t>(~(f.bar0_bytes - 1)) & ~0xfu);
    define(0x14, 0, static_cast<std::uint32_t>(~(f.bar0_bytes - 1) >> 32));
    words_[0x2c / 4] = std::uint32_t{f.device} << 16 | f.vendor;
    words_[0x34 / 4] = kPcieCap;
    define(0x3c, 0, 0xff);
    // PCI Express capability, version 2, endpoint.
    const std::uint32_t next = f.msix_vectors ? kMsixCap : 0;
    const auto payload =
        static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(f.max_payload) / 128) - 1);
    const auto speed = static_cast<std::uint32_t>(link_.gen),
               width = static_cast<std::uint32_t>(link_.lanes);
    words_[(kPcieCap + 0x00) / 4] = 0x0002'0010 | next << 8;
    words_[(kPcieCap + 0x04) / 4] = payload | 1u << 5 |
                                    1u << 15 |  // extended tags, role-based error reporting
                                    std::uint32_t{f.function_reset} << 28;
    define(kPcieCap + 0x08, 0x2810, 0x0000'7fff);  // MRRS 512, no snoop, relaxed ordering, MPS 128
    words_[(kPcieCap + 0x0c) / 4] = speed | width << 4;
    define(kPcieCap + 0x10, (speed | width << 4) << 16, 0x0000'0048);  // RCB, common clock
    // Completion timeout ranges; 10-bit tags: takes them, and may send them.
    words_[(kPcieCap + 0x24) / 4] = 0x1f | 1u << 16 | std::uint32_t{f.wide_tags} << 17;
    define(kPcieCap + 0x28, 0, 0x1f | std::uint32_t{f.wide_tags} << 12);
    words_[(kPcieCap + 0x2c) / 4] = ((2u << link_.gen) - 2) & 0xfe;
    define(kPcieCap + 0x30, speed, 0xf);
    if (f.msix_vectors) {
      define(kMsixCap, 0x11 | static_cast<std::uint32_t>(f.msix_vectors - 1) << 16, 0xc000'0000);
      words_[(kMsixCap + 4) / 4] = f.msix_table;
      words_[(kMsixCap + 8) / 4] = f.msix_pba;
    }
    if (f.serial) {
      words_[kSerialCap / 4] = 0x0001'0003;  // version 1, the only one in the list
      words_[kSerialCap / 4 + 1] = static_cast<std::uint32_t>(f.serial);
      words_[kSerialCap / 4 + 2] = static_cast<std::uint32_t>(f.serial >> 32);
    }
    define_sriov();
  }

  // Virtual functions, from 1 on: how many the host has enabled, where BAR 0 of the first is (those
  // of the others follow), and whether they answer there.
  unsigned virtual_functions() const {
    return word(kSriovCap + 0x08) & 1 ? word(kSriovCap + 0x10) & 0xffff : 0;
  }
  std::uint64_t virtual_bar0() const {
    return (std::uint64_t{word(kSriovCap + 0x28)} << 32 | word(kSriovCap + 0x24)) &
           ~std::uint64_t{0xf};
  }
  bool virtual_memory_enabled() const { return word(kSriovCap + 0x08) >> 3 & 1; }

  // As after a function-level reset, which leaves what belongs to the link (Base Specification
  // 6.6.2).
  void reset_function() {
    const std::uint32_t payload = control() & 0xe0, link = words_[(kPcieCap + 0x10) / 4];
    reset();
    words_[(kPcieCap + 8) / 4] = (control() & ~0xe0u) | payload;
    words_[(kPcieCap + 0x10) / 4] = link;
  }

  std::uint32_t read(std::uint16_t offset) const { return words_[offset / 4 % words_.size()]; }

  // Whether it asks for a function-level reset: Initiate FLR, which reads 0.
  bool write(std::uint16_t offset, std::uint32_t value, std::uint32_t enables) {
    const std::size_t i = offset / 4 % words_.size();
    std::uint32_t mask = 0;
    for (int b = 0; b < 4; ++b) mask |= (enables >> b & 1) * (0xffu << 8 * b);
    mask &= writable_[i];
    words_[i] = (words_[i] & ~mask) | (value & mask);
    return function_.function_reset && i == (kPcieCap + 8) / 4 && enables >> 1 & value >> 15 & 1;
  }

  bool memory_enabled() const { return words_[1] & 2; }
  bool bus_master() const { return words_[1] & 4; }
  std::uint64_t bar0() const {
    return (std::uint64_t{words_[5]} << 32 | words_[4]) & ~std::uint64_t{0xf};
  }
  bool in_bar0(std::uint64_t addr) const {
    return memory_enabled() && addr >= bar0() && addr - bar0() < function_.bar0_bytes;
  }
  bool relaxed_ordering() const { return control() >> 4 & 1; }
  bool extended_tag() const { return control() >> 8 & 1; }
  bool wide_tag() const { return words_[(kPcieCap + 0x28) / 4] >> 12 & 1; }
  std::uint32_t max_payload() const { return control() >> 5 & 7; }  // 128 << n bytes
  std::uint32_t max_read_request() const { return control() >> 12 & 7; }
  bool msix_enabled() const { return function_.msix_vectors && words_[kMsixCap / 4] >> 31; }
  bool msix_masked() const { return words_[kMsixCap / 4] >> 30 & 1; }

 private:
  std::uint32_t word(std::uint16_t offset) const { return words_[offset / 4]; }

  void define_sriov() {
    const FunctionConfig& f = function_;
    if (f.functions <= 1) return;
    words_[kSerialCap / 4] |= std::uint32_t{kSriovCap} << 20;
    words_[kSriovCap / 4] = 0x0001'0010;
    define(kSriovCap + 0x08, 0, 0x0000'0009);  // VF Enable, VF Memory Space Enable
    words_[(kSriovCap + 0x0c) / 4] = (f.functions - 1) << 16 | (f.functions - 1);
    define(kSriovCap + 0x10, 0, 0x0000'ffff);                             // NumVFs
    words_[(kSriovCap + 0x14) / 4] = 1u << 16 | kFirstVirtual;            // stride, offset
    words_[(kSriovCap + 0x18) / 4] = std::uint32_t{f.device} << 16;       // VF Device ID
    words_[(kSriovCap + 0x1c) / 4] = words_[(kSriovCap + 0x20) / 4] = 1;  // pages of 4 kB
    define(kSriovCap + 0x24, f.bar0_prefetchable ? 0xc : 0x4,
           static_cast<std::uint32_t>(~(f.bar0_bytes - 1)) & ~0xfu);
    define(kSriovCap + 0x28, 0, static_cast<std::uint32_t>(~(f.bar0_bytes - 1) >> 32));
  }
  std::uint32_t control() const { return words_[(kPcieCap + 8) / 4]; }

  void define(std::uint16_t offset, std::uint32_t value, std::uint32_t writable) {
    words_[offset / 4] = value;
    writable_[offset / 4] = writable;
  }

  FunctionConfig function_;
  LinkConfig link_;
  std::array<std::uint32_t, 1024> words_{}, writable_{};
};

}  // namespace emery
