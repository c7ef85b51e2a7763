// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/own_rings.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "direct_formats.hpp"
#include "direct_router.h"

namespace emery::direct_router {
namespace {

using direct_pkg::slow_desc_t, direct_pkg::slow_info_t, direct_pkg::slow_status_t;

constexpr unsigned kDescriptor = slow_desc_t::kBytes;
#define EMERY_REG(name) offsetof(card_regs_t, name)
using RxRing = card_regs__rx_ring__stride20_t;
using TxRing = card_regs__tx_ring_t;

void put_descriptor(std::uint8_t* to, std::uint64_t buffer, unsigned bytes) {
  slow_desc_t{}.set_addr(buffer).set_info(slow_info_t{}.set_bytes(bytes).word).write(to);
}

}  // namespace

OwnRings::OwnRings(const RingConfig& config, CpuPort& bus, HostMemory& memory)
    : config_(config), bus_(bus), memory_(memory), receive_(config.classes) {}

void OwnRings::make(Ring& ring) {
  const std::uint64_t bytes = std::uint64_t{kDescriptor} * config_.slots;
  ring.base = memory_.alloc(bytes, HostMemory::kPage, HostMemory::Zone::kLow);
  ring.memory = memory_.pointer(ring.base, bytes);
  ring.buffers.resize(config_.slots);
}

void OwnRings::start(std::uint64_t bar, std::vector<std::uint64_t>& pool) {
  bar_ = bar;
  const auto log_size = static_cast<std::uint32_t>(std::countr_zero(config_.slots));
  for (unsigned k = 0; k < config_.classes; ++k) {
    Ring& ring = receive_[k];
    make(ring);
    for (unsigned i = 0; i < config_.slots; ++i) {
      ring.buffers[i] = pool.back();
      pool.pop_back();
      put_descriptor(ring.memory + kDescriptor * i, ring.buffers[i],
                     static_cast<unsigned>(config_.buffer_bytes));
    }
    ring.producer = ring.told = static_cast<std::uint16_t>(config_.slots);
    const std::size_t at = EMERY_REG(rx_ring) + k * sizeof(RxRing);
    write(at + offsetof(RxRing, base_lo), static_cast<std::uint32_t>(ring.base));
    write(at + offsetof(RxRing, base_hi), static_cast<std::uint32_t>(ring.base >> 32));
    write(at + offsetof(RxRing, control), CARD_REGS__RX_RING__CONTROL__ENABLE_bm | log_size);
    write(at + offsetof(RxRing, producer), ring.producer);
  }
  make(transmit_);
  const std::uint64_t status =
      memory_.alloc(slow_status_t::kBytes, HostMemory::kPage, HostMemory::Zone::kLow);
  status_ = memory_.pointer(status, slow_status_t::kBytes);
  const std::size_t at = EMERY_REG(tx_ring);
  write(at + offsetof(TxRing, base_lo), static_cast<std::uint32_t>(transmit_.base));
  write(at + offsetof(TxRing, base_hi), static_cast<std::uint32_t>(transmit_.base >> 32));
  write(at + offsetof(TxRing, status_lo), static_cast<std::uint32_t>(status));
  write(at + offsetof(TxRing, status_hi), static_cast<std::uint32_t>(status >> 32));
  write(at + offsetof(TxRing, control),
        CARD_REGS__TX_RING__CONTROL__ENABLE_bm | log_size |
            config_.tx_prefetch << CARD_REGS__TX_RING__CONTROL__PREFETCH_bp |
            16u << CARD_REGS__TX_RING__CONTROL__WRITEBACK_bp);
}

std::optional<CardRings::Frame> OwnRings::front(unsigned cls) {
  const Ring& ring = receive_[cls];
  const unsigned slot = ring.consumer % config_.slots;
  const slow_info_t info{slow_desc_t::read(ring.memory + kDescriptor * slot).info()};
  if (!info.done()) return std::nullopt;
  return Frame{ring.buffers[slot], static_cast<unsigned>(info.bytes())};
}

// The next receive descriptor gets this buffer; the card hears of several at once.
void OwnRings::pop(unsigned cls, std::uint64_t buffer) {
  Ring& ring = receive_[cls];
  ++ring.consumer;
  const unsigned slot = ring.producer % config_.slots;
  ring.buffers[slot] = buffer;
  put_descriptor(ring.memory + kDescriptor * slot, buffer,
                 static_cast<unsigned>(config_.buffer_bytes));
  ++ring.producer;
  const unsigned least = std::min(config_.refill, config_.slots / 2);
  if (static_cast<std::uint16_t>(ring.producer - ring.told) < least) return;
  ring.told = ring.producer;
  write(EMERY_REG(rx_ring) + cls * sizeof(RxRing) + offsetof(RxRing, producer), ring.producer);
}

void OwnRings::put(std::uint64_t buffer, unsigned bytes) {
  const unsigned at = transmit_.producer % config_.slots;
  transmit_.buffers[at] = buffer;
  put_descriptor(transmit_.memory + kDescriptor * at, buffer, bytes);
  ++transmit_.producer;
}

// The doorbell.
void OwnRings::tell() {
  transmit_.told = transmit_.producer;
  write(EMERY_REG(tx_ring) + offsetof(TxRing, producer), transmit_.producer);
}

unsigned OwnRings::reap(std::vector<std::uint64_t>& pool) {
  const auto done = slow_status_t::read(status_).consumer();
  unsigned count = 0;
  for (; transmit_.consumer != done && !empty(); ++count, ++transmit_.consumer)
    pool.push_back(transmit_.buffers[transmit_.consumer % config_.slots]);
  return count;
}

}  // namespace emery::direct_router
