/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of stage 1, in DRAM behind the data cache (dir24.hpp): one load, two for prefixes
 * longer than 24 bits. */
#pragma once
#include "tile.h"

#define TABLE ((word)TableRegion << 28)
#define LONG_TABLE (TABLE + TableBlocks)

/* To whom, or why not: after stage 2's verdict and the route. The time to live is looked at last.
 */
static inline word outcome(word verdict, word out) {
  return verdict == Fine || (verdict == DropTtl && out < Reasons) ? out : verdict;
}

static inline word lookup(word address) {
  word entry = *(const unsigned short*)(TABLE + (address >> 8 << 1));
  if (RARE(entry & EntryLong))
    entry =
        *(const unsigned short*)(LONG_TABLE + ((entry & ~EntryLong) << 9) + ((address & 255) << 1));
  return entry;
}
