// SPDX-License-Identifier: Apache-2.0
// Makes one frame in so many of a source something a router must not simply forward: each kind in
// turn. Fragments and packets with options are forwarded, the rest is dropped for its reason.
#pragma once

#include <cstdint>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"

namespace emery::route {

class Hostile final : public FrameSource {
 public:
  /// `every` 0: leaves all frames as they are.
  Hostile(FrameSource& source, std::uint64_t every) : source_(source), every_(every) {}

  bool next(Frame& frame) override {
    if (!source_.next(frame)) return false;
    if (every_ != 0 && ++count_ % every_ == 0 && frame.size >= 60) spoil(frame.data.data());
    return true;
  }
  bool over() const override { return source_.over(); }

 private:
  enum Kind : unsigned {
    kTtlOne,
    kTtlZero,
    kChecksum,
    kVersion,
    kHeaderLength,
    kTotalLong,
    kTotalShort,
    kOptions,
    kOptionsChecksum,
    kFragment,
    kArp,
    kVlan,
    kBroadcast,
    kMulticast,
    kLoopback,
    kOtherStation,
    kSourceLoopback,
    kSourceGroup,
    kKinds,
  };

  void spoil(std::uint8_t* eth) {
    std::uint8_t* const ip = eth + 14;
    switch (kind_++ % kKinds) {
      case kTtlOne:
        ip[8] = 1;
        break;
      case kTtlZero:
        ip[8] = 0;
        break;
      case kChecksum:
        ip[11] ^= 0x10;
        return;
      case kVersion:
        ip[0] = 0x65;
        break;
      case kHeaderLength:
        ip[0] = 0x44;
        break;
      case kTotalLong:
        ip[2] = 0xff;
        break;
      case kTotalShort:
        ip[2] = 0, ip[3] = 19;
        break;
      case kOptions:  // no-operation four times, in place of ports
        ip[0] = 0x46;
        for (unsigned i = 20; i < 24; ++i) ip[i] = 1;
        break;
      case kOptionsChecksum:
        ip[0] = 0x46;
        checksum(ip);
        ip[22] ^= 0x55;
        return;
      case kFragment:
        ip[6] = 0x20, ip[7] = 0x10;
        break;
      case kArp:
        eth[12] = 0x08, eth[13] = 0x06;
        return;
      case kVlan:
        eth[12] = 0x81, eth[13] = 0x00;
        return;
      case kBroadcast:
        for (unsigned i = 0; i < 6; ++i) eth[i] = 0xff;
        return;
      case kMulticast:
        ip[16] = 224;
        break;
      case kLoopback:
        ip[16] = 127;
        break;
      case kOtherStation:
        eth[5] ^= 0x80;
        return;
      case kSourceLoopback:
        ip[12] = 127;
        break;
      case kSourceGroup:
        ip[12] = 224;
        break;
    }
    checksum(ip);
  }

  static void checksum(std::uint8_t* ip) {
    ip[10] = ip[11] = 0;
    put16(ip + 10, emery::checksum(sum16({ip, 4u * (ip[0] & 15u)})));
  }

  FrameSource& source_;
  std::uint64_t every_, count_ = 0;
  unsigned kind_ = 0;
};

}  // namespace emery::route
