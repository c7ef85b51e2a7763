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

   DISCARD: nobody is stopped; what finds the queue full is dropped.
   LINK: frames leave with the Ethernet header of this output, which third stages leave out. With
   CONTROL there are answers of the control tile as well, which come whole. */
#include "tile.h"

/* Words 0 to 3 of a head. */
#ifdef LINK
#ifdef CONTROL
#define WHOLE(header) RARE(header_len(header) == OutWords)
#else
#define WHOLE(header) ((void)(header), 0)
#endif
struct link {
  word w0, w1, w2, w3;
};
static inline struct link link_from(const struct link* own, word header) {
  struct link link = *own;
  if (WHOLE(header)) {
    link.w0 = gdn_take(), link.w1 = gdn_take();
    link.w2 = gdn_take(), link.w3 = gdn_take();
  }
  return link;
}
#endif

#ifdef DISCARD /* and no head waits on the network for the linecard either */
enum { Slots = 64, High = 65, Low = 0, Moment = 0 };
#else
enum { Slots = 64, High = 36, Low = 24, Moment = 6 };
#endif
static word queue[Slots][OutWords] __attribute__((section(".noinit")));

#ifdef LINK
static inline void take(word* slot, const struct link* own, word header) {
  gdn_to(&slot[0]), gdn_to(&slot[1]);
  struct link link = link_from(own, header);
  slot[2] = link.w0, slot[3] = link.w1, slot[4] = link.w2, slot[5] = link.w3;
  for (word i = 2 + LinkWords; i < OutWords; i++) gdn_to(&slot[i]);
}

static inline void pass(const struct link* own, word header) {
  gdn_pass(), gdn_pass();
  struct link link = link_from(own, header);
  gdn_put(link.w0), gdn_put(link.w1), gdn_put(link.w2), gdn_put(link.w3);
  for (word i = 2 + LinkWords; i < OutWords; i++) gdn_pass();
}
#else
static inline void take(word* slot) {
  for (word i = 0; i < OutWords; i++) gdn_to(&slot[i]);
}
#endif

static inline void give(word header, const word* slot) {
  gdn_put(header);
  for (word i = 0; i < OutWords; i++) gdn_from(&slot[i]);
}

/* Who was told to stop: bit n pipeline n, and where its third stage is. */
static word places[16] __attribute__((section(".noinit")));

static inline word stop(word stopped, word header, word own, word shift) {
  word place = header_src(header);
  word number = number_of(place, shift);
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
static void drop(word to_free, word header) {
  word out = gdn_take();
  word payload = gdn_take();
#ifdef LINK
  if (WHOLE(header))
    for (word i = 0; i < LinkWords; i++) gdn_skip();
  for (word i = LinkWords; i < HeadWords; i++) gdn_skip();
#else
  (void)header;
  for (word i = 0; i < HeadWords; i++) gdn_skip();
#endif
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
#ifdef LINK
  const struct link own_link = {config.port[0], config.port[1], config.port[2], config.port[3]};
#endif
  word* const end = &queue[0][0] + Slots * OutWords;
  word *head = queue[0], *tail = queue[0];
  word held = 0, sent = 0, queued = 0, deepest = 0, stopped = 0;
  for (;;) {
    /* Nothing is queued: wait for a packet. */
#ifdef LINK
    word came = gdn_take();
#else
    gdn_skip();
#endif
    if (flags() & ready) {
      word began = task_begins(ready);
      flags_clear(ready);
      gdn_put(header);
#ifdef LINK
      pass(&own_link, came);
#else
      for (word i = 0; i < OutWords; i++) gdn_pass();
#endif
      task_ends(began, ready);
      counters.sent = ++sent;
      continue;
    }
    word out = gdn_take(), payload = gdn_take();
#ifdef LINK
    struct link link = link_from(&own_link, came);
    word w0 = link.w0, w1 = link.w1, w2 = link.w2, w3 = link.w3;
#else
    word w0 = gdn_take(), w1 = gdn_take(), w2 = gdn_take(), w3 = gdn_take();
#endif
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
#ifdef LINK
          take(tail, &own_link, from);
#else
          take(tail);
#endif
          tail += OutWords;
          if (tail == end) tail = queue[0];
          held++;
          if (held > deepest) counters.deepest = deepest = held;
          if (held >= High) stopped = stop(stopped, from, own, shift);
        } else {
          drop(to_free, from);
        }
      }
    } while (held);
  }
}
