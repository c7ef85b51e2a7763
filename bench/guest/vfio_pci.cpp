// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vfio_pci.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "bench/stats/json.hpp"
#include "bench/stats/json_object.hpp"

namespace emery {
namespace {

enum Command : std::uint16_t {
  kVersion = 1,
  kDmaMap = 2,
  kDmaUnmap = 3,
  kDeviceInfo = 4,
  kRegionInfo = 5,
  kRegionFiles = 6,
  kIrqInfo = 7,
  kSetIrqs = 8,
  kRegionRead = 9,
  kRegionWrite = 10,
  kDmaRead = 11,
  kDmaWrite = 12,
  kReset = 13
};

// Kinds of interrupts, as <linux/vfio.h> numbers them.
constexpr std::uint32_t kMsix = 2, kKinds = 3;

struct Version {
  std::uint16_t major, minor;
};
constexpr Version kSpoken{0, 1};

struct DmaMap {
  std::uint32_t argsz, flags;
  std::uint64_t offset, addr, bytes;
};
struct DmaUnmap {
  std::uint32_t argsz, flags;
  std::uint64_t addr, bytes;
};
enum : std::uint32_t { kUnmapAll = 2 };
struct DeviceInfo {
  std::uint32_t argsz, flags, regions, kinds;
};
enum : std::uint32_t { kCanReset = 1, kPci = 2 };
struct RegionInfo {
  std::uint32_t argsz, flags, index, capabilities;
  std::uint64_t bytes, offset;
};
enum : std::uint32_t { kReadable = 1, kWriteable = 2 };
struct IndexInfo {  // of file descriptors of a region, of a kind of interrupts
  std::uint32_t argsz, flags, index, count;
};
enum : std::uint32_t { kByEvents = 1, kMaskable = 2 };
struct IrqSet {
  std::uint32_t argsz, flags, index, start, count;
};
enum : std::uint32_t {
  kNoData = 1,
  kBools = 2,
  kEvents = 4,
  kMask = 8,
  kUnmask = 16,
  kTrigger = 32
};
struct Transfer {
  std::uint64_t addr, bytes;
};
static_assert(sizeof(DmaMap) == 32 && sizeof(DmaUnmap) == 24 && sizeof(DeviceInfo) == 16 &&
              sizeof(RegionInfo) == 32 && sizeof(IndexInfo) == 16 && sizeof(IrqSet) == 20 &&
              sizeof(Transfer) == 16);

struct Refused {
  int error;
};
void require(bool fits, int error = EINVAL) {
  if (!fits) throw Refused{error};
}

// The start of a message's body, which may go on where `more`.
template <class Body>
Body body_of(const VfioChannel::Message& message, bool more = false) {
  Body body;
  const std::size_t bytes = message.body.size();
  require(more ? bytes >= sizeof body : bytes == sizeof body);
  std::memcpy(&body, message.body.data(), sizeof body);
  return body;
}

template <class Body>
std::vector<std::uint8_t> bytes_of(const Body& body, std::size_t more = 0) {
  std::vector<std::uint8_t> bytes(sizeof body + more);
  std::memcpy(bytes.data(), &body, sizeof body);
  return bytes;
}

}  // namespace

struct VfioPci::Access {
  std::uint64_t offset;
  std::uint32_t region, bytes;
};

VfioPci::VfioPci(Descriptor socket, SlotInterface& host, HostMemory* guest)
    : channel_(std::move(socket)),
      guest_(guest),
      memory_({[this](auto addr, void* to, auto bytes) { return transfer_in(addr, to, bytes); },
               [this](auto addr, const void* from, auto bytes) {
                 return transfer_out(addr, from, bytes);
               }}),
      vectors_(host),
      regions_(host, vectors_) {
  if (guest_) guest_->look_elsewhere(&memory_);
}

VfioPci::~VfioPci() {
  if (guest_) guest_->look_elsewhere(nullptr);
}

bool VfioPci::serve() {
  if (auto message = channel_.next()) {
    try {
      const Bytes body = answer(*message);
      channel_.reply(message->header, body);
    } catch (const Refused& refused) {
      channel_.refuse(message->header, refused.error);
    }
  }
  return !channel_.gone();
}

VfioPci::Bytes VfioPci::answer(Message& message) {
  const std::uint16_t command = message.header.command;
  if (!agreed_ && command != kVersion)
    throw ChannelError("vfio-user: the client begins with command " + std::to_string(command) +
                       " in place of its version");
  switch (command) {
    case kVersion:
      return agree(message);
    case kDmaMap:
      return map_memory(message);
    case kDmaUnmap:
      return unmap_memory(message);
    case kDeviceInfo:
      return device_info(message);
    case kRegionInfo:
      return region_info(message);
    case kRegionFiles:
      return region_files(message);
    case kIrqInfo:
      return interrupt_info(message);
    case kSetIrqs:
      return set_interrupts(message);
    case kRegionRead:
      return read_region(message);
    case kRegionWrite:
      return write_region(message);
    case kReset:
      require(message.body.empty());
      require(regions_.reset(), EIO);
      return {};
    default:
      throw Refused{ENOTSUP};
  }
}

// ---- what both can

// Of the capabilities that the client proposes those that there are here.
VfioPci::Bytes VfioPci::agree(const Message& message) {
  const auto proposed = body_of<Version>(message, true);
  require(!agreed_ && proposed.major == kSpoken.major);
  JsonMembers capabilities;
  if (message.body.size() > sizeof proposed) {
    require(message.body.back() == 0);
    const std::string text(message.body.begin() + sizeof proposed, message.body.end() - 1);
    const auto members = json_members(text);
    require(members.has_value());
    if (const auto found = members->find("capabilities"); found != members->end()) {
      auto inner = json_members(found->second);
      require(inner.has_value());
      capabilities = std::move(*inner);
    }
  }
  if (const auto most = capabilities.find("max_data_xfer_size"); most != capabilities.end()) {
    const std::string& digits = most->second;
    const auto end = digits.data() + digits.size();
    std::uint64_t bytes = 0;
    const auto [stopped, error] = std::from_chars(digits.data(), end, bytes);
    require(error == std::errc() && stopped == end && bytes != 0);
    most_data_ = bytes;
  }
  const std::pair<const char*, std::uint64_t> own[] = {
      {"max_msg_fds", kMostDescriptors},
      {"max_data_xfer_size", VfioChannel::kMostData},
      {"max_dma_maps", ClientMemory::kMostRegions},
      {"pgsizes", ClientMemory::kPage}};
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.begin_object().key("capabilities").begin_object();
  for (const auto& [name, value] : own) {
    if (capabilities.contains(name)) json.field(name, value);
  }
  json.end_object().end_object();
  agreed_ = true;
  const std::string text = json.text();
  Bytes out = bytes_of(Version{kSpoken.major, std::min(kSpoken.minor, proposed.minor)}, 0);
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
  return out;
}

// ---- memory

VfioPci::Bytes VfioPci::map_memory(const Message& message) {
  const auto wanted = body_of<DmaMap>(message);
  require(wanted.argsz == sizeof wanted && message.files.size() <= 1);
  const Descriptor* file = message.files.empty() ? nullptr : &message.files.front();
  if (const int error = memory_.map(wanted.addr, wanted.bytes, wanted.flags, file, wanted.offset))
    throw Refused{error};
  return {};
}

VfioPci::Bytes VfioPci::unmap_memory(const Message& message) {
  auto wanted = body_of<DmaUnmap>(message);
  require(wanted.argsz >= sizeof wanted && (wanted.flags & ~kUnmapAll) == 0);
  if (wanted.flags & kUnmapAll) {
    require(wanted.addr == 0 && wanted.bytes == 0);
    memory_.unmap_all();
  } else if (const int error = memory_.unmap(wanted.addr, wanted.bytes)) {
    throw Refused{error};
  }
  wanted.argsz = sizeof wanted;
  return bytes_of(wanted);
}

bool VfioPci::transfer_in(std::uint64_t addr, void* to, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const Transfer part{addr + done, std::min(bytes - done, most_data_)};
    const auto answer = channel_.ask(kDmaRead, bytes_of(part));
    if (!answer) return false;
    if (answer->size() != sizeof part + part.bytes)
      throw ChannelError("vfio-user: the client answers a read of memory with another length");
    std::memcpy(static_cast<std::uint8_t*>(to) + done, answer->data() + sizeof part, part.bytes);
    done += part.bytes;
  }
  return true;
}

