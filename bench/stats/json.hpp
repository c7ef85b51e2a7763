// SPDX-License-Identifier: Apache-2.0
// A streaming JSON writer: results are written as they are walked, without a tree in memory.
//
// Objects and arrays are opened and closed by hand; commas, indentation and escapes are the
// writer's. Misuse (a value without a key, an unclosed object) throws std::logic_error: it is a
// mistake in the program, never in its input.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace emery {

class JsonWriter {
 public:
  enum class Layout { kIndented, kOneLine };

  explicit JsonWriter(Layout layout = Layout::kIndented) : layout_(layout) {}

  JsonWriter& begin_object() { return open('{', Kind::kObject); }
  JsonWriter& end_object() { return close('}', Kind::kObject); }
  JsonWriter& begin_array() { return open('[', Kind::kArray); }
  JsonWriter& end_array() { return close(']', Kind::kArray); }

  JsonWriter& key(std::string_view name) {
    if (levels_.empty() || levels_.back().kind != Kind::kObject || have_key_)
      throw std::logic_error("JsonWriter: key outside an object");
    separate();
    quote(name);
    text_ += ": ";
    have_key_ = true;
    return *this;
  }

  JsonWriter& value(std::string_view v) {
    before_value();
    quote(v);
    return *this;
  }
  JsonWriter& value(const char* v) { return value(std::string_view(v)); }
  JsonWriter& value(std::same_as<bool> auto v) { return raw(v ? "true" : "false"); }
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  JsonWriter& value(T v) {
    return number(v);
  }
  /// The shortest text that reads back as the same double; JSON has no infinity or NaN, they become
  /// null.
  JsonWriter& value(double v) { return std::isfinite(v) ? number(v) : null(); }
  JsonWriter& null() { return raw("null"); }
  /// A value that is JSON already.
  JsonWriter& document(std::string_view text) { return raw(text); }

  template <typename T>
  JsonWriter& field(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }
  JsonWriter& object(std::string_view name) {
    key(name);
    return begin_object();
  }
  JsonWriter& array(std::string_view name) {
    key(name);
    return begin_array();
  }

  /// The finished document, with a newline at its end.
  const std::string& text() {
    if (!levels_.empty()) throw std::logic_error("JsonWriter: object or array left open");
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    return text_;
  }

 private:
  enum class Kind { kObject, kArray };
  struct Level {
    Kind kind;
    bool empty = true;
  };

  void separate() {
    if (!levels_.back().empty) text_ += ',';
    levels_.back().empty = false;
    new_line();
  }

  void new_line() {
    if (layout_ == Layout::kOneLine) return;
    text_ += '\n';
    text_.append(2 * levels_.size(), ' ');
  }

  void before_value() {
    if (have_key_) {
      have_key_ = false;
    } else if (levels_.empty()) {
      if (!text_.empty()) throw std::logic_error("JsonWriter: second value at the top");
    } else if (levels_.back().kind == Kind::kObject) {
      throw std::logic_error("JsonWriter: value without a key");
    } else {
      separate();
    }
  }

  JsonWriter& open(char c, Kind kind) {
    before_value();
    text_ += c;
    levels_.push_back({kind});
    return *this;
  }

  JsonWriter& close(char c, Kind kind) {
    if (levels_.empty() || levels_.back().kind != kind || have_key_)
      throw std::logic_error("JsonWriter: close does not match open");
    const bool empty = levels_.back().empty;
    levels_.pop_back();
    if (!empty) new_line();
    text_ += c;
    return *this;
  }

  JsonWriter& raw(std::string_view v) {
    before_value();
    text_ += v;
    return *this;
  }

  template <typename T>
  JsonWriter& number(T v) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
    return raw(std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
  }

  void quote(std::string_view v) {
    static constexpr char kHex[] = "0123456789abcdef";
    text_ += '"';
    for (const char c : v) {
      const auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (c == '\n') {
        text_ += "\\n";
      } else if (c == '\t') {
        text_ += "\\t";
      } else if (u < 0x20) {
        text_ += "\\u00";
        text_ += kHex[u >> 4];
        text_ += kHex[u & 15];
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  Layout layout_;
  std::string text_;
  std::vector<Level> levels_;
  bool have_key_ = false;
};

}  // namespace emery
