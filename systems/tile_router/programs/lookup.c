/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 1: where does it go?

   Takes the length of a frame and the word with its destination address (the switch keeps the rest away). Manages the packet
   memory as a ring: announces the payload to the memory, which then takes it from the static network. Looks the address up
   in two tables in DRAM (DIR-24-8, dir24.hpp) through the data cache: one load, two for prefixes longer than 24 bits. Waits
   for the verdict of stage 2 about the header, then tells stage 3: to whom, or why not; and where the payload is. */
#include "tile.h"

#define TABLE 0x80000000u
#define LONG_TABLE 0x82000000u
#define IS_LONG 0x8000u

#ifndef NULL_ROUTER
static inline word lookup(word address) {
  word entry = *(const unsigned short *)(TABLE + (address >> 8 << 1));
  if (RARE(entry & IS_LONG))
    entry = *(const unsigned short *)(LONG_TABLE + ((entry & ~IS_LONG) << 9) + ((address & 255) << 1));
  return entry;
}
#endif

__attribute__((noreturn)) void main(void) {
  const word to_next = config.to_next;
  const word to_memory = config.to_memory;
  const word ring_base = config.ring_base;
  const word ring_last = config.ring_last;
  word next = ring_base;
  word frames = 0;
  for (;;) {
    word words = st1_take() & 0xffff;
#ifdef LINECARD_PLACES /* the linecard says where the payload is */
    word payload = st1_take();
    (void)words, (void)to_memory, (void)ring_last, (void)next;
#else
    word payload = next;
    if (words) {
      gdn_put(to_memory);
      gdn_put(payload);
      gdn_put(words);
      next += (4 * words + 31) & ~31u;
      if (next > ring_last) next = ring_base;
    }
#endif
#ifdef NULL_ROUTER
    st1_skip();
    word out = config.port[0];
    gdn_put(to_next | MESSAGE_LEN(2));
#else
    word out = config.port[lookup(st1_take())];
    word verdict = gdn_take() >> 27;
    if (RARE(verdict)) {
      if (verdict == Options) {
        word sum = gdn_take();
        gdn_put(to_next | MESSAGE_USER(Options) | MESSAGE_LEN(3));
        gdn_put(out);
        gdn_put(payload);
        gdn_put(sum);
        counters.frames = ++frames;
        continue;
      }
      out = verdict;
    }
    gdn_put(to_next | MESSAGE_LEN(2));
#endif
    gdn_put(out);
    gdn_put(payload);
    counters.frames = ++frames;
  }
}
