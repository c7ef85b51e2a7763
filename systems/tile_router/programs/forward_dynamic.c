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
  struct flow flow = {0, 0, 0, config.number_shift};
  word first = 0, behind = 0, sent = 0;
  for (;;) {
    word header = gdn_take();
    if (header >> 27 == FrameHead) {
      gdn_to(&pending[behind].length);
      gdn_to(&pending[behind].payload);
      for (word i = 0; i < HeadWords; i++) gdn_to(&pending[behind].head[i]);
      behind = (behind + 1) % Pending;
    } else {
      flow_message(&flow, header);
    }
    while (flow.count) {
      struct said *said = &kept[flow.first];
      word options = said->out == Options;
      word out = options ? said->options_out : said->out;
      if (out >= Reasons && flow.stopped >> (out >> flow.shift & 15) & 1) break;
      word bytes = pending[first].length >> 16;
      sent += finish(out, from, bytes, said->payload, pending[first].head, options, options ? said->sum : 0);
      counters.sent = sent;
      first = (first + 1) % Pending;
      flow.first = (flow.first + 1) % Kept;
      flow.count--;
    }
  }
}
