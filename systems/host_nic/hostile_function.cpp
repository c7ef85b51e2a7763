// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/hostile_function.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "bench/pcie/host_calls.hpp"
#include "host_nic.h"

namespace emery::host_nic {

namespace {

constexpr std::size_t kRoomForOthers = 56, kLastRoom = 8;
constexpr std::uint32_t kQueueBytes = sizeof(desc_queue_regs__stride20_t);
constexpr std::uint32_t kRegion[] = {
    offsetof(host_nic_t, interface[0].txq), offsetof(host_nic_t, interface[0].rxq),
    offsetof(host_nic_t, interface[0].txcq), offsetof(host_nic_t, interface[0].rxcq),
    offsetof(host_nic_t, interface[0].eq)};

}  // namespace

HostileFunction::HostileFunction(FunctionHost& own, unsigned queues, unsigned ports,
                                 Time reset_every, std::uint64_t seed, bool filter)
    : host_(own),
      queues_(queues),
      ports_(ports),
      filter_(filter),
      reset_every_(reset_every),
      random_(seed) {}

void HostileFunction::open() {
  memory_ = host_.dma_alloc(kMemory, 4096);
  set_bus_master(host_, true);
  const std::uint32_t control = host_.config_read(host_.device().msix_cap) >> 16;
  host_.config_write(host_.device().msix_cap, (control | 0x8000u) << 16, 0xc);
  fill();
  reset_at_ = host_.now() + reset_every_;
}

// Its own memory, that of another, nobody's, or what no machine has.
std::uint64_t HostileFunction::address() {
  const std::uint64_t offset = random_.below(kMemory) & (random_.below(2) ? ~0ull : ~0xfffull);
  switch (random_.below(4)) {
    case 0:
      return memory_ + offset;
    case 1:
      return victims_[random_.below(victims_.size())] + offset;
    case 2:
      return random_.next();
    default:
      return (random_.below(2) ? ~0ull << random_.below(64) : 1ull << random_.below(64)) + offset;
  }
}

void HostileFunction::put(std::uint32_t offset, std::uint32_t value) {
  ++writes_;
  mmio_write(host_, host_.device().bar0 + offset, value, 4);
}

// Descriptors: an address, a length, flags.
void HostileFunction::fill() {
  auto* at = host_.dma_pointer(memory_, kMemory);
  for (std::uint64_t i = 0; i < kMemory; i += 16) {
    const std::uint64_t addr = address();
    const std::uint64_t flags = random_.below(4) ? random_.below(2000) : random_.next();
    std::memcpy(at + i, &addr, 8);
    std::memcpy(at + i + 8, &flags, 8);
  }
}

// A queue of its own, set up with what is not.
void HostileFunction::arm() {
  const auto kind = random_.below(5);
  const std::uint32_t regs =
      kRegion[kind] + kQueueBytes * static_cast<std::uint32_t>(random_.below(queues_));
  const std::uint64_t base = address();
  put(regs + 8, 0);
  put(regs, static_cast<std::uint32_t>(base) & (random_.below(2) ? ~1u : ~0u));
  put(regs + 4, static_cast<std::uint32_t>(base >> 32));
  put(regs + 12,
      static_cast<std::uint32_t>(random_.below(2) ? random_.below(queues_) : random_.next()));
  put(regs + 8, 1 | static_cast<std::uint32_t>(random_.next() & 0x3f0));
  put(regs + 16, static_cast<std::uint32_t>(random_.below(2) ? 8 : random_.next()));
  if (kind == 0)
    put(static_cast<std::uint32_t>(offsetof(host_nic_t, interface[0].sched)) +
            4 * ((regs - kRegion[0]) / kQueueBytes),
        ~0u);
  ++armed_;
}

void HostileFunction::storm() {
  const std::uint32_t bell = kRegion[random_.below(2)] +
                             kQueueBytes * static_cast<std::uint32_t>(random_.below(queues_)) + 16;
  for (unsigned i = 0; i < 8; ++i, ++doorbells_)
    put(bell, static_cast<std::uint32_t>(random_.below(2) ? i : random_.next()));
}

// Anything anywhere: half of it at what tells it nothing, or to its vectors.
void HostileFunction::scribble() {
  const std::uint64_t bytes = host_.device().bar0_bytes;
  const std::uint64_t at =
      random_.below(2) ? random_.below(bytes) : offsetof(host_nic_t, msix) + random_.below(64);
  put(static_cast<std::uint32_t>(at) & ~3u,
      static_cast<std::uint32_t>(random_.below(2) ? random_.next() : 0xfee0'0000));
}

// Its vectors say that another function has something.
void HostileFunction::impersonate() {
  const auto entry = static_cast<std::uint32_t>(offsetof(host_nic_t, msix) + 16 * random_.below(2));
  const MsixMessage message = host_.msix_message(0);
  put(entry, static_cast<std::uint32_t>(message.addr));
  put(entry + 4, 0);
  put(entry + 8, static_cast<std::uint32_t>(random_.below(victims_.size()) << 16));
  put(entry + 12, 0);
}

// The filter's entries, its own and those of others, and where the hash sends its frames.
void HostileFunction::readdress() {
  const std::size_t port = random_.below(ports_);
  using Interface = decltype(host_nic_t::interface[0]);
  const auto entry = static_cast<std::uint32_t>(offsetof(host_nic_t, interface[0].flow[0].filter) +
                                                port * sizeof(std::declval<Interface>().flow[0]) +
                                                sizeof(flow_regs__filter_t) * random_.below(4));
  put(entry + offsetof(flow_regs__filter_t, vlan), 0);
  put(entry + offsetof(flow_regs__filter_t, address_lo),
      static_cast<std::uint32_t>(random_.next()));
  put(entry + offsetof(flow_regs__filter_t, address_hi),
      FLOW_REGS__FILTER__ADDRESS_HI__VALID_bm | static_cast<std::uint32_t>(random_.below(1 << 16)));
  put(static_cast<std::uint32_t>(offsetof(host_nic_t, interface[0].rss) +
                                 port * sizeof(std::declval<Interface>().rss[0]) +
                                 4 * random_.below(512)),
      static_cast<std::uint32_t>(random_.below(4 * queues_)));
}

void HostileFunction::command(std::uint32_t value) {
  asks_ = true;
  host_.config_write_async(0x04, value, 0x3, [this](std::uint64_t, bool) { asks_ = false; });
}

void HostileFunction::reset(bool for_good) {
  asks_ = true;
  ++resets_;
  host_.config_write_async(device_control(host_), kInitiateReset, 0x2,
                           [this, for_good](std::uint64_t, bool) {
                             asks_ = false;
                             if (!for_good) command(0x6);
                           });
}

void HostileFunction::clock(Time now) {
  if (host_.mmio_room() < kRoomForOthers) return;
  if (now >= reset_at_ && !asks_) {
    reset_at_ = now + reset_every_;
    return reset(false);
  }
  switch (random_.below(16)) {
    case 0:
      return fill();
    case 1:
      // A guest that takes mastering away gives it back: the card is idle else.
      if (asks_) return;
      unmastered_ += random_.below(8) == 0;
      return command(random_.below(8) ? 0x6 : 0x2);
    case 2:
    case 3:
    case 4:
      return storm();
    case 5:
      return filter_ && random_.below(2) ? readdress() : impersonate();
    case 6:
    case 7:
    case 8:
      return scribble();
    default:
      return arm();
  }
}

void HostileFunction::close() {
  host_.wait([this] { return !asks_; }, 100 * kMicrosecond);
  while (host_.mmio_room() > kLastRoom) arm();
  reset(true);
  host_.wait([this] { return !asks_; }, 100 * kMicrosecond);
  host_.wait([] { return false; }, 100 * kMicrosecond);
}

}  // namespace emery::host_nic
