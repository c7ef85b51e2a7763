// SPDX-License-Identifier: Apache-2.0
// What coherent caches would do with the data accesses of several masters (core-nic paper, section
// 2.3 and figure 3): a cache each, fully associative, least recently used line out, 16-byte lines,
// MESI.
//
// A read hits when its line is there; so does a write, which takes the line from all others. All
// masters' accesses come in the order of their clocks; time plays no part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace emery {

class CacheStudy {
 public:
  static constexpr unsigned kLineBytes = 16;

  CacheStudy(unsigned masters, std::size_t bytes) : lines_(bytes / kLineBytes), caches_(masters) {}

  void access(unsigned master, std::uint32_t address, bool write) {
    const std::uint32_t line = address / kLineBytes;
    Cache& cache = caches_[master];
    ++accesses_;
    if (const auto found = cache.where.find(line); found != cache.where.end()) {
      ++hits_;
      cache.order.splice(cache.order.begin(), cache.order, found->second);
    } else {
      if (cache.order.size() == lines_) {
        cache.where.erase(cache.order.back());
        cache.order.pop_back();
      }
      cache.order.push_front(line);
      cache.where[line] = cache.order.begin();
    }
    if (!write) return;
    ++writes_;
    bool taken = false;
    for (Cache& other : caches_) {
      if (&other == &cache) continue;
      const auto found = other.where.find(line);
      if (found == other.where.end()) continue;
      other.order.erase(found->second);
      other.where.erase(found);
      taken = true;
    }
    invalidating_ += taken;
  }

  std::size_t bytes() const { return lines_ * kLineBytes; }
  double hit_ratio() const { return share(hits_, accesses_); }
  /// Writes that took the line from another cache.
  double invalidating() const { return share(invalidating_, writes_); }

 private:
  struct Cache {
    std::list<std::uint32_t> order;  // lines, the one used last in front
    std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> where;
  };
  static double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  }

  std::size_t lines_;
  std::vector<Cache> caches_;
  std::uint64_t accesses_ = 0, hits_ = 0, writes_ = 0, invalidating_ = 0;
};

}  // namespace emery
