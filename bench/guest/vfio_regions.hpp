// SPDX-License-Identifier: Apache-2.0
// The regions of a vfio-user device, by the numbers of <linux/vfio.h>: configuration space and BAR
// 0 of a slot as its client sees them. All accesses run the simulation.
//
// What belongs to the slot is not the client's: sizes of packets and of read requests, tags and
// ordering stay as enumeration has set them. BAR 0 stays where that has put it: what the client
// writes to the register is kept for it, and its accesses are by offset. MSI-X is as in
// vector_events.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/guest/vector_events.hpp"
#include "bench/pcie/host_if.hpp"

namespace emery {

class VfioRegions {
 public:
  static constexpr std::uint32_t kBar0 = 0, kConfigSpace = 7, kCount = 9;

  VfioRegions(HostInterface& host, VectorEvents& vectors)
      : host_(host), vectors_(vectors), bar_flags_(host.config_read(0x10) & 0xf) {}

  /// 0: there is none of that number.
  std::uint64_t bytes(std::uint32_t region) const;
  void read(std::uint32_t region, std::uint64_t offset, std::uint8_t* to, std::size_t bytes);
  /// A write of a register is posted. Where a write asks for a reset, that is done.
  void write(std::uint32_t region, std::uint64_t offset, const std::uint8_t* from,
             std::size_t bytes);
  /// Of the function; false when the device does not come back.
  bool reset();

 private:
  void read_config(std::uint16_t addr, std::uint8_t* to, std::size_t bytes);
  void write_config(std::uint16_t addr, const std::uint8_t* from, std::size_t bytes);
  void write_config_word(std::uint16_t offset, std::uint32_t value, unsigned enables);
  std::uint32_t shown(std::uint16_t offset, std::uint32_t word) const;
  void read_bar(std::uint64_t offset, std::uint8_t* to, std::size_t bytes);
  void write_bar(std::uint64_t offset, const std::uint8_t* from, std::size_t bytes);
  bool in_table(std::uint64_t offset) const {
    return offset - host_.device().msix_table < vectors_.table_bytes();
  }

  HostInterface& host_;
  VectorEvents& vectors_;
  std::uint32_t bar_flags_;
  std::uint64_t bar_ = 0;  // as the client has written it
};

}  // namespace emery
