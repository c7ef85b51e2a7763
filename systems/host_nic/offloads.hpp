// SPDX-License-Identifier: Apache-2.0
// What host-nic computes on frames, computed once more in software: what a driver asks for and what
// it may expect.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

/// What the flow hash of a frame is over, and its type; 0: it has none.
struct Flow {
  static constexpr unsigned kFields = EMNIC_FLOW_BYTES;
  std::array<std::uint8_t, kFields> fields{};
  unsigned type = 0;
  auto operator<=>(const Flow&) const = default;
};

/// A checksum left to the device: it sums from `start` on and stores the result `offset` bytes
/// behind it, where the sum of the pseudo header stands.
struct Checksum {
  unsigned start, offset;
  std::uint16_t pseudo;
};
/// Where the TCP or UDP checksum of a frame is to be left to the device; nothing when it has none
/// that the device would make exactly so.
std::optional<Checksum> transport_checksum(std::span<const std::uint8_t> frame);

/// A frame's outermost VLAN tag.
struct Tag {
  unsigned kind;  // EMNIC_C_TAG, EMNIC_S_TAG
  std::uint16_t tci;
};
std::optional<Tag> outer_tag(std::span<const std::uint8_t> frame);
/// The frame without its outermost tag, and with one more.
void without_tag(std::span<const std::uint8_t> frame, std::vector<std::uint8_t>& out);
void with_tag(std::span<const std::uint8_t> frame, Tag tag, std::vector<std::uint8_t>& out);

/// A received frame as it was on the wire: in `out` where a tag was taken out.
std::span<const std::uint8_t> as_sent(const Received& received, std::vector<std::uint8_t>& out);

/// The flow hash of Microsoft's RSS specification, under the driver's key, and its type as in
/// queue_pkg::rx_flags_t.
class FlowHash {
 public:
  struct Value {
    std::uint32_t hash;
    unsigned type;
  };

  FlowHash();
  Value of(std::span<const std::uint8_t> frame) const;
  /// What it is over.
  Flow flow(std::span<const std::uint8_t> frame) const;

 private:
  std::array<std::array<std::uint32_t, 256>, Flow::kFields> table_;
};

/// Sum of the 16-bit words of a frame from byte 14 on, modulo 65535: 0 stands for 65535, too.
std::uint16_t frame_sum(std::span<const std::uint8_t> frame);

/// Where the headers of a frame end, up to and with that of TCP or UDP; 0: where it has none, by
/// the type of its flow hash, or they are not all there.
unsigned headers_of(std::span<const std::uint8_t> frame, unsigned type);

/// What records must say: of a received frame hash, sum, queue, and of all a time stamp that goes
/// up from one of the queue's to the next and is not in the future.
class RecordCheck {
 public:
  /// Receive queues that ports share have those of each port in the order of their stamps.
  RecordCheck(unsigned interfaces, unsigned ports, const DriverConfig& driver)
      : ports_(ports),
        rx_queues_(driver.rx_queues),
        tx_queues_(driver.tx_queues),
        shared_(driver.shared),
        header_bytes_(driver.header_bytes),
        received_(std::size_t{interfaces} * rx_queues_ * ports),
        sent_(std::size_t{interfaces} * tx_queues_) {}

  /// The device's clock was 0 then.
  void started(Time now) {
    start_ = now;
    std::fill(received_.begin(), received_.end(), 0);
    std::fill(sent_.begin(), sent_.end(), 0);
  }
  /// Someone sets it and moves it: stamps say nothing of when.
  void clock_moves() { clock_moves_ = true; }
  /// Entries of the device's table of receive queues.
  void table(unsigned rss_entries) { rss_entries_ = rss_entries; }
  /// The device was told to put a flow of this port into this queue.
  void steered(unsigned interface, unsigned port, const Flow& flow, unsigned queue) {
    steered_[{interface * ports_ + port, flow}] = queue;
  }
  void received(const Received& record, unsigned port, Time now);
  /// It had to come in this queue.
  void received(const Received& record, unsigned port, unsigned queue, Time now);
  void sent(unsigned interface, unsigned queue, std::uint64_t stamp, Time now);
  void check(Findings& findings) const;

 private:
  FlowHash hash_;
  void received(const Received& record, unsigned port, FlowHash::Value hash, unsigned queue,
                Time now);
  unsigned queue_of(unsigned interface, unsigned port, std::span<const std::uint8_t> frame,
                    FlowHash::Value value) const;
  bool wrong(std::uint64_t stamp, std::uint64_t& newest, Time now);

  unsigned ports_, rx_queues_, tx_queues_, rss_entries_ = 1;
  bool shared_;
  unsigned header_bytes_;
  std::map<std::pair<unsigned, Flow>, unsigned> steered_;
  std::vector<std::uint64_t> received_, sent_;  // the newest stamp of each queue (and port)
  Time start_ = 0;
  bool clock_moves_ = false;
  std::uint64_t bad_hash_ = 0, bad_sum_ = 0, bad_queue_ = 0, bad_stamp_ = 0, bad_split_ = 0;
};

}  // namespace emery::host_nic
