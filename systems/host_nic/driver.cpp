// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/driver.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "host_nic.h"

namespace emery::host_nic {

namespace {

using queue_pkg::cpl_t, queue_pkg::desc_t, queue_pkg::event_t;
using DescQueueRegs = desc_queue_regs__stride20_t;
using CplQueueRegs = cpl_queue_regs__stride20_t;
using PortRegs = nic_port_regs__stride1000_t;

constexpr unsigned kRecordBytes = cpl_t::kBytes;
constexpr unsigned kDescriptorBytes = desc_t::kBytes;
// A field of a register's value.
#define EMERY_FIELD(value, field) (((value) & field##_bm) >> field##_bp)
constexpr unsigned kEventRing = 256;
constexpr std::uint64_t kPage = 4096;  // rings begin on a page
constexpr unsigned kLargestRing = 32768;
constexpr unsigned kTurnGranules = 1024 / queue_pkg::GranuleBytes;  // worth a turn
constexpr unsigned kIdlePackets = 4;  // with more under way a push gains nothing
constexpr std::uint32_t kEnable = DESC_QUEUE_REGS__CONTROL__ENABLE_bm;

template <class Record>
Record read_record(const std::uint8_t* ring, std::uint32_t index) {
  return Record::read(ring + std::size_t{index} * kRecordBytes);
}

void write_descriptor(std::uint8_t* ring, std::uint32_t index, std::uint64_t addr,
                      std::uint64_t len) {
  desc_t{}.set_addr(addr).set_len(len).write(ring + std::size_t{index} * kDescriptorBytes);
}

// A ring's phase bit is 1 in the first pass and toggles with each one.
bool is_new(const auto& record, std::uint16_t index, unsigned log_size) {
  return record.phase() == !(index >> log_size & 1);
}

const char* kind_name(unsigned kind) {
  switch (kind) {
    case queue_pkg::EvtTxCpl:
      return "tx_completion";
    case queue_pkg::EvtRxCpl:
      return "rx_completion";
    case queue_pkg::EvtTxError:
      return "tx_queue";
    case queue_pkg::EvtRxError:
      return "rx_queue";
    case queue_pkg::EvtTxCqError:
      return "tx_completion_queue";
    case queue_pkg::EvtRxCqError:
      return "rx_completion_queue";
    default:
      return "unknown";
  }
}

// Memory of `count` things of as many bytes, or of `least`.
struct Memory {
  std::uint64_t addr, stride;
  std::uint8_t* bytes;
  std::uint64_t at(unsigned n) const { return addr + n * stride; }
};

Memory allocate(HostInterface& host, unsigned count, std::uint64_t bytes, std::uint64_t least) {
  const std::uint64_t stride = std::max(bytes, least);
  const std::uint64_t addr = host.dma_alloc(count * stride);
  return {addr, stride, host.dma_pointer(addr, count * stride)};
}

unsigned log2_exact(unsigned value) { return static_cast<unsigned>(std::countr_zero(value)); }

}  // namespace

Driver::Driver(HostInterface& host, DriverConfig config) : host_(host), config_(config) {
  for (const unsigned ring : {config.tx_ring, config.rx_ring}) {
    if (!std::has_single_bit(ring) || ring < 8 || ring > 32768) {
      throw std::invalid_argument("ring of " + std::to_string(ring) +
                                  " slots: not a power of two from 8 to 32768");
    }
  }
  if (!std::has_single_bit(config.segments) || config.segments > 8) {
    throw std::invalid_argument("segments must be 1, 2, 4 or 8");
  }
  log_block_ = log2_exact(config.segments);
  cpus_.resize(std::max(1u, config.cpus));
}

void Driver::probe() {
  bar_ = host_.device().bar0;
  set_bus_master(host_, true);
  const auto device = [&](std::size_t offset) { return device_register(offset); };
  if (device(offsetof(nic_device_regs_t, magic)) != NIC_DEVICE_REGS__MAGIC__VALUE_reset) {
    throw std::runtime_error("host-nic driver: no host-nic behind BAR 0");
  }
  if (device(offsetof(nic_device_regs_t, version)) >> 16 !=
      NIC_DEVICE_REGS__VERSION__VALUE_reset >> 16) {
    throw std::runtime_error("host-nic driver: register map of another version");
  }
  vectors_ = device(offsetof(nic_device_regs_t, vectors));
  const unsigned count = device(offsetof(nic_device_regs_t, interfaces));
  const std::uint64_t offset = device(offsetof(nic_device_regs_t, interface_offset));
  const std::uint64_t stride = device(offsetof(nic_device_regs_t, interface_stride));
  for (unsigned i = 0; i < count; ++i) {
    Interface interface;
    interface.base = bar_ + offset + i * stride;
    interfaces_.push_back(interface);
    const auto reg = [&](std::size_t at) { return interface_register(i, at); };
#define EMERY_REG(name) reg(offsetof(nic_interface_regs_t, name))
    interface.ports = EMERY_REG(ports);
    interface.tx_queues = EMERY_REG(tx_queues);
    interface.rx_queues = EMERY_REG(rx_queues);
    interface.event_queues = EMERY_REG(event_queues);
    interface.max_frame = EMERY_REG(max_frame);
    interface.features = EMERY_REG(features);
    interface.txq = interface.base + EMERY_REG(txq_offset);
    interface.rxq = interface.base + EMERY_REG(rxq_offset);
    interface.txcq = interface.base + EMERY_REG(txcq_offset);
    interface.rxcq = interface.base + EMERY_REG(rxcq_offset);
    interface.eq = interface.base + EMERY_REG(eq_offset);
    interface.sched = interface.base + EMERY_REG(sched_offset);
    interface.sched_stride = EMERY_REG(sched_stride);
    interface.port = interface.base + EMERY_REG(port_offset);
    interface.port_stride = EMERY_REG(port_stride);
    interface.rss = interface.base + EMERY_REG(rss_offset);
    interface.rss_stride = EMERY_REG(rss_stride);
    interface.rss_entries = EMERY_REG(rss_entries);
#undef EMERY_REG
    interfaces_.back() = interface;
    config_.tx_queues = std::min(config_.tx_queues, interface.tx_queues);
    config_.rx_queues = std::min(config_.rx_queues, interface.rx_queues);
    if (config_.rx_queues % interface.ports != 0) {
      throw std::runtime_error("host-nic driver: rx_queues " + std::to_string(config_.rx_queues) +
                               " cannot be dealt to " + std::to_string(interface.ports) + " ports");
    }
    if (config_.max_frame > interface.max_frame) {
      throw std::runtime_error("host-nic driver: MTU above what the device's buffers are made for");
    }
  }
}

// Where the registers of interfaces lie relative to their base is part of the map's version.
std::uint32_t Driver::interface_register(unsigned interface, std::size_t offset) {
  return read32(interfaces_[interface].base + offsetof(nic_interface_map__stride800000_t, regs) +
                offset);
}

std::uint32_t Driver::device_register(std::size_t offset) { return read32(bar_ + offset); }

void Driver::open() {
  buffer_bytes_ = (config_.max_frame + 127u) / 128u * 128u;
  write32(bar_ + offsetof(nic_device_regs_t, dma_timeout), config_.dma_timeout_clocks);
  write32(bar_ + offsetof(nic_device_regs_t, dma_overtaken), config_.dma_overtaken_clocks);
  enable_msix(host_, vectors_);
  const std::uint64_t moderation =
      bar_ + device_register(offsetof(nic_device_regs_t, moderation_offset));
  for (unsigned v = 0; v < vectors_; ++v)
    write32(moderation + 4 * v, config_.interrupt_interval_clocks);
  host_.on_vector([this](unsigned vector) {
    ++interrupts_;
    wake(vector);
  });
  for (unsigned i = 0; i < interfaces_.size(); ++i) open_interface(i);
  device_register(
      offsetof(nic_device_regs_t, magic));  // a read returns when all writes before it have arrived
}

void Driver::set_up_cq(std::uint64_t regs, std::uint64_t ring, unsigned slots, unsigned target) {
  write32(regs + offsetof(CplQueueRegs, base_lo), static_cast<std::uint32_t>(ring));
  write32(regs + offsetof(CplQueueRegs, base_hi), static_cast<std::uint32_t>(ring >> 32));
  write32(regs + offsetof(CplQueueRegs, target), target);
  write32(regs + offsetof(CplQueueRegs, control),
          kEnable | log2_exact(slots) << CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bp);
}

void Driver::set_up_queue(std::uint64_t regs, std::uint64_t ring, bool transmit, unsigned cq) {
  write32(regs + offsetof(DescQueueRegs, cq), cq);
  start_ring(regs, ring, transmit, 0);
}

// Event queues are looked at when their interrupt comes, or without interrupts when something was
// written to them.
void Driver::wake(std::uint32_t event_queue) {
  if (event_queue >= events_.size() || events_[event_queue].pending) return;
  events_[event_queue].pending = true;
  pending_events_.push_back(event_queue);
}

void Driver::open_interface(unsigned i) {
  const Interface& interface = interfaces_[i];
  const std::uint64_t regs = interface.base + offsetof(nic_interface_map__stride800000_t, regs);
  write32(regs + offsetof(nic_interface_regs_t, cpl_delay), config_.cpl_delay_clocks);
  write32(regs + offsetof(nic_interface_regs_t, tx_burst), config_.tx_burst);

  // Event queues: one a vector, as many as there are CPUs to interrupt.
  event_queues_ = std::min({interface.event_queues, static_cast<unsigned>(cpus_.size()),
                            std::max(1u, vectors_ / static_cast<unsigned>(interfaces_.size()))});
  for (unsigned e = 0; e < event_queues_; ++e) {
    const auto index = static_cast<std::uint32_t>(events_.size());
    const std::uint64_t ring = host_.dma_alloc(kEventRing * kRecordBytes);
    EventQueue queue;
    queue.ring = host_.dma_pointer(ring, kEventRing * kRecordBytes);
    queue.doorbell = interface.eq + e * sizeof(CplQueueRegs) + offsetof(CplQueueRegs, consumer);
    events_.push_back(queue);
    set_up_cq(interface.eq + e * sizeof(CplQueueRegs), ring, kEventRing, index);
    arm(queue.doorbell, 0, true);
    if (!config_.interrupts) {
      host_.watch(ring, kEventRing * kRecordBytes,
                  [this, index](std::uint64_t, std::uint32_t) { wake(index); });
    }
  }

  const std::uint64_t tx_slots = std::uint64_t{config_.tx_ring} << log_block_;
  const Memory tx_rings = allocate(host_, config_.tx_queues, tx_slots * kDescriptorBytes, kPage);
  const Memory tx_buffers =
      allocate(host_, config_.tx_stream ? 1 : config_.tx_queues,
               config_.tx_stream ? kPage : std::uint64_t{config_.tx_ring} * buffer_bytes_, 0);
  first_tx_cq_.push_back(static_cast<std::uint32_t>(completions_.size()));
  const unsigned tx_cqs = open_completions(i, true, config_.tx_queues, config_.tx_ring);
  for (unsigned q = 0; q < config_.tx_queues; ++q) {
    const std::uint64_t at = interface.txq + q * sizeof(DescQueueRegs);
    TxQueue queue;
    queue.ring = tx_rings.bytes + q * tx_rings.stride;
    queue.regs = at;
    queue.descriptors = tx_rings.at(q);
    if (!config_.tx_stream) {
      queue.buffers = tx_buffers.at(q);
      queue.buffer_bytes = tx_buffers.bytes + q * tx_buffers.stride;
    }
    queue.doorbell = at + offsetof(DescQueueRegs, producer);
    queue.window = bar_ + offsetof(host_nic_t, push) + sizeof(host_nic_t::push[0]) * i +
                   sizeof(host_nic_t::push[0][0]) * q;
    set_up_queue(at, tx_rings.at(q), true, q % tx_cqs);
    // Queues are dealt to the ports; a scheduler is free to do otherwise.
    write32(interface.sched + (q % interface.ports) * interface.sched_stride + 4 * q, 1);
    tx_.push_back(queue);
  }

  // What deals frames to queues is there before they are when frames may be coming.
  if (again_) {
    deal_frames(interface);
    restore_flows(i);
  }
  if (config_.rx_stream) {
    open_streams(i);
  } else {
    open_receive(i);
  }
  if (!again_) deal_frames(interface);
}

void Driver::deal_frames(const Interface& interface) {
  for (unsigned p = 0; p < interface.ports; ++p) {
    const std::uint64_t port = interface.port + p * interface.port_stride;
    write32(port + offsetof(PortRegs, max_frame), config_.max_frame);
    for (unsigned k = 0; k < 10; ++k)
      write32(port + offsetof(PortRegs, rss_key) + 4 * k, kRssKey[k]);
    for (unsigned e = 0; e < interface.rss_entries; ++e) {
      const unsigned queue = rss_queue(e, p, interface.ports, config_.rx_queues);
      write32(interface.rss + p * interface.rss_stride + 4 * e, queue);
    }
  }
}

void Driver::fill_ring(const RxQueue& queue) {
  for (unsigned slot = 0; slot < config_.rx_ring; ++slot)
    write_descriptor(queue.ring, slot, queue.buffers + std::uint64_t{slot} * buffer_bytes_,
                     buffer_bytes_);
}

void Driver::open_receive(unsigned i) {
  const Interface& interface = interfaces_[i];
  const Memory rx_rings =
      allocate(host_, config_.rx_queues, std::uint64_t{config_.rx_ring} * kDescriptorBytes, kPage);
  const Memory rx_buffers =
      allocate(host_, config_.rx_queues, std::uint64_t{config_.rx_ring} * buffer_bytes_, 0);
  first_rx_cq_.push_back(static_cast<std::uint32_t>(completions_.size()));
  const unsigned rx_cqs = open_completions(i, false, config_.rx_queues, config_.rx_ring);
  for (unsigned q = 0; q < config_.rx_queues; ++q) {
    const std::uint64_t at = interface.rxq + q * sizeof(DescQueueRegs);
    RxQueue queue;
    queue.ring = rx_rings.bytes + q * rx_rings.stride;
    queue.regs = at;
    queue.descriptors = rx_rings.at(q);
    queue.buffers = rx_buffers.at(q);
    queue.buffer_bytes = rx_buffers.bytes + q * rx_buffers.stride;
    queue.doorbell = at + offsetof(DescQueueRegs, producer);
    fill_ring(queue);
    set_up_queue(at, rx_rings.at(q), false, q % rx_cqs);
    queue.producer = queue.rung = static_cast<std::uint16_t>(config_.rx_ring);
    write32(queue.doorbell, queue.producer);
    rx_.push_back(queue);
  }
}

void Driver::arm(std::uint64_t cq_doorbell, std::uint16_t consumer, bool arm) {
  write32(cq_doorbell, consumer | (arm ? CPL_QUEUE_REGS__CONSUMER__ARM_bm : 0u));
}

unsigned Driver::open_completions(unsigned i, bool transmit, unsigned queues, unsigned ring) {
  const Interface& interface = interfaces_[i];
  const std::uint64_t slots = std::uint64_t{queues} * ring;
  const auto least = static_cast<unsigned>((slots + kLargestRing - 1) / kLargestRing);
  const auto cpus = static_cast<unsigned>(cpus_.size());
  const unsigned count =
      std::min(std::max(least, cpus), transmit ? interface.tx_queues : interface.rx_queues);
  if ((queues + count - 1) / count * ring > kLargestRing)
    throw std::invalid_argument("host-nic driver: more ring slots than completion queues hold");
  for (unsigned c = 0; c < count; ++c) {
    const auto index = static_cast<std::uint32_t>(completions_.size());
    const std::uint64_t memory = host_.dma_alloc(std::uint64_t{kLargestRing} * kRecordBytes);
    const std::uint64_t regs =
        (transmit ? interface.txcq : interface.rxcq) + c * sizeof(CplQueueRegs);
    CplQueue queue;
    queue.ring = host_.dma_pointer(memory, std::uint64_t{kLargestRing} * kRecordBytes);
    queue.doorbell = regs + offsetof(CplQueueRegs, consumer);
    queue.interface = i;
    queue.cpu = c % cpus;
    queue.transmit = transmit;
    completions_.push_back(queue);
    set_up_cq(regs, memory, kLargestRing, c % event_queues_);
    if (config_.interrupts) {
      arm(queue.doorbell, 0, true);
    } else {  // polling: work is where the device has written
      host_.watch(memory, std::uint64_t{kLargestRing} * kRecordBytes,
                  [this, index](std::uint64_t, std::uint32_t) { schedule(index); });
    }
  }
  return count;
}

void Driver::schedule(std::uint32_t cpl_queue) {
  CplQueue& queue = completions_[cpl_queue];
  if (queue.pending) return;
  queue.pending = true;
  cpus_[queue.cpu].work.push(cpl_queue);
}

bool Driver::tx_room(unsigned interface, unsigned queue) const {
  const TxQueue& q = tx_[tx_index(interface, queue)];
  return !q.stopped && !q.restarting &&
         static_cast<std::uint16_t>(q.producer - q.done) < config_.tx_ring;
}

unsigned Driver::tx_stranded(unsigned interface, unsigned port) const {
  unsigned count = 0;
  for (unsigned queue = port; queue < config_.tx_queues; queue += interfaces_[interface].ports) {
    const TxQueue& q = tx_[tx_index(interface, queue)];
    if (q.stopped) count += q.made - q.sent;
  }
  return count;
}

bool Driver::transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame) {
  if (!tx_room(interface, queue)) return false;
  const std::uint32_t index = tx_index(interface, queue);
  TxQueue& q = tx_[index];
  if (!(config_.tx_stream ? put_in_stream(q, frame) : put_in_ring(q, frame))) return false;
  ++q.made;
  ++tx_outstanding_;
  if (config_.doorbell_batch == 1) {
    ring(q);
  } else {
    touch(index);
  }
  return true;
}

