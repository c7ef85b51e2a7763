// SPDX-License-Identifier: Apache-2.0
// The pins of an UltraScale+ PCI Express block, 512 bits, Dword-aligned (AMD PG213;
// rtl/pcie/usplus_pkg.sv names the fields): TLPs from and to beats of RQ, RC, CQ and CC.
//
// It knows nothing of the link: Endpoint gives it packets and takes them. What the logic may not do
// is counted: a gap inside a packet (the block would nullify it), a start where none may be,
// lengths that do not fit. Straddle is on RQ and RC, up to two and four packets a beat, or off.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/pcie/pins.hpp"
#include "bench/pcie/tlp.hpp"

namespace emery {

// A field of a wide word: `bits` from `low`, at most 32.
inline std::uint32_t bits_of(const std::uint32_t* words, unsigned low, unsigned bits) {
  const std::uint64_t two =
      words[low / 32] | (low % 32 + bits > 32 ? std::uint64_t{words[low / 32 + 1]} << 32 : 0);
  return static_cast<std::uint32_t>(two >> low % 32 & ((std::uint64_t{1} << bits) - 1));
}

inline void set_bits(std::uint32_t* words, unsigned low, unsigned bits, std::uint32_t value) {
  for (unsigned i = 0; i < bits; ++i) {
    const std::uint32_t bit = 1u << (low + i) % 32;
    std::uint32_t& word = words[(low + i) / 32];
    word = value >> i & 1 ? word | bit : word & ~bit;
  }
}

// Packets out of beats that the logic drives: RQ or CC. A beat's places are those of its user bits.
class UsPlusReceiver {
 public:
  struct Layout {
    unsigned desc_dws, sop, sop_ptr, eop, eop_ptr;  // of user
    bool straddle;
  };
  static constexpr Layout rq(bool straddle) { return {4, 20, 22, 26, 28, straddle}; }
  static constexpr Layout cc() { return {3, 0, 2, 6, 8, false}; }

  UsPlusReceiver(const Layout& layout, const AxisPins& pins) : layout_(layout), pins_(pins) {}

  // What a packet with so much payload takes: places of half a beat, where the next may begin.
  double beats(std::uint32_t bytes) const {
    const unsigned place = layout_.straddle ? 2 * kDws : 4 * kDws;
    return (4 * layout_.desc_dws + bytes + place - 1) / place * place / (4.0 * kDws);
  }

  // A clock in which nothing is valid.
  bool gap() const { return open_; }

  // Takes a beat into `queue`: `take(tlp)` says whether it is to be kept. Counts what is wrong.
  template <class Take>
  void beat(TlpFifo& queue, std::uint64_t& malformed, const Take& take) {
    const std::uint32_t* user = pins_.user;
    unsigned at = 0, s = 0, e = 0;
    const unsigned starts = count(layout_.sop), ends = count(layout_.eop);
    while (at < kDws) {
      if (!open_) {
        if (s == starts) break;
        const unsigned place = 4 * bits_of(user, layout_.sop_ptr + 2 * s, 2);
        if (place % 8 || place < at || (place && !(layout_.straddle && e))) ++malformed;
        at = std::max(at, place);
        begin(queue, at, s++);
        at += layout_.desc_dws;
      }
      const unsigned stop = e < ends ? bits_of(user, layout_.eop_ptr + 4 * e, 4) + 1 : kDws;
      const std::uint32_t bytes = stop > at ? 4 * (stop - at) : 0;
      const std::uint32_t fits = std::min(bytes, tlp_.bytes - offset_);
      std::memcpy(room_ + offset_, pins_.data + at, fits);
      offset_ += fits;
      at = std::max(at, stop);
      if (e == ends) {
        malformed += bytes != fits;
        break;
      }
      ++e;
      end(queue, malformed, bytes == fits && offset_ == tlp_.bytes, take);
    }
    if (s != starts || e != ends) ++malformed;
    if (!layout_.straddle) {
      const unsigned used = ends ? bits_of(user, layout_.eop_ptr, 4) + 1 : kDws;
      if (*pins_.last != (ends == 1) || *pins_.keep != (1u << used) - 1) ++malformed;
    }
  }

