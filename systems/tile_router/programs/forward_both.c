/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3 of version V: as forward.c, but there is no stage 4, so nobody says Stop; and until stage
   1 has said to whom a frame goes only the first words of its head are taken. The others wait in
   the FIFOs of both static networks (switches/stage3_both.sw) and go from there to the output by an
   instruction a word, in place of two. With REWRITE behind the Ethernet header of its output. */
#include "forward.h"

/* Words of the head that are taken at once. The eight that are left have just room in the FIFOs of
   this core: so a payload gets by the switch, whose next one an output may wait for, while the head
   before it waits for that output here. */
enum { Ahead = 8 };
_Static_assert(HeadWords - Ahead <= 2 * NetDepth, "payloads have to get by what is not taken");

/* Words 0, 2, 4 ... of the head come by network 2, the length and the others by network 1. */
#define even st2_take
#define odd st1_take

static word head[HeadWords] __attribute__((section(".noinit")));

/* A frame with options, or one that is dropped: its head is in the RAM. Gives 1 if it was sent. */
__attribute__((noinline)) static word rare(word out, word length, word from) {
  word payload = gdn_take(), options = out == Options, sum = 0;
  if (options) {
    out = gdn_take();
    sum = gdn_take();
  }
  return finish(out, from, length >> 16, payload, head, options, sum);
}

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
#ifdef REWRITE
  const word left = link_left();
#endif
  word sent = 0;
  for (;;) {
    word length = odd();
    word w0 = even(), w1 = odd(), w2 = even(), w3 = odd();
    word w4 = even(), w5 = odd(), w6 = even(), w7 = odd();
    /* Before stage 1 is heard: a head that is on its way holds links, and is not to stop. */
    word frame = from | length >> 16;
    word began = task_begins(w6);
    word hop = less_ttl(w6);
    task_ends(began, hop);
    __asm__ volatile("" : : "r"(frame), "r"(hop));
    gdn_skip();
    word out = gdn_take();
    if (RARE(out <= Options)) {
      head[0] = w0, head[1] = w1, head[2] = w2, head[3] = w3;
      head[4] = w4, head[5] = w5, head[6] = w6, head[7] = w7;
      for (word i = Ahead; i < HeadWords; i += 2) {
        head[i] = even();
        head[i + 1] = odd();
      }
      sent += rare(out, length, from);
      counters.sent = sent;
      continue;
    }
#ifdef REWRITE
    const word* link = link_of(out, left);
#endif
    gdn_put(out);
    gdn_put(frame);
    gdn_pass(); /* where its payload is */
#ifdef REWRITE
    for (word i = 0; i < LinkWords; i++) gdn_from(&link[i]);
#else
    gdn_put(w0), gdn_put(w1), gdn_put(w2), gdn_put(w3);
#endif
    gdn_put(w4), gdn_put(w5), gdn_put(hop), gdn_put(w7);
    for (word i = Ahead; i < HeadWords; i += 2) {
      st2_to_gdn();
      st1_to_gdn();
    }
    counters.sent = ++sent;
  }
}