bool Driver::put_in_ring(TxQueue& q, std::span<const std::uint8_t> frame) {
  const unsigned slot = q.producer & (config_.tx_ring - 1);
  const std::uint64_t offset = std::uint64_t{slot} * buffer_bytes_;
  std::memcpy(q.buffer_bytes + offset, frame.data(), frame.size());
  const std::size_t share = (frame.size() + config_.segments - 1) / config_.segments;
  for (std::size_t s = 0, at = 0; s < config_.segments; ++s) {
    const std::size_t length = std::min(share, frame.size() - at);
    write_descriptor(q.ring, (slot << log_block_) + static_cast<std::uint32_t>(s),
                     q.buffers + offset + at, length);
    at += length;
  }
  if (config_.tx_checksum)
    leave_checksum(q.ring + (std::size_t{slot} << log_block_) * kDescriptorBytes,
                   q.buffer_bytes + offset, frame);
  q.newest = q.producer++;
  return true;
}

bool Driver::put_in_stream(TxQueue& q, std::span<const std::uint8_t> frame) {
  const unsigned ring = config_.tx_ring, turn = std::min<unsigned>(ring, queue_pkg::TurnGranules);
  const auto granules = static_cast<unsigned>((kDescriptorBytes + frame.size() + 15) / 16);
  const unsigned left = turn - (q.producer & (turn - 1)), skip = granules > left ? left : 0;
  const unsigned used = static_cast<std::uint16_t>(q.producer - q.done);
  if (used + skip + granules > ring) return false;
  if (skip != 0) write_descriptor(q.ring, q.producer & (ring - 1), 0, 0);
  q.newest = static_cast<std::uint16_t>(q.producer + skip);
  std::uint8_t* head = q.ring + std::size_t{q.newest & (ring - 1)} * kDescriptorBytes;
  desc_t{}.set_len(frame.size()).write(head);
  std::memcpy(head + kDescriptorBytes, frame.data(), frame.size());
  if (config_.tx_checksum) leave_checksum(head, head + kDescriptorBytes, frame);
  q.producer = static_cast<std::uint16_t>(q.newest + granules);
  return true;
}

