/* SPDX-License-Identifier: Apache-2.0 */
/* The control tile where routes change: keeps the tables in step with the routes, while they are
   used.

   It is told of one change at a time (changes_config): a prefix, what its addresses have as their
   result from now on, and the length of the prefix that result is from: its own if it is announced,
   that of the one around it if it is withdrawn. With the length of the prefix that each entry is
   from (TableLengths, a memory that nobody else reads) it knows which entries that is.

   Each address has its old result or its new one at any time: an entry is written in one go; a
   block is there, in all memories, and out of the caches of stages 1, before the entry that leads
   to it is written; and it is used again only when no lookup can be under way to it.

   Tables are written through this tile's data cache, a line at a time, which then leaves it. A load
   behind the last line comes back when the memory has them all. Then stages 1 hear by an interrupt
   that there are lines to forget, and say when they have. Before it sends a word this program waits
   for room and takes what comes meanwhile: so it holds up nobody.

   WIDE: for more than four pipelines, or tables on both sides of two bands of them. */
#include "lookup.h"

#define settings (*(const struct changes_config*)&config)
#define asked (*(const volatile struct changes_config*)&config)
#define change_counters (*(volatile struct changes_counters*)&counters)

#ifdef WIDE
enum { Stages1 = MostPipelines, Tables = MostTables };
#else
enum { Stages1 = ControlPorts, Tables = 2 };
#endif
enum { EntryBytes = 2, LineEntries = LineBytes / EntryBytes, BlockBytes = BlockEntries * EntryBytes };

static struct {
  word ranges, lines; /* written and not told yet */
  word range[2 * ChangedRanges];
  word unseen;       /* stages 1 that have not answered */
  word free, blocks; /* 1 + block that is free, which says which is next; blocks ever used */
  word pending;      /* 1 + line that has been changed and not left the cache */
} state __attribute__((section(".noinit")));

/* ---- networks */

static inline void poll(void) {
  if (gdn_some()) {
    gdn_skip(); /* TablesSeen: nothing else comes here */
    state.unseen--;
  }
}

/* The first one also has the lengths. */
static inline word table_at(word t) {
  return t ? (word)(OtherTableRegion + 1 - (Tables > 2 ? t : 1)) << 28 : TABLE;
}

/* What was written is in the memories, and no stage 1 goes by what was there before. */
static void tell(void) {
  if (!state.ranges) return;
  for (word t = 0; t < settings.tables; t++) {
    volatile word* line = (volatile word*)(table_at(t) + TableChanged);
    for (word i = 0; i < 2 * ChangedRanges; i++)
      line[i] = i < 2 * state.ranges ? state.range[i] : 0;
    leave_cache((word)line);
    (void)*line; /* behind what was written */
  }
  for (word p = 0; p < Stages1; p++) state.unseen += settings.lookup[p] != 0;
  for (word p = 0; p < Stages1; p++) {
    if (!settings.lookup[p]) continue;
    while (!gdn_room()) poll();
    gdn_put(settings.lookup[p]);
  }
  while (state.unseen) poll();
  change_counters.lines += state.lines;
  state.ranges = state.lines = 0;
}

/* ---- tables: offsets are in bytes */

/* The line changed last leaves the cache. */
static void written(void) {
  if (!state.pending) return;
  word line = state.pending - 1;
  state.pending = 0;
  leave_cache(TABLE + line);
  for (word t = 1; t < Tables && t < settings.tables; t++) leave_cache(table_at(t) + line);
  word* last = &state.range[2 * state.ranges - 2];
  if (state.ranges && last[0] + last[1] * LineBytes == line) {
    last[1]++;
  } else {
    if (state.ranges == ChangedRanges) tell();
    last = &state.range[2 * state.ranges++];
    last[0] = line, last[1] = 1;
  }
  if (++state.lines == MostChanged) tell();
}