bool VfioPci::transfer_out(std::uint64_t addr, const void* from, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const Transfer part{addr + done, std::min(bytes - done, most_data_)};
    Bytes body = bytes_of(part, part.bytes);
    std::memcpy(body.data() + sizeof part, static_cast<const std::uint8_t*>(from) + done,
                part.bytes);
    if (!channel_.ask(kDmaWrite, body)) return false;
    done += part.bytes;
  }
  return true;
}

// ---- what there is

VfioPci::Bytes VfioPci::device_info(const Message& message) const {
  require(body_of<DeviceInfo>(message).argsz >= sizeof(DeviceInfo));
  return bytes_of(DeviceInfo{sizeof(DeviceInfo), kCanReset | kPci, VfioRegions::kCount, kKinds});
}

VfioPci::Bytes VfioPci::region_info(const Message& message) const {
  const auto wanted = body_of<RegionInfo>(message);
  require(wanted.argsz >= sizeof wanted && wanted.index < VfioRegions::kCount);
  const std::uint64_t bytes = regions_.bytes(wanted.index);
  const std::uint32_t flags = bytes ? kReadable | kWriteable : 0;
  return bytes_of(RegionInfo{sizeof wanted, flags, wanted.index, 0, bytes, 0});
}

VfioPci::Bytes VfioPci::region_files(const Message& message) const {
  const auto wanted = body_of<IndexInfo>(message);
  require(wanted.argsz >= sizeof wanted && wanted.flags == 0 && wanted.count == 0 &&
          wanted.index < VfioRegions::kCount);
  return bytes_of(IndexInfo{sizeof wanted, 0, wanted.index, 0});
}

