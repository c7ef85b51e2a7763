/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of stage 1, in DRAM behind the data cache (dir24.hpp): one load, two for prefixes
 * longer than 24 bits. */
#pragma once
#include "tile.h"

#define TABLE 0x80000000u
#define LONG_TABLE 0x82000000u
#define IS_LONG 0x8000u

static inline word lookup(word address) {
  word entry = *(const unsigned short*)(TABLE + (address >> 8 << 1));
  if (RARE(entry & IS_LONG))
    entry =
        *(const unsigned short*)(LONG_TABLE + ((entry & ~IS_LONG) << 9) + ((address & 255) << 1));
  return entry;
}
