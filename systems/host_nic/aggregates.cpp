// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/aggregates.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"
#include "systems/host_nic/offloads.hpp"

namespace emery::host_nic {
namespace {

constexpr std::size_t kSequence = 4, kFlags = 13, kTcpSum = 16, kId = 4, kIpSum = 10;
constexpr std::uint8_t kPush = 8;

// Lengths and checksums of a frame whose headers end at `headers`.
void complete(std::span<std::uint8_t> frame, std::size_t ip, std::size_t tcp, bool v4) {
  const std::span segment = frame.subspan(tcp);
  if (v4) {
    put16(&frame[ip + 2], static_cast<unsigned>(frame.size() - ip));
    put16(&frame[ip + kIpSum], 0);
    put16(&frame[ip + kIpSum], checksum(sum16(frame.subspan(ip, tcp - ip))));
  } else {
    put16(&frame[ip + 4], static_cast<unsigned>(segment.size()));
  }
  const std::size_t addresses = ip + (v4 ? 12 : 8);
  put16(&frame[tcp + kTcpSum], 0);
  put16(&frame[tcp + kTcpSum], checksum(sum16(frame.subspan(addresses, tcp - addresses)) + kTcp +
                                        segment.size() + sum16(segment)));
}

}  // namespace

void Aggregates::each_frame(const emnic_completion& record,
                            const std::function<void(const emnic_completion&)>& take) {
  if (record.segment_bytes == 0 || record.error) return take(record);
  const std::span<const std::uint8_t> all(record.data, record.bytes);
  const std::size_t headers = headers_of(all, record.flags), ip = ip_at(all);
  const bool v4 = (record.flags & EMNIC_IPV4) != 0;
  const std::size_t tcp = ip + (v4 ? kIp4Bytes : kIp6Bytes);
  if (headers == 0 || headers + record.segment_bytes >= all.size())
    throw std::runtime_error("host-nic driver: a record of several segments that is of none");
  const std::uint32_t id = get16(&all[ip + kId]);
  const std::uint32_t sequence = get32(&all[tcp + kSequence]);
  ++taken_;
  std::uint32_t n = 0;
  for (std::size_t at = headers; at < all.size(); at += record.segment_bytes, ++n) {
    const std::size_t end = std::min<std::size_t>(all.size(), at + record.segment_bytes);
    frame_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(headers));
    frame_.insert(frame_.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                  all.begin() + static_cast<std::ptrdiff_t>(end));
    if (n != 0) {
      put32(&frame_[tcp + kSequence], sequence + n * record.segment_bytes);
      if (v4) put16(&frame_[ip + kId], id + n);
      if (end == all.size() && record.push) frame_[tcp + kFlags] |= kPush;
      complete(frame_, ip, tcp, v4);
    }
    emnic_completion frame = record;
    frame.data = frame_.data();
    frame.bytes = static_cast<unsigned>(frame_.size());
    frame.csum = frame_sum(frame_);
    frame.segment_bytes = 0;
    frame.timestamp += n;
    ++frames_;
    take(frame);
  }
}

}  // namespace emery::host_nic
