// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {
namespace {

void put_mac(std::span<std::uint8_t> to, std::uint64_t mac) {
  for (unsigned i = 0; i < 6; ++i) to[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
}

std::uint32_t address(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
}

std::vector<std::uint32_t> own(const Tables& tables) {
  std::vector<std::uint32_t> addresses = tables.addresses;
  std::erase(addresses, 0u);
  return addresses;
}

bool within(std::uint32_t address, const Route& prefix) {
  return prefix.length == 0 || (address ^ prefix.prefix) >> (32 - prefix.length) == 0;
}

}  // namespace

Reference::Reference(const ReferenceConfig& config, const Tables& tables,
                     const std::vector<CardRoutes>& cards)
    : config_(config),
      classes_(tables.classes),
      cards_(cards),
      judge_(tables.routes,
             config.promiscuous ? route::Judge::Station::kAny : route::Judge::Station::kOwn,
             own(tables)) {}

// By the packet as it came. The rule of a port stands in for that of any port.
unsigned Reference::class_of(std::span<const std::uint8_t> ip, const Verdict& verdict) const {
  for (unsigned c = 0; config_.qos && c + 1 < config_.classes; ++c) {
    const ClassRule* rule = nullptr;
    for (const ClassRule& r : classes_) {
      if (r.cls != c || (r.port && (verdict.slow || *r.port != verdict.port))) continue;
      if (!rule || r.port) rule = &r;
    }
    if (rule && (ip[1] & rule->tos_mask) == rule->tos &&
        (ip[9] & rule->protocol_mask) == rule->protocol &&
        within(address(ip.subspan(12)), rule->source) &&
        within(address(ip.subspan(16)), rule->destination))
      return c;
  }
  return config_.classes - 1;
}

const char* Reference::counter(route::Reason reason) {
  switch (reason) {
    case route::Reason::kShort:
    case route::Reason::kVersion:
    case route::Reason::kHeader:
    case route::Reason::kLength:
      return "header";
    default:
      return name(reason);
  }
}

Verdict Reference::forward(unsigned port, std::span<std::uint8_t> frame) const {
  const route::Verdict judged = judge_.judge(frame, config_.own_mac[port]);
  Verdict v;
  v.drop = counter(judged.drop);
  if (v.drop) return v;
  v.port = judged.port;
  const auto ip = frame.subspan(14);
  const bool known = cards_[port].find(address(ip.subspan(16))) == v.port;
  v.slow = !config_.fast_path || judged.options() || !known;
  v.cut = config_.fast_path && !judged.options() && !known && v.port != port;
  v.cls = class_of(ip, v);
  route::Judge::hop(frame);
  put_mac(frame, config_.next_hop[v.port]);
  // The host leaves its own address of the port the frame goes out at, a card that of the port it
  // came in at, or, as in the paper, what was there.
  if (v.slow) {
    put_mac(frame.subspan(6), config_.own_mac[v.port]);
  } else if (config_.rewrite_source) {
    put_mac(frame.subspan(6), config_.own_mac[port]);
  }
  return v;
}

}  // namespace emery::direct_router
