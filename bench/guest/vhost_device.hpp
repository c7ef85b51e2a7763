// SPDX-License-Identifier: Apache-2.0
// A virtio device of a guest behind a vhost-user socket: its memory, its queues, notifications both
// ways within the protocol (no event descriptors), each acknowledged, so that neither side goes on
// before the other has seen it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/virtqueue.hpp"

namespace emery {

class VhostDevice {
 public:
  /// Memory that the guest shares: where it is to the guest, and to us.
  struct Region {
    std::uint64_t addr, bytes;
    std::uint8_t* at;
  };

  VhostDevice(Descriptor socket, unsigned queues);
  ~VhostDevice();
  VhostDevice(const VhostDevice&) = delete;
  VhostDevice& operator=(const VhostDevice&) = delete;

  int number() const { return socket_.number(); }
  /// Answers the guest's next message; false when it has ended.
  bool serve();
  Virtqueue& queue(unsigned index) { return queues_.at(index); }
  /// Serves one of some descriptors, by its place; false when the guest has ended.
  using Meanwhile = std::function<bool(std::size_t place)>;
  /// Tells the guest to look at a queue, and waits until it has; `meanwhile` serves those of the
  /// descriptors `others` that ask for something first.
  void notify(unsigned index, std::vector<int> others, const Meanwhile& meanwhile);

  std::function<void(const Region&)> on_memory;
  /// The guest has put something into a queue.
  std::function<void(unsigned queue)> on_kick;

 private:
  struct Message;
  struct Mapping {
    void* at;
    std::size_t bytes;
  };
  bool read(const Descriptor& from, Message& message, std::vector<Descriptor>& descriptors);
  void take_memory(const Message& message, std::vector<Descriptor>& descriptors);
  std::uint8_t* translate(std::uint64_t addr, std::uint64_t bytes) const;

  Descriptor socket_, back_;  // back_: our requests to the guest
  std::vector<Virtqueue> queues_;
  std::vector<Region> regions_;
  std::vector<Mapping> mappings_;
};

}  // namespace emery
