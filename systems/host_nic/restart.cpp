// SPDX-License-Identifier: Apache-2.0
// The driver model when something is amiss: a queue is taken out of use and set up anew in the
// middle of traffic, a CPU does nothing.
//
// A queue is disabled; when the device has finished all slots that it had taken, and their records
// have come, nothing of the old ring is under way any more. The new one lies in other memory, and
// what was transmitted into the old one and not taken goes into the new one. A write to memory of
// an old ring would be a fault of the device: it is counted.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "host_nic.h"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

namespace {

using queue_pkg::desc_t;
using DescQueueRegs = desc_queue_regs__stride20_t;

constexpr std::uint8_t kGone = 0xee;  // what is left in memory of an old ring

}  // namespace

void Driver::stop_cpu(unsigned interface, unsigned rx_queue, Time until) {
  unsigned cpu = rx_index(interface, rx_queue) % static_cast<unsigned>(cpus_.size());
  if (!config_.rx_stream) {
    const auto first = completions_.begin() + first_rx_cq_[interface];
    const auto end = std::find_if(first, completions_.end(), [&](const CplQueue& queue) {
      return queue.transmit || queue.interface != interface;
    });
    cpu = first[rx_queue % (end - first)].cpu;
  }
  cpus_[cpu].busy_until = std::max(cpus_[cpu].busy_until, until);
}

void Driver::reopen() {
  interfaces_.clear();
  tx_.clear();
  rx_.clear();
  completions_.clear();
  first_tx_cq_.clear();
  first_rx_cq_.clear();
  events_.clear();
  touched_.clear();
  pending_events_.clear();
  restarts_.clear();  // what they had asked has been answered, or failed
  std::fill(cpus_.begin(), cpus_.end(), Cpu());
  tx_outstanding_ = 0;
  again_ = true;
  probe();
  open();
}

void Driver::restart_tx(unsigned interface, unsigned queue) {
  TxQueue& q = tx_[tx_index(interface, queue)];
  if (q.restarting) return;
  q.restarting = true;
  q.rung = q.producer;  // no doorbell until then
  q.told = q.made;
  begin_restart(tx_index(interface, queue), true, q.regs);
}

void Driver::restart_rx(unsigned interface, unsigned queue) {
  RxQueue& q = rx_[rx_index(interface, queue)];
  if (q.restarting) return;
  q.restarting = true;
  begin_restart(rx_index(interface, queue), false, q.regs);
}

void Driver::recover(unsigned interface, unsigned kind, unsigned queue) {
  if (kind == queue_pkg::EvtTxError && queue < config_.tx_queues) restart_tx(interface, queue);
  if (kind == queue_pkg::EvtRxError && queue < config_.rx_queues) restart_rx(interface, queue);
}

void Driver::begin_restart(std::uint32_t index, bool transmit, std::uint64_t regs) {
  write32(regs + offsetof(DescQueueRegs, control), queue_control(transmit, false));
  restarts_.push_back(std::make_unique<Restart>(Restart{index, transmit, regs}));
}

// What a queue's control register is given.
std::uint32_t Driver::queue_control(bool transmit, bool enable) const {
  const auto slots =
      static_cast<unsigned>(std::countr_zero(transmit ? config_.tx_ring : config_.rx_ring));
  return (enable ? DESC_QUEUE_REGS__CONTROL__ENABLE_bm : 0u) |
         slots << DESC_QUEUE_REGS__CONTROL__LOG_SIZE_bp |
         (transmit ? log_block_ : 0u) << DESC_QUEUE_REGS__CONTROL__LOG_BLOCK_bp;
}

void Driver::go_on_restarting() {
  for (auto& at : restarts_) {
    Restart* r = at.get();
    if (!r->idle && !r->asked) {
      r->asked = true;
      host_.mmio_read_async(r->regs + offsetof(DescQueueRegs, consumer), 4,
                            [this, r](std::uint64_t value, bool) {
                              const auto done = static_cast<std::uint16_t>(value);
                              r->taken = static_cast<std::uint16_t>(value >> 16);
                              // A stream's finished frames are not its granules; that its last
                              // record has come says the same.
                              r->idle = done == r->taken || (config_.rx_stream && !r->transmit);
                              r->asked = false;
                            });
    }
    if (!r->idle) continue;
    const std::uint16_t seen = r->transmit ? tx_[r->index].done : rx_[r->index].done;
    if (seen != r->taken) continue;
    if (r->transmit) {
      finish_restart(tx_[r->index], r->taken);
    } else {
      finish_restart(rx_[r->index], r->index);
    }
    ++restarted_;
    at.reset();
  }
  std::erase(restarts_, nullptr);
}

