// SPDX-License-Identifier: Apache-2.0
// What a traced run sees of bursts: the words that cards write into each other's windows, as
// rtl/direct/direct_pkg.sv has them, put together to frames. A burst that is broken off is read as
// far as it makes sense; the next one is read from its header on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"
#include "direct_formats.hpp"
#include "route_formats.hpp"

namespace emery::direct_router {

class BurstWatch {
 public:
  /// A frame went over the bus, of which the header came at `begun`.
  using OnFrame = std::function<void(std::span<const std::uint8_t> frame, Time begun)>;

  /// `padding`: words behind each header and message that say nothing.
  BurstWatch(unsigned padding, OnFrame on_frame)
      : padding_(padding), on_frame_(std::move(on_frame)) {}

  /// A window: bursts go into its lower half, messages into the upper one.
  void add_window(std::uint64_t base, std::uint64_t bytes) {
    windows_[base] = {.bytes = bytes / 2};
  }

  /// A word that was written; the words of a write have its address.
  void word(std::uint64_t address, std::uint64_t word, Time now) {
    auto found = windows_.upper_bound(address);
    if (found == windows_.begin()) return;
    --found;
    if (address - found->first < found->second.bytes) read(found->second, word, now);
  }

 private:
  struct Window {
    std::uint64_t bytes = 0;         // for bursts
    unsigned skip = 0;               // words to pass over
    unsigned packets = 0;            // of the burst, still to come
    std::uint32_t size = 0, at = 0;  // of the packet: bytes, and those that have come
    Time begun = 0;
    std::array<std::uint8_t, sizeof Frame::data> frame{};
  };

  void read(Window& w, std::uint64_t word, Time now) {
    if (w.skip != 0) {
      --w.skip;
    } else if (w.at < w.size) {
      std::memcpy(w.frame.data() + w.at, &word, sizeof word);
      w.at += sizeof word;
      if (w.at >= w.size) on_frame_({w.frame.data(), w.size}, w.begun);
    } else {
      head(w, word, now);
    }
  }

  void head(Window& w, std::uint64_t word, Time now) {
    const direct_pkg::message_t message{word};
    const direct_pkg::packet_header_t packet{word};
    w.skip = padding_;
    if (w.packets != 0 && packet.kind() == direct_pkg::Packet &&
        packet.bytes() <= w.frame.size() - sizeof word) {
      --w.packets;
      w.size = packet.bytes();
      w.at = 0;
      w.begun = now;
    } else if (message.kind() == direct_pkg::Burst) {
      w.packets = 0;
      for (unsigned c = 0; c < route_pkg::MaxClasses; ++c) w.packets += message.count(c);
    } else {
      w.packets = 0;  // the REQ behind the last packet, or what is left of a broken burst
    }
  }

  unsigned padding_;
  OnFrame on_frame_;
  std::map<std::uint64_t, Window> windows_;  // by address
};

}  // namespace emery::direct_router