void Driver::leave_checksum(std::uint8_t* descriptor, std::uint8_t* bytes,
                            std::span<const std::uint8_t> frame) {
  const auto checksum = transport_checksum(frame);
  if (!checksum) return;
  ++checksums_;
  std::uint8_t* field = bytes + checksum->start + checksum->offset;
  field[0] = static_cast<std::uint8_t>(checksum->pseudo >> 8);
  field[1] = static_cast<std::uint8_t>(checksum->pseudo);
  desc_t::read(descriptor)
      .set_csum_enable(1)
      .set_csum_start(checksum->start)
      .set_csum_offset(checksum->offset)
      .write(descriptor);
}

void Driver::touch(std::uint32_t tx_queue) {
  if (tx_[tx_queue].touched) return;
  tx_[tx_queue].touched = true;
  touched_.push_back(tx_queue);
}

void Driver::stop_tx(unsigned interface, unsigned queue) {
  TxQueue& q = tx_[tx_index(interface, queue)];
  if (q.stopped) return;
  q.stopped = true;
  tx_outstanding_ -= q.made - q.sent;
}

void Driver::push(const TxQueue& queue) {
  const auto index = static_cast<std::uint16_t>(queue.producer - 1);
  const unsigned slot = index & (config_.tx_ring - 1);
  auto descriptor = desc_t::read(queue.ring + std::size_t{slot} * kDescriptorBytes);
  descriptor.set_slot(index);
  const std::size_t bytes = descriptor.len();
  const bool inlined = config_.tx_push == TxPush::kFrame && bytes <= queue_pkg::PushBytes;
  descriptor.set_inlined(inlined);
  std::uint8_t window[kDescriptorBytes + queue_pkg::PushBytes] = {};
  descriptor.write(window);
  const std::uint8_t* frame = queue.buffer_bytes + std::size_t{slot} * buffer_bytes_;
  if (inlined) std::memcpy(window + kDescriptorBytes, frame, bytes);
  const std::size_t whole = (kDescriptorBytes + (inlined ? bytes : 0) + 15) / 16 * 16;
  ++pushes_;
  host_.mmio_write(queue.window, window, static_cast<unsigned>(whole));
}

