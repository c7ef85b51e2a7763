/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3 without static networks (version III.d): heads come as messages, each before what stage 1 says of it, but perhaps
   before what stage 1 says of the frame before it too: they are kept in the RAM until then. */
#include "forward.h"

enum { Pending = 8 };
static struct {
  word length, payload, head[HeadWords];
} pending[Pending] __attribute__((section(".noinit")));

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
  word first = 0, behind = 0, sent = 0;
  for (;;) {
    word kind = gdn_take() >> 27;
    if (kind == FrameHead) {
      gdn_to(&pending[behind].length);
      gdn_to(&pending[behind].payload);
      for (word i = 0; i < HeadWords; i++) gdn_to(&pending[behind].head[i]);
      behind = (behind + 1) % Pending;
      continue;
    }
    word out = gdn_take();
    word payload = gdn_take();
    word options = out == Options, sum = 0;
    if (options) {
      out = gdn_take();
      sum = gdn_take();
    }
    sent += finish(out, from, pending[first].length >> 16, payload, pending[first].head, options, sum);
    counters.sent = sent;
    first = (first + 1) % Pending;
  }
}
