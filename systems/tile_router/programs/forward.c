/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3: forward or drop, and make the new header.

   Takes the length and the whole head of a frame into registers, so that the next one can come as
   far as stage 2, then what stage 1 says (over the GDN): the header of the message to the output
   queue, or the reason to drop the packet; and where its payload is. Takes one from the time to
   live, brings the checksum in step, and sends the head to the output queue. Counts what is
   dropped. */
#include "forward.h"

#ifdef DEEP /* switches/stage3_deep.sw */
#define take st1_take
#else
#define take st2_take
#endif

/* All that is rare: the head is in the RAM. What stage 1 says has been taken (`out` is not 0), or a
   message has begun (`header`), or nothing. Gives 1 if a packet was sent, and 2 if the next one
   comes here as well. */
static word head[HeadWords] __attribute__((section(".noinit")));
static struct flow flow __attribute__((section(".noinit")));

__attribute__((noinline)) static word rare(word header, word out, word payload, word length,
                                           word from) {
  struct said said = {out, payload, 0, 0};
  if (out == 0) {
    flow_next(&flow, &said, header);
  } else if (out == Options) {
    said.options_out = gdn_take();
    said.sum = gdn_take();
  }
  word options = said.out == Options;
  word sent = finish(options ? said.options_out : said.out, from, length >> 16, said.payload, head,
                     options, said.sum);
  return sent | (flow.stopped | flow.count ? 2 : 0);
}

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
  word busy = 0, sent = 0;
  flow.stopped = flow.first = flow.count = 0;
  flow.shift = config.number_shift;
  for (;;) {
    word length = take();
    word w0 = take(), w1 = take(), w2 = take(), w3 = take();
    word w4 = take(), w5 = take(), w6 = take(), w7 = take();
    word w8 = take(), w9 = take(), w10 = take(), w11 = take();
    word w12 = take(), w13 = take(), w14 = take(), w15 = take();
    word header = 0, out = 0, payload = 0;
    if (!RARE(busy)) {
      header = gdn_take();
      if (!RARE(header_user(header))) {
        out = gdn_take();
        payload = gdn_take();
        if (!RARE(out <= Options)) {
          gdn_put(out);
          gdn_put(from | length >> 16);
          gdn_put(payload);
#ifndef NO_LINK
          gdn_put(w0), gdn_put(w1), gdn_put(w2), gdn_put(w3);
#endif
          word began = task_begins(w6);
          w6 = less_ttl(w6);
          task_ends(began, w6);
          gdn_put(w4), gdn_put(w5), gdn_put(w6), gdn_put(w7);
          gdn_put(w8), gdn_put(w9), gdn_put(w10), gdn_put(w11);
          gdn_put(w12), gdn_put(w13), gdn_put(w14), gdn_put(w15);
          counters.sent = ++sent;
          continue;
        }
      }
    }
    head[0] = w0, head[1] = w1, head[2] = w2, head[3] = w3;
    head[4] = w4, head[5] = w5, head[6] = w6, head[7] = w7;
    head[8] = w8, head[9] = w9, head[10] = w10, head[11] = w11;
    head[12] = w12, head[13] = w13, head[14] = w14, head[15] = w15;
    word what = rare(header, out, payload, length, from);
    busy = what & 2;
    sent += what & 1;
    counters.sent = sent;
  }
}
