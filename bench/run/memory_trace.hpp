// SPDX-License-Identifier: Apache-2.0
// What a traced run sees of frames in host memory: when a device read a frame that a driver has
// lent it, and when it wrote one that the driver then takes. To 16 bytes.
//
// Memory: 240 bytes for each 256 that a device writes, or that frames are lent in. (Frames of 64
// bytes in buffers of 9 kB are the common case: what is kept for a buffer's other bytes is memory
// to be cleared, faulted in and missed in caches for nothing, and that is most of a trace's price.)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "bench/pcie/host_memory.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/run/trace.hpp"

namespace emery {

class MemoryTrace final : public RootComplex::Observer {
 public:
  MemoryTrace(Trace& trace, HostMemory& memory) : trace_(trace), memory_(memory) {}

  /// The device may read these bytes from now on, which belong to the frame. When the first read of
  /// them arrives at the host the frame is at stage `asked`; when the last answer is back at the
  /// device, at the stage behind that.
  void lend(Trace::Number frame, const std::uint8_t* from, std::size_t bytes, unsigned asked) {
    if (!trace_.follows(frame)) return;
    each(from, bytes, [&](Page& page, std::size_t granule) {
      page.frame[granule] = frame + 1;
      page.asked[granule] = static_cast<std::uint8_t>(asked);
    });
  }
  /// When the first and the last of the writes to these bytes arrived at the host; -1: none did.
  struct Written {
    Time first = -1, last = -1;
  };
  Written written(const std::uint8_t* from, std::size_t bytes) {
    Written w{kNever, -1};
    each(from, bytes, [&](Page& page, std::size_t granule) {
      if (page.written[granule] == 0) return;
      w.first = std::min(w.first, page.written[granule]);
      w.last = std::max(w.last, page.written[granule]);
    });
    return w.last < 0 ? Written() : w;
  }
  /// These bytes are of the frame: it was at those stages then.
  void claim(Trace::Number frame, const std::uint8_t* from, std::size_t bytes, unsigned first,
             unsigned last) {
    if (!trace_.follows(frame)) return;
    const Written w = written(from, bytes);
    trace_.mark(frame, first, w.first);
    trace_.mark(frame, last, w.last);
  }
  /// Nothing is lent any more.
  void forget() { pages_.clear(); }

  // ---- RootComplex::Observer

  void wrote(std::uint64_t addr, std::uint32_t bytes, Time time) override {
    if (!trace_.looks(time)) return;
    each(memory_.pointer(addr, bytes), bytes,
         [&](Page& page, std::size_t granule) { page.written[granule] = time; });
  }
  void asked(std::uint64_t addr, std::uint32_t bytes, Time time) override {
    if (!trace_.looks(time)) return;
    each_lent(addr, bytes, [&](Trace::Number frame, unsigned stage, Page&, std::size_t) {
      trace_.mark_first(frame, stage, time);
    });
  }
  // A read that left before the bytes were lent does not count: they will be read again.
  void answered(std::uint64_t addr, std::uint32_t bytes, Time time) override {
    if (!trace_.looks(time)) return;
    each_lent(addr, bytes,
              [&](Trace::Number frame, unsigned stage, Page& page, std::size_t granule) {
                if (!trace_.marked(frame, stage) || !trace_.under_way(frame)) return;
                trace_.mark(frame, stage + 1, time);
                page.frame[granule] = 0;
              });
  }

 private:
  static constexpr unsigned kLogPage = 8, kLogGranule = 4,
                            kGranules = 1 << (kLogPage - kLogGranule);

  struct Page {
    std::array<Time, kGranules> written{};
    std::array<std::uint32_t, kGranules> frame{};  // 1 + its number; 0: lent to nobody
    std::array<std::uint8_t, kGranules> asked{};   // stage
  };

  template <class Do>
  void each(const std::uint8_t* from, std::size_t bytes, Do work) {
    if (from == nullptr || bytes == 0) return;
    const auto first = reinterpret_cast<std::uintptr_t>(from) >> kLogGranule,
               last = (reinterpret_cast<std::uintptr_t>(from) + bytes - 1) >> kLogGranule;
    Page* page = nullptr;
    for (auto granule = first; granule <= last; ++granule) {
      if (page == nullptr || granule % kGranules == 0) {
        page = &pages_[granule / kGranules];
      }
      work(*page, granule % kGranules);
    }
  }
  template <class Do>
  void each_lent(std::uint64_t addr, std::uint32_t bytes, Do work) {
    each(memory_.pointer(addr, bytes), bytes, [&](Page& page, std::size_t granule) {
      if (page.frame[granule] != 0)
        work(page.frame[granule] - 1, page.asked[granule], page, granule);
    });
  }

  Trace& trace_;
  HostMemory& memory_;
  std::unordered_map<std::uintptr_t, Page> pages_;
};

}  // namespace emery
