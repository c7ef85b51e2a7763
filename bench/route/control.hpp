// SPDX-License-Identifier: Apache-2.0
// The router as a host: what it says for itself (RFC 826, 792, 1812).
//
// Answers ARP for the address of the port that asks, ICMP echo to any of its addresses, and what
// cannot be forwarded or delivered with an ICMP error: time exceeded, no route (network
// unreachable), nobody there behind an own address (protocol or port unreachable), a source route
// not yet at its end (source route failed), options that make no sense (parameter problem).
//
// No error is sent about an ICMP message that is no query, another fragment than the first, a
// packet to or from a group, a frame to a group, one from an own address or from where no route
// leads back (RFC 1812, 4.3.2.7); nor more than `errors_per_second` over time, `burst` at once
// (4.3.2.8). An error comes from the address of the port it leaves at (4.3.2.4), with precedence 6
// (4.3.2.5), and quotes the packet as it came, up to 576 bytes in all (4.3.2.3).
//
// Not there: reassembly (fragments to an own address are left unanswered), options in answers, ARP
// requests (next hops are configured, as in the paper).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/route/routes.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery::route {

struct ControlConfig {
  std::vector<std::uint32_t> addresses;          // by port, 0: none; empty: nobody answers
  std::vector<std::uint64_t> own_mac, next_hop;  // by port
  unsigned mtu;
  double errors_per_second;
  unsigned burst;
};

class Control {
 public:
  Control(const ControlConfig& config, const RouteTrie& routes);

  bool on() const { return !config_.addresses.empty(); }
  bool owns(std::uint32_t address) const;

  struct Answer {
    std::vector<std::uint8_t> frame;  // without FCS; empty: none
    unsigned port = 0;                // where it leaves
    const char* kind = nullptr;
  };
  /// What is to be said to a frame (without FCS, its IP header found good) that came in at a port
  /// and goes nowhere for that reason.
  Answer about(std::string_view drop, std::span<const std::uint8_t> frame, unsigned from, Time now);

  /// By kind: answers given. By reason: frames that got none.
  void sent(const char* kind) { ++answered_[kind]; }
  void silent(const char* why) { ++unanswered_[why]; }
  const std::map<std::string, std::uint64_t>& answered() const { return answered_; }
  const std::map<std::string, std::uint64_t>& unanswered() const { return unanswered_; }
  void write_json(JsonWriter& json) const;

 private:
  Answer arp(std::span<const std::uint8_t> frame, unsigned from);
  Answer local(std::span<const std::uint8_t> frame, Time now);
  Answer echo(std::span<const std::uint8_t> frame);
  Answer error(std::span<const std::uint8_t> frame, unsigned type, unsigned code,
               std::uint8_t pointer, const char* kind, Time now);
  Answer none(const char* why);
  const char* quiet_about(std::span<const std::uint8_t> frame) const;
  bool within_rate(Time now);
  Answer packet(std::uint32_t to, std::uint32_t source, std::uint8_t tos, std::size_t icmp_bytes,
                const char* kind);
  static void finish(Answer& answer);

  ControlConfig config_;
  const RouteTrie& routes_;
  std::uint16_t identification_ = 0;
  double tokens_;
  Time counted_ = 0;  // up to when tokens are
  std::map<std::string, std::uint64_t> answered_, unanswered_;
};

}  // namespace emery::route
