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

  std::string get(const std::string& key, const std::string& fallback) const {
    const std::string* text = find(key);
    return text ? *text : fallback;
  }
  std::string get(const std::string& key, const char* fallback) const {
    return get(key, std::string(fallback));
  }

  bool get(const std::string& key, bool fallback) const {
    const std::string* text = find(key);
    if (!text) return fallback;
    if (*text == "1" || *text == "true" || *text == "yes" || *text == "on") return true;
    if (*text == "0" || *text == "false" || *text == "no" || *text == "off") return false;
    throw OptionError(key + ": '" + *text + "' is not a truth value");
  }

  double get(const std::string& key, double fallback) const {
    const std::string* text = find(key);
    if (!text) return fallback;
    std::size_t used = 0;
    const double value = number(key, *text, used);
    if (used != text->size()) throw OptionError(key + ": '" + *text + "' is not a number");
    return value;
  }

  // Integers: decimal, 0x hexadecimal, or with a binary suffix k, M, G.
  template <class Integer>
    requires std::is_integral_v<Integer>
  Integer get(const std::string& key, Integer fallback) const {
    const std::string* text = find(key);
    if (!text) return fallback;
    std::size_t used = 0;
    long long value = 0;
    try {
      value = std::stoll(*text, &used, 0);
    } catch (const std::exception&) {
      throw OptionError(key + ": '" + *text + "' is not an integer");
    }
    const std::string suffix = text->substr(used);
    const int shift = suffix.empty()  ? 0
                      : suffix == "k" ? 10
                      : suffix == "M" ? 20
                      : suffix == "G" ? 30
                                      : -1;
    if (shift < 0) throw OptionError(key + ": '" + *text + "' is not an integer");
    const long long scaled = value * (1LL << shift);
    if (scaled / (1LL << shift) != value || !std::in_range<Integer>(scaled)) {
      throw OptionError(key + ": '" + *text + "' is out of range");
    }
    return static_cast<Integer>(scaled);
  }

  // Times: a number with the unit ps, ns, us or ms; ns when there is none.
  Time get_time(const std::string& key, Time fallback) const {
    const std::string* text = find(key);
    if (!text) return fallback;
    std::size_t used = 0;
    const double value = number(key, *text, used);
    const std::string unit = text->substr(used);
    const double scale = unit.empty() || unit == "ns" ? 1e3
                         : unit == "ps"               ? 1
                         : unit == "us"               ? 1e6
                         : unit == "ms"               ? 1e9
                                                      : 0;
    if (scale == 0) throw OptionError(key + ": '" + *text + "' is not a time");
    return static_cast<Time>(std::llround(value * scale));
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

  static double number(const std::string& key, const std::string& text, std::size_t& used) {
    try {
      return std::stod(text, &used);
    } catch (const std::exception&) {
      throw OptionError(key + ": '" + text + "' is not a number");
    }
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