void Driver::ring(TxQueue& queue) {
  const bool idle = queue.rung == queue.done && tx_outstanding_ <= kIdlePackets;
  const bool one = static_cast<std::uint16_t>(queue.producer - queue.rung) == 1 && log_block_ == 0;
  if (config_.tx_push != TxPush::kNone && idle && one) push(queue);
  queue.rung = queue.producer;
  queue.told = queue.made;
  ++doorbells_;
  write32(queue.doorbell, queue.producer);
}

// A queue with a batch under way can wait until it has gathered another, or until the one under way
// is nearly done. A stream gathers what the device reads at once, and waits until all before is
// done.
void Driver::flush() {
  for (const std::uint32_t index : touched_) {
    TxQueue& q = tx_[index];
    q.touched = false;
    const std::uint32_t waiting = q.made - q.told, under_way = q.told - q.sent;
    const bool gathered = config_.tx_stream
                              ? static_cast<std::uint16_t>(q.producer - q.rung) >= kTurnGranules
                              : waiting >= config_.doorbell_batch;
    if (waiting != 0 && (gathered || under_way < (config_.tx_stream ? 1 : config_.doorbell_batch)))
      ring(q);
  }
  touched_.clear();
}

void Driver::poll(Time now) {
  if (!pending_events_.empty()) {
    for (std::size_t i = 0; i < pending_events_.size(); ++i) serve_events(pending_events_[i], now);
    pending_events_.clear();
  }
  if (!restarts_.empty()) go_on_restarting();
  for (Cpu& cpu : cpus_) {
    while (!cpu.work.empty() && cpu.busy_until <= now) {
      const std::uint32_t queue = cpu.work.front();
      cpu.work.pop();
      ++polls_;
      const unsigned served =
          queue & kStream ? serve_stream(queue & ~kStream, now) : serve(queue, now);
      if (config_.cpu_per_packet != 0) cpu.busy_until = now + served * config_.cpu_per_packet;
    }
  }
  flush();
}

