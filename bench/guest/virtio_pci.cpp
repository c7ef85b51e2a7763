// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/virtio_pci.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace emery {
namespace {

enum Op : std::uint8_t {
  kConfigRead = 1,
  kConfigWrite = 2,
  kMmioRead = 3,
  kMmioWrite = 4,
  kMmioSet = 5,
  kMsi = 7
};

struct Header {
  std::uint8_t op, bar;
  std::uint16_t reserved;
  std::uint32_t bytes;
  std::uint64_t addr;
};
static_assert(sizeof(Header) == 16);

constexpr std::uint64_t kBar0 = 0x10;
constexpr std::uint64_t kLongest = 4096;

std::uint64_t value_of(std::span<const std::uint8_t> data) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(data.size(), sizeof value); ++i)
    value |= std::uint64_t{data[i]} << 8 * i;
  return value;
}

void refuse(const Header& header) {
  throw ChannelError("a guest's PCI access: operation " + std::to_string(header.op) + ", BAR " +
                     std::to_string(header.bar) + ", " + std::to_string(header.bytes) + " bytes");
}

}  // namespace

struct VirtioPci::Command {
  Header header;
  std::vector<std::uint8_t> data;
};

VirtioPci::VirtioPci(VhostDevice& device, HostInterface& host) : device_(device), host_(host) {
  device_.on_kick = [this](unsigned queue) {
    if (queue == kCommands) serve();
    full_ = full_ && queue != kInterrupts;
  };
  host_.on_vector([this](unsigned message) { messages_.push_back(message); });
}

void VirtioPci::serve() {
  Virtqueue& queue = device_.queue(kCommands);
  while (!busy_) {
    const auto chain = queue.take();
    if (!chain) return;
    std::vector<std::uint8_t> bytes;
    for (const auto& piece : chain->out) bytes.insert(bytes.end(), piece.begin(), piece.end());
    Command command;
    if (bytes.size() < sizeof command.header) throw ChannelError("a guest's PCI access: too short");
    std::memcpy(&command.header, bytes.data(), sizeof command.header);
    command.data.assign(bytes.begin() + sizeof command.header, bytes.end());
    const Header& h = command.header;
    const std::uint64_t bar = (std::uint64_t{bar_[1]} << 32 | bar_[0]) & ~std::uint64_t{0xf};
    if (h.bar != 0 || h.bytes == 0 || h.bytes > kLongest) refuse(h);
    if (h.op == kConfigRead || h.op == kConfigWrite) {
      config(command, *chain);
    } else if (h.op == kMmioRead) {
      mmio_read(command, *chain);
    } else if (h.op == kMmioWrite && command.data.size() >= h.bytes) {
      host_.mmio_write(bar + h.addr, command.data.data(), h.bytes);
      if (on_register) on_register(h.addr, {command.data.data(), h.bytes});
      queue.give_back(chain->head, 0);
    } else if (h.op == kMmioSet && !command.data.empty()) {
      const std::vector<std::uint8_t> same(h.bytes, command.data.front());
      host_.mmio_write(bar + h.addr, same.data(), h.bytes);
      queue.give_back(chain->head, 0);
    } else {
      refuse(h);
    }
  }
}

void VirtioPci::config(const Command& command, const Virtqueue::Chain& chain) {
  const Header& h = command.header;
  const bool write = h.op == kConfigWrite;
  const auto shift = static_cast<unsigned>(h.addr & 3);
  if (shift + h.bytes > 4 || (write ? command.data.size() < h.bytes : chain.in.empty())) refuse(h);
  const auto offset = static_cast<std::uint16_t>(h.addr & 0xffc);
  const auto value = static_cast<std::uint32_t>(value_of(command.data) << 8 * shift);
  if (write && h.bytes == 4 && h.addr - kBar0 < 8) bar_[(h.addr - kBar0) / 4] = value;
  busy_ = true;
  const auto done = [this, chain, shift, write, bytes = h.bytes](std::uint64_t word, bool) {
    const std::uint64_t found = word >> 8 * shift;
    if (!write)
      std::memcpy(chain.in.front().data(), &found,
                  std::min<std::size_t>(bytes, chain.in.front().size()));
    device_.queue(kCommands).give_back(chain.head, write ? 0 : bytes);
    busy_ = false;
    serve();
  };
  if (write) {
    host_.config_write_async(offset, value, ((1u << h.bytes) - 1) << shift, done);
  } else {
    host_.config_read_async(offset, done);
  }
}

// In pieces that the device takes.
void VirtioPci::mmio_read(const Command& command, const Virtqueue::Chain& chain) {
  const Header& h = command.header;
  const std::uint64_t bar = (std::uint64_t{bar_[1]} << 32 | bar_[0]) & ~std::uint64_t{0xf};
  if (chain.in.empty() || chain.in.front().size() < h.bytes) refuse(h);
  const auto left = std::make_shared<std::uint32_t>(h.bytes);
  for (std::uint32_t at = 0; at < h.bytes;) {
    const auto piece =
        std::min(h.bytes - at, static_cast<std::uint32_t>(8 - ((bar + h.addr + at) & 7)));
    std::uint8_t* to = chain.in.front().data() + at;
    host_.mmio_read_async(
        bar + h.addr + at, piece,
        [this, to, piece, left, head = chain.head, all = h.bytes](std::uint64_t value, bool) {
          std::memcpy(to, &value, piece);
          *left -= piece;
          if (*left == 0) device_.queue(kCommands).give_back(head, all);
        });
    at += piece;
  }
}

void VirtioPci::deliver(const std::vector<int>& others, const VhostDevice::Meanwhile& meanwhile) {
  struct Message {
    Header header;
    std::uint32_t data;
  };
  Virtqueue& queue = device_.queue(kInterrupts);
  while (!messages_.empty()) {
    const auto chain = queue.take();
    full_ = !chain;
    if (!chain) break;
    const Message message{{kMsi, 0, 0, sizeof message.data, 0}, messages_.front()};
    constexpr std::size_t kBytes = sizeof(Header) + sizeof message.data;
    if (chain->in.empty() || chain->in.front().size() < kBytes)
      throw ChannelError("a guest's interrupt queue: no room for a message");
    std::memcpy(chain->in.front().data(), &message, kBytes);
    queue.give_back(chain->head, kBytes);
    messages_.pop_front();
  }
  for (const unsigned index : {kCommands, kInterrupts}) {
    if (device_.queue(index).untold() != 0) device_.notify(index, others, meanwhile);
  }
}

void VirtioPci::wake(const std::vector<int>& others, const VhostDevice::Meanwhile& meanwhile) {
  device_.notify(kInterrupts, others, meanwhile);
}

}  // namespace emery
