// SPDX-License-Identifier: Apache-2.0
// Memory that the client of a vfio-user device lets it reach: regions at addresses of the device's,
// whole pages, each in a file that is mapped here, or by messages to the client.
//
// Mapped regions are reached through the kernel (/proc/self/mem): a client that has cut its file
// short meanwhile makes an access fail, not this process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "bench/guest/channel.hpp"
#include "bench/pcie/host_memory.hpp"

namespace emery {

class ClientMemory final : public HostMemory::Elsewhere {
 public:
  enum Access : std::uint32_t { kReadable = 1, kWriteable = 2 };
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::size_t kMostRegions = 65535;
  /// One access by message, which does not cross a page; false when the client refuses it.
  struct Messages {
    std::function<bool(std::uint64_t addr, void* to, std::uint64_t bytes)> read;
    std::function<bool(std::uint64_t addr, const void* from, std::uint64_t bytes)> write;
  };

  explicit ClientMemory(Messages messages) : messages_(std::move(messages)) {}
  ~ClientMemory() override { unmap_all(); }
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;

  /// From `offset` of the file on; null: by messages. 0, or an errno.
  int map(std::uint64_t addr, std::uint64_t bytes, std::uint32_t access, const Descriptor* file,
          std::uint64_t offset);
  /// One of them as it was mapped. 0, or an errno.
  int unmap(std::uint64_t addr, std::uint64_t bytes);
  void unmap_all();

  bool mapped(std::uint64_t addr, std::uint64_t bytes) const override {
    return region_of(addr, bytes) != nullptr;
  }
  bool read(std::uint64_t addr, void* to, std::uint64_t bytes) override;
  bool write(std::uint64_t addr, const void* from, std::uint64_t bytes) override;

 private:
  struct Region {
    std::uint64_t addr, bytes;
    std::uint32_t access;
    std::uint8_t* at;  // null: by messages
    void* mapping;     // that this is a part of
    std::size_t mapping_bytes;
  };

  const Region* region_of(std::uint64_t addr, std::uint64_t bytes) const;
  static void forget(const Region& region);

  Messages messages_;
  Descriptor self_;
  std::map<std::uint64_t, Region> regions_;  // by address
};

}  // namespace emery
