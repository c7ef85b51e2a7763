// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/driver.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "core_nic.h"

namespace emery::core_nic {
namespace {

using mailbox_pkg::bd_t;

constexpr unsigned kDescriptorBytes = sizeof(bd_t);
constexpr unsigned kBlock = 64;  // bytes of program in one packet
constexpr unsigned kLoadStep = 1024;
constexpr unsigned kShortest = 60, kLongest = 1514;  // frames without FCS
#define EMERY_REG(name) offsetof(core_nic_regs_t, name)

bd_t descriptor(std::uint64_t address, std::size_t length, bool last, std::uint32_t cookie) {
  const auto info =
      mailbox_pkg::bd_info_t{}.set_len(static_cast<std::uint32_t>(length)).set_last(last);
  return {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), info.word,
          cookie};
}
std::uint64_t address_of(const bd_t& d) {
  return d.address_low | std::uint64_t{d.address_high} << 32;
}

}  // namespace

std::uint32_t Driver::read(std::size_t offset) {
  return static_cast<std::uint32_t>(mmio_read(host_, bar_ + offset, 4));
}

void Driver::probe() {
  bar_ = host_.device().bar0;
  set_bus_master(host_, true);
  if (read(EMERY_REG(magic)) != CORE_NIC_REGS__MAGIC__VALUE_reset)
    throw std::runtime_error("the device is no core-nic");
  if (read(EMERY_REG(cores)) < config_.cores)
    throw std::runtime_error("the device has fewer cores than were to be started");
}

void Driver::load(const Image& image) {
  write32(EMERY_REG(control), 0);
  for (const Image::Segment& segment : image.segments()) {
    const std::uint64_t window =
        segment.scratch() ? offsetof(core_nic_t, scratch) : offsetof(core_nic_t, imem);
    const std::uint64_t base =
        bar_ + window + (segment.address - (segment.scratch() ? Image::kScratchBase : 0));
    const std::uint64_t bytes = 4 * segment.words.size();
    for (std::uint64_t at = 0; at < bytes;) {
      const auto here =
          static_cast<unsigned>(std::min<std::uint64_t>(bytes - at, kBlock - (base + at) % kBlock));
      host_.mmio_write(base + at, segment.words.data() + at / 4, here);
      at += here;
      // A slow core clock takes its time: what has been sent has arrived, before more follows.
      if ((base + at) % kLoadStep == 0 || at == bytes) read(EMERY_REG(magic));
    }
  }
}

void Driver::start() {
  const auto ring = [&](std::uint64_t bytes, std::uint8_t*& memory) {
    const std::uint64_t addr = host_.dma_alloc(bytes);
    memory = host_.dma_pointer(addr, bytes);
    return addr;
  };
  const std::uint64_t addresses[] = {ring(kDescriptorBytes * config_.send_ring, send_),
                                     ring(kDescriptorBytes * config_.receive_ring, receive_),
                                     ring(kDescriptorBytes * config_.receive_ring, returned_),
                                     ring(64, status_)};
  send_addr_ = addresses[0];
  receive_addr_ = addresses[1];
  header_addr_ = ring(64 * config_.send_ring, headers_);
  payload_addr_ = ring(std::uint64_t{kBufferBytes} * config_.send_ring, payloads_);
  buffer_addr_ = ring(std::uint64_t{kBufferBytes} * config_.receive_ring, buffers_);
  enable_msix(host_, 1);
  host_.on_vector([this](unsigned) {
    ++interrupts_;
    pending_ = true;
  });

  const auto config = [&](unsigned index, std::uint32_t value) {
    write32(EMERY_REG(cfg) + 4 * index, value);
  };
  const auto config_address = [&](unsigned index, std::uint64_t address) {
    config(index, static_cast<std::uint32_t>(address));
    config(index + 1, static_cast<std::uint32_t>(address >> 32));
  };
  config_address(mailbox_pkg::ConfigSendRing, addresses[0]);
  config_address(mailbox_pkg::ConfigReceiveRing, addresses[1]);
  config_address(mailbox_pkg::ConfigReturnRing, addresses[2]);
  config_address(mailbox_pkg::ConfigStatus, addresses[3]);
  const auto log2 = [](unsigned n) { return static_cast<std::uint32_t>(std::bit_width(n) - 1); };
  config(mailbox_pkg::ConfigLogs, mailbox_pkg::config_logs_t{}
                                      .set_send(log2(config_.send_ring))
                                      .set_receive(log2(config_.receive_ring))
                                      .set_returned(log2(config_.receive_ring))
                                      .word);
  config(mailbox_pkg::ConfigSlotsLog, log2(config_.receive_slots));
  config(mailbox_pkg::ConfigWatchdog, config_.watchdog_clocks);
  config(mailbox_pkg::ConfigDropPort, config_.drop_udp_port);
  if (config_.queues > 1) config(mailbox_pkg::ConfigQueues, config_.queues);
  if (config_.dma_timeout_clocks != CORE_NIC_REGS__DMA_TIMEOUT__VALUE_reset)
    write32(EMERY_REG(dma_timeout), config_.dma_timeout_clocks);
  if (config_.dma_overtaken_clocks != CORE_NIC_REGS__DMA_OVERTAKEN__VALUE_reset)
    write32(EMERY_REG(dma_overtaken), config_.dma_overtaken_clocks);
  write32(EMERY_REG(send_producer), 0);
  write32(EMERY_REG(receive_producer), 0);
  write32(EMERY_REG(control), (1u << config_.cores) - 1);
  read(EMERY_REG(magic));
}

