// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {
namespace {

std::uint64_t number(std::span<const std::uint8_t> bytes) {
  std::uint64_t n = 0;
  for (const std::uint8_t b : bytes) n = n << 8 | b;
  return n;
}

void put_mac(std::span<std::uint8_t> to, std::uint64_t mac) {
  for (unsigned i = 0; i < 6; ++i) to[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
}

std::uint16_t header_checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2) {
    if (i != 10) sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  }
  while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

Reference::Reference(const ReferenceConfig& config, const Routes& routes,
                     const std::vector<CardRoutes>& cards)
    : config_(config), cards_(cards), tables_(routes) {}

unsigned Reference::class_of(std::uint8_t tos) const {
  if (config_.qos) {
    for (unsigned c = 0; c + 1 < config_.classes; ++c) {
      if ((tos & kTosMask) == kTos[c]) return c;
    }
  }
  return config_.classes - 1;
}

Verdict Reference::forward(unsigned port, std::span<std::uint8_t> frame) const {
  Verdict v;
  v.cls = config_.classes - 1;
  v.slow = true;
  const auto drop = [&](const char* why) {
    v.drop = why;
    return v;
  };
  const std::uint64_t to = number(frame.first(6));
  const bool group = (frame[0] & 1) != 0;
  if (!group && to != config_.own_mac[port] && !config_.promiscuous) return drop("not_ours");
  if (number(frame.subspan(12, 2)) != 0x0800) return drop("not_ip");

  const std::span<std::uint8_t> ip = frame.subspan(14);
  const std::size_t header = 4u * (ip[0] & 15u), total = number(ip.subspan(2, 2));
  v.cls = class_of(ip[1]);
  if (ip[0] >> 4 != 4 || header < 20 || total < header || total > ip.size()) return drop("header");
  if (header_checksum(ip.first(header)) != number(ip.subspan(10, 2))) return drop("checksum");
  if (group) return drop("group_mac");
  const auto address = static_cast<std::uint32_t>(number(ip.subspan(16, 4)));
  const unsigned net = address >> 24;
  if (net == 0 || net == 127 || net >= 224) return drop("martian");
  const auto out = tables_.find(address);
  if (!out) return drop("no_route");
  v.port = *out;
  v.slow = !config_.fast_path || header != 20 || cards_[port].find(address) != out;
  if (ip[8] <= 1) return drop("ttl");

  --ip[8];
  const std::uint16_t checksum = header_checksum(ip.first(header));
  ip[10] = static_cast<std::uint8_t>(checksum >> 8);
  ip[11] = static_cast<std::uint8_t>(checksum);
  put_mac(frame, config_.next_hop[*out]);
  // The host leaves its own address of the port the frame goes out at, a card that of the port it
  // came in at, or, as in the paper, what was there.
  if (v.slow) {
    put_mac(frame.subspan(6), config_.own_mac[*out]);
  } else if (config_.rewrite_source) {
    put_mac(frame.subspan(6), config_.own_mac[port]);
  }
  return v;
}

}  // namespace emery::direct_router
