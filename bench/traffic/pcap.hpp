// SPDX-License-Identifier: Apache-2.0
// Captures: reading and writing nanosecond pcap.
//
// Read is the one form that PcapWriter writes: whole Ethernet frames without FCS, little endian.
// src/emery/capture.py makes it of whatever users have; anything else is a CaptureError that names
// the file, the packet (from 1) and the byte offset. A capture is checked whole before the first
// frame is used.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery {

class CaptureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Capture {
 public:
  struct Packet {
    std::size_t offset;  // of the first byte in the file
    std::int64_t ns;     // stamp, since 1970
    std::uint32_t size;
    std::uint32_t flow;  // dense number of its (directed) 5-tuple, or of its addresses when it is
                         // not TCP, UDP or SCTP
  };

  // Refuses a packet of more than `most` bytes; `limit` says what that is.
  static std::shared_ptr<const Capture> read(const std::string& path, std::uint32_t most = ~0u,
                                             const std::string& limit = "");
  static std::shared_ptr<const Capture> parse(std::vector<std::uint8_t> file,
                                              const std::string& name);

  const std::string& name() const { return name_; }
  const std::vector<Packet>& packets() const { return packets_; }
  std::uint32_t flows() const { return flows_; }
  std::span<const std::uint8_t> bytes(const Packet& packet) const {
    return {file_.data() + packet.offset, packet.size};
  }

 private:
  Capture() = default;
  void number_flows();
  [[noreturn]] void fail(const std::string& what, std::size_t offset) const;
  std::uint32_t u32(std::size_t offset) const;

  std::string name_;
  std::vector<std::uint8_t> file_;
  std::vector<Packet> packets_;
  std::uint32_t flows_ = 0;
};

/// Names a flow: a hash of the directed 5-tuple of IPv4 or IPv6, of the addresses where there are
/// no ports (fragments too), of the MAC addresses and the type where there is no IP. One or two
/// VLAN tags are looked through. Frames with options and without, or of so many tags and others,
/// are of two flows: a NIC need not find the ports of both, and then spreads them apart.
std::uint64_t flow_hash(std::span<const std::uint8_t> frame);

/// A nanosecond pcap, or a pcapng with nanosecond stamps when the path ends in .pcapng (little
/// endian on every machine). Errors throw CaptureError; `close` reports the last of them.
class PcapWriter {
 public:
  explicit PcapWriter(const std::string& path);
  ~PcapWriter();
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;

  void write(Time time, std::span<const std::uint8_t> frame);
  void close();
  std::uint64_t packets() const { return packets_; }

 private:
  void put(const void* data, std::size_t size);
  void put_words(std::initializer_list<std::uint32_t> words);
  std::string path_;
  bool next_generation_;
  std::FILE* file_;
  std::uint64_t packets_ = 0;
};

}  // namespace emery
