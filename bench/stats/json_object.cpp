// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/json_object.hpp"

#include <algorithm>
#include <functional>

namespace emery {
namespace {

constexpr int kDeepest = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ended() {
    skip_blanks();
    return at_ == text_.size();
  }

  // Each of these is past what it is named after, or gives false.
  bool object(const std::function<void(std::string_view, std::string_view)>& member, int depth) {
    if (depth > kDeepest || !take('{')) return false;
    if (take('}')) return true;
    do {
      skip_blanks();
      const std::size_t from = at_;
      if (!string()) return false;
      const std::string_view name = text_.substr(from + 1, at_ - from - 2);
      if (!take(':')) return false;
      skip_blanks();
      const std::size_t begin = at_;
      if (!value(depth)) return false;
      member(name, text_.substr(begin, at_ - begin));
    } while (take(','));
    return take('}');
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  bool value(int depth) {
    skip_blanks();
    const char first = next();
    if (first == '{') return object([](std::string_view, std::string_view) {}, depth + 1);
    if (first == '[') return array(depth + 1);
    if (first == '"') return string();
    if (first == '-' || is_digit(first)) return number();
    return word("true") || word("false") || word("null");
  }
  bool array(int depth) {
    if (depth > kDeepest || !take('[')) return false;
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
    } while (take(','));
    return take(']');
  }
  bool string() {
    if (next() != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_, true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\') ++at_;
    }
    return false;
  }
  bool digits() {
    const std::size_t from = at_;
    while (is_digit(next())) ++at_;
    return at_ != from;
  }
  bool number() {
    if (next() == '-') ++at_;
    if (!digits()) return false;
    if (next() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (next() != 'e' && next() != 'E') return true;
    ++at_;
    if (next() == '+' || next() == '-') ++at_;
    return digits();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<JsonMembers> json_members(std::string_view text) {
  JsonMembers members;
  Reader reader(text);
  const bool read = reader.object(
      [&](std::string_view name, std::string_view value) {
        members.insert_or_assign(std::string(name), std::string(value));
      },
      1);
  if (!read || !reader.ended()) return std::nullopt;
  return members;
}

}  // namespace emery
