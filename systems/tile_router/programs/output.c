/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 4: the output queue.

   Heads come from the third stages of all pipelines over the GDN. The linecard says by an interrupt that it can take the next
   frame, which raises a flag of the core; nothing happens at that moment, the flag is looked at between packets. A
   head that finds the queue empty and the linecard ready goes straight through. With a full queue the program either takes
   nothing from the network, which stalls whoever sends, or drops what comes. */
#include "tile.h"

enum { Slots = 64 };
static word queue[Slots][OutWords] __attribute__((section(".noinit")));

static inline void take(word *slot) {
  for (word i = 0; i < OutWords; i++) gdn_to(&slot[i]);
}

static inline void give(word header, const word *slot) {
  gdn_put(header);
  for (word i = 0; i < OutWords; i++) gdn_from(&slot[i]);
}

/* Takes a packet off the network that nobody will send; its payload may be in a linecard (frame_out_t: bits 26:16 where). */
static void drop(word to_free) {
  word out = gdn_take();
  word payload = gdn_take();
  for (word i = 0; i < HeadWords; i++) gdn_skip();
  if (to_free && (out & 0xffff) > HeadBytes) {
    gdn_put(to_free | (out >> 16 & 0x7ff));
    gdn_put(payload);
  }
  counters.drops[DropQueue]++;
}

__attribute__((noreturn)) void main(void) {
  const word header = config.to_next;
  const word ready = config.ready_flags;
  const word stall = config.stall;
  const word to_free = config.to_free;
  word *const end = &queue[0][0] + Slots * OutWords;
  word *head = queue[0], *tail = queue[0];
  word held = 0, sent = 0, queued = 0, deepest = 0;
  for (;;) {
    /* Nothing is queued: wait for a packet. */
    gdn_skip();
    if (flags() & ready) {
      flags_clear(ready);
      gdn_put(header);
      for (word i = 0; i < OutWords; i++) gdn_pass();
      counters.sent = ++sent;
      continue;
    }
    take(tail);
    tail += OutWords;
    if (tail == end) tail = queue[0];
    held = 1;
    do {
      if (flags() & ready) {
        flags_clear(ready);
        give(header, head);
        head += OutWords;
        if (head == end) head = queue[0];
        held--;
        counters.sent = ++sent;
        counters.queued = ++queued;
      }
      if (gdn_some()) {
        if (held < Slots) {
          gdn_skip();
          take(tail);
          tail += OutWords;
          if (tail == end) tail = queue[0];
          held++;
          if (held > deepest) counters.deepest = deepest = held;
        } else if (!stall) {
          gdn_skip();
          drop(to_free);
        }
      }
    } while (held);
  }
}
