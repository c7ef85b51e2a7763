// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vfio_channel.hpp"

#include <string>

namespace emery {

VfioChannel::VfioChannel(Descriptor socket) : socket_(std::move(socket)), bytes_(sizeof(Header)) {
  static_assert(sizeof(Header) == 16);
  limit_patience(socket_, kPatience);
}

// Takes what has come of the next message; whether it is whole.
bool VfioChannel::take() {
  while (have_ < bytes_.size()) {
    const auto part = receive_some(socket_, bytes_.data() + have_, bytes_.size() - have_, &files_);
    if (!part) gone_ = true;
    if (!part || *part == 0) return false;
    have_ += *part;
    if (have_ != sizeof(Header)) continue;
    Header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    if (header.bytes < sizeof header || header.bytes > kMostBytes)
      throw ChannelError("vfio-user: a message of " + std::to_string(header.bytes) + " bytes");
    if ((header.flags & kType) > kReply)
      throw ChannelError("vfio-user: a message that is neither command nor reply");
    bytes_.resize(header.bytes);
  }
  return true;
}

VfioChannel::Message VfioChannel::taken() {
  Message message;
  std::memcpy(&message.header, bytes_.data(), sizeof message.header);
  message.body.assign(bytes_.begin() + sizeof message.header, bytes_.end());
  message.files = std::exchange(files_, {});
  bytes_.resize(sizeof(Header));
  have_ = 0;
  return message;
}

std::optional<VfioChannel::Message> VfioChannel::next() {
  Message message;
  if (!waiting_.empty()) {
    message = std::move(waiting_.front());
    waiting_.pop_front();
  } else {
    if (!take()) return std::nullopt;
    message = taken();
    if ((message.header.flags & kType) == kReply)
      throw ChannelError("vfio-user: a reply that nobody waits for");
  }
  owes_ = !(message.header.flags & kNoReply);
  return message;
}

void VfioChannel::write(Header header, std::span<const std::uint8_t> body) {
  header.bytes = static_cast<std::uint32_t>(sizeof header + body.size());
  std::vector<std::uint8_t> bytes(header.bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  send(socket_, bytes.data(), bytes.size());
}

void VfioChannel::reply(const Header& to, std::span<const std::uint8_t> body) {
  owes_ = false;
  if (!(to.flags & kNoReply)) write({to.id, to.command, 0, kReply, 0}, body);
}

void VfioChannel::refuse(const Header& to, int error) {
  owes_ = false;
  if (!(to.flags & kNoReply))
    write({to.id, to.command, 0, kReply | kError, static_cast<std::uint32_t>(error)}, {});
}

std::optional<std::vector<std::uint8_t>> VfioChannel::ask(std::uint16_t command,
                                                          std::span<const std::uint8_t> body) {
  write({++id_, command, 0, kCommand, 0}, body);
  while (!gone_) {
    if (!take()) {
      const bool both = owes_ || !waiting_.empty();
      if (!gone_ && !readable(socket_.number(), 1000 * (both ? kPatienceOfBoth : kPatience)))
        throw ChannelError(
            both ? "vfio-user: the client waits for a register and does not answer for memory that "
                   "it has not shared (QEMU: share=on)"
                 : "vfio-user: the client does not answer for memory that it has not shared");
      continue;
    }
    Message message = taken();
    const Header& header = message.header;
    if ((header.flags & kType) == kCommand) {
      if (waiting_.size() == kMostWaiting)
        throw ChannelError("vfio-user: the client asks and does not answer");
      waiting_.push_back(std::move(message));
    } else if (header.id != id_ || header.command != command) {
      throw ChannelError("vfio-user: a reply that nobody waits for");
    } else if (header.flags & kError) {
      return std::nullopt;
    } else {
      return std::move(message.body);
    }
  }
  return std::nullopt;
}

}  // namespace emery
