// SPDX-License-Identifier: Apache-2.0
// The server's end of a vfio-user connection: messages of the protocol (its specification is in
// QEMU's docs/interop/vfio-user.rst), each whole, in order; replies, and commands to the client.
// Nothing waits for a client that has sent a part of a message only.
//
// Throws ChannelError where what comes can be no message, so that nothing behind it can be told
// apart, and where a client does not answer or takes no answers for kPatience.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"

namespace emery {

class VfioChannel {
 public:
  static constexpr std::size_t kMostData = 1 << 20;  // of one transfer; the protocol's default
  static constexpr int kPatience = 60;               // s
  /// Likewise, for the answer of a client that waits for ours: one that can give it does so at
  /// once.
  static constexpr int kPatienceOfBoth = 5;

  struct Header {
    std::uint16_t id, command;
    std::uint32_t bytes;  // of all of the message
    std::uint32_t flags, error;
  };
  struct Message {
    Header header;
    std::vector<std::uint8_t> body;
    std::vector<Descriptor> files;
  };

  explicit VfioChannel(Descriptor socket);

  int number() const { return socket_.number(); }
  bool gone() const { return gone_; }
  /// Commands have come while an answer was waited for.
  bool behind() const { return !waiting_.empty(); }
  /// The next command, if one has come.
  std::optional<Message> next();
  /// Nothing where the client wants no reply.
  void reply(const Header& to, std::span<const std::uint8_t> body = {});
  void refuse(const Header& to, int error);
  /// What the client answers to a command; nothing when it refuses, or has gone.
  std::optional<std::vector<std::uint8_t>> ask(std::uint16_t command,
                                               std::span<const std::uint8_t> body);

 private:
  enum Flags : std::uint32_t {
    kType = 0xf,
    kCommand = 0,
    kReply = 1,
    kNoReply = 0x10,
    kError = 0x20
  };
  static constexpr std::size_t kMostBytes = sizeof(Header) + 64 + kMostData, kMostWaiting = 256;

  bool take();
  Message taken();
  void write(Header header, std::span<const std::uint8_t> body);

  Descriptor socket_;
  bool gone_ = false, owes_ = false;  // owes: an answer to the command taken last
  std::vector<std::uint8_t> bytes_;   // of the message that is coming
  std::size_t have_ = 0;
  std::vector<Descriptor> files_;
  std::deque<Message> waiting_;
  std::uint16_t id_ = 0;
};

}  // namespace emery
