/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 1: where does it go?

   Takes the length of a frame and the word with its destination address (the switch keeps the rest
   away). Manages the packet memory as a ring: announces the payload to the memory, which then takes
   it from the static network. Looks the address up (lookup.h). Waits for the verdict of stage 2
   about the header, then tells stage 3: to whom, or why not; and where the payload is.
   CHANGES: between two frames it forgets what has changed in the tables. */
#include "tile.h"
#ifndef NULL_ROUTER
#include "lookup.h"
#endif

/* Where the payload of the next frame is. */
struct ring {
  word next, base, last, to_memory;
  word wait; /* flags to wait for before the payload may be read */
};

static inline word place(struct ring* ring) {
#ifdef LINECARD_PLACES /* the linecard says it */
  (void)ring;
  st1_skip();
  return st1_take();
#else
  word words = st1_take_left16();
  word payload = ring->next;
  if (words) {
    words >>= 16;
    gdn_put(ring->to_memory);
    gdn_put(payload);
    gdn_put(words);
    ring->wait = config.ready_flags;
    word next = payload + ((4 * words + 31) & ~31u);
    ring->next = next > ring->last ? ring->base : next;
  }
  return payload;
#endif
}

/* The memory has the announcement, whatever stood in its way: only then stage 3 may hear where the
   payload is. Otherwise the output linecard could read what is not written yet. */
static inline void confirmed(struct ring* ring) {
#ifdef LINECARD_PLACES
  (void)ring;
#else
  if (ring->wait) {
    while (!(flags() & ring->wait));
    flags_clear(ring->wait);
    ring->wait = 0;
  }
#endif
}

__attribute__((noreturn)) void main(void) {
  const word to_next = config.to_next;
  struct ring ring = {config.ring_base, config.ring_base, config.ring_last, config.to_memory, 0};
  word frames = 0;
  for (;;) {
#ifdef CHANGES
    while (RARE(!st1_some())) look_for_changes();
#endif
    word payload = place(&ring);
#ifdef NULL_ROUTER
    st1_skip();
    word out = config.port[0];
#else
    look_for_changes();
    word address = st1_take();
    word began = task_begins(address);
    word out = config.port[lookup(address)];
    task_ends(began, out);
    word verdict = gdn_take_user();
    if (RARE(verdict)) {
      if (verdict == Options) {
        word sum = gdn_take();
        out = outcome(gdn_take(), out);
        confirmed(&ring);
        gdn_put(to_next | HEADER_LEN(4));
        gdn_put(Options);
        gdn_put(payload);
        gdn_put(out);
        gdn_put(sum);
        counters.frames = ++frames;
        continue;
      }
      out = outcome(verdict, out);
    }
#endif
    confirmed(&ring);
    gdn_put(to_next | HEADER_LEN(2));
    gdn_put(out);
    gdn_put(payload);
    counters.frames = ++frames;
  }
}
