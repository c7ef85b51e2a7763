/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of stage 1, in DRAM behind the data cache (dir24.hpp): one load, two for prefixes
 * longer than 24 bits. */
#pragma once
#include "tile.h"

#define TABLE ((word)TableRegion << 28)
#define LONG_TABLE (TABLE + TableBlocks)

/* A line leaves the cache, written back if it was changed. */
static inline void leave_cache(word address) { *(volatile word*)DeviceBase = address; }

#ifdef CHANGES
/* The tables have changed (changes.c): an interrupt of the control tile says so. Looked at between
   the lookups of two packets; so none goes by what was before once this is answered. */
enum { Changed = 1 };

__attribute__((noinline)) static void forget_changed(void) {
  const volatile word* range = (const volatile word*)(TABLE + TableChanged);
  flags_clear(Changed);
  leave_cache((word)range);
  for (word i = 0; i < ChangedRanges; i++, range += 2) {
    word line = TABLE + range[0];
    for (word lines = range[1]; lines; lines--, line += LineBytes) leave_cache(line);
  }
  gdn_put(config.to_control);
}

static inline void look_for_changes(void) {
  if (RARE(flags() & Changed)) forget_changed();
}
#else
static inline void look_for_changes(void) {}
#endif

/* To whom, or why not: after stage 2's verdict and the route. The time to live is looked at last.
 */
static inline word outcome(word verdict, word out) {
  return verdict == Fine || (verdict == DropTtl && out < Reasons) ? out : verdict;
}

/* The number of a block is shifted with its sign, EntryLong: the place that it is added to makes up
 * for that. */
static inline word lookup(word address) {
  int entry = *(const short*)(TABLE + (address >> 8 << 1));
  if (RARE(entry < 0))
    entry = *(const short*)(LONG_TABLE + (EntryLong << 9) + ((word)entry << 9) +
                            ((address & 255) << 1));
  return (word)entry;
}
