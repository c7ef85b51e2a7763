// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {
namespace {

void put_mac(std::span<std::uint8_t> to, std::uint64_t mac) {
  for (unsigned i = 0; i < 6; ++i) to[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
}

}  // namespace

Reference::Reference(const ReferenceConfig& config, const Routes& routes,
                     const std::vector<CardRoutes>& cards)
    : config_(config),
      cards_(cards),
      judge_(routes,
             config.promiscuous ? route::Judge::Station::kAny : route::Judge::Station::kOwn) {}

unsigned Reference::class_of(std::uint8_t tos) const {
  if (config_.qos) {
    for (unsigned c = 0; c + 1 < config_.classes; ++c) {
      if ((tos & kTosMask) == kTos[c]) return c;
    }
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
  v.cls = class_of(frame[15]);
  const auto ip = frame.subspan(14);
  const auto address =
      static_cast<std::uint32_t>(ip[16] << 24 | ip[17] << 16 | ip[18] << 8 | ip[19]);
  const bool known = cards_[port].find(address) == v.port;
  v.slow = !config_.fast_path || judged.options() || !known;
  v.cut = config_.fast_path && !judged.options() && !known && v.port != port;
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