static inline word get(word at) { return *(const unsigned short*)(TABLE + at); }
static inline unsigned char* length_of(word entry) {
  return (unsigned char*)(TABLE + TableLengths + entry);
}
static inline unsigned char* length_in(word block, word i) {
  return (unsigned char*)(TABLE + LengthsOfBlocks + block * BlockEntries + i);
}

static void put(word at, word value) {
  word line = at & ~(LineBytes - 1);
  if (state.pending != 1 + line) {
    written();
    state.pending = 1 + line;
  }
  *(volatile unsigned short*)(TABLE + at) = (unsigned short)value;
  for (word t = 1; t < Tables && t < settings.tables; t++)
    *(volatile unsigned short*)(table_at(t) + at) = (unsigned short)value;
}

/* ---- a change */

struct change {
  word prefix, length, result, becomes;
};

/* Whether an entry that has its result from a prefix of that length has it from this change. */
static inline word meets(const struct change* c, word length) {
  return c->becomes == c->length ? length <= c->length : length == c->length;
}

static inline word block_at(word block) { return TableBlocks + block * BlockBytes; }

static void change_block(const struct change* c, word block, word from, word count) {
  for (word i = from; i < from + count; i++) {
    unsigned char* length = length_in(block, i);
    poll();
    if (!meets(c, *length)) continue;
    put(block_at(block) + EntryBytes * i, c->result);
    *length = (unsigned char)c->becomes;
  }
}

/* A block in place of an entry, which it is the same as. */
static word new_block(word entry) {
  word at = EntryBytes * entry, value = get(at), length = *length_of(entry);
  word block = state.blocks;
  if (state.free) {
    block = state.free - 1;
    state.free = *(const word*)length_in(block, 0);
  } else if (state.blocks < MostBlocks) {
    state.blocks++;
  } else {
    return 0;
  }
  for (word i = 0; i < BlockEntries; i++) {
    put(block_at(block) + EntryBytes * i, value);
    *length_in(block, i) = (unsigned char)length;
    poll();
  }
  written();
  tell();
  put(at, EntryLong | block);
  return 1;
}

/* A block that has no longer prefix any more: one entry says the same. */
static void fold(word entry, word block) {
  for (word i = 0; i < BlockEntries; i++) {
    if (*length_in(block, i) > 24) return;
    poll();
  }
  *length_of(entry) = *length_in(block, 0);
  put(EntryBytes * entry, get(block_at(block)));
  written();
  tell();
  *(word*)length_in(block, 0) = state.free;
  state.free = 1 + block;
}

static void make(const struct change* c) {
  word first = c->prefix >> 8;
  if (c->length <= 24) {
    word end = first + (1u << (24 - c->length));
    for (word entry = first; entry < end; entry++) {
      word value = get(EntryBytes * entry);
      poll();
      if (value & EntryLong) {
        change_block(c, value & ~EntryLong, 0, BlockEntries);
      } else if (meets(c, *length_of(entry))) {
        put(EntryBytes * entry, c->result);
        *length_of(entry) = (unsigned char)c->becomes;
      }
    }
    return;
  }
  word value = get(EntryBytes * first);
  if (!(value & EntryLong)) {
    if (*length_of(first) == LengthFixed || c->becomes < c->length) return;
    if (!new_block(first)) {
      change_counters.refused++;
      return;
    }
    value = get(EntryBytes * first);
  }
  word block = value & ~EntryLong;
  change_block(c, block, c->prefix & 255, 1u << (32 - c->length));
  if (c->becomes < c->length) fold(first, block);
}

__attribute__((noreturn)) void main(void) {
  word number = 0;
  state.ranges = state.lines = state.unseen = state.free = state.pending = 0;
  state.blocks = *(const word*)(TABLE + TableUsed);
  for (;;) {
    poll();
    if (asked.number == number) continue;
    number = asked.number;
    struct change c = {asked.prefix, asked.length, asked.result, asked.becomes};
    make(&c);
    written();
    tell();
    change_counters.done = number;
  }
}
