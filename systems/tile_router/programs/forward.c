/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3: forward or drop, and make the new header.

   Takes the length and the whole head of a frame into registers, so that the next one can come as far as stage 2, then what
   stage 1 says (over the GDN): the header of the message to the output queue, or the reason to drop the packet; and where its
   payload is. Takes one from the time to live, brings the checksum in step, and sends the head to the output queue. Counts
   what is dropped. */
#include "tile.h"
#ifndef NULL_ROUTER
#include "forward.h"
#endif

__attribute__((noreturn)) void main(void) {
#ifndef NULL_ROUTER
  static word head[HeadWords] __attribute__((section(".noinit")));
#endif
  const word from = config.from;
  word sent = 0;
  for (;;) {
    word length = st2_take();
    word w0 = st2_take(), w1 = st2_take(), w2 = st2_take(), w3 = st2_take();
    word w4 = st2_take(), w5 = st2_take(), w6 = st2_take(), w7 = st2_take();
    word w8 = st2_take(), w9 = st2_take(), w10 = st2_take(), w11 = st2_take();
    word w12 = st2_take(), w13 = st2_take(), w14 = st2_take(), w15 = st2_take();
    gdn_skip();
    word out = gdn_take();
    word payload = gdn_take();
#ifndef NULL_ROUTER
    if (RARE(out <= Options)) { /* dropped; or a header whose options are to be summed up first */
      word options = out == Options, sum = 0;
      if (options) {
        out = gdn_take();
        sum = gdn_take();
        head[0] = w0, head[1] = w1, head[2] = w2, head[3] = w3;
        head[4] = w4, head[5] = w5, head[6] = w6, head[7] = w7;
        head[8] = w8, head[9] = w9, head[10] = w10, head[11] = w11;
        head[12] = w12, head[13] = w13, head[14] = w14, head[15] = w15;
      }
      sent += finish(out, from, length >> 16, payload, head, options, sum);
      counters.sent = sent;
      continue;
    }
    w6 = less_ttl(w6);
#endif
    gdn_put(out);
    gdn_put(from | length >> 16);
    gdn_put(payload);
    gdn_put(w0), gdn_put(w1), gdn_put(w2), gdn_put(w3);
    gdn_put(w4), gdn_put(w5), gdn_put(w6), gdn_put(w7);
    gdn_put(w8), gdn_put(w9), gdn_put(w10), gdn_put(w11);
    gdn_put(w12), gdn_put(w13), gdn_put(w14), gdn_put(w15);
    counters.sent = ++sent;
  }
}
