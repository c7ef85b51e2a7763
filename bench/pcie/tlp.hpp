// SPDX-License-Identifier: Apache-2.0
// PCI Express transaction-layer packets: header fields, encoding, wire size, and a queue that holds
// them by value.
//
// `Tlp` is a header of four DWs as the Base Specification numbers them (DW0 holds Fmt and Type; a
// 3DW header leaves dw[3] zero) and a view of the payload, byte 0 first. It owns nothing: `TlpFifo`
// does, in one ring of bytes, so that nothing is allocated per packet.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery {

// Fmt and Type, {fmt[2:0], type[4:0]}.
enum TlpType : std::uint8_t {
  kMRd3 = 0x00,
  kMRd4 = 0x20,
  kMWr3 = 0x40,
  kMWr4 = 0x60,
  kCpl = 0x0a,
  kCplD = 0x4a,
  kCfgRd0 = 0x04,
  kCfgWr0 = 0x44,
};

enum CplStatus : std::uint8_t { kStatusSC = 0, kStatusUR = 1, kStatusCRS = 2, kStatusCA = 4 };

// Flow-control classes.
enum FcClass : int { kPosted = 0, kNonPosted = 1, kCompletion = 2 };
inline constexpr int kFcClasses = 3;

// What every TLP adds to header and payload on the wire: framing and sequence number (4) and LCRC
// (4).
inline constexpr std::uint32_t kTlpFraming = 8;
inline constexpr std::uint32_t kDllpBytes = 8;

struct Tlp {
  std::uint32_t dw[4] = {0, 0, 0, 0};
  std::uint32_t bytes = 0;  // payload present, whole DWs
  const std::uint8_t* payload = nullptr;
  Time time = 0;  // of the last hop: ready or arrival

  std::uint8_t type() const { return static_cast<std::uint8_t>(dw[0] >> 24); }
  bool has_data() const { return dw[0] >> 30 & 1; }
  bool four_dw() const { return dw[0] >> 29 & 1; }
  bool poisoned() const { return dw[0] >> 14 & 1; }
  bool relaxed() const { return dw[0] >> 13 & 1; }
  std::uint32_t length_dw() const { return (dw[0] & 0x3ff) ? dw[0] & 0x3ff : 1024; }
  std::uint32_t payload_expected() const { return has_data() ? 4 * length_dw() : 0; }

  bool is_mem_read() const { return type() == kMRd3 || type() == kMRd4; }
  bool is_mem_write() const { return type() == kMWr3 || type() == kMWr4; }
  bool is_mem() const { return is_mem_read() || is_mem_write(); }
  bool is_completion() const { return type() == kCpl || type() == kCplD; }
  bool is_config() const { return type() == kCfgRd0 || type() == kCfgWr0; }

  FcClass fc_class() const {
    return is_completion() ? kCompletion : is_mem_write() ? kPosted : kNonPosted;
  }
  std::uint32_t data_credits() const { return (bytes + 15) / 16; }
  std::uint32_t wire_bytes() const {
    const std::uint32_t ecrc = dw[0] >> 15 & 1 ? 4 : 0;
    return kTlpFraming + (four_dw() ? 16 : 12) + bytes + ecrc;
  }

  // Requests.
  std::uint16_t requester() const { return static_cast<std::uint16_t>(dw[1] >> 16); }
  std::uint32_t tag() const { return wide_tag(dw[1] >> 8 & 0xff); }
  std::uint32_t first_be() const { return dw[1] & 0xf; }
  std::uint32_t last_be() const { return dw[1] >> 4 & 0xf; }
  std::uint64_t addr() const {
    return four_dw() ? (std::uint64_t{dw[2]} << 32 | dw[3]) & ~std::uint64_t{3} : dw[2] & ~3u;
  }
  std::uint16_t config_target() const { return static_cast<std::uint16_t>(dw[2] >> 16); }
  std::uint16_t config_offset() const { return dw[2] & 0xffc; }

  // Completions.
  std::uint16_t completer() const { return static_cast<std::uint16_t>(dw[1] >> 16); }
  std::uint32_t status() const { return dw[1] >> 13 & 7; }
  std::uint32_t byte_count() const { return (dw[1] & 0xfff) ? dw[1] & 0xfff : 4096; }
  std::uint16_t cpl_requester() const { return static_cast<std::uint16_t>(dw[2] >> 16); }
  std::uint32_t cpl_tag() const { return wide_tag(dw[2] >> 8 & 0xff); }
  std::uint32_t lower_addr() const { return dw[2] & 0x7f; }

