// SPDX-License-Identifier: Apache-2.0
// Counting checks for the bench's own tests: a test is a plain program that ends with `return
// report();`.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace emery::test {

inline int checks = 0, failures = 0;

inline void check(bool ok, const std::string& what) {
  ++checks;
  if (ok) return;
  ++failures;
  std::printf("FAIL %s\n", what.c_str());
}

inline void check_near(double got, double want, double tolerance, const std::string& what) {
  char text[200];
  std::snprintf(text, sizeof text, "%s: %.3f, expected %.3f within %.2f %%", what.c_str(), got,
                want, 100 * tolerance);
  check(std::fabs(got - want) <= tolerance * want, text);
}

// Prints the outcome; the program's exit status.
inline int report() {
  if (failures) {
    std::printf("FAIL %d of %d checks\n", failures, checks);
    return 1;
  }
  std::printf("PASS %d checks\n", checks);
  return 0;
}

}  // namespace emery::test