Time Driver::busy_until() const {
  Time last = 0;
  for (const Cpu& cpu : cpus_) last = std::max(last, cpu.busy_until);
  return last;
}

unsigned Driver::serve(std::uint32_t cpl_queue, Time now) {
  CplQueue& q = completions_[cpl_queue];
  unsigned served = 0;
  bool more = true;
  for (; served < config_.budget; ++served) {
    const auto record = read_record<cpl_t>(q.ring, q.consumer & (kLargestRing - 1));
    more = is_new(record, q.consumer, log2_exact(kLargestRing));
    if (!more) break;
    ++q.consumer;
    if (q.transmit) {
      complete_tx(q.interface, record, now);
    } else {
      complete_rx(q.interface, record, now);
    }
  }
  q.pending = false;
  const bool wait = config_.interrupts && !more;
  if (wait || static_cast<std::uint16_t>(q.consumer - q.rung) >= kLargestRing / 8) {
    q.rung = q.consumer;
    arm(q.doorbell, q.consumer, wait);
  }
  if (more) schedule(cpl_queue);
  return served;
}

void Driver::complete_tx(unsigned interface, const cpl_t& record, Time now) {
  if (record.queue() >= config_.tx_queues) {
    ++foreign_;
    return;
  }
  const std::uint32_t index = tx_index(interface, record.queue());
  TxQueue& q = tx_[index];
  // Of a stream: where it is done up to, and how many packets that are.
  const std::uint32_t packets = config_.tx_stream ? record.hash() : 1;
  q.done = static_cast<std::uint16_t>(config_.tx_stream ? record.csum() : q.done + 1u);
  q.sent += packets;
  if (q.producer != q.rung) touch(index);
  if (!q.stopped) tx_outstanding_ -= packets;
  if (record.error()) ++tx_errors_;
  if (on_sent && (packets != 0 || record.error()))
    on_sent(interface, record.queue(), record.error(), record.timestamp(), now);
}

