// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/client_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <iterator>

namespace emery {
namespace {

// The size of the pages that a file is mapped in (more with huge pages); 0 when it does not hold
// all of that.
std::uint64_t page_of(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes) {
  struct stat found;
  if (::fstat(file.number(), &found) != 0 || !S_ISREG(found.st_mode)) return 0;
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (offset > size || bytes > size - offset) return 0;
  const auto block = static_cast<std::uint64_t>(found.st_blksize);
  return std::has_single_bit(block) ? std::max(block, ClientMemory::kPage) : ClientMemory::kPage;
}

off_t place(const void* at, std::uint64_t offset) {
  return static_cast<off_t>(reinterpret_cast<std::uintptr_t>(at) + offset);
}

}  // namespace

int ClientMemory::map(std::uint64_t addr, std::uint64_t bytes, std::uint32_t access,
                      const Descriptor* file, std::uint64_t offset) {
  const std::uint64_t last = addr + (bytes - 1);
  if (bytes == 0 || last < addr || ((addr | bytes | offset) & (kPage - 1)) != 0) return EINVAL;
  if (access > (kReadable | kWriteable) || (!file && offset != 0)) return EINVAL;
  const auto next = regions_.lower_bound(addr);
  if (next != regions_.end() && next->first <= last) return EEXIST;
  if (next != regions_.begin()) {
    const Region& before = std::prev(next)->second;
    if (addr - before.addr < before.bytes) return EEXIST;
  }
  if (regions_.size() == kMostRegions) return ENOSPC;
  Region region{addr, bytes, access, nullptr, nullptr, 0};
  if (file) {
    const std::uint64_t page = page_of(*file, offset, bytes);
    if (page == 0) return EINVAL;
    const int protection =
        (access & kReadable ? PROT_READ : 0) | (access & kWriteable ? PROT_WRITE : 0);
    if (!self_) self_ = Descriptor(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    if (!self_) return errno;
    const std::uint64_t skip = offset % page;
    region.mapping_bytes = (skip + bytes + page - 1) / page * page;
    region.mapping = ::mmap(nullptr, region.mapping_bytes, protection, MAP_SHARED | MAP_NORESERVE,
                            file->number(), static_cast<off_t>(offset - skip));
    if (region.mapping == MAP_FAILED) return errno;
    region.at = static_cast<std::uint8_t*>(region.mapping) + skip;
  }
  regions_.emplace(addr, region);
  return 0;
}

int ClientMemory::unmap(std::uint64_t addr, std::uint64_t bytes) {
  const auto found = regions_.find(addr);
  if (found == regions_.end() || found->second.bytes != bytes) return ENOENT;
  forget(found->second);
  regions_.erase(found);
  return 0;
}

void ClientMemory::unmap_all() {
  for (const auto& [addr, region] : regions_) forget(region);
  regions_.clear();
}

void ClientMemory::forget(const Region& region) {
  if (region.mapping) ::munmap(region.mapping, region.mapping_bytes);
}

const ClientMemory::Region* ClientMemory::region_of(std::uint64_t addr, std::uint64_t bytes) const {
  const auto next = regions_.upper_bound(addr);
  if (next == regions_.begin()) return nullptr;
  const Region& region = std::prev(next)->second;
  const std::uint64_t offset = addr - region.addr;
  return offset < region.bytes && bytes <= region.bytes - offset ? &region : nullptr;
}

bool ClientMemory::read(std::uint64_t addr, void* to, std::uint64_t bytes) {
  const Region* region = region_of(addr, bytes);
  if (!region || !(region->access & kReadable)) return false;
  if (!region->at) return messages_.read(addr, to, bytes);
  return ::pread(self_.number(), to, bytes, place(region->at, addr - region->addr)) ==
         static_cast<ssize_t>(bytes);
}

bool ClientMemory::write(std::uint64_t addr, const void* from, std::uint64_t bytes) {
  const Region* region = region_of(addr, bytes);
  if (!region || !(region->access & kWriteable)) return false;
  if (!region->at) return messages_.write(addr, from, bytes);
  return ::pwrite(self_.number(), from, bytes, place(region->at, addr - region->addr)) ==
         static_cast<ssize_t>(bytes);
}

}  // namespace emery
