// SPDX-License-Identifier: Apache-2.0
// key=value settings from the command line or a file (one a line, # starts a comment). A
// component's config struct takes what it knows by `get`; `check_all_used` then names the keys
// nobody asked for, so that a misspelt one does not pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery {

class OptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Options {
 public:
  Options() = default;

  void set(const std::string& key, const std::string& value) { values_[key] = value; }

  void parse(std::string_view text, const std::string& where = "option") {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty()) {
      throw OptionError(where + ": '" + std::string(text) + "' is not key=value");
    }
    set(trim(text.substr(0, equals)), trim(text.substr(equals + 1)));
  }

  void read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw OptionError(path + ": cannot be read");
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      const std::string text = trim(std::string_view(line).substr(0, line.find('#')));
      if (!text.empty()) parse(text, path + ":" + std::to_string(number));
    }
  }

  bool has(const std::string& key) const { return values_.count(key) != 0; }

  /// The value of a setting; throws OptionError when it has none: what it is when nobody says
  /// otherwise stands in system.toml alone. Integers: decimal, 0x hexadecimal, or with a binary
  /// suffix k, M, G.
  template <class T>
  T get(const std::string& key) const {
    const std::string* text = find(key);
    if (!text) throw OptionError(key + ": the setting has no value");
    return convert<T>(key, *text);
  }
  /// For settings that may be left out: `absent` then.
  template <class T>
  T get(const std::string& key, T absent) const {
    const std::string* text = find(key);
    return text ? convert<T>(key, *text) : absent;
  }
  std::string get(const std::string& key, const char* absent) const {
    return get<std::string>(key, absent);
  }

  /// Whole nanoseconds and microseconds, and microseconds with a fraction.
  Time ns(const std::string& key) const { return get<int>(key) * kNanosecond; }
  Time us(const std::string& key) const { return get<int>(key) * kMicrosecond; }
  Time fine_us(const std::string& key) const {
    return static_cast<Time>(std::llround(get<double>(key) * kMicrosecond));
  }

  /// What comes after `prefix` in the names of settings that begin so.
  std::vector<std::string> endings(const std::string& prefix) const {
    std::vector<std::string> found;
    for (const auto& [key, value] : values_)
      if (key.starts_with(prefix)) found.push_back(key.substr(prefix.size()));
    return found;
  }

  void check_all_used() const {
    for (const auto& [key, value] : values_) {
      if (used_.count(key) == 0) throw OptionError("unknown option '" + key + "'");
    }
  }

 private:
  const std::string* find(const std::string& key) const {
    used_.insert(key);
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }

  template <class T>
  static T convert(const std::string& key, const std::string& text) {
    if constexpr (std::is_same_v<T, std::string>) {
      return text;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (text == "1" || text == "true" || text == "yes" || text == "on") return true;
      if (text == "0" || text == "false" || text == "no" || text == "off") return false;
      throw OptionError(key + ": '" + text + "' is not a truth value");
    } else if constexpr (std::is_floating_point_v<T>) {
      return number(key, text);
    } else {
      return integer<T>(key, text);
    }
  }

  static double number(const std::string& key, const std::string& text) {
    std::size_t used = 0;
    double value = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
    }
    if (used == 0 || used != text.size())
      throw OptionError(key + ": '" + text + "' is not a number");
    return value;
  }

  template <class Integer>
  static Integer integer(const std::string& key, const std::string& text) {
    std::size_t used = 0;
    long long value = 0;
    try {
      value = std::stoll(text, &used, 0);
    } catch (const std::exception&) {
      throw OptionError(key + ": '" + text + "' is not an integer");
    }
    const std::string suffix = text.substr(used);
    const int shift = suffix.empty()  ? 0
                      : suffix == "k" ? 10
                      : suffix == "M" ? 20
                      : suffix == "G" ? 30
                                      : -1;
    if (shift < 0) throw OptionError(key + ": '" + text + "' is not an integer");
    const long long scaled = value * (1LL << shift);
    if (scaled / (1LL << shift) != value || !std::in_range<Integer>(scaled)) {
      throw OptionError(key + ": '" + text + "' is out of range");
    }
    return static_cast<Integer>(scaled);
  }

  static std::string trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
  }

  std::map<std::string, std::string> values_;
  mutable std::set<std::string> used_;
};

}  // namespace emery
