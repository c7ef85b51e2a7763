// SPDX-License-Identifier: Apache-2.0
// What a sender with segmentation offload gives the driver: long TCP packets, made here of frames.
//
// Frames of a queue that are segments of one TCP stream, one behind the other, wait until they are
// a packet that the device is to cut into these very frames again; so what is expected on the wire
// is what the source has made, frame by frame, and no result of segmentation. A packet goes when
// the next frame does not belong to it, when it is full, and kHold after its first frame. Only
// frames whose sums are right are joined, for the device makes no others.
//
// It knows how many frames each packet was, so what becomes of packets can be told in frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

class Joiner {
 public:
  /// Packets of up to `longest` bytes; 0: every frame goes as it is.
  Joiner(Driver& driver, unsigned longest);

  bool on() const { return longest_ != 0; }
  /// Takes a frame; false when the queue has no room.
  bool transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame, Time now);
  /// At each clock: gives the driver what has waited long enough.
  void poll(Time now);
  /// A reset: what it holds and what the driver had is gone.
  void forget();
  /// Frames that the stopped queues of a port hold.
  std::uint64_t stranded(unsigned interface, unsigned port) const;
  /// Frames besides the first in packets of a port that ended with an error; those before it went
  /// out.
  std::uint64_t broken(unsigned interface, unsigned port) const;
  void write(JsonWriter& json) const;

  /// The driver has taken a packet.
  std::function<void(unsigned interface, unsigned queue, Time now)> on_given;

 private:
  static constexpr Time kHold = 10 * kMicrosecond;

  /// Where the parts of a TCP segment begin.
  struct Segment {
    std::size_t ip, tcp, payload;
    bool v4;
  };
  struct Packet {
    std::vector<std::uint8_t> bytes;  // as the frames had them, the headers of the first
    std::vector<std::uint8_t> first;  // its frame
    Segment at{};
    unsigned frames = 0;  // 0: none waits
    std::size_t mss = 0;
    bool whole = true;  // all of its frames have so much payload, and nothing ends the stream
    Time since = 0;
  };

  static std::optional<Segment> segment(std::span<const std::uint8_t> frame);
  bool continues(const Packet& packet, std::span<const std::uint8_t> frame,
                 const Segment& at) const;
  void append(Packet& packet, std::span<const std::uint8_t> frame, const Segment& at);
  bool give(unsigned interface, unsigned queue, Packet& packet, Time now);
  bool hand(unsigned interface, unsigned queue, std::span<const std::uint8_t> bytes,
            unsigned frames, Driver::Cut cut, Time now);
  void sent(const emnic_completion& record);

  /// Of one queue.
  struct Queue {
    Packet packet;
    std::deque<unsigned> under_way;  // frames of the packets that the driver has, oldest first
    std::uint64_t broken = 0;
  };
  Queue& queue(unsigned interface, unsigned queue);
  template <class Count>
  std::uint64_t sum(unsigned interface, unsigned port, Count count) const;

  Driver& driver_;
  unsigned longest_;
  std::vector<Queue> queues_;           // by interface and number
  std::vector<std::uint32_t> waiting_;  // which of them have frames
  std::uint64_t joined_ = 0, given_ = 0, longest_given_ = 0;
};

}  // namespace emery::host_nic
