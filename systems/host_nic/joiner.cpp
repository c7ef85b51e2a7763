// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/joiner.hpp"

#include <algorithm>
#include <numeric>

#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"
#include "sw/lib/host_nic/emnic.h"

namespace emery::host_nic {

namespace {

constexpr std::uint8_t kFin = 0x01, kPsh = 0x08, kCwr = 0x80;
// Of a header's beginning: where fields are.
constexpr std::size_t kLength4 = 2, kId = 4, kSum4 = 10, kLength6 = 4;
constexpr std::size_t kSeq = 4, kOffset = 12, kFlags = 13, kSum = 16;

using Bytes = std::span<const std::uint8_t>;

/// Of the pseudo header, without the length.
std::uint64_t pseudo(Bytes frame, std::size_t ip, bool v4) {
  return (v4 ? sum16(frame.subspan(ip + 12, 8)) : sum16(frame.subspan(ip + 8, 32))) + kTcp;
}

/// Without what a MAC has filled it up with.
Bytes unpadded(Bytes frame) {
  const std::size_t ip = ip_at(frame);
  const bool v4 = get16(&frame[ip - 2]) == kTypeIp4;
  const std::size_t end = v4 ? ip + get16(&frame[ip + kLength4]) : frame.size();
  const bool filled = frame.size() == kMinFrame && end < kMinFrame &&
                      std::all_of(
                          frame.begin() + static_cast<long>(end), frame.end(),
                          [](std::uint8_t x) { return x == 0; });
  return filled ? frame.first(end) : frame;
}

}  // namespace

Joiner::Joiner(Driver& driver, unsigned longest) : driver_(driver), longest_(longest) {
  if (!on()) return;
  driver.on_sent_record = [this, before = driver.on_sent_record](const emnic_completion& record) {
    sent(record);
    if (before) before(record);
  };
}

std::optional<Joiner::Segment> Joiner::segment(Bytes frame) {
  if (frame.size() < kEthBytes + kIp4Bytes + kTcpBytes) return {};
  const std::size_t ip = ip_at(frame);
  const bool v4 = get16(&frame[ip - 2]) == kTypeIp4;
  if (!v4 && get16(&frame[ip - 2]) != kTypeIp6) return {};
  if (frame.size() < ip + (v4 ? kIp4Bytes : kIp6Bytes) + kTcpBytes ||
      frame[ip] >> 4 != (v4 ? 4 : 6))
    return {};
  const std::size_t ip_bytes = v4 ? 4u * (frame[ip] & 15u) : kIp6Bytes, tcp = ip + ip_bytes;
  if (v4) {
    if (ip_bytes < kIp4Bytes || get16(&frame[ip + kLength4]) != frame.size() - ip ||
        (get16(&frame[ip + 6]) & 0x3fff) != 0 || frame[ip + 9] != kTcp ||
        frame.size() < tcp + kTcpBytes || checksum(sum16(frame.subspan(ip, ip_bytes))) != 0)
      return {};
  } else if (get16(&frame[ip + kLength6]) != frame.size() - tcp || frame[ip + 6] != kTcp) {
    return {};
  }
  const std::size_t payload = tcp + 4u * (frame[tcp + kOffset] >> 4);
  if (payload < tcp + kTcpBytes || payload >= frame.size() || payload > EMNIC_MAX_HEADERS)
    return {};
  // The device makes a sum of 0xffff where another could be 0.
  const std::uint64_t sum = pseudo(frame, ip, v4) + frame.size() - tcp + sum16(frame.subspan(tcp));
  if (checksum(sum) != 0 || get16(&frame[tcp + kSum]) == 0) return {};
  return Segment{ip, tcp, payload, v4};
}

// Whether the headers are what the device makes of the first frame's for the next segment.
bool Joiner::continues(const Packet& p, Bytes frame, const Segment& at) const {
  const std::size_t payload = frame.size() - at.payload;
  if (p.frames == 0 || !p.whole || payload > p.mss || p.bytes.size() + payload > longest_ ||
      at.ip != p.at.ip || at.tcp != p.at.tcp || at.payload != p.at.payload || at.v4 != p.at.v4)
    return false;
  std::vector<std::uint8_t> wanted(p.first.begin(),
                                   p.first.begin() + static_cast<long>(at.payload));
  const std::size_t ip_payload = frame.size() - at.ip;
  if (at.v4) {
    put16(&wanted[at.ip + kLength4], static_cast<std::uint32_t>(ip_payload));
    put16(&wanted[at.ip + kId], get16(&p.first[at.ip + kId]) + p.frames);
    put16(&wanted[at.ip + kSum4], get16(&frame[at.ip + kSum4]));
  } else {
    put16(&wanted[at.ip + kLength6], static_cast<std::uint32_t>(ip_payload - kIp6Bytes));
  }
  const auto before = static_cast<std::uint32_t>(p.bytes.size() - at.payload);
  put32(&wanted[at.tcp + kSeq], get32(&p.first[at.tcp + kSeq]) + before);
  put16(&wanted[at.tcp + kSum], get16(&frame[at.tcp + kSum]));
  const std::uint8_t flags = frame[at.tcp + kFlags];
  wanted[at.tcp + kFlags] =
      static_cast<std::uint8_t>((wanted[at.tcp + kFlags] & ~kCwr) | (flags & (kFin | kPsh)));
  return std::equal(wanted.begin(), wanted.end(), frame.begin());
}

void Joiner::append(Packet& p, Bytes frame, const Segment& at) {
  const std::size_t from = p.frames == 0 ? 0 : at.payload;
  if (p.frames == 0) {
    p.first.assign(frame.begin(), frame.end());
    p.at = at;
    p.mss = frame.size() - at.payload;
    p.whole = true;
  }
  p.bytes.insert(p.bytes.end(), frame.begin() + static_cast<long>(from), frame.end());
  p.bytes[at.tcp + kFlags] |= frame[at.tcp + kFlags] & (kFin | kPsh);
  p.whole = p.whole && frame.size() - at.payload == p.mss &&
            (frame[at.tcp + kFlags] & (kFin | kPsh)) == 0;
  ++p.frames;
}

bool Joiner::hand(unsigned interface, unsigned number, Bytes bytes, unsigned frames,
                  Driver::Cut cut, Time now) {
  if (!driver_.transmit(interface, number, bytes, cut)) return false;
  if (on()) queue(interface, number).under_way.push_back(frames);
  on_given(interface, number, now);
  return true;
}

void Joiner::sent(const emnic_completion& record) {
  Queue& of = queue(record.interface, record.queue);
  if (of.under_way.empty()) return;  // of before a reset
  if (record.error) of.broken += of.under_way.front() - 1;
  of.under_way.pop_front();
}

bool Joiner::give(unsigned interface, unsigned queue, Packet& p, Time now) {
  Driver::Cut cut{};
  if (p.frames > 1) {
    cut = {static_cast<unsigned>(p.mss), static_cast<unsigned>(p.at.tcp)};
    std::uint64_t sum = pseudo(p.bytes, p.at.ip, p.at.v4);
    put16(&p.bytes[p.at.tcp + kSum], ~checksum(sum));
  }
  if (!hand(interface, queue, p.frames > 1 ? p.bytes : p.first, p.frames, cut, now)) return false;
  if (p.frames > 1) {
    joined_ += p.frames;
    ++given_;
    longest_given_ = std::max<std::uint64_t>(longest_given_, p.bytes.size());
  }
  p.frames = 0;
  p.bytes.clear();
  return true;
}

Joiner::Queue& Joiner::queue(unsigned interface, unsigned queue) {
  const std::size_t index = std::size_t{interface} * driver_.tx_queues() + queue;
  if (index >= queues_.size()) queues_.resize(index + 1);
  return queues_[index];
}

bool Joiner::transmit(unsigned interface, unsigned queue, Bytes frame, Time now) {
  if (!on()) return hand(interface, queue, frame, 1, {}, now);
  Packet& p = this->queue(interface, queue).packet;
  const Bytes bare = unpadded(frame);
  const auto at = segment(bare);
  if (at && continues(p, bare, *at)) {
    append(p, bare, *at);
    return true;
  }
  if (p.frames != 0 && !give(interface, queue, p, now)) return false;
  if (!at) return hand(interface, queue, frame, 1, {}, now);
  append(p, bare, *at);
  p.since = now;
  const std::uint32_t index = interface * driver_.tx_queues() + queue;
  if (std::find(waiting_.begin(), waiting_.end(), index) == waiting_.end())
    waiting_.push_back(index);
  return true;
}

void Joiner::poll(Time now) {
  const auto gone = [&](std::uint32_t index) {
    const unsigned queues = driver_.tx_queues();
    Packet& p = queues_[index].packet;
    const bool due = !p.whole || p.bytes.size() + p.mss > longest_ || now - p.since >= kHold;
    return p.frames == 0 || (due && give(index / queues, index % queues, p, now));
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), gone), waiting_.end());
}

