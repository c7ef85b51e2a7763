// SPDX-License-Identifier: Apache-2.0
#include "bench/route/judge.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/traffic/protocols.hpp"

namespace emery::route {
namespace {

constexpr std::size_t kChecksumAt = 10;

std::uint64_t number(std::span<const std::uint8_t> bytes) {
  std::uint64_t n = 0;
  for (const std::uint8_t b : bytes) n = n << 8 | b;
  return n;
}

/// The checksum a header should have; the one it has is left out.
std::uint32_t checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2) {
    if (i != kChecksumAt) sum += static_cast<std::uint32_t>(number(header.subspan(i, 2)));
  }
  while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
  return 0xffff - sum;
}

/// One's complement has two zeros, and both are right (RFC 1624, section 3).
bool same(std::uint32_t sum, std::uint64_t stated) {
  return sum == stated || (sum == 0 && stated == 0xffff);
}

bool multicast(std::uint8_t first) { return first >= 224 && first < 240; }

/// Addresses that no host can be reached at, by their first byte: network 0, loopback, groups, and
/// class E with the limited broadcast.
bool special(std::uint8_t first) { return first == 0 || first == 127 || first >= 224; }

}  // namespace

const char* name(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return nullptr;
    case Reason::kNotOurs:
      return "not_ours";
    case Reason::kNotIp:
      return "not_ip";
    case Reason::kShort:
      return "short";
    case Reason::kVersion:
      return "version";
    case Reason::kHeader:
      return "header";
    case Reason::kLength:
      return "length";
    case Reason::kChecksum:
      return "checksum";
    case Reason::kGroupMac:
      return "group_mac";
    case Reason::kSource:
      return "source";
    case Reason::kDestination:
      return "destination";
    case Reason::kOwnAddress:
      return "own_address";
    case Reason::kNoRoute:
      return "no_route";
    case Reason::kTtl:
      return "ttl";
  }
  return nullptr;
}

Reason Judge::refuse(std::span<const std::uint8_t> frame, std::uint64_t own,
                     Verdict& verdict) const {
  const bool group = (frame[0] & 1) != 0;
  if (!group && !any_ && number(frame.first(6)) != own) return Reason::kNotOurs;
  if (number(frame.subspan(12, 2)) != kTypeIp4) return Reason::kNotIp;

  const auto ip = frame.subspan(kEthBytes);
  if (ip.size() < 20) return Reason::kShort;
  if (ip[0] >> 4 != 4) return Reason::kVersion;
  const std::size_t header = 4u * (ip[0] & 15u), total = number(ip.subspan(2, 2));
  if (header < 20 || header > ip.size()) return Reason::kHeader;
  verdict.header = static_cast<unsigned>(header);
  if (total < header || total > ip.size()) return Reason::kLength;
  if (!same(checksum(ip.first(header)), number(ip.subspan(kChecksumAt, 2))))
    return Reason::kChecksum;

  const std::uint8_t source = ip[12], destination = ip[16];
  if (group && !multicast(destination)) return Reason::kGroupMac;
  if (special(source)) return Reason::kSource;
  if (special(destination)) return Reason::kDestination;
  const auto address = static_cast<std::uint32_t>(number(ip.subspan(16, 4)));
  if (std::ranges::find(addresses_, address) != addresses_.end()) return Reason::kOwnAddress;
  const auto out = tables_.find(address);
  if (!out) return Reason::kNoRoute;
  verdict.port = *out;
  return ip[8] <= 1 ? Reason::kTtl : Reason::kNone;
}

Verdict Judge::judge(std::span<const std::uint8_t> frame, std::uint64_t own) const {
  Verdict verdict;
  verdict.drop = refuse(frame, own, verdict);
  return verdict;
}

void Judge::hop(std::span<std::uint8_t> frame) {
  const auto ip = frame.subspan(kEthBytes);
  --ip[8];
  const std::uint32_t renewed = checksum(ip.first(4u * (ip[0] & 15u)));
  ip[kChecksumAt] = static_cast<std::uint8_t>(renewed >> 8);
  ip[kChecksumAt + 1] = static_cast<std::uint8_t>(renewed);
}

}  // namespace emery::route