  void reset() { open_ = false; }

 private:
  static constexpr unsigned kDws = 16;

  unsigned count(unsigned low) const {
    return bits_of(pins_.user, low, 1) + bits_of(pins_.user, low + 1, 1);
  }

  void begin(TlpFifo& queue, unsigned at, unsigned which) {
    const std::uint32_t* d = pins_.data + at;
    tlp_ = Tlp{};
    if (layout_.desc_dws == 4) {
      const unsigned be = 4 * which;
      const bool write = d[2] >> 11 & 1, four = d[1] != 0;
      const std::uint32_t type = write ? (four ? kMWr4 : kMWr3) : (four ? kMRd4 : kMRd3);
      known_ = (d[2] >> 11 & 0xf) <= 1;
      tlp_.dw[0] = type << 24 | (d[3] >> 25 & 7) << 20 | attributes(d[3]) | (d[2] >> 15 & 1) << 14 |
                   (d[2] & 0x3ff);
      tlp_.dw[1] = (d[2] & 0xffff'0000) | (d[3] & 0xff) << 8 | bits_of(pins_.user, 8 + be, 4) << 4 |
                   bits_of(pins_.user, be, 4);
      tlp_.dw[2] = four ? d[1] : d[0] & ~3u;
      tlp_.dw[3] = four ? d[0] & ~3u : 0;
    } else {
      known_ = true;
      const std::uint32_t dws = d[1] & 0x7ff;
      tlp_.dw[0] = std::uint32_t{dws ? kCplD : kCpl} << 24 | (d[2] >> 25 & 7) << 20 |
                   attributes(d[2]) | (d[1] >> 14 & 1) << 14 | (dws & 0x3ff);
      tlp_.dw[1] = (d[2] >> 8 & 0xffff) << 16 | (d[1] >> 11 & 7) << 13 | (d[0] >> 16 & 0xfff);
      tlp_.dw[2] = (d[1] & 0xffff'0000) | (d[2] & 0xff) << 8 | (d[0] & 0x7f);
    }
    tlp_.bytes = tlp_.payload_expected();
    room_ = queue.reserve(tlp_.bytes);
    offset_ = 0;
    open_ = true;
  }

  static std::uint32_t attributes(std::uint32_t dw) {
    return (dw >> 28 & 3) << 12 | (dw >> 30 & 1) << 18;
  }

  template <class Take>
  void end(TlpFifo& queue, std::uint64_t& malformed, bool whole, const Take& take) {
    open_ = false;
    if (!whole || !known_) ++malformed;
    if (whole && known_ && take(tlp_)) {
      queue.commit(tlp_);
    } else {
      queue.cancel();
    }
  }

  Layout layout_;
  AxisPins pins_;
  bool open_ = false, known_ = false;
  Tlp tlp_;
  std::uint32_t offset_ = 0;
  std::uint8_t* room_ = nullptr;
};

// Beats of RC or CQ out of packets, which wait in a queue of its own.
class UsPlusSender {
 public:
  struct Layout {
    unsigned desc_dws, sop, sop_ptr, eop, eop_ptr, first_be, last_be, user_words;
    unsigned most;  // packets that begin in a beat
  };
  static constexpr Layout rc(bool straddle) {
    return {3, 64, 68, 76, 80, 0, 0, 6, straddle ? 4u : 1u};
  }
  static constexpr Layout cq() { return {4, 80, 82, 86, 88, 0, 8, 6, 1}; }

  // What of a packet is in no header.
  struct Extra {
    std::uint32_t lower_addr = 0;  // of the request, 12 bits
    std::uint32_t error = 0;
    bool completed = true;
    std::uint32_t function = 0;  // that a request is for
  };

  UsPlusSender(const Layout& layout, const AxisPins& pins) : layout_(layout), pins_(pins) {}

  TlpFifo queue;

  std::size_t held() const { return queue.size() + ended.size(); }
  bool busy() const { return valid_; }
  // The packets that end in the beat on the pins, without their payload.
  std::vector<Tlp> ended;

  bool taken() const { return valid_ && *pins_.ready; }

  // Puts the next beat on the pins, or none. `extra(tlp)` is asked once a packet.
  template <class ExtraOf>
  void next(const ExtraOf& extra) {
    ended.clear();
    valid_ = false;
    unsigned starts = 0;
    const bool whole = layout_.most == 1;
    std::uint32_t user[6] = {};
    for (unsigned at = 0; at < kDws;) {
      if (queue.empty() || (offset_ == 0 && (starts == layout_.most || (at && whole)))) break;
      const Tlp& tlp = queue.front();
      const unsigned total = layout_.desc_dws + tlp.bytes / 4;
      if (!valid_) valid_ = true;
      if (offset_ == 0) {
        describe(tlp, extra(tlp), pins_.data + at);
        set_bits(user, layout_.sop + starts, 1, 1);
        set_bits(user, layout_.sop_ptr + 2 * starts, 2, at / 4);
        if (layout_.desc_dws == 4) {
          set_bits(user, layout_.first_be, 4, tlp.first_be());
          set_bits(user, layout_.last_be, 4, tlp.last_be());
        }
        ++starts;
        offset_ = layout_.desc_dws;
        at += layout_.desc_dws;
      }
      const unsigned now = std::min(total - offset_, kDws - at);
      std::memcpy(pins_.data + at, tlp.payload + 4 * (offset_ - layout_.desc_dws), 4 * now);
      offset_ += now;
      at += now;
      if (offset_ != total) break;
      const auto e = static_cast<unsigned>(ended.size());
      set_bits(user, layout_.eop + e, 1, 1);
      set_bits(user, layout_.eop_ptr + 4 * e, 4, at - 1);
      ended.push_back(tlp);
      queue.pop();
      offset_ = 0;
      at = (at + 3) / 4 * 4;
    }
    *pins_.valid = valid_;
    if (valid_) std::memcpy(pins_.user, user, 4 * layout_.user_words);
  }

  void reset() {
    queue.clear();
    ended.clear();
    offset_ = 0;
    valid_ = false;
    *pins_.valid = 0;
  }

 private:
  static constexpr unsigned kDws = 16;

  void describe(const Tlp& tlp, const Extra& extra, std::uint32_t* d) const {
    const std::uint32_t attr = (tlp.dw[0] >> 12 & 3) << 28 | (tlp.dw[0] >> 18 & 1) << 30;
    const std::uint32_t low = (tlp.dw[0] >> 20 & 7) << 25 | attr;
    if (layout_.desc_dws == 4) {
      d[0] = static_cast<std::uint32_t>(tlp.addr());
      d[1] = static_cast<std::uint32_t>(tlp.addr() >> 32);
      d[2] = tlp.length_dw() | std::uint32_t{tlp.is_mem_write()} << 11 |
             std::uint32_t{tlp.requester()} << 16;
      d[3] = (tlp.tag() & 0xff) | extra.function << 8 | 24u << 19 | low;
    } else {
      d[0] = extra.lower_addr | extra.error << 12 | tlp.byte_count() << 16 |
             std::uint32_t{extra.completed} << 30;
      d[1] = tlp.bytes / 4 | tlp.status() << 11 | std::uint32_t{tlp.poisoned()} << 14 |
             std::uint32_t{tlp.cpl_requester()} << 16;
      d[2] = (tlp.cpl_tag() & 0xff) | std::uint32_t{tlp.completer()} << 8 | low;
    }
  }

  Layout layout_;
  AxisPins pins_;
  unsigned offset_ = 0;  // Dwords of the front packet that have gone, descriptor and all
  bool valid_ = false;
};

}  // namespace emery