void Joiner::forget() {
  for (Queue& of : queues_) {
    of.packet.frames = 0;
    of.packet.bytes.clear();
    of.under_way.clear();
  }
  waiting_.clear();
}

template <class Count>
std::uint64_t Joiner::sum(unsigned interface, unsigned port, Count count) const {
  const unsigned queues = driver_.tx_queues(), ports = driver_.interface(interface).ports;
  std::uint64_t total = 0;
  for (unsigned number = port; number < queues; number += ports) {
    const std::size_t index = std::size_t{interface} * queues + number;
    if (index < queues_.size()) total += count(queues_[index], number);
  }
  return total;
}

std::uint64_t Joiner::stranded(unsigned interface, unsigned port) const {
  return sum(interface, port, [&](const Queue& of, unsigned number) -> std::uint64_t {
    if (!driver_.tx_stopped(interface, number)) return 0;
    return std::accumulate(of.under_way.begin(), of.under_way.end(), of.packet.frames);
  });
}

std::uint64_t Joiner::broken(unsigned interface, unsigned port) const {
  return sum(interface, port, [](const Queue& of, unsigned) { return of.broken; });
}

void Joiner::write(JsonWriter& json) const {
  json.begin_object()
      .field("frames", joined_)
      .field("packets", given_)
      .field("longest", longest_given_)
      .end_object();
}

}  // namespace emery::host_nic
