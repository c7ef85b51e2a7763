/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3: forward or drop, and make the new header.

   Stage 1 says first (over the GDN): the header of the message to the output queue, or the reason to drop the packet; and where
   its payload is. Then the head of the frame, which has waited in the FIFOs of the static networks, passes through to that
   queue, one instruction a word; on its way the time to live goes down by one and the checksum is brought in step.
   Counts what is dropped. */
#include "forward.h"

/* A header with options: all of its sum must be known before anything is sent. */
__attribute__((noinline)) static word with_options(word out, word from, word sum, word payload) {
  static word head[HeadWords] __attribute__((section(".noinit")));
  word bytes = st2_take() >> 16;
  for (word i = 0; i < HeadWords; i++) head[i] = st2_take();
  return finish(out, from, bytes, payload, head, 1, sum);
}

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
  word sent = 0;
  for (;;) {
    word verdict = gdn_take() >> 27;
    word out = gdn_take();
    word payload = gdn_take();
    if (RARE(verdict)) {
      sent += with_options(out, from, gdn_take(), payload);
      counters.sent = sent;
      continue;
    }
    if (RARE(out < Reasons)) {
      word bytes = st2_take() >> 16;
      for (word i = 0; i < HeadWords; i++) st2_skip();
      drop(out, bytes, payload);
      continue;
    }
    gdn_put(out);
    gdn_put(from | st2_take() >> 16);
    gdn_put(payload);
    for (word i = 0; i < 6; i++) st2_to_gdn();
#ifdef NULL_ROUTER
    st2_to_gdn();
#else
    gdn_put(less_ttl(st2_take()));
#endif
    for (word i = 7; i < HeadWords; i++) st2_to_gdn();
    counters.sent = ++sent;
  }
}
