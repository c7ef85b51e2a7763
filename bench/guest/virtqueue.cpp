// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/virtqueue.hpp"

#include <atomic>
#include <cstring>

#include "bench/guest/channel.hpp"

namespace emery {
namespace {

constexpr std::uint16_t kNext = 1, kWrite = 2;  // flags of a descriptor
constexpr std::uint32_t kHeader = 4;            // of both rings: flags, index

struct Descriptor16 {
  std::uint64_t addr;
  std::uint32_t bytes;
  std::uint16_t flags, next;
};
static_assert(sizeof(Descriptor16) == 16);

struct UsedElement {
  std::uint32_t head, bytes;
};

std::uint16_t load_index(const std::uint8_t* ring) {
  std::uint16_t index;
  std::memcpy(&index, ring + 2, sizeof index);
  std::atomic_thread_fence(std::memory_order_acquire);
  return index;
}

}  // namespace

void Virtqueue::set_addresses(std::uint64_t descriptors, std::uint64_t used,
                              std::uint64_t available) {
  descriptors_ = translate_(descriptors, std::uint64_t{size_} * sizeof(Descriptor16));
  used_ = translate_(used, kHeader + std::uint64_t{size_} * sizeof(UsedElement));
  available_ = translate_(available, kHeader + std::uint64_t{size_} * 2);
}

std::optional<Virtqueue::Chain> Virtqueue::take() {
  if (!available_ || load_index(available_) == next_) return std::nullopt;
  Chain chain;
  std::memcpy(&chain.head, available_ + kHeader + 2 * (next_++ % size_), sizeof chain.head);
  std::uint16_t at = chain.head;
  for (std::uint32_t steps = 0; steps < size_; ++steps) {
    Descriptor16 d;
    if (at >= size_) break;
    std::memcpy(&d, descriptors_ + sizeof d * at, sizeof d);
    std::uint8_t* bytes = translate_(d.addr, d.bytes);
    if (d.flags & kWrite) {
      chain.in.emplace_back(bytes, d.bytes);
    } else {
      chain.out.emplace_back(bytes, d.bytes);
    }
    if (!(d.flags & kNext)) return chain;
    at = d.next;
  }
  throw ChannelError("a guest's virtqueue: a chain without an end");
}

void Virtqueue::give_back(std::uint16_t head, std::uint32_t bytes) {
  const UsedElement element{head, bytes};
  std::memcpy(used_ + kHeader + sizeof element * (given_++ % size_), &element, sizeof element);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(used_ + 2, &given_, sizeof given_);
  ++untold_;
}

}  // namespace emery
