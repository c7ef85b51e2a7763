// SPDX-License-Identifier: Apache-2.0
// Driver model of core-nic, on the host interface alone (paper, figures 1 and 2): it loads the
// firmware, fills send and receive rings of buffer descriptors, writes their producer counts to the
// mailbox and follows the status block that the NIC writes.
//
// What driver and firmware have agreed on is in systems/core_nic/firmware/mailbox_pkg.sv. A frame
// is a descriptor for its 42 bytes of headers and one for the rest, which lie apart. The firmware
// prints 'R' when it is ready. An interrupt (MSI-X, vector 0) says that the status block may have
// moved on.
//
// Approximation: the host has one CPU for this device. Each frame received and each frame sent
// takes a stated time of it (0 by default), in turn while there are both; reading or writing host
// memory takes no time of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/pcie/host_calls.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "mailbox_formats.hpp"
#include "systems/core_nic/image.hpp"

namespace emery::core_nic {

struct DriverConfig {
  unsigned cores;
  unsigned send_ring;        // descriptors, a power of two
  unsigned receive_ring;     // likewise; the return ring has as many
  unsigned segments;         // descriptors a sent frame: 1 or 2
  unsigned payload_offset;   // where in its buffer the payload of a sent frame begins
  unsigned receive_slots;    // wished for in the frame memory, a power of two
  unsigned watchdog_clocks;  // 0: off
  unsigned drop_udp_port;    // for a firmware that filters
  unsigned queues;           // for one that balances
  Time cpu_per_frame;
  unsigned dma_timeout_clocks, dma_overtaken_clocks;  // of the host's clock
  unsigned receive_batch = 8;                         // buffers given back with one mailbox write
};

class Driver {
 public:
  static constexpr unsigned kHeadersBytes = 42, kBufferBytes = 2048, kReceiveRoom = 1536;

  Driver(HostInterface& host, DriverConfig config) : host_(host), config_(config) {}

  // Finds the device; throws std::runtime_error when it is not there or not the right one.
  void probe();
  // Writes the program to the device, whose cores stand still.
  void load(const Image& image);
  // Sets up the rings and lets the cores run. Advances simulated time, as all of the above.
  void start();
  // Gives the firmware the first receive buffers: it is ready.
  void open();
  // The device has forgotten everything, and so does the driver: load() and so on follow.
  void forget();

  // What the CPU does at this time. `send` calls transmit() for the next frame to be sent and says
  // whether there was one and it found room.
  void work(Time now, const std::function<bool()>& send);
  // Puts a frame into the send ring. False when full.
  bool transmit(std::span<const std::uint8_t> frame);

  // With the descriptor that came back with the frame.
  std::function<void(std::span<const std::uint8_t> frame, std::span<const std::uint8_t> descriptor,
                     Time now)>
      on_receive;
  // Of the frame received last, if there are several queues.
  std::optional<unsigned> queue() const {
    return config_.queues > 1 ? std::optional(queue_) : std::nullopt;
  }
  // The device was told of all frames that were transmitted.
  std::function<void()> on_mailbox;
  // Where the frame transmitted last lies: its bytes and descriptors, in one or two parts each.
  struct Sent {
    std::span<const std::uint8_t> part[2], descriptor[2];
    std::uint64_t payload = 0, last = 0;  // host addresses of the last part and its descriptor
  };
  const Sent& newest() const { return newest_; }
  // Gives the last part of that frame another address. Only before the device was told.
  void spoil_newest(std::uint64_t address);
  // Host address of the receive descriptor that is written next.
  std::uint64_t next_receive_descriptor() const;

  // When the CPU is through with the last frame it took.
  Time busy_until() const { return worked_until_; }

  // A register of the device; reading takes simulated time.
  std::uint32_t read(std::size_t offset);
  // Frames that came back with a length no frame has; they are given to nobody.
  std::uint64_t bad_lengths() const { return bad_lengths_; }
  // Receive buffers that came back because their descriptor could not be read.
  std::uint64_t descriptor_errors() const { return descriptor_errors_; }
  unsigned segments() const { return config_.segments; }
  // What the device counts of its reads and settings; reading takes simulated time.
  void read_counts();
  void write_counts(JsonWriter& json) const;
  // Findings about what the firmware wrote, empty when there are none.
  const std::string& complaint() const { return complaint_; }
  void write(JsonWriter& json) const;

 private:
  void write32(std::size_t offset, std::uint32_t value) {
    mmio_write(host_, bar_ + offset, value, 4);
  }
  // Gives the place in the ring.
  std::span<const std::uint8_t> put(std::uint8_t* ring, unsigned entries, std::uint32_t index,
                                    const mailbox_pkg::bd_t& d);
  void give(std::uint32_t buffer);
  void take_status();
  bool receive_one(Time now);
  void ring();

  HostInterface& host_;
  DriverConfig config_;
  std::uint64_t bar_ = 0;
  std::uint8_t *send_ = nullptr, *receive_ = nullptr, *returned_ = nullptr, *status_ = nullptr;
  std::uint8_t *headers_ = nullptr, *payloads_ = nullptr, *buffers_ = nullptr;
  std::uint64_t send_addr_ = 0, receive_addr_ = 0;
  std::uint64_t header_addr_ = 0, payload_addr_ = 0, buffer_addr_ = 0;
  std::uint32_t send_producer_ = 0, send_rung_ = 0, send_consumer_ = 0;
  std::uint32_t receive_producer_ = 0, receive_rung_ = 0;
  std::uint32_t return_produced_ = 0, return_consumer_ = 0;
  Sent newest_;
  unsigned queue_ = 0;
  bool pending_ = false;    // there was an interrupt
  bool send_next_ = false;  // it is the turn of a frame to be sent
  Time busy_until_ = 0, worked_until_ = 0;
  std::string complaint_;
  std::uint64_t mailbox_writes_ = 0, interrupts_ = 0, frames_ = 0, bad_lengths_ = 0;
  std::uint64_t descriptor_errors_ = 0;
  std::vector<std::pair<const char*, std::uint32_t>> counts_;  // of reads
  std::uint32_t settings_refused_ = 0;
  std::array<std::uint64_t, 16> by_queue_{};
};

}  // namespace emery::core_nic