void Driver::complete_rx(unsigned interface, const cpl_t& record, Time now) {
  if (record.queue() >= config_.rx_queues) {
    ++foreign_;
    return;
  }
  RxQueue& q = rx_[rx_index(interface, record.queue())];
  if (record.error()) {
    ++rx_errors_;
  } else if (on_receive) {
    const std::size_t slot = q.done & (config_.rx_ring - 1);
    const std::span frame(q.buffer_bytes + slot * buffer_bytes_, record.len());
    on_receive({frame, interface, record.queue(), record.timestamp(), record.hash(), record.csum(),
                record.flags()},
               now);
  }
  ++q.done;
  ++q.producer;
  if (static_cast<std::uint16_t>(q.producer - q.rung) >=
      std::min(config_.refill_batch, config_.rx_ring / 4)) {
    q.rung = q.producer;
    ++doorbells_;
    write32(q.doorbell, q.producer);
  }
}

// Events name the completion queue that has something (or the queue that failed); each re-arms its
// event queue.
void Driver::serve_events(std::uint32_t index, Time now) {
  EventQueue& q = events_[index];
  const unsigned per_interface = static_cast<unsigned>(events_.size() / interfaces_.size());
  const unsigned interface = index / per_interface;
  q.pending = false;
  for (;;) {
    const auto record = read_record<event_t>(q.ring, q.consumer & (kEventRing - 1));
    if (!is_new(record, q.consumer, log2_exact(kEventRing))) break;
    ++q.consumer;
    const unsigned kind = record.kind(), source = record.source(), code = record.code();
    const bool sent = kind == queue_pkg::EvtTxCpl;
    if (sent || kind == queue_pkg::EvtRxCpl) {
      const std::uint32_t cq = (sent ? first_tx_cq_ : first_rx_cq_)[interface] + source;
      if (cq < completions_.size() && completions_[cq].interface == interface &&
          completions_[cq].transmit == sent) {
        schedule(cq);
      } else {
        ++foreign_;
      }
    } else {
      errors_.push_back({interface, kind, source, code, now});
      if (kind == queue_pkg::EvtTxError && source < config_.tx_queues) stop_tx(interface, source);
      if (kind == queue_pkg::EvtRxError && source < config_.rx_queues)
        rx_[rx_index(interface, source)].stopped = true;
      if (config_.recover) recover(interface, kind, source);
    }
  }
  arm(q.doorbell, q.consumer, true);
}

