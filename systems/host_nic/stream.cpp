// SPDX-License-Identifier: Apache-2.0
// The driver model's side of stream queues: rings of granules that the device fills downwards with
// frames and their records (rtl/queue/queue_pkg.sv). The driver takes what has a record, fills the
// place with zeros and gives it back a quarter of the ring at a time.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "host_nic.h"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

namespace {

using queue_pkg::stream_cpl_t;
using DescQueueRegs = desc_queue_regs__stride20_t;

constexpr unsigned kGranule = stream_cpl_t::kBytes;
constexpr std::uint64_t kPage = 4096;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Of the ring of a queue: what lies below it for a frame near its end, and all.
std::uint64_t below_ring(const DriverConfig& config) { return pages(config.max_frame); }
std::uint64_t ring_stride(const DriverConfig& config) {
  return below_ring(config) + pages(std::uint64_t{config.rx_ring} * kGranule);
}

// Of a frame with its record.
unsigned granules(unsigned len) { return (len + kGranule - 1) / kGranule + 1; }

}  // namespace

void Driver::open_streams(unsigned i) {
  if (granules(config_.max_frame) > config_.rx_ring) {
    throw std::invalid_argument("ring of " + std::to_string(config_.rx_ring) + " granules: below " +
                                std::to_string(granules(config_.max_frame)) +
                                ", what the longest frame takes");
  }
  const std::uint64_t below = below_ring(config_), stride = ring_stride(config_);
  const std::uint64_t memory = host_.dma_alloc(config_.rx_queues * stride);
  std::uint8_t* bytes = host_.dma_pointer(memory, config_.rx_queues * stride);
  const auto first = static_cast<std::uint32_t>(rx_.size());
  first_rx_cq_.push_back(static_cast<std::uint32_t>(completions_.size()));  // there are none
  for (unsigned q = 0; q < config_.rx_queues; ++q) {
    RxQueue queue;
    queue.regs = interfaces_[i].rxq + q * sizeof(DescQueueRegs);
    queue.doorbell = queue.regs + offsetof(DescQueueRegs, producer);
    queue.descriptors = memory + q * stride;
    queue.ring = bytes + q * stride + below;
    queue.interface = i;
    queue.producer = queue.rung = static_cast<std::uint16_t>(config_.rx_ring);
    set_up_queue(queue.regs, memory + q * stride + below, false, 0);
    write32(queue.doorbell, queue.producer);
    rx_.push_back(queue);
  }
  host_.watch(memory, config_.rx_queues * stride,
              [this, first, memory, stride](std::uint64_t addr, std::uint32_t) {
                schedule_stream(first + static_cast<std::uint32_t>((addr - memory) / stride));
              });
}

void Driver::move_stream(RxQueue& q, std::uint32_t index) {
  const std::uint64_t below = below_ring(config_), stride = ring_stride(config_);
  give_up_memory(q.descriptors, stride);
  q.descriptors = host_.dma_alloc(stride);
  q.ring = host_.dma_pointer(q.descriptors, stride) + below;
  host_.watch(q.descriptors, stride,
              [this, index](std::uint64_t, std::uint32_t) { schedule_stream(index); });
  start_ring(q.regs, q.descriptors + below, false, q.producer);
}

void Driver::schedule_stream(std::uint32_t index) {
  if (rx_[index].pending) return;
  rx_[index].pending = true;
  cpus_[index % cpus_.size()].work.push(kStream | index);
}

unsigned Driver::serve_stream(std::uint32_t index, Time now) {
  RxQueue& q = rx_[index];
  q.pending = false;
  unsigned served = 0;
  for (; served < config_.budget; ++served) {
    const std::uint32_t granule = ~std::uint32_t{q.done} & (config_.rx_ring - 1);
    std::uint8_t* at = q.ring + std::size_t{granule} * kGranule;
    const auto record = stream_cpl_t::read(at);
    if (!record.phase()) break;
    const unsigned len = record.len(), taken = granules(len);
    if (on_receive) {
      const std::span frame(at - (len + 3) / 4 * 4, len);
      on_receive({frame, q.interface, index % config_.rx_queues, record.timestamp(), record.hash(),
                  record.csum(), record.flags()},
                 now);
    }
    std::memset(at - (taken - 1) * kGranule, 0, taken * kGranule);
    q.done = static_cast<std::uint16_t>(q.done + taken);
    q.producer = static_cast<std::uint16_t>(q.producer + taken);
  }
  if (static_cast<std::uint16_t>(q.producer - q.rung) >= config_.rx_ring / 4) {
    q.rung = q.producer;
    ++doorbells_;
    write32(q.doorbell, q.producer);
  }
  if (served == config_.budget) schedule_stream(index);
  return served;
}

}  // namespace emery::host_nic
