// SPDX-License-Identifier: Apache-2.0
// What RFC 1812 says an IPv4 router is to do with a frame: forward it, and where; or drop it, and
// why. Written from the RFC and sharing no code with any router: every prefix length is looked up
// by itself, every checksum computed anew over the whole header.
//
// A frame with several faults is dropped for the first of them, in the order of `Reason`. Options
// are carried but not acted on (the RFC asks for source routes, record route and time stamps).
// Directed broadcasts cannot be told: a route does not say whether its prefix is a network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/route/routes.hpp"

namespace emery::route {

enum class Reason {
  kNone,
  kNotOurs,  // sent to another station: no link layer would have handed it over
  kNotIp,
  // 5.2.2, with "at least as long as the total length says" of the same section
  kShort,    // less than 20 bytes
  kVersion,  // not 4
  kHeader,   // header length below 20 bytes, or beyond the frame
  kLength,   // total length below the header's, or beyond the frame
  kChecksum,
  kGroupMac,     // 5.3.4: a link-layer broadcast or multicast, but not to an IP multicast group
  kSource,       // 5.3.7, 4.2.2.11: network 0 or 127, or no unicast address
  kDestination,  // the same; a multicast group, since these routers have no multicast routes
  kOwnAddress,   // 5.2.3: for the router itself
  kNoRoute,
  kTtl,  // 5.3.1, 4.2.2.9: would reach zero
};

/// `not_ours`, `version`, ...; null for kNone.
const char* name(Reason reason);

struct Verdict {
  Reason drop = Reason::kNone;
  unsigned port = 0;    // where it leaves
  unsigned header = 0;  // bytes of its IP header; 0 when there is none that makes sense

  bool options() const { return header > 20; }
};

class Judge {
 public:
  /// Which unicast Ethernet addresses are the router's: its own, or any.
  enum class Station { kOwn, kAny };

  /// `addresses`: the router's own.
  Judge(const Routes& routes, Station station, std::vector<std::uint32_t> addresses = {})
      : tables_(routes), any_(station == Station::kAny), addresses_(std::move(addresses)) {}

  /// From now on.
  void change(const RouteChange& change) { tables_.change(change); }

  /// A frame without FCS, 60 bytes at least, that came in at a port whose address is `own` (first
  /// byte in bits 47:40).
  Verdict judge(std::span<const std::uint8_t> frame, std::uint64_t own) const;

  /// The header of a frame that is forwarded: one hop less to live, and the checksum it must have.
  static void hop(std::span<std::uint8_t> frame);

 private:
  Reason refuse(std::span<const std::uint8_t> frame, std::uint64_t own, Verdict& verdict) const;

  PrefixTables tables_;
  bool any_;
  std::vector<std::uint32_t> addresses_;
};

/// The judge of a router whose routes change: while a change is under way, frames may be forwarded
/// by the routes before it or by those after it.
class ChangingJudge {
 public:
  /// Without `changes` there is but one.
  ChangingJudge(const Judge& judge, bool changes) : now_(judge) {
    if (changes) after_ = judge;
  }

  void begin(const RouteChange& change) {
    change_ = change;
    changing_ = true;
    after_->change(change);
  }
  void end() {
    changing_ = false;
    now_.change(change_);
  }
  /// What was announced does not happen after all; its prefix had no route before.
  void undo() {
    changing_ = false;
    after_->change({change_.route, true});
  }
  bool changing() const { return changing_; }
  /// By the routes before the change under way, if any, or after it.
  const Judge& judge(bool after = false) const { return after ? *after_ : now_; }

 private:
  Judge now_;
  std::optional<Judge> after_;
  RouteChange change_;
  bool changing_ = false;
};

}  // namespace emery::route
