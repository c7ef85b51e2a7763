// SPDX-License-Identifier: Apache-2.0
// Checks of the bench's own tests: a failed one is printed with its place, and the program ends
// with 1.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

namespace emery {

class Checks {
 public:
  void that(bool ok, std::string_view what,
            std::source_location at = std::source_location::current()) {
    ++count_;
    if (ok) return;
    ++failed_;
    std::printf("FAIL %s:%u: %.*s\n", at.file_name(), static_cast<unsigned>(at.line()),
                static_cast<int>(what.size()), what.data());
  }

  template <typename A, typename B>
  void equal(const A& got, const B& want, std::string_view what,
             std::source_location at = std::source_location::current()) {
    const bool ok = got == want;
    std::string text(what);
    if (!ok) text += ": got " + show(got) + ", want " + show(want);
    that(ok, text, at);
  }

  void near(double got, double want, double tolerance, std::string_view what,
            std::source_location at = std::source_location::current()) {
    const bool ok = got >= want - tolerance && got <= want + tolerance;
    std::string text(what);
    if (!ok) text += ": got " + show(got) + ", want " + show(want);
    that(ok, text, at);
  }

  /// `body` must throw something whose text contains each of `parts`.
  void throws(const std::function<void()>& body, std::initializer_list<std::string_view> parts,
              std::string_view what, std::source_location at = std::source_location::current()) {
    try {
      body();
    } catch (const std::exception& error) {
      for (const std::string_view part : parts) {
        const bool found = std::string_view(error.what()).find(part) != std::string_view::npos;
        that(
            found,
            std::string(what) + ": '" + error.what() + "' does not say '" + std::string(part) + "'",
            at);
      }
      return;
    }
    that(false, std::string(what) + ": nothing was thrown", at);
  }

  int finish() const {
    if (failed_ != 0) {
      std::printf("FAIL %d of %d checks\n", failed_, count_);
      return 1;
    }
    std::printf("PASS %d checks\n", count_);
    return 0;
  }

 private:
  static std::string show(std::string_view v) { return "'" + std::string(v) + "'"; }
  static std::string show(const std::string& v) { return "'" + v + "'"; }
  static std::string show(const char* v) { return show(std::string_view(v)); }
  template <typename T>
  static std::string show(const T& v) {
    return std::to_string(v);
  }

  int count_ = 0;
  int failed_ = 0;
};

}  // namespace emery
