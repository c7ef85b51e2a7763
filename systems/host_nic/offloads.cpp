// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/offloads.hpp"

#include <algorithm>

#include "bench/traffic/protocols.hpp"
#include "queue_formats.hpp"

namespace emery::host_nic {
namespace {

constexpr unsigned kTagAt = 12;
constexpr unsigned kFirstBeat = 64;  // the device hashes what is in it
using Bytes = std::span<const std::uint8_t>;

unsigned word(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

// Of the words from `from` to `to`, modulo 65535; an odd last byte is a word's high half.
std::uint32_t sum(std::span<const std::uint8_t> bytes, std::size_t from, std::size_t to) {
  std::uint64_t total = 0;
  for (; from + 1 < to; from += 2) total += word(bytes, from);
  if (from < to) total += bytes[from] << 8;
  return static_cast<std::uint32_t>(total % 0xffff);
}

// Hands on the bytes of a frame that the flow hash is over; returns the hash's type.
unsigned each_field(Bytes frame, const auto& add) {
  const Bytes beat = frame.first(std::min<std::size_t>(frame.size(), kFirstBeat));
  const std::size_t ip = ip_at(beat);
  const unsigned ether_type = word(beat, ip - 2), version = beat[ip] >> 4;
  const bool v4 = ether_type == kTypeIp4 && version == 4;
  const bool v6 = ether_type == kTypeIp6 && version == 6 && ip + kIp6Bytes <= beat.size();
  if (!v4 && !v6) return 0;
  const std::size_t transport = ip + (v4 ? kIp4Bytes : kIp6Bytes);
  // Not behind options, and not in fragments.
  const bool plain = v6 || ((beat[ip] & 15) == 5 && (word(beat, ip + 6) & 0x3fff) == 0);
  const unsigned protocol = beat[ip + (v4 ? 9 : 6)];
  const bool ports =
      plain && transport + 4 <= beat.size() && (protocol == kTcp || protocol == kUdp);
  add(v4 ? beat.subspan(ip + 12, 8) : beat.subspan(ip + 8, 32));
  if (ports) add(beat.subspan(transport, 4));
  return (v4 ? EMNIC_IPV4 : EMNIC_IPV6) | (!ports ? 0u : protocol == kTcp ? EMNIC_TCP : EMNIC_UDP);
}

}  // namespace

FlowHash::FlowHash() {
  // A bit of the fields that is set adds the 32 bits of the key that begin at its place.
  const auto key_bit = [](unsigned bit) {
    return emnic_rss_key[bit / 32 % EMNIC_KEY_WORDS] >> (31 - bit % 32) & 1;
  };
  for (unsigned byte = 0; byte < Flow::kFields; ++byte) {
    for (unsigned value = 0; value < 256; ++value) {
      std::uint32_t hash = 0;
      for (unsigned bit = 0; bit < 8; ++bit) {
        if (!(value >> (7 - bit) & 1)) continue;
        std::uint32_t window = 0;
        for (unsigned k = 0; k < 32; ++k) window = window << 1 | key_bit(8 * byte + bit + k);
        hash ^= window;
      }
      table_[byte][value] = hash;
    }
  }
}

FlowHash::Value FlowHash::of(Bytes frame) const {
  std::uint32_t hash = 0;
  unsigned field = 0;
  const unsigned type = each_field(frame, [&](Bytes bytes) {
    for (const std::uint8_t byte : bytes) hash ^= table_[field++][byte];
  });
  return {hash, type};
}

Flow FlowHash::flow(Bytes frame) const {
  Flow flow;
  std::size_t at = 0;
  flow.type = each_field(frame, [&](Bytes bytes) {
    std::ranges::copy(bytes, flow.fields.begin() + static_cast<std::ptrdiff_t>(at));
    at += bytes.size();
  });
  return flow;
}

std::optional<Tag> outer_tag(Bytes frame) {
  if (frame.size() < kTagAt + kTagBytes + 2) return {};
  const auto tci = static_cast<std::uint16_t>(word(frame, kTagAt + 2));
  if (word(frame, kTagAt) == kTypeTag) return Tag{EMNIC_C_TAG, tci};
  if (word(frame, kTagAt) == kTypeServiceTag) return Tag{EMNIC_S_TAG, tci};
  return {};
}

void without_tag(Bytes frame, std::vector<std::uint8_t>& out) {
  const Bytes rest = frame.subspan(kTagAt + kTagBytes);
  out.assign(frame.begin(), frame.begin() + kTagAt);
  out.insert(out.end(), rest.begin(), rest.end());
}

void with_tag(Bytes frame, Tag tag, std::vector<std::uint8_t>& out) {
  const unsigned type = tag.kind == EMNIC_S_TAG ? kTypeServiceTag : kTypeTag;
  out.assign(frame.begin(), frame.begin() + kTagAt);
  for (const unsigned half : {type, unsigned{tag.tci}}) {
    out.push_back(static_cast<std::uint8_t>(half >> 8));
    out.push_back(static_cast<std::uint8_t>(half));
  }
  out.insert(out.end(), frame.begin() + kTagAt, frame.end());
}

std::span<const std::uint8_t> as_sent(const Received& received, std::vector<std::uint8_t>& out) {
  if (received.tag == 0) return received.frame;
  with_tag(received.frame, {received.tag, received.tci}, out);
  return out;
}

std::uint16_t frame_sum(std::span<const std::uint8_t> frame) {
  return static_cast<std::uint16_t>(sum(frame, kEthBytes, frame.size()));
}

std::optional<Checksum> transport_checksum(std::span<const std::uint8_t> frame) {
  if (frame.size() < kEthBytes + kIp4Bytes + 20) return {};
  const unsigned ether_type = word(frame, 12);
  std::size_t start, end;
  std::uint64_t pseudo;
  unsigned protocol;
  if (ether_type == kTypeIp4 && frame[kEthBytes] == 0x45 &&
      (word(frame, kEthBytes + 6) & 0x3fff) == 0) {
    protocol = frame[kEthBytes + 9];
    start = kEthBytes + kIp4Bytes;
    end = kEthBytes + word(frame, kEthBytes + 2);
    pseudo = sum(frame, kEthBytes + 12, kEthBytes + 20);
  } else if (ether_type == kTypeIp6 && frame[kEthBytes] >> 4 == 6 &&
             frame.size() >= kEthBytes + kIp6Bytes + 20) {
    protocol = frame[kEthBytes + 6];
    start = kEthBytes + kIp6Bytes;
    end = start + word(frame, kEthBytes + 4);
    pseudo = sum(frame, kEthBytes + 8, kEthBytes + kIp6Bytes);
  } else {
    return {};
  }
  if (protocol != kTcp && protocol != kUdp) return {};
  const unsigned offset = protocol == kTcp ? 16 : 6;
  // The device sums to the end of the frame, padding included.
  if (end < start + offset + 2 || end > frame.size() ||
      std::any_of(frame.begin() + static_cast<std::ptrdiff_t>(end), frame.end(),
                  [](std::uint8_t x) { return x != 0; }))
    return {};
  pseudo += protocol + (end - start);
  const unsigned field = word(frame, start + offset);
  const std::uint64_t rest = pseudo + sum(frame, start, end) + 0xffff - field;
  unsigned wanted = 0xffff - static_cast<unsigned>(rest % 0xffff);
  if (wanted == 0) wanted = 0xffff;
  // Only where the device makes the very frame that was given: not where there is none, or a wrong
  // one.
  if (field != wanted) return {};
  return Checksum{static_cast<unsigned>(start), offset,
                  static_cast<std::uint16_t>(pseudo % 0xffff)};
}

unsigned headers_of(Bytes frame, unsigned type) {
  if (!(type & (EMNIC_TCP | EMNIC_UDP))) return 0;
  std::size_t at = ip_at(frame) + (type & EMNIC_IPV4 ? kIp4Bytes : kIp6Bytes);
  if (type & EMNIC_UDP) {
    at += kUdpBytes;
  } else {
    const unsigned words = at + 12 < frame.size() ? frame[at + 12] >> 4 : 0;
    if (words < 5) return 0;
    at += 4 * words;
  }
  return at <= frame.size() ? static_cast<unsigned>(at) : 0;
}

void RecordCheck::received(const Received& r, unsigned port, Time now) {
  const FlowHash::Value hash = hash_.of(r.frame);
  received(r, port, hash, queue_of(r.interface, port, r.frame, hash), now);
}

void RecordCheck::received(const Received& r, unsigned port, unsigned queue, Time now) {
  received(r, port, hash_.of(r.frame), queue, now);
}

void RecordCheck::received(const Received& r, unsigned port, FlowHash::Value wanted,
                           unsigned in_queue, Time now) {
  const unsigned type = queue_pkg::rx_flags_t{r.flags}.hash_type();
  // The upper half of the hash has given way to a tag.
  const std::uint32_t told = r.tag ? wanted.hash & 0xffff : wanted.hash;
  bad_hash_ += r.hash != told || type != wanted.type;
  const unsigned headers = headers_of(r.frame, wanted.type);
  bad_split_ += r.headers != (headers <= header_bytes_ ? headers : 0);
  bad_sum_ += r.csum % 0xffff != frame_sum(r.frame);
  bad_queue_ += r.queue != in_queue;
  const std::size_t queue = std::size_t{r.interface} * rx_queues_ + r.queue;
  bad_stamp_ += wrong(r.timestamp, received_[queue * ports_ + (shared_ ? port : 0)], now);
}

unsigned RecordCheck::queue_of(unsigned interface, unsigned port, Bytes frame,
                               FlowHash::Value value) const {
  if (!steered_.empty()) {
    const auto found = steered_.find({interface * ports_ + port, hash_.flow(frame)});
    if (found != steered_.end()) return found->second;
  }
  const unsigned entry = value.type ? value.hash % rss_entries_ : 0;
  return emnic_rss_queue(entry, shared_ ? 0 : port, shared_ ? 1 : ports_, rx_queues_);
}

void RecordCheck::sent(unsigned interface, unsigned queue, std::uint64_t stamp, Time now) {
  bad_stamp_ += wrong(stamp, sent_[std::size_t{interface} * tx_queues_ + queue], now);
}

bool RecordCheck::wrong(std::uint64_t stamp, std::uint64_t& newest, Time now) {
  const bool later = stamp > newest;
  newest = stamp;
  if (clock_moves_) return false;
  return !later || static_cast<Time>(stamp) * kNanosecond > now - start_;
}

void RecordCheck::check(Findings& findings) const {
  findings.add(bad_hash_, "records with a wrong flow hash");
  findings.add(bad_sum_, "records with a wrong checksum");
  findings.add(bad_queue_, "frames in a queue that neither their flow nor its hash names");
  findings.add(bad_split_,
               "frames that were not cut behind their headers, or should not have been");
  findings.add(bad_stamp_, "records with an impossible time stamp");
}

}  // namespace emery::host_nic
