/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 4: the output queue.

   Heads come from the third stages of all pipelines over the GDN. The linecard says by an interrupt
   that it can take the next frame, which raises a flag of the core; nothing happens at that moment,
   the flag is looked at between packets. A head that finds the queue empty and the linecard ready
   goes straight through. If the linecard is not ready, the head is taken into registers and the
   flag looked at again; only then it goes into the queue in the RAM. With a queue, sending comes
   first. The network is never stalled: with payloads on it (version IV) that could hold up the
   payload that the linecard waits for, behind the next head. When the queue fills, whoever sends to
   it hears Stop, and Go when it has become shorter.

   DISCARD: nobody is stopped; what finds the queue full is dropped. */
#include "tile.h"

#ifdef DISCARD /* and no head waits on the network for the linecard either */
enum { Slots = 64, High = 65, Low = 0, Moment = 0 };
#else
enum { Slots = 64, High = 36, Low = 24, Moment = 6 };
#endif
static word queue[Slots][OutWords] __attribute__((section(".noinit")));

static inline void take(word* slot) {
  for (word i = 0; i < OutWords; i++) gdn_to(&slot[i]);
}

static inline void give(word header, const word* slot) {
  gdn_put(header);
  for (word i = 0; i < OutWords; i++) gdn_from(&slot[i]);
}

/* Who was told to stop: bit n pipeline n, and where its third stage is. */
static word places[16] __attribute__((section(".noinit")));

static inline word stop(word stopped, word header, word own, word shift) {
  word place = header_src(header);
  word number = place >> shift & 15;
  if (stopped >> number & 1) return stopped;
  places[number] = place;
  gdn_put(HEADER_USER(Stop) | own << 16 | place);
  return stopped | 1u << number;
}

static word go(word stopped, word own) {
  for (word i = 0; i < 16; i++)
    if (stopped >> i & 1) gdn_put(HEADER_USER(Go) | own << 16 | places[i]);
  return 0;
}

/* Takes a packet off the network that nobody will send (DISCARD; else for the case that High is too
   high); its payload may be in a linecard (frame_out_t: bits 26:16 where). */
static void drop(word to_free) {
  word out = gdn_take();
  word payload = gdn_take();
  for (word i = 0; i < HeadWords; i++) gdn_skip();
  if (to_free && (out & 0xffff) > HeadBytes) {
    gdn_put(to_free | frame_out_from(out));
    gdn_put(payload);
  }
  counters.drops[DropQueue]++;
}

__attribute__((noreturn)) void main(void) {
  const word header = config.to_next;
  const word ready = config.ready_flags;
  const word own = config.own_number;
  const word shift = config.number_shift;
  const word to_free = config.to_free;
  word* const end = &queue[0][0] + Slots * OutWords;
  word *head = queue[0], *tail = queue[0];
  word held = 0, sent = 0, queued = 0, deepest = 0, stopped = 0;
  for (;;) {
    /* Nothing is queued: wait for a packet. */
    gdn_skip();
    if (flags() & ready) {
      word began = task_begins(ready);
      flags_clear(ready);
      gdn_put(header);
      for (word i = 0; i < OutWords; i++) gdn_pass();
      task_ends(began, ready);
      counters.sent = ++sent;
      continue;
    }
    word out = gdn_take(), payload = gdn_take();
    word w0 = gdn_take(), w1 = gdn_take(), w2 = gdn_take(), w3 = gdn_take();
    word w4 = gdn_take(), w5 = gdn_take(), w6 = gdn_take(), w7 = gdn_take();
    word w8 = gdn_take(), w9 = gdn_take(), w10 = gdn_take(), w11 = gdn_take();
    word w12 = gdn_take(), w13 = gdn_take(), w14 = gdn_take(), w15 = gdn_take();
    word now = flags() & ready;
    for (word i = 0; i < Moment && !now; i++) now = flags() & ready;
    if (now) {
      flags_clear(ready);
      gdn_put(header);
      gdn_put(out), gdn_put(payload);
      gdn_put(w0), gdn_put(w1), gdn_put(w2), gdn_put(w3);
      gdn_put(w4), gdn_put(w5), gdn_put(w6), gdn_put(w7);
      gdn_put(w8), gdn_put(w9), gdn_put(w10), gdn_put(w11);
      gdn_put(w12), gdn_put(w13), gdn_put(w14), gdn_put(w15);
      counters.sent = ++sent;
      continue;
    }
    tail[0] = out, tail[1] = payload;
    tail[2] = w0, tail[3] = w1, tail[4] = w2, tail[5] = w3;
    tail[6] = w4, tail[7] = w5, tail[8] = w6, tail[9] = w7;
    tail[10] = w8, tail[11] = w9, tail[12] = w10, tail[13] = w11;
    tail[14] = w12, tail[15] = w13, tail[16] = w14, tail[17] = w15;
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
        if (stopped && held <= Low) stopped = go(stopped, own);
      }
#ifndef DISCARD /* where heads are not to wait both happen in turn */
      else
#endif
      if (gdn_some()) {
        word from = gdn_take();
        if (held < Slots) {
          take(tail);
          tail += OutWords;
          if (tail == end) tail = queue[0];
          held++;
          if (held > deepest) counters.deepest = deepest = held;
          if (held >= High) stopped = stop(stopped, from, own, shift);
        } else {
          drop(to_free);
        }
      }
    } while (held);
  }
}
