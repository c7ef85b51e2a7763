// SPDX-License-Identifier: Apache-2.0
// Host memory: what was allocated exists, everything else is unmapped, to the byte.
//
// Allocations start on a page and are contiguous; a page is 4 kB. The page table is one array a
// zone, so a lookup is one load. Addresses are never used again after free, and an unmapped page
// follows each allocation, so a device that runs over the end of a buffer or uses a freed one is
// seen. The memory starts as zero. Several root complexes may share it. Where nothing is allocated
// there may be memory of someone else (`Elsewhere`).
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emery {

class HostMemory {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kHighBase =
      0x10'0000'0000;  // above 4 GB: requests need the 4DW header
  static constexpr std::uint64_t kLowBase = 0x1000'0000;
  static constexpr std::uint64_t kLowEnd = 0xc000'0000;
  static constexpr std::uint64_t kHeap =
      64 << 20;  // bytes of an allocation up to which it is the heap's

  enum class Zone { kHigh, kLow };
  // A device's write has landed: its address and length.
  using WriteHandler = std::function<void(std::uint64_t addr, std::uint32_t bytes)>;

  // Memory of someone else, reached access by access. False: not all of it is there, or may not be
  // read or written; nothing is done then.
  class Elsewhere {
   public:
    virtual ~Elsewhere() = default;
    virtual bool mapped(std::uint64_t addr, std::uint64_t bytes) const = 0;
    virtual bool read(std::uint64_t addr, void* to, std::uint64_t bytes) = 0;
    virtual bool write(std::uint64_t addr, const void* from, std::uint64_t bytes) = 0;
  };

  HostMemory() : high_(kHighBase), low_(kLowBase) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  std::uint64_t alloc(std::uint64_t bytes, std::uint64_t align = kPage, Zone where = Zone::kHigh) {
    if (bytes == 0 || (align & (align - 1)) != 0) throw std::invalid_argument("HostMemory::alloc");
    Table& table = where == Zone::kHigh ? high_ : low_;
    const std::uint64_t step = std::max(align, kPage);
    const std::uint64_t addr = (table.base + table.pages.size() * kPage + step - 1) & ~(step - 1);
    const std::uint64_t count = (bytes + kPage - 1) / kPage;
    if (where == Zone::kLow && addr + (count + 1) * kPage > kLowEnd) throw std::bad_alloc();
    std::unique_ptr<std::uint8_t, Free> memory = made(count * kPage);
    std::uint8_t* data = memory.get();
    if (!data) throw std::bad_alloc();
    allocations_.emplace(addr, Allocation{std::move(memory), bytes});
    table.pages.resize((addr - table.base) / kPage);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t left = bytes - i * kPage;
      table.pages.push_back(
          {data + i * kPage, static_cast<std::uint32_t>(std::min(left, kPage)), -1});
    }
    table.pages.push_back({});
    return addr;
  }

  // Memory of someone else at [addr, addr + bytes), whole pages below kHighBase; nothing is
  // allocated there besides.
  void lend(std::uint64_t addr, std::uint64_t bytes, std::uint8_t* data) {
    if (!low_.pages.empty() || (addr | bytes) % kPage != 0 || addr + bytes > kHighBase)
      throw std::invalid_argument("HostMemory::lend");
    low_.base = addr;
    for (std::uint64_t at = 0; at < bytes; at += kPage)
      low_.pages.push_back({data + at, kPage, -1});
  }

  // Null: nothing is elsewhere.
  void look_elsewhere(Elsewhere* memory) { elsewhere_ = memory; }

  void free(std::uint64_t addr) {
    const auto it = allocations_.find(addr);
    if (it == allocations_.end()) throw std::invalid_argument("HostMemory::free");
    for (std::uint64_t at = 0; at < it->second.bytes; at += kPage) *page(addr + at) = {};
    allocations_.erase(it);
  }

  void free_all() {
    while (!allocations_.empty()) free(allocations_.begin()->first);
  }

  bool mapped(std::uint64_t addr, std::uint64_t bytes) const {
    return here(addr, bytes) || (elsewhere_ && elsewhere_->mapped(addr, bytes));
  }

  // False, and nothing done, if any byte is unmapped.
  bool read(std::uint64_t addr, void* to, std::uint64_t bytes) const {
    if (const std::uint8_t* from = within_page(addr, bytes)) {
      std::memcpy(to, from, bytes);
      return true;
    }
    if (!here(addr, bytes)) return elsewhere_ && elsewhere_->read(addr, to, bytes);
    return copy(addr, bytes, [&](std::uint8_t* at, std::uint64_t done, std::uint64_t n) {
      std::memcpy(static_cast<std::uint8_t*>(to) + done, at, n);
    });
  }

  bool write(std::uint64_t addr, const void* from, std::uint64_t bytes) {
    if (std::uint8_t* to = within_page(addr, bytes)) {
      std::memcpy(to, from, bytes);
      return true;
    }
    if (!here(addr, bytes)) return elsewhere_ && elsewhere_->write(addr, from, bytes);
    return copy(addr, bytes, [&](std::uint8_t* at, std::uint64_t done, std::uint64_t n) {
      std::memcpy(at, static_cast<const std::uint8_t*>(from) + done, n);
    });
  }

  // The bytes themselves, within one allocation; null if any is unmapped.
  std::uint8_t* pointer(std::uint64_t addr, std::uint64_t bytes) {
    if (!here(addr, bytes) || bytes == 0) return nullptr;
    return page(addr)->data + addr % kPage;
  }

  // Calls back for each device write that touches the range. Watch single words (a ring's head),
  // not packet buffers.
  int watch(std::uint64_t addr, std::uint64_t bytes, WriteHandler handler) {
    const int id = static_cast<int>(watches_.size());
    watches_.push_back({addr, bytes, std::move(handler)});
    for (std::uint64_t at = addr & ~(kPage - 1); at < addr + bytes; at += kPage) {
      Page* p = page(at);
      if (!p || !p->data) throw std::invalid_argument("HostMemory::watch: unmapped");
      links_.push_back({id, p->watch});
      p->watch = static_cast<std::int32_t>(links_.size()) - 1;
    }
    return id;
  }

  void unwatch(int id) { watches_.at(static_cast<std::size_t>(id)).bytes = 0; }

  // For the root complex, after a device's write: tells the watchers. A write packet never crosses
  // a page.
  void notify(std::uint64_t addr, std::uint32_t bytes) {
    const Page* p = page(addr);
    if (p && p->watch >= 0) notify_page(p->watch, addr, bytes);
  }

 private:
  struct Page {
    std::uint8_t* data = nullptr;
    std::uint32_t valid = 0;  // bytes from the start of the page that are mapped
    std::int32_t watch = -1;  // first of its watches in links_
  };
  struct Table {
    explicit Table(std::uint64_t b) : base(b) {}
    std::uint64_t base;
    std::vector<Page> pages;
  };
  struct Free {
    std::uint64_t mapped;  // bytes; 0: it is the heap's
    void operator()(std::uint8_t* p) const {
      if (mapped == 0) {
        std::free(p);
      } else {
        munmap(p, mapped);
      }
    }
  };

  // Zeros, whose pages appear when touched. Much is reserved without a look at what the machine
  // has: a run needs what it touches, on any machine.
  static std::unique_ptr<std::uint8_t, Free> made(std::uint64_t bytes) {
    if (bytes <= kHeap) return {static_cast<std::uint8_t*>(std::calloc(bytes, 1)), Free{0}};
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return {at == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(at), Free{bytes}};
  }
  struct Allocation {
    std::unique_ptr<std::uint8_t, Free> data;
    std::uint64_t bytes;
  };
  struct Watch {
    std::uint64_t addr, bytes;
    WriteHandler handler;
  };
  struct Link {
    std::int32_t watch, next;
  };

  const Page* page(std::uint64_t addr) const {
    const Table& table = addr >= kHighBase ? high_ : low_;
    const std::uint64_t index = (addr - table.base) / kPage;
    return addr >= table.base && index < table.pages.size() ? &table.pages[index] : nullptr;
  }
  Page* page(std::uint64_t addr) { return const_cast<Page*>(std::as_const(*this).page(addr)); }

  bool here(std::uint64_t addr, std::uint64_t bytes) const {
    while (bytes) {
      const Page* p = page(addr);
      const std::uint64_t offset = addr % kPage;
      const std::uint64_t part = std::min(bytes, kPage - offset);
      if (!p || offset + part > p->valid) return false;
      addr += part;
      bytes -= part;
    }
    return true;
  }

  std::uint8_t* within_page(std::uint64_t addr, std::uint64_t bytes) const {
    const Page* p = page(addr);
    return p && addr % kPage + bytes <= p->valid ? p->data + addr % kPage : nullptr;
  }

  template <class Each>
  bool copy(std::uint64_t addr, std::uint64_t bytes, Each each) const {
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t offset = (addr + done) % kPage;
      const std::uint64_t here = std::min(bytes - done, kPage - offset);
      each(page(addr + done)->data + offset, done, here);
      done += here;
    }
    return true;
  }

  void notify_page(std::int32_t link, std::uint64_t addr, std::uint32_t bytes) {
    for (; link >= 0; link = links_[static_cast<std::size_t>(link)].next) {
      const Watch& w =
          watches_[static_cast<std::size_t>(links_[static_cast<std::size_t>(link)].watch)];
      if (addr < w.addr + w.bytes && w.addr < addr + bytes) w.handler(addr, bytes);
    }
  }

  Table high_, low_;
  std::unordered_map<std::uint64_t, Allocation> allocations_;
  std::deque<Watch> watches_;  // a handler may add a watch while it runs
  std::vector<Link> links_;
  Elsewhere* elsewhere_ = nullptr;
};

}  // namespace emery