// The old ring's memory: whoever still reads it gets what nobody can take for a frame.
void Driver::give_up_memory(std::uint64_t addr, std::uint64_t bytes) {
  std::memset(host_.dma_pointer(addr, bytes), kGone, bytes);
  host_.watch(addr, bytes, [this](std::uint64_t, std::uint32_t) { ++stale_writes_; });
}

void Driver::start_ring(std::uint64_t regs, std::uint64_t ring, bool transmit,
                        std::uint16_t producer) {
  const bool stream = transmit ? config_.tx_stream : config_.rx_stream;
  write32(regs + offsetof(DescQueueRegs, base_lo),
          static_cast<std::uint32_t>(ring) | (stream ? DESC_QUEUE_REGS__BASE_LO__STREAM_bm : 0u));
  write32(regs + offsetof(DescQueueRegs, base_hi), static_cast<std::uint32_t>(ring >> 32));
  // Before it is enabled: no frame is to find it empty.
  if (producer != 0) write32(regs + offsetof(DescQueueRegs, producer), producer);
  write32(regs + offsetof(DescQueueRegs, control), queue_control(transmit, true));
}

void Driver::finish_restart(TxQueue& q, std::uint16_t taken) {
  const std::uint64_t slot_bytes = std::uint64_t{desc_t::kBytes} << log_block_;
  const std::uint64_t ring_bytes = config_.tx_ring * slot_bytes,
                      buffers_bytes = std::uint64_t{config_.tx_ring} * buffer_bytes_;
  const std::uint64_t ring = host_.dma_alloc(ring_bytes), buffers = host_.dma_alloc(buffers_bytes);
  std::uint8_t *to = host_.dma_pointer(ring, ring_bytes),
               *to_buffers = host_.dma_pointer(buffers, buffers_bytes);
  const auto left = static_cast<std::uint16_t>(q.producer - taken);
  for (unsigned n = 0; n < left; ++n) {
    const unsigned old = (taken + n) & (config_.tx_ring - 1);
    const std::uint64_t from_at = std::uint64_t{old} * buffer_bytes_,
                        to_at = std::uint64_t{n} * buffer_bytes_;
    std::memcpy(to_buffers + to_at, q.buffer_bytes + from_at, buffer_bytes_);
    for (unsigned s = 0; s < 1u << log_block_; ++s) {
      auto descriptor = desc_t::read(q.ring + old * slot_bytes + s * desc_t::kBytes);
      const std::uint64_t offset = descriptor.addr() - q.buffers - from_at;
      descriptor.set_addr(buffers + to_at + offset).write(to + n * slot_bytes + s * desc_t::kBytes);
    }
  }
  give_up_memory(q.descriptors, ring_bytes);
  give_up_memory(q.buffers, buffers_bytes);
  q.descriptors = ring;
  q.ring = to;
  q.buffers = buffers;
  q.buffer_bytes = to_buffers;
  if (q.stopped) tx_outstanding_ += left;
  q.producer = q.rung = left;
  q.done = 0;
  q.stopped = q.restarting = false;
  start_ring(q.regs, ring, true, left);
}

void Driver::finish_restart(RxQueue& q, std::uint32_t index) {
  q.restarting = q.stopped = false;
  q.done = 0;
  q.producer = q.rung = static_cast<std::uint16_t>(config_.rx_ring);
  if (config_.rx_stream) {
    move_stream(q, index);
    return;
  }
  const std::uint64_t ring_bytes = std::uint64_t{config_.rx_ring} * desc_t::kBytes,
                      buffers_bytes = std::uint64_t{config_.rx_ring} * buffer_bytes_;
  give_up_memory(q.descriptors, ring_bytes);
  give_up_memory(q.buffers, buffers_bytes);
  q.descriptors = host_.dma_alloc(ring_bytes);
  q.ring = host_.dma_pointer(q.descriptors, ring_bytes);
  q.buffers = host_.dma_alloc(buffers_bytes);
  q.buffer_bytes = host_.dma_pointer(q.buffers, buffers_bytes);
  fill_ring(q);
  start_ring(q.regs, q.descriptors, false, q.producer);
}

}  // namespace emery::host_nic
