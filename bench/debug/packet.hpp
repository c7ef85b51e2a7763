// SPDX-License-Identifier: Apache-2.0
// Packets of gdb's remote protocol ("Debugging with GDB", appendix E): $PAYLOAD#CS, acknowledged
// by + or -, and Ctrl-C as a byte of its own between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace emery {

/// What comes out of a connection, in its order.
struct PacketEvent {
  enum Kind { kPacket, kTooLong, kBadChecksum, kAgain, kInterrupt };
  Kind kind;
  std::string payload;  // of kPacket, escapes taken out
};

/// Bytes in, packets out. What is not part of a packet and means nothing is passed over.
class PacketReader {
 public:
  /// A longer payload is dropped, however long it is.
  static constexpr std::size_t kMost = 16384;

  void feed(std::string_view bytes);
  bool empty() const { return events_.empty(); }
  PacketEvent next();

 private:
  enum class State { kBetween, kInside, kFirstDigit, kSecondDigit };

  void take(char c);
  void end(char second);

  State state_ = State::kBetween;
  std::string payload_;
  bool too_long_ = false;
  std::uint8_t sum_ = 0;
  char first_ = 0;
  std::deque<PacketEvent> events_;
};

/// A payload as it goes over a connection.
std::string packet_of(std::string_view payload);

// ---- payloads

std::string hex(std::span<const std::uint8_t> bytes);
std::string hex(std::string_view text);
/// False unless all of it is pairs of hexadecimal digits.
bool unhex(std::string_view text, std::string& bytes);

/// Takes a hexadecimal number of at most 32 bits from the beginning of a text; false when there is
/// none.
bool take_number(std::string_view& text, std::uint32_t& value);
/// Takes a word from the beginning of a text, if it is there.
bool take(std::string_view& text, std::string_view word);

}  // namespace emery
