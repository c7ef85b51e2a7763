/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3 where payloads share the GDN with the heads (version IV over the GDN): as forward.c, but
   a head is sent only when its output has given leave (Go: one of each pipeline at a time). So
   heads wait here, not on the links that payloads come by. While it waits it takes all that comes,
   and keeps what stage 1 says of the frames to come. */
#include "forward.h"

#define take st1_take /* switches/stage3_deep.sw */

static word head[HeadWords] __attribute__((section(".noinit")));
static struct said* first __attribute__((section(".noinit"))); /* of those that are kept */

/* What is known of outputs and of frames to come: in bits 15:0 the outputs that have given leave,
   above how many frames stage 1 has said something of that is kept. */
enum { OneKept = 1 << 16 };

static inline struct said* after(struct said* said) {
  return said + 1 == kept + Kept ? kept : said + 1;
}

/* Takes the rest of a message that has begun. */
static inline word hear(word state, word header) {
  if (header_user(header)) return state | 1u << (header >> 16 & 15);
  struct said* said = first;
  for (word i = state >> 16; i; i--) said = after(said);
  gdn_to(&said->out);
  gdn_to(&said->payload);
  if (RARE(said->out == Options)) {
    gdn_to(&said->options_out);
    gdn_to(&said->sum);
  }
  return state + OneKept;
}

/* A frame with options, or one that is dropped; `said` is what stage 1 says, all of it. */
__attribute__((noinline)) static word rare(word state, const struct said* said, word length) {
  word options = said->out == Options;
  word to = options ? said->options_out : said->out;
  if (to >= Reasons)
    while (!(state >> number_of(to, 0) & 1)) state = hear(state, gdn_take());
  if (!finish(to, config.from, length >> 16, said->payload, head, options, said->sum)) return state;
  counters.sent++;
  return state & ~(1u << number_of(to, 0));
}

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
  word state = 0xffff;
  first = kept;
  for (;;) {
    word length = take();
    word w0 = take(), w1 = take(), w2 = take(), w3 = take();
    word w4 = take(), w5 = take(), w6 = take(), w7 = take();
    word w8 = take(), w9 = take(), w10 = take(), w11 = take();
    word w12 = take(), w13 = take(), w14 = take(), w15 = take();
    if (!RARE(state >> 16)) {
      word header = gdn_take();
      while (header_user(header)) {
        state |= 1u << (header >> 16 & 15);
        header = gdn_take();
      }
      word out = gdn_take();
      word payload = gdn_take();
      word bit = 1u << number_of(out, 0);
      if (!RARE(out <= Options) && (state & bit)) {
        state -= bit;
        gdn_put(out);
        gdn_put(from | length >> 16);
        gdn_put(payload);
        goto words;
      }
      first->out = out;
      first->payload = payload;
      if (out == Options) {
        gdn_to(&first->options_out);
        gdn_to(&first->sum);
      }
      state += OneKept;
    }
    {
      struct said* said = first;
      word out = said->out;
      if (RARE(out <= Options)) {
        head[0] = w0, head[1] = w1, head[2] = w2, head[3] = w3;
        head[4] = w4, head[5] = w5, head[6] = w6, head[7] = w7;
        head[8] = w8, head[9] = w9, head[10] = w10, head[11] = w11;
        head[12] = w12, head[13] = w13, head[14] = w14, head[15] = w15;
        state = rare(state, said, length) - OneKept;
        first = after(said);
        continue;
      }
      word bit = 1u << number_of(out, 0);
      while (!(state & bit)) state = hear(state, gdn_take());
      state -= bit + OneKept;
      first = after(said);
      gdn_put(out);
      gdn_put(from | length >> 16);
      gdn_put(said->payload);
    }
  words:
    gdn_put(w0), gdn_put(w1), gdn_put(w2), gdn_put(w3);
    w6 = less_ttl(w6);
    gdn_put(w4), gdn_put(w5), gdn_put(w6), gdn_put(w7);
    gdn_put(w8), gdn_put(w9), gdn_put(w10), gdn_put(w11);
    gdn_put(w12), gdn_put(w13), gdn_put(w14), gdn_put(w15);
    counters.sent++;
  }
}