void Driver::forget() {
  send_producer_ = send_rung_ = send_consumer_ = 0;
  receive_producer_ = receive_rung_ = return_produced_ = return_consumer_ = 0;
  pending_ = false;
  descriptor_errors_ = bad_lengths_ = 0;
}

void Driver::open() {
  for (unsigned i = 0; i < config_.receive_ring; ++i) give(i);
  write32(EMERY_REG(receive_producer), receive_rung_ = receive_producer_);
  ++mailbox_writes_;
}

std::span<const std::uint8_t> Driver::put(std::uint8_t* ring, unsigned entries, std::uint32_t index,
                                          const bd_t& d) {
  std::uint8_t* const at = ring + std::size_t{index & (entries - 1)} * kDescriptorBytes;
  std::memcpy(at, &d, sizeof d);
  return {at, kDescriptorBytes};
}

void Driver::give(std::uint32_t buffer) {
  put(receive_, config_.receive_ring, receive_producer_++,
      descriptor(buffer_addr_ + std::uint64_t{buffer} * kBufferBytes, kReceiveRoom, false, buffer));
}

bool Driver::transmit(std::span<const std::uint8_t> frame) {
  if (send_producer_ - send_consumer_ + config_.segments > config_.send_ring) return false;
  // Buffers go with the slot of the frame's last descriptor.
  const std::uint32_t last = send_producer_ + config_.segments - 1;
  const std::uint32_t slot = last & (config_.send_ring - 1);
  const std::size_t headers = config_.segments == 2 ? kHeadersBytes : 0;
  if (headers != 0) {
    // Headers are built in a place of their own, two bytes off a line as protocol stacks have it.
    std::memcpy(headers_ + 64 * slot + 2, frame.data(), headers);
    newest_.part[0] = {headers_ + 64 * slot + 2, headers};
    newest_.descriptor[0] =
        put(send_, config_.send_ring, send_producer_++,
            descriptor(header_addr_ + 64 * slot + 2, kHeadersBytes, false, last));
  }
  const std::uint64_t at = std::uint64_t{slot} * kBufferBytes + config_.payload_offset;
  std::memcpy(payloads_ + at, frame.data() + headers, frame.size() - headers);
  newest_.payload = payload_addr_ + at;
  newest_.last = send_addr_ + std::uint64_t{slot} * kDescriptorBytes;
  newest_.part[1] = {payloads_ + at, frame.size() - headers};
  newest_.descriptor[1] = put(send_, config_.send_ring, send_producer_++,
                              descriptor(payload_addr_ + at, frame.size() - headers, true, last));
  return true;
}

void Driver::take_status() {
  mailbox_pkg::status_t status;
  std::memcpy(&status, status_, sizeof status);
  const std::uint32_t sent = status.sent - send_consumer_;
  if (sent > send_rung_ - send_consumer_) {
    if (complaint_.empty())
      complaint_ = "status block: " + std::to_string(status.sent) + " send descriptors done of " +
                   std::to_string(send_rung_);
  } else {
    send_consumer_ = status.sent;
  }
  if (status.returned - return_consumer_ > config_.receive_ring) {
    if (complaint_.empty())
      complaint_ = "status block: " + std::to_string(status.returned) + " frames returned, " +
                   std::to_string(return_consumer_) + " of them taken, into a ring of " +
                   std::to_string(config_.receive_ring);
  } else {
    return_produced_ = status.returned;
  }
}

