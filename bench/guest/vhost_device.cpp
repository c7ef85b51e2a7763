// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vhost_device.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace emery {
namespace {

// docs/interop/vhost-user of QEMU, what a user-mode Linux uses of it.
enum Request : std::uint32_t {
  kGetFeatures = 1,
  kSetFeatures = 2,
  kSetOwner = 3,
  kSetMemory = 5,
  kSetSize = 8,
  kSetAddresses = 9,
  kSetBase = 10,
  kGetProtocolFeatures = 15,
  kSetProtocolFeatures = 16,
  kSetEnable = 18,
  kSetBackChannel = 21,
  kKick = 35
};
constexpr std::uint32_t kBackCall = 4;
constexpr std::uint32_t kVersion = 1, kReply = 1 << 2, kNeedReply = 1 << 3;
constexpr std::uint64_t kProtocolFeatures = 1ull << 30, kVirtio1 = 1ull << 32;
constexpr std::uint64_t kReplyAck = 1 << 3, kBackChannel = 1 << 5, kInband = 1 << 14;

struct Header {
  std::uint32_t request, flags, bytes;
};
struct MemoryRegion {
  std::uint64_t guest, bytes, user, offset;
};

}  // namespace

struct VhostDevice::Message {
  Header header;
  std::array<std::uint8_t, 4096> payload;

  template <class T>
  T as(std::size_t offset = 0) const {
    T value;
    if (offset + sizeof value > header.bytes)
      throw ChannelError("vhost-user: request " + std::to_string(header.request) + " is too short");
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
  }
};

VhostDevice::VhostDevice(Descriptor socket, unsigned queues) : socket_(std::move(socket)) {
  for (unsigned q = 0; q < queues; ++q) {
    queues_.emplace_back(
        [this](std::uint64_t addr, std::uint64_t bytes) { return translate(addr, bytes); });
  }
}

VhostDevice::~VhostDevice() {
  for (const Mapping& m : mappings_) ::munmap(m.at, m.bytes);
}

bool VhostDevice::read(const Descriptor& from, Message& message,
                       std::vector<Descriptor>& descriptors) {
  if (!receive(from, &message.header, sizeof message.header, &descriptors)) return false;
  if (message.header.bytes > message.payload.size())
    throw ChannelError("vhost-user: a message of " + std::to_string(message.header.bytes) +
                       " bytes");
  return receive(from, message.payload.data(), message.header.bytes, &descriptors);
}

bool VhostDevice::serve() {
  Message message;
  std::vector<Descriptor> descriptors;
  if (!read(socket_, message, descriptors)) return false;
  struct Answer {
    Header header;
    std::uint8_t value[8];
  };
  std::uint64_t value = 0;
  bool answered = (message.header.flags & kNeedReply) != 0;
  const auto index = [&] { return message.as<std::uint32_t>(); };
  const auto number = [&] { return message.as<std::uint32_t>(4); };
  switch (message.header.request) {
    case kGetFeatures:
      value = kProtocolFeatures | kVirtio1;
      answered = true;
      break;
    case kGetProtocolFeatures:
      value = kReplyAck | kBackChannel | kInband;
      answered = true;
      break;
    case kSetFeatures:
    case kSetOwner:
    case kSetProtocolFeatures:
    case kSetEnable:
      break;
    case kSetMemory:
      take_memory(message, descriptors);
      break;
    case kSetSize:
      queue(index()).set_size(number());
      break;
    case kSetBase:
      queue(index()).set_base(number());
      break;
    case kSetAddresses:
      queue(index()).set_addresses(message.as<std::uint64_t>(8), message.as<std::uint64_t>(16),
                                   message.as<std::uint64_t>(24));
      break;
    case kSetBackChannel:
      if (descriptors.empty()) throw ChannelError("vhost-user: a back channel without descriptor");
      back_ = std::move(descriptors.front());
      break;
    case kKick:
      if (on_kick) on_kick(index());
      break;
    default:
      throw ChannelError("vhost-user: request " + std::to_string(message.header.request));
  }
  if (answered) {
    Answer answer{{message.header.request, kVersion | kReply, sizeof answer.value}, {}};
    std::memcpy(answer.value, &value, sizeof value);
    send(socket_, &answer, sizeof answer);
  }
  return true;
}

void VhostDevice::take_memory(const Message& message, std::vector<Descriptor>& descriptors) {
  const auto count = message.as<std::uint32_t>();
  if (count != descriptors.size()) throw ChannelError("vhost-user: memory without descriptors");
  if (!regions_.empty()) return;  // the same once more
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto region = message.as<MemoryRegion>(8 + i * sizeof(MemoryRegion));
    const std::size_t bytes = region.offset + region.bytes;
    void* at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[i].number(), 0);
    if (at == MAP_FAILED) throw ChannelError("vhost-user: the guest's memory cannot be mapped");
    mappings_.push_back({at, bytes});
    regions_.push_back(
        {region.guest, region.bytes, static_cast<std::uint8_t*>(at) + region.offset});
    if (on_memory) on_memory(regions_.back());
  }
}

std::uint8_t* VhostDevice::translate(std::uint64_t addr, std::uint64_t bytes) const {
  for (const Region& r : regions_) {
    if (addr >= r.addr && bytes <= r.bytes && addr - r.addr <= r.bytes - bytes)
      return r.at + (addr - r.addr);
  }
  throw ChannelError("a guest's virtqueue: an address outside of its memory");
}

void VhostDevice::notify(unsigned index, std::vector<int> others, const Meanwhile& meanwhile) {
  struct Call {
    Header header;
    std::uint32_t index, number;
  };
  const Call call{{kBackCall, kVersion | kNeedReply, 8}, index, 0};
  queue(index).told();
  send(back_, &call, sizeof call);
  const std::size_t answered = others.size();
  others.push_back(back_.number());
  for (std::size_t first; (first = wait_readable(others)) != answered;) {
    if (!meanwhile(first)) return;
  }
  Message answer;
  std::vector<Descriptor> descriptors;
  read(back_, answer, descriptors);
}

}  // namespace emery
