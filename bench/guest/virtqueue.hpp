// SPDX-License-Identifier: Apache-2.0
// A split virtqueue in a guest's memory, the device's side (virtio 1.1, 2.6), without indirect
// descriptors and event indexes, which this device does not offer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace emery {

class Virtqueue {
 public:
  /// Bytes of the guest at an address; throws when they are not all its own.
  using Translate = std::function<std::uint8_t*(std::uint64_t addr, std::uint64_t bytes)>;

  /// What the guest has put in: pieces that the device reads, and those that it writes.
  struct Chain {
    std::uint16_t head = 0;
    std::vector<std::span<const std::uint8_t>> out;
    std::vector<std::span<std::uint8_t>> in;
  };

  explicit Virtqueue(Translate translate) : translate_(std::move(translate)) {}

  void set_size(std::uint32_t size) { size_ = size; }
  void set_base(std::uint32_t base) { next_ = static_cast<std::uint16_t>(base); }
  void set_addresses(std::uint64_t descriptors, std::uint64_t used, std::uint64_t available);

  /// The next one, if the guest has put one in.
  std::optional<Chain> take();
  /// Gives it back, with so many bytes written to it.
  void give_back(std::uint16_t head, std::uint32_t bytes);
  /// How many were given back of which the guest has not been told.
  std::uint32_t untold() const { return untold_; }
  void told() { untold_ = 0; }

 private:
  Translate translate_;
  std::uint8_t *descriptors_ = nullptr, *used_ = nullptr, *available_ = nullptr;
  std::uint32_t size_ = 0, untold_ = 0;
  std::uint16_t next_ = 0, given_ = 0;
};

}  // namespace emery
