// SPDX-License-Identifier: Apache-2.0
// Accesses whose hits can be told by hand.
#include "bench/core/cache_study.hpp"

#include "bench/stats/check.hpp"

int main() {
  using emery::CacheStudy;
  emery::Checks check;

  CacheStudy walk(1, 64);  // four lines
  for (unsigned n = 0; n < 64; ++n) walk.access(0, 4 * n, false);
  check.equal(walk.hit_ratio(), 0.75, "words one after the other: three of four hit");
  for (unsigned n = 0; n < 64; ++n) walk.access(0, 16 * (n % 5), false);
  check.equal(walk.hit_ratio(), 48.0 / 128, "five lines in turn never hit in four");

  CacheStudy least(1, 32);
  for (const unsigned line : {0u, 1u, 0u, 2u, 0u, 1u}) least.access(0, 16 * line, false);
  check.equal(least.hit_ratio(), 2.0 / 6, "what was used last stays");

  CacheStudy shared(2, 1024);
  shared.access(0, 0, false);
  shared.access(1, 4, false);
  shared.access(1, 8, false);
  check.equal(shared.hit_ratio(), 1.0 / 3, "both may read a line");
  shared.access(1, 8, true);
  shared.access(0, 0, false);
  shared.access(0, 0, true);
  shared.access(0, 0, true);
  check.equal(shared.hit_ratio(), 4.0 / 7, "a write takes the line from the other");
  check.equal(shared.invalidating(), 2.0 / 3, "two writes took a line");
  return check.finish();
}
