// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/judge.hpp"

#include <cstddef>

namespace emery::tile_router {
namespace {

constexpr std::size_t kEthernet = 14;
constexpr std::size_t kMostHeader = 48;  // all of it must be in the head that the stages see

std::uint32_t number(std::span<const std::uint8_t> bytes) {
  std::uint32_t n = 0;
  for (const std::uint8_t b : bytes) n = n << 8 | b;
  return n;
}

/// Checksum that a header should have; its own is left out.
std::uint32_t checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2) {
    if (i != 10) sum += number(header.subspan(i, 2));
  }
  while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
  return 0xffff - sum;
}

}  // namespace

Verdict Judge::forward(unsigned port, std::span<std::uint8_t> frame) const {
  if (null_) return {nullptr, port};
  const auto drop = [](const char* why) { return Verdict{why, 0}; };
  if (number(frame.subspan(12, 2)) != 0x0800) return drop("not_ip");
  const auto ip = frame.subspan(kEthernet);
  if (ip.size() < 20) return drop("short");
  if (ip[0] >> 4 != 4) return drop("version");
  const std::size_t header = 4u * (ip[0] & 15u), total = number(ip.subspan(2, 2));
  if (header < 20 || header > ip.size()) return drop("header");
  // With options the rest of the sum is looked at last.
  const bool options = header > 20;
  const bool sum = checksum(ip.first(header)) == number(ip.subspan(10, 2));
  if (!options && !sum) return drop("checksum");
  if (total < header || total > ip.size()) return drop("length");
  if (header > kMostHeader) return drop("options");
  if (route::martian(number(ip.subspan(12, 4)))) return drop("source");
  if (ip[8] <= 1) return drop("ttl");
  if (!sum) return drop("checksum");
  const std::uint32_t address = number(ip.subspan(16, 4));
  if (route::martian(address)) return drop("destination");
  const auto out = tables_.find(address);
  if (!out) return drop("route");

  --ip[8];
  const std::uint32_t renewed = checksum(ip.first(header));
  ip[10] = static_cast<std::uint8_t>(renewed >> 8);
  ip[11] = static_cast<std::uint8_t>(renewed);
  return {nullptr, *out};
}

}  // namespace emery::tile_router