std::uint32_t Driver::port_register(unsigned interface, unsigned port, std::size_t offset) {
  return read32(interfaces_[interface].port + port * interfaces_[interface].port_stride + offset);
}

void Driver::find_levels(Findings& findings) {
  const auto level = [&](std::uint32_t value, const std::string& what) {
    findings.add(value, what);
  };
  level(device_register(offsetof(nic_device_regs_t, dma_reads)), "tags of DMA reads not back");
  for (unsigned i = 0; i < interfaces_.size(); ++i) {
    const std::string of = " of interface " + std::to_string(i);
    level(interface_register(i, offsetof(nic_interface_regs_t, tx_slots)),
          "transmit slots not back" + of);
    level(interface_register(i, offsetof(nic_interface_regs_t, rx_slots)),
          "receive slots not back" + of);
    for (unsigned p = 0; p < interfaces_[i].ports; ++p) {
      const std::string port = of + ", port " + std::to_string(p);
      level(port_register(i, p, offsetof(PortRegs, tx_units)),
            "units of the transmit packet RAM not back" + port);
      level(port_register(i, p, offsetof(PortRegs, rx_units)),
            "units of the receive packet RAM not back" + port);
    }
  }
}

std::uint64_t Driver::settings_refused() {
  std::uint64_t sum = device_register(offsetof(nic_device_regs_t, settings_refused));
  for (unsigned i = 0; i < interfaces_.size(); ++i) {
    sum += interface_register(i, offsetof(nic_interface_regs_t, settings_refused));
    for (unsigned p = 0; p < interfaces_[i].ports; ++p)
      sum += port_register(i, p, offsetof(PortRegs, settings_refused));
  }
  return sum;
}