// ---- interrupts

VfioPci::Bytes VfioPci::interrupt_info(const Message& message) const {
  const auto wanted = body_of<IndexInfo>(message);
  require(wanted.argsz >= sizeof wanted && wanted.index < kKinds);
  if (wanted.index != kMsix) return bytes_of(IndexInfo{sizeof wanted, 0, wanted.index, 0});
  return bytes_of(IndexInfo{sizeof wanted, kByEvents | kMaskable, wanted.index, vectors_.count()});
}

VfioPci::Bytes VfioPci::set_interrupts(Message& message) {
  const auto wanted = body_of<IrqSet>(message, true);
  const std::uint32_t data = wanted.flags & (kNoData | kBools | kEvents);
  const std::uint32_t action = wanted.flags & (kMask | kUnmask | kTrigger);
  const std::span flags(message.body.begin() + sizeof wanted, message.body.end());
  require(wanted.argsz == message.body.size() && wanted.flags == (data | action));
  require((data == kNoData || data == kBools || data == kEvents) &&
          (action == kMask || action == kUnmask || action == kTrigger));
  require(flags.size() == (data == kBools ? wanted.count : 0));
  const std::uint32_t all = wanted.index == kMsix ? vectors_.count() : 0;
  require(wanted.index < kKinds && wanted.start <= all && wanted.count <= all - wanted.start);
  auto& files = message.files;
  if (data == kEvents) {
    require(action == kTrigger && wanted.count != 0);
    require(files.empty() || files.size() == wanted.count);
    require(std::all_of(files.begin(), files.end(), VectorEvents::is_event));
    for (std::uint32_t i = 0; i < wanted.count; ++i)
      vectors_.assign(wanted.start + i, files.empty() ? Descriptor() : std::move(files[i]));
    return {};
  }
  require(files.empty());
  if (wanted.count == 0) {
    require(data == kNoData && action == kTrigger && wanted.start == 0);
    if (wanted.index == kMsix) vectors_.clear();
  }
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    if (data == kBools && flags[i] == 0) continue;
    if (action == kTrigger) {
      vectors_.trigger(wanted.start + i);
    } else {
      vectors_.mask(wanted.start + i, action == kMask);
    }
  }
  return {};
}

// ---- accesses

void VfioPci::check(const Access& access) const {
  const std::uint64_t bytes = regions_.bytes(access.region);
  require(access.bytes != 0 && access.bytes <= VfioChannel::kMostData);
  require(access.offset <= bytes && access.bytes <= bytes - access.offset);
}

VfioPci::Bytes VfioPci::read_region(const Message& message) {
  const auto access = body_of<Access>(message);
  check(access);
  Bytes out = bytes_of(access, access.bytes);
  regions_.read(access.region, access.offset, out.data() + sizeof access, access.bytes);
  return out;
}

VfioPci::Bytes VfioPci::write_region(const Message& message) {
  const auto access = body_of<Access>(message, true);
  check(access);
  require(message.body.size() == sizeof access + access.bytes);
  regions_.write(access.region, access.offset, message.body.data() + sizeof access, access.bytes);
  return bytes_of(access);
}

}  // namespace emery
