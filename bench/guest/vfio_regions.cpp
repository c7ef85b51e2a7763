// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vfio_regions.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/guest/slot_calls.hpp"
#include "bench/pcie/host_calls.hpp"

namespace emery {
namespace {

constexpr std::uint64_t kConfigBytes = 4096;

// What of the PCI Express capability's Device Control is the slot's: ordering, sizes, tags.
constexpr std::uint32_t kOfSlot = 0x71f0;

// A range in pieces that do not cross an 8-byte border.
template <class Each>
void in_pieces(std::uint64_t offset, std::size_t bytes, Each each) {
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t at = offset + done;
    const auto piece = static_cast<unsigned>(std::min<std::uint64_t>(bytes - done, 8 - (at & 7)));
    each(at, done, piece);
    done += piece;
  }
}

}  // namespace

std::uint64_t VfioRegions::bytes(std::uint32_t region) const {
  if (region == kBar0) return host_.device().bar0_bytes;
  return region == kConfigSpace ? kConfigBytes : 0;
}

void VfioRegions::read(std::uint32_t region, std::uint64_t offset, std::uint8_t* to,
                       std::size_t bytes) {
  if (region == kBar0) {
    read_bar(offset, to, bytes);
  } else {
    read_config(static_cast<std::uint16_t>(offset), to, bytes);
  }
}

void VfioRegions::write(std::uint32_t region, std::uint64_t offset, const std::uint8_t* from,
                        std::size_t bytes) {
  if (region == kBar0) {
    write_bar(offset, from, bytes);
  } else {
    write_config(static_cast<std::uint16_t>(offset), from, bytes);
  }
}

// A word of configuration space as the client sees it.
std::uint32_t VfioRegions::shown(std::uint16_t offset, std::uint32_t word) const {
  if (offset == 0x10) return static_cast<std::uint32_t>(bar_) | bar_flags_;
  if (offset == 0x14) return static_cast<std::uint32_t>(bar_ >> 32);
  if (vectors_.count() && offset == host_.device().msix_cap) {
    constexpr std::uint32_t kOwn = VectorEvents::kEnable | VectorEvents::kMaskAll;
    return (word & ~(kOwn << 16)) | std::uint32_t{vectors_.control()} << 16;
  }
  return word;
}

void VfioRegions::read_config(std::uint16_t addr, std::uint8_t* to, std::size_t bytes) {
  const std::uint16_t first = addr & 0xffc;
  const std::size_t skip = addr & 3, count = (skip + bytes + 3) / 4;
  const auto place = [&](std::size_t n) { return static_cast<std::uint16_t>(first + 4 * n); };
  const auto words = read_side_by_side(
      host_, count, [&](std::size_t n, auto done) { host_.config_read_async(place(n), done); });
  std::vector<std::uint8_t> all(4 * count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t word = shown(place(n), static_cast<std::uint32_t>(words[n]));
    std::memcpy(all.data() + 4 * n, &word, 4);
  }
  std::copy_n(all.data() + skip, bytes, to);
}

void VfioRegions::write_config(std::uint16_t addr, const std::uint8_t* from, std::size_t bytes) {
  while (bytes != 0) {
    const ConfigPart part{addr,
                          static_cast<unsigned>(std::min<std::size_t>(bytes, 4 - (addr & 3)))};
    std::uint32_t value = 0;
    std::memcpy(&value, from, part.bytes);
    write_config_word(part.word(), part.placed(value), part.enables());
    addr = static_cast<std::uint16_t>(addr + part.bytes);
    from += part.bytes;
    bytes -= part.bytes;
  }
}

void VfioRegions::write_config_word(std::uint16_t offset, std::uint32_t value, unsigned enables) {
  const PciDevice& device = host_.device();
  std::uint32_t mask = 0;
  for (int b = 0; b < 4; ++b) mask |= (enables >> b & 1) * (0xffu << 8 * b);
  if (offset == 0x10 || offset == 0x14) {
    const int shift = offset == 0x10 ? 0 : 32;
    bar_ = (bar_ & ~(std::uint64_t{mask} << shift)) | std::uint64_t{value & mask} << shift;
    bar_ &= ~(device.bar0_bytes - 1);
  } else if (vectors_.count() && offset == device.msix_cap) {
    const std::uint32_t both = (std::uint32_t{vectors_.control()} << 16 & ~mask) | (value & mask);
    vectors_.set_control(static_cast<std::uint16_t>(both >> 16));
  } else if (offset == device_control(host_)) {
    if (value & mask & kInitiateReset) {
      reset();
      return;
    }
    const std::uint32_t kept = host_.config_read(offset) & kOfSlot;
    host_.config_write(offset, (value & ~kOfSlot) | kept, enables);
  } else if (offset != device.pcie_cap + 0x10 && offset != device.pcie_cap + 0x28) {
    host_.config_write(offset, value, enables);  // others than Link Control, Device Control 2
  }
}

void VfioRegions::read_bar(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) {
  struct Piece {
    std::uint64_t at;
    std::size_t done;
    unsigned bytes;
  };
  std::vector<Piece> asked;
  in_pieces(offset, bytes, [&](std::uint64_t at, std::size_t done, unsigned piece) {
    if (in_table(at)) {
      vectors_.read_table(at - host_.device().msix_table, to + done, piece);
    } else {
      asked.push_back({at, done, piece});
    }
  });
  const auto values = read_side_by_side(host_, asked.size(), [&](std::size_t n, auto done) {
    host_.mmio_read_async(host_.device().bar0 + asked[n].at, asked[n].bytes, done);
  });
  for (std::size_t n = 0; n < asked.size(); ++n)
    std::memcpy(to + asked[n].done, &values[n], asked[n].bytes);
}

void VfioRegions::write_bar(std::uint64_t offset, const std::uint8_t* from, std::size_t bytes) {
  in_pieces(offset, bytes, [&](std::uint64_t at, std::size_t done, unsigned piece) {
    if (in_table(at)) {
      vectors_.write_table(at - host_.device().msix_table, from + done, piece);
      return;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, from + done, piece);
    wait_for_room(host_);
    mmio_write(host_, host_.device().bar0 + at, value, piece);
  });
}

bool VfioRegions::reset() {
  bar_ = 0;
  if (!reset_function(host_)) return false;
  vectors_.renew();
  return true;
}

}  // namespace emery