 private:
  std::uint32_t wide_tag(std::uint32_t low) const {
    return low | (dw[0] >> 19 & 1) << 8 | (dw[0] >> 23 & 1) << 9;
  }
};

// The bytes a memory request names, from its address, length and byte enables. `contiguous` is
// false when byte enables leave holes; first and count then span them. A zero-length request has
// count 0.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  bool contiguous = true;

  static ByteRange of(const Tlp& tlp) {
    const std::uint32_t length = tlp.length_dw();
    const std::uint32_t first = tlp.first_be();
    const std::uint32_t last = length == 1 ? first : tlp.last_be();
    ByteRange range;
    range.first = tlp.addr();
    if (first == 0 && (length == 1 || last == 0)) return range;
    const std::uint32_t skip = first ? static_cast<std::uint32_t>(std::countr_zero(first)) : 4;
    const std::uint32_t end =
        last ? 4 * (length - 1) + static_cast<std::uint32_t>(std::bit_width(last))
             : 4 * (length - 1);
    range.first += skip;
    range.count = end - skip;
    if (length == 1) {
      range.contiguous = std::popcount(first) == static_cast<int>(range.count);
    } else {
      range.contiguous =
          (first | (first - 1)) == 0xf && first != 0 && ((last + 1) & last) == 0 && last != 0;
    }
    return range;
  }
};

inline std::uint32_t tag_bits_dw0(std::uint32_t tag) {
  return (tag >> 8 & 1) << 19 | (tag >> 9 & 1) << 23;
}

// Byte enables for `count` bytes from `first`; count 0 is the zero-length request (one DW, no
// enables).
inline std::uint32_t byte_enables(std::uint64_t first, std::uint32_t count) {
  if (count == 0) return 0;
  const std::uint32_t skip = first & 3;
  const std::uint32_t end = skip + count;
  if (end <= 4) return (0xfu << skip) & (0xfu >> (4 - end)) & 0xf;
  const std::uint32_t tail = end & 3;
  return ((0xfu << skip) & 0xf) | (tail ? 0xfu >> (4 - tail) : 0xfu) << 4;
}

// A memory request for `count` bytes from `addr`, with the short header below 4 GB as the
// specification demands.
inline Tlp make_memory(bool write, std::uint64_t addr, std::uint32_t count, std::uint32_t tag,
                       std::uint16_t requester, bool relaxed = false) {
  Tlp tlp;
  const bool four = addr >> 32 != 0;
  const std::uint32_t skip = addr & 3;
  const std::uint32_t length = count == 0 ? 1 : (skip + count + 3) / 4;
  const std::uint32_t type = write ? (four ? kMWr4 : kMWr3) : (four ? kMRd4 : kMRd3);
  tlp.dw[0] = type << 24 | tag_bits_dw0(tag) | std::uint32_t{relaxed} << 13 | (length & 0x3ff);
  tlp.dw[1] = std::uint32_t{requester} << 16 | (tag & 0xff) << 8 | byte_enables(addr, count);
  tlp.dw[2] =
      four ? static_cast<std::uint32_t>(addr >> 32) : static_cast<std::uint32_t>(addr) & ~3u;
  tlp.dw[3] = four ? static_cast<std::uint32_t>(addr) & ~3u : 0;
  tlp.bytes = write ? 4 * length : 0;
  return tlp;
}

inline Tlp make_config(bool write, std::uint16_t target, std::uint16_t offset,
                       std::uint32_t enables, std::uint32_t tag, std::uint16_t requester) {
  Tlp tlp;
  tlp.dw[0] = std::uint32_t{write ? kCfgWr0 : kCfgRd0} << 24 | tag_bits_dw0(tag) | 1;
  tlp.dw[1] = std::uint32_t{requester} << 16 | (tag & 0xff) << 8 | (enables & 0xf);
  tlp.dw[2] = std::uint32_t{target} << 16 | (offset & 0xffcu);
  tlp.bytes = write ? 4 : 0;
  return tlp;
}

// The completion of a request, tag, requester and attributes taken over. `bytes` of payload in
// whole DWs; byte_count counts what is left including this packet.
inline Tlp make_completion(const Tlp& request, std::uint16_t completer, CplStatus status,
                           std::uint32_t bytes, std::uint32_t byte_count,
                           std::uint32_t lower_addr) {
  Tlp tlp;
  const std::uint32_t kept = request.dw[0] & (7u << 20 | 1u << 23 | 1u << 19 | 1u << 18 | 3u << 12);
  tlp.dw[0] = std::uint32_t{bytes ? kCplD : kCpl} << 24 | kept | (bytes / 4 & 0x3ff);
  tlp.dw[1] = std::uint32_t{completer} << 16 | std::uint32_t{status} << 13 | (byte_count & 0xfff);
  tlp.dw[2] =
      std::uint32_t{request.requester()} << 16 | (request.dw[1] & 0xff00) | (lower_addr & 0x7f);
  tlp.bytes = bytes;
  return tlp;
}

