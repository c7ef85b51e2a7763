/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 4 where third stages have to have leave for each head (forward_credit.c): as output.c, but
   there is no Stop. A third stage gets its leave back (Go) when its head goes to the linecard. So
   there are no more heads here, on their way and in the queue, than there are pipelines: the links
   stay free for payloads that come by the same network (version IV over the GDN), the queue is
   never full, and all the Go that one stage has not taken yet have room in the FIFO of four words
   that they come by.

   FAIR: crossings of the network are fair to those who meet there, not to those who come from afar.
   So each pipeline sends a head a round, and one ahead for the next; its leave for more is kept
   back until the others that send have had their turn, or nothing comes any more. */
#include "tile.h"

enum { Slots = 16, Patience = 3 };
struct queued {
  word header, words[OutWords];
};
static struct queued queue[Slots] __attribute__((section(".noinit")));

static inline void leave(word place, word own) { gdn_put(HEADER_USER(Go) | own << 16 | place); }

#ifdef FAIR
static word places[Slots] __attribute__((section(".noinit"))); /* of third stages */
struct turns {
  word due; /* a bit for each pipeline that has not had its turn in this round */
  word ahead; /* that have sent for the next round as well, and wait for leave */
};

__attribute__((noinline)) static void round_ends(word ahead, word own) {
  for (const word* place = places; ahead; ahead >>= 1, place++)
    if (ahead & 1) leave(*place, own);
}

/* A head of the stage at this place leaves. */
static inline void turn(struct turns* turns, word place, word own, word shift, word* all) {
  word number = number_of(place, shift);
  word bit = 1u << number;
  *all |= bit;
  if (turns->due & bit) {
    leave(place, own);
    turns->due -= bit;
  } else {
    places[number] = place;
    turns->ahead |= bit;
  }
  if (turns->due == 0) { /* who is ahead has had his turn in the next round */
    word ahead = turns->ahead;
    turns->due = *all & ~ahead;
    turns->ahead = 0;
    if (turns->due == 0) turns->due = *all;
    round_ends(ahead, own);
  }
}

/* Waits for a head. Who is due and does not come is left out until he does. */
static inline void wait(struct turns* turns, word own, word* all) {
  for (word i = 0; turns->ahead && !gdn_some(); i++) {
    if (i < Patience) continue;
    word ahead = turns->ahead;
    *all &= ~turns->due;
    turns->due = *all & ~ahead;
    if (turns->due == 0) turns->due = *all;
    turns->ahead = 0;
    round_ends(ahead, own);
  }
}
#else
struct turns {
  word none;
};
static inline void turn(struct turns* turns, word place, word own, word shift, word* all) {
  (void)turns, (void)shift, (void)all;
  leave(place, own);
}
static inline void wait(struct turns* turns, word own, word* all) {
  (void)turns, (void)own, (void)all;
}
#endif

__attribute__((noreturn)) void main(void) {
  const word to_card = config.to_next;
  const word ready = config.ready_flags;
  const word own = config.own_number;
  const word shift = config.number_shift;
  struct turns turns = {0};
  word all = 0; /* pipelines that take turns */
  word first = 0, count = 0, sent = 0, queued = 0, deepest = 0;
  for (;;) {
    if (count == 0) {
      wait(&turns, own, &all);
      word header = gdn_take();
      if (flags() & ready) {
        flags_clear(ready);
        turn(&turns, header_src(header), own, shift, &all);
        gdn_put(to_card);
        for (word i = 0; i < OutWords; i++) gdn_pass();
        counters.sent = ++sent;
        continue;
      }
      queue[first].header = header;
      for (word i = 0; i < OutWords; i++) gdn_to(&queue[first].words[i]);
      count = 1;
    } else if (flags() & ready) {
      flags_clear(ready);
      turn(&turns, header_src(queue[first].header), own, shift, &all);
      gdn_put(to_card);
      for (word i = 0; i < OutWords; i++) gdn_from(&queue[first].words[i]);
      first = (first + 1) % Slots;
      count--;
      counters.sent = ++sent;
      counters.queued = ++queued;
    } else if (gdn_some()) {
      struct queued* last = &queue[(first + count++) % Slots];
      last->header = gdn_take();
      for (word i = 0; i < OutWords; i++) gdn_to(&last->words[i]);
    }
    if (count > deepest) counters.deepest = deepest = count;
  }
}