bool Driver::receive_one(Time now) {
  if (return_consumer_ == return_produced_) return false;
  const std::uint8_t* const at =
      returned_ + std::size_t{return_consumer_ & (config_.receive_ring - 1)} * kDescriptorBytes;
  bd_t d;
  std::memcpy(&d, at, sizeof d);
  ++return_consumer_;
  const unsigned length = mailbox_pkg::bd_info_t{d.info}.len();
  // In their order: this is what the descriptor was.
  bd_t given;
  std::memcpy(&given, receive_ + (at - returned_), sizeof given);
  if (address_of(d) == 0 && d.cookie == CORE_NIC_REGS__FILL_3__VALUE_reset) {
    ++descriptor_errors_;
    give(given.cookie);
    return true;
  }
  if (d.cookie >= config_.receive_ring ||
      address_of(d) != buffer_addr_ + std::uint64_t{d.cookie} * kBufferBytes) {
    if (complaint_.empty())
      complaint_ = "return ring entry " + std::to_string(return_consumer_ - 1) +
                   " is of no buffer (cookie " + std::to_string(d.cookie) + ")";
    return false;
  }
  if (length >= kShortest && length <= kLongest) {
    queue_ = mailbox_pkg::bd_info_t{d.info}.queue();
    ++by_queue_[queue_];
    on_receive({buffers_ + std::size_t{d.cookie} * kBufferBytes, length}, {at, kDescriptorBytes},
               now);
  } else if (length != 0) {  // 0: the firmware has dropped the frame
    ++bad_lengths_;
  }
  give(d.cookie);
  return true;
}

void Driver::work(Time now, const std::function<bool()>& send) {
  if (pending_) {
    pending_ = false;
    take_status();
  }
  // Until the CPU is busy beyond `now`, or neither way has anything.
  for (unsigned idle = 0; idle < 2 && busy_until_ <= now; send_next_ = !send_next_) {
    if (send_next_ ? send() : receive_one(now)) {
      idle = 0;
      if (config_.cpu_per_frame != 0) worked_until_ = busy_until_ += config_.cpu_per_frame;
      ++frames_;
    } else {
      ++idle;
    }
  }
  busy_until_ = std::max(busy_until_, now);  // time in which there was nothing to do is gone
  ring();
}

void Driver::spoil_newest(std::uint64_t address) {
  const std::uint32_t last = send_producer_ - 1;
  const std::uint32_t words[] = {static_cast<std::uint32_t>(address),
                                 static_cast<std::uint32_t>(address >> 32)};
  std::memcpy(send_ + std::size_t{last & (config_.send_ring - 1)} * kDescriptorBytes, words,
              sizeof words);
}

std::uint64_t Driver::next_receive_descriptor() const {
  return receive_addr_ +
         std::uint64_t{receive_producer_ & (config_.receive_ring - 1)} * kDescriptorBytes;
}

void Driver::read_counts() {
  counts_ = {{"timeouts", read(EMERY_REG(dma_timeouts))},
             {"errors", read(EMERY_REG(dma_errors))},
             {"late", read(EMERY_REG(dma_late))},
             {"unexpected", read(EMERY_REG(dma_unexpected))}};
  settings_refused_ = read(EMERY_REG(settings_refused));
}

void Driver::write_counts(JsonWriter& json) const {
  json.object("dma_read");
  for (const auto& [name, count] : counts_) json.field(name, count);
  json.end_object().field("settings_refused", settings_refused_);
}

// Tells the device of buffers given back, some at a time, and of all frames to be sent.
void Driver::ring() {
  if (receive_producer_ - receive_rung_ >= config_.receive_batch) {
    write32(EMERY_REG(receive_producer), receive_rung_ = receive_producer_);
    ++mailbox_writes_;
  }
  if (send_rung_ != send_producer_) {
    write32(EMERY_REG(send_producer), send_rung_ = send_producer_);
    if (on_mailbox) on_mailbox();
    ++mailbox_writes_;
  }
}

void Driver::write(JsonWriter& json) const {
  json.begin_object()
      .field("mailbox_writes", mailbox_writes_)
      .field("interrupts", interrupts_)
      .field("frames", frames_);
  if (config_.queues > 1) {
    json.array("queues");
    for (unsigned q = 0; q < config_.queues; ++q) json.value(by_queue_[q]);
    json.end_array();
  }
  json.end_object();
}

}  // namespace emery::core_nic
