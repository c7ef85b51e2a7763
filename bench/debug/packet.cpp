// SPDX-License-Identifier: Apache-2.0
#include "bench/debug/packet.hpp"

#include <utility>

namespace emery {
namespace {

constexpr char kInterrupt = 3, kEscape = '}';
constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescaped(const std::string& raw) {
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool escape = raw[i] == kEscape && i + 1 < raw.size();
    text += escape ? static_cast<char>(raw[++i] ^ 0x20) : raw[i];
  }
  return text;
}

}  // namespace

void PacketReader::feed(std::string_view bytes) {
  for (const char c : bytes) take(c);
}

void PacketReader::take(char c) {
  if (c == '$') {  // never inside a packet: one was cut off
    state_ = State::kInside;
    payload_.clear();
    sum_ = 0;
    too_long_ = false;
    return;
  }
  switch (state_) {
    case State::kBetween:
      if (c == kInterrupt) events_.push_back({PacketEvent::kInterrupt, {}});
      if (c == '-') events_.push_back({PacketEvent::kAgain, {}});
      break;
    case State::kInside:
      if (c == '#') {
        state_ = State::kFirstDigit;
        break;
      }
      sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(c));
      too_long_ |= payload_.size() == kMost;
      if (!too_long_) payload_ += c;
      break;
    case State::kFirstDigit:
      first_ = c;
      state_ = State::kSecondDigit;
      break;
    case State::kSecondDigit:
      end(c);
      state_ = State::kBetween;
      break;
  }
}

void PacketReader::end(char second) {
  const int high = digit(first_), low = digit(second);
  if (high < 0 || low < 0 || high * 16 + low != sum_) {
    events_.push_back({PacketEvent::kBadChecksum, {}});
  } else if (too_long_) {
    events_.push_back({PacketEvent::kTooLong, {}});
  } else {
    events_.push_back({PacketEvent::kPacket, unescaped(payload_)});
  }
}

PacketEvent PacketReader::next() {
  PacketEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::string packet_of(std::string_view payload) {
  std::string packet = "$";
  std::uint8_t sum = 0;
  const auto put = [&](char c) {
    packet += c;
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  };
  for (const char c : payload) {
    if (c == '#' || c == '$' || c == '*' || c == kEscape) {
      put(kEscape);
      put(static_cast<char>(c ^ 0x20));
    } else {
      put(c);
    }
  }
  return packet + '#' + kDigits[sum >> 4] + kDigits[sum & 15];
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string hex(std::string_view text) {
  return hex(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

bool unhex(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

bool take_number(std::string_view& text, std::uint32_t& value) {
  std::uint64_t number = 0;
  std::size_t used = 0;
  for (; used < text.size() && digit(text[used]) >= 0; ++used) {
    number = number * 16 + static_cast<std::uint64_t>(digit(text[used]));
    if (number > 0xffff'ffff) return false;
  }
  text.remove_prefix(used);
  value = static_cast<std::uint32_t>(number);
  return used != 0;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace emery