// TLPs in order, headers and payloads in one ring of bytes that doubles when it is full.
class TlpFifo {
 public:
  explicit TlpFifo(std::size_t capacity = 64 * 1024) : ring_(std::bit_ceil(capacity)) {}

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::uint64_t payload_bytes() const { return payload_bytes_; }

  // The room for a packet's payload; valid until the next reserve. The packet enters with commit().
  std::uint8_t* reserve(std::uint32_t payload) {
    const std::size_t need = kRecord + padded(payload);
    for (;;) {
      const std::size_t at = tail_ & (ring_.size() - 1);
      const std::size_t skip = ring_.size() - at < need ? ring_.size() - at : 0;
      if (ring_.size() - (tail_ - head_) >= need + skip) {
        // A packet never wraps: the end of the ring is skipped, and marked so.
        if (skip) {
          store(at, {{0, 0, 0, 0}, kSkip, 0});
          tail_ += skip;
          if (count_ == 0) head_ = tail_;
        }
        reserved_ = true;
        return &ring_[(tail_ & (ring_.size() - 1)) + kRecord];
      }
      grow(need);
    }
  }

  void commit(const Tlp& tlp) {
    Record record{{tlp.dw[0], tlp.dw[1], tlp.dw[2], tlp.dw[3]}, tlp.bytes, tlp.time};
    store(tail_ & (ring_.size() - 1), record);
    tail_ += kRecord + padded(tlp.bytes);
    payload_bytes_ += tlp.bytes;
    reserved_ = false;
    ++count_;
    if (count_ == 1) load_front();
  }

  // Gives the reserved room back.
  void cancel() { reserved_ = false; }

  // Copies the payload, if there is a view of one; else it is zero.
  void push(const Tlp& tlp) {
    std::uint8_t* room = reserve(tlp.bytes);
    if (tlp.bytes && tlp.payload) {
      std::memcpy(room, tlp.payload, tlp.bytes);
    } else if (tlp.bytes) {
      std::memset(room, 0, tlp.bytes);
    }
    commit(tlp);
  }

  // The oldest packet, with its payload in the ring: valid until the next reserve, push or pop.
  const Tlp& front() const { return front_; }

  void pop() {
    payload_bytes_ -= front_.bytes;
    head_ += kRecord + padded(front_.bytes);
    --count_;
    if (count_) {
      load_front();
    } else if (!reserved_) {
      head_ = tail_ = 0;  // keeps a queue that is often empty in the cache
    }
  }

  void clear() {
    head_ = tail_ = 0;
    count_ = 0;
    payload_bytes_ = 0;
    reserved_ = false;
  }

 private:
  struct Record {
    std::uint32_t dw[4];
    std::uint32_t bytes;
    Time time;
  };
  static constexpr std::size_t kRecord = 32;
  static constexpr std::uint32_t kSkip = UINT32_MAX;
  static_assert(sizeof(Record) <= kRecord);

  static std::size_t padded(std::uint32_t bytes) {
    return (std::size_t{bytes} + 31) & ~std::size_t{31};
  }

  void store(std::size_t at, const Record& record) {
    std::memcpy(&ring_[at], &record, sizeof record);
  }

  void load_front() {
    std::size_t at = head_ & (ring_.size() - 1);
    Record record;
    std::memcpy(&record, &ring_[at], sizeof record);
    if (record.bytes == kSkip) {
      head_ += ring_.size() - at;
      at = 0;
      std::memcpy(&record, &ring_[0], sizeof record);
    }
    std::memcpy(front_.dw, record.dw, sizeof front_.dw);
    front_.bytes = record.bytes;
    front_.time = record.time;
    front_.payload = &ring_[at + kRecord];
  }

  void grow(std::size_t need) {
    TlpFifo larger(2 * ring_.size() + need);
    while (count_) {
      larger.push(front_);
      pop();
    }
    *this = std::move(larger);
    if (count_) load_front();
  }

  std::vector<std::uint8_t> ring_;
  std::size_t head_ = 0, tail_ = 0;  // running; the ring index is the low bits
  std::size_t count_ = 0;
  std::uint64_t payload_bytes_ = 0;
  bool reserved_ = false;  // someone is filling the room at the tail
  Tlp front_;
};

}  // namespace emery