void Driver::read_error_registers() {
  error_registers_.clear();
  for (unsigned i = 0; i < interfaces_.size(); ++i) {
    const std::uint32_t last = interface_register(i, offsetof(nic_interface_regs_t, last_error));
    error_registers_.push_back({interface_register(i, offsetof(nic_interface_regs_t, errors)),
                                EMERY_FIELD(last, NIC_INTERFACE_REGS__LAST_ERROR__KIND),
                                EMERY_FIELD(last, NIC_INTERFACE_REGS__LAST_ERROR__QUEUE),
                                EMERY_FIELD(last, NIC_INTERFACE_REGS__LAST_ERROR__CODE)});
  }
  for (DeviceError& error : errors_) {
    const bool transmit = error.kind == queue_pkg::EvtTxError;
    if (!transmit && error.kind != queue_pkg::EvtRxError) continue;
    if (error.queue >= (transmit ? config_.tx_queues : config_.rx_queues)) continue;
    const std::uint64_t regs = transmit ? tx_[tx_index(error.interface, error.queue)].regs
                                        : rx_[rx_index(error.interface, error.queue)].regs;
    const std::uint32_t control = read32(regs + offsetof(DescQueueRegs, control));
    error.stopped = (control & DESC_QUEUE_REGS__CONTROL__STOPPED_bm) != 0;
    error.register_code = EMERY_FIELD(control, DESC_QUEUE_REGS__CONTROL__ERROR);
  }
}

Driver::TxSlot Driver::newest_tx(unsigned interface, unsigned queue) const {
  const TxQueue& q = tx_[tx_index(interface, queue)];
  const std::uint64_t slot = q.newest & (config_.tx_ring - 1);
  if (config_.tx_stream) {
    const std::uint64_t head = q.descriptors + slot * kDescriptorBytes;
    return {head + kDescriptorBytes, head};
  }
  return {q.buffers + slot * buffer_bytes_,
          q.descriptors + (slot << log_block_) * kDescriptorBytes};
}

void Driver::poison_tx_descriptor(unsigned interface, unsigned queue, std::uint64_t addr) {
  TxQueue& q = tx_[tx_index(interface, queue)];
  const std::uint32_t slot = (q.producer - 1u) & (config_.tx_ring - 1);
  std::memcpy(q.ring + (std::size_t{slot} << log_block_) * kDescriptorBytes, &addr, sizeof addr);
}

void Driver::ring_tx_doorbell(unsigned interface, unsigned queue, std::uint16_t producer) {
  write32(tx_[tx_index(interface, queue)].doorbell, producer);
}

std::uint16_t Driver::tx_producer(unsigned interface, unsigned queue) const {
  return tx_[tx_index(interface, queue)].producer;
}

void Driver::poison_rx_descriptor(unsigned interface, unsigned queue, unsigned ahead,
                                  std::uint64_t addr) {
  const RxQueue& q = rx_[rx_index(interface, queue)];
  const unsigned slot = (q.done + ahead) & (config_.rx_ring - 1);
  write_descriptor(q.ring, slot, addr, buffer_bytes_);
}

std::uint64_t Driver::rx_descriptor(unsigned interface, unsigned queue, unsigned ahead) const {
  const RxQueue& q = rx_[rx_index(interface, queue)];
  return q.descriptors + std::uint64_t{(q.done + ahead) & (config_.rx_ring - 1)} * kDescriptorBytes;
}

void Driver::write_errors(JsonWriter& json) const {
  json.begin_array();
  for (const DeviceError& error : errors_) {
    json.begin_object()
        .field("interface", error.interface)
        .field("kind", kind_name(error.kind))
        .field("queue", error.queue)
        .field("code", queue_pkg::error_name(error.code))
        .field("at_us", static_cast<double>(error.when) / kMicrosecond)
        .field("queue_stopped", error.stopped)
        .field("queue_code", queue_pkg::error_name(error.register_code))
        .end_object();
  }
  json.end_array();
}

void Driver::write_error_registers(JsonWriter& json) const {
  json.begin_array();
  for (const ErrorRegisters& registers : error_registers_) {
    json.begin_object().field("errors", registers.errors);
    if (registers.errors != 0) {
      json.field("last_kind", kind_name(registers.kind))
          .field("last_queue", registers.queue)
          .field("last_code", queue_pkg::error_name(registers.code));
    }
    json.end_object();
  }
  json.end_array();
}

void Driver::write(JsonWriter& json) const {
  json.begin_object()
      .field("doorbells", doorbells_)
      .field("checksums", checksums_)
      .field("pushes", pushes_)
      .field("interrupts", interrupts_)
      .field("polls", polls_)
      .field("tx_errors", tx_errors_)
      .field("rx_errors", rx_errors_)
      .field("device_errors", errors_.size())
      .field("foreign", foreign_)
      .field("restarts", restarted_)
      .field("stale_writes", stale_writes_)
      .end_object();
}

}  // namespace emery::host_nic
