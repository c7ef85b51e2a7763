// SPDX-License-Identifier: Apache-2.0
// MSI-X of a device whose machine takes interrupts by event descriptors: the device's own table and
// capability lead here, each vector that has a descriptor to that. What the machine writes to them
// is kept beside, for who reads it back; only masks reach the device, which then keeps what is
// pending.
//
// A vector is unmasked when it gets a descriptor, whatever the table says: a machine that has a
// table of its own never writes this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/pcie/host_if.hpp"

namespace emery {

class VectorEvents {
 public:
  explicit VectorEvents(SlotInterface& host);
  ~VectorEvents();
  VectorEvents(const VectorEvents&) = delete;
  VectorEvents& operator=(const VectorEvents&) = delete;

  unsigned count() const { return static_cast<unsigned>(vectors_.size()); }
  /// Whether it is one, and may be written to.
  static bool is_event(const Descriptor& descriptor);

  // ---- run the simulation
  /// From now on it leads there; an empty one: nowhere.
  void assign(unsigned vector, Descriptor event);
  void mask(unsigned vector, bool on);
  void clear();
  /// The device has been reset: its table is set up once more, the machine's is as after that.
  void renew();
  /// Message Control, as the machine writes it; the other bits are the device's.
  void set_control(std::uint16_t value);
  /// The table, as the machine sees it: 1 to 8 bytes that do not cross an 8-byte border.
  void write_table(std::size_t offset, const std::uint8_t* from, std::size_t bytes);

  // ---- do not
  void trigger(unsigned vector);
  std::uint16_t control() const { return control_; }
  void read_table(std::size_t offset, std::uint8_t* to, std::size_t bytes) const;
  std::size_t table_bytes() const { return table_.size(); }

  static constexpr std::uint16_t kEnable = 0x8000, kMaskAll = 0x4000;

 private:
  static constexpr std::size_t kEntry = 16, kVectorControl = 12;

  struct Vector {
    Descriptor event;
    bool masked = false;
  };

  void lead(unsigned vector);
  void update_control();
  void reset_table();

  SlotInterface& host_;
  std::vector<Vector> vectors_;
  std::vector<std::uint8_t> table_;
  std::uint16_t control_ = 0;
  bool enabled_ = false;  // at the device
};

}  // namespace emery
