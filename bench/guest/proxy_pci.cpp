// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/proxy_pci.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "bench/guest/slot_calls.hpp"
#include "bench/pcie/host_calls.hpp"

namespace emery {
namespace {

enum Command : std::int32_t {
  kMemory = 0,
  kAnswer = 1,
  kConfigWrite = 2,
  kConfigRead = 3,
  kBarWrite = 4,
  kBarRead = 5,
  kIrqDescriptors = 6,
  kReset = 7
};

constexpr std::size_t kRegions = 8;
struct Memory {
  std::uint64_t addr[kRegions], bytes[kRegions];
  std::int64_t offset[kRegions];  // in the file
};
struct Config {
  std::uint32_t addr, value;
  std::int32_t bytes;
};
struct Bar {
  std::uint64_t addr, value;
  std::uint32_t bytes;
  std::uint8_t memory, reserved[3];
};
static_assert(sizeof(Memory) == 192 && sizeof(Config) == 12 && sizeof(Bar) == 24);

template <class Body>
Body body_of(const std::vector<std::uint8_t>& bytes) {
  Body body;
  if (bytes.size() != sizeof body) throw ChannelError("QEMU's PCI proxy: a message of odd length");
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

}  // namespace

struct ProxyPci::Header {
  std::int32_t command;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

ProxyPci::~ProxyPci() {
  if (memory_) ::munmap(memory_, memory_bytes_);
}

bool ProxyPci::serve() {
  Header header;
  std::vector<Descriptor> files;
  if (!receive(socket_, &header, sizeof header, &files)) return false;
  if (header.bytes > sizeof(Memory)) throw ChannelError("QEMU's PCI proxy: a message too long");
  std::vector<std::uint8_t> body(header.bytes);
  if (!body.empty() && !receive(socket_, body.data(), body.size(), &files)) return false;
  switch (header.command) {
    case kMemory:
      take_memory(body, files);
      break;
    case kConfigWrite:
    case kConfigRead:
      answer(config(body, header.command == kConfigWrite));
      break;
    case kBarWrite:
    case kBarRead:
      answer(bar(body, header.command == kBarWrite));
      break;
    case kIrqDescriptors:
      break;
    case kReset:
      set_bus_master(host_, false);
      answer(0);
      break;
    default:
      throw ChannelError("QEMU's PCI proxy: message " + std::to_string(header.command));
  }
  return true;
}

void ProxyPci::answer(std::uint64_t value) {
  const Header header{kAnswer, 0, sizeof value};
  std::uint8_t bytes[sizeof header + sizeof value];
  std::memcpy(bytes, &header, sizeof header);
  std::memcpy(bytes + sizeof header, &value, sizeof value);
  send(socket_, bytes, sizeof bytes);
}

// The machine's RAM is one file, from address 0 on: told of once, however its parts are shown.
void ProxyPci::take_memory(const std::vector<std::uint8_t>& body, std::vector<Descriptor>& files) {
  const auto memory = body_of<Memory>(body);
  for (std::size_t i = 0; i < std::min(files.size(), kRegions) && !memory_; ++i) {
    struct stat file;
    if (memory.addr[i] != 0 || memory.offset[i] != 0 || memory.bytes[i] == 0 ||
        ::fstat(files[i].number(), &file) != 0)
      continue;
    memory_bytes_ = static_cast<std::size_t>(file.st_size);
    void* at =
        ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, files[i].number(), 0);
    if (at == MAP_FAILED) throw ChannelError("QEMU's memory cannot be mapped");
    memory_ = at;
    if (guest_) guest_->lend(0, memory_bytes_, static_cast<std::uint8_t*>(at));
  }
}

std::uint64_t ProxyPci::config(const std::vector<std::uint8_t>& body, bool write) {
  const auto access = body_of<Config>(body);
  if (access.bytes < 1 || access.addr > 0xfff ||
      (access.addr & 3) + static_cast<unsigned>(access.bytes) > 4)
    throw ChannelError("QEMU's PCI proxy: an access to configuration space");
  const ConfigPart part{static_cast<std::uint16_t>(access.addr),
                        static_cast<unsigned>(access.bytes)};
  if (!write) return part.taken_from(host_.config_read(part.word()));
  host_.config_write(part.word(), part.placed(access.value), part.enables());
  return 0;
}

std::uint64_t ProxyPci::bar(const std::vector<std::uint8_t>& body, bool write) {
  const auto access = body_of<Bar>(body);
  if (access.bytes < 1 || (access.addr & 7) + access.bytes > 8)
    throw ChannelError("QEMU's PCI proxy: an access to a BAR");
  if (!write) return mmio_read(host_, access.addr, access.bytes);
  wait_for_room(host_);
  mmio_write(host_, access.addr, access.value, access.bytes);
  return 0;
}

}  // namespace emery
