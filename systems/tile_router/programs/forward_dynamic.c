/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 3 without static networks (version III.d): heads come as messages, each before what stage 1
   says of it, but perhaps before what stage 1 says of the frame before it too: they are kept in the
   RAM until then. For each that is done with the linecard hears that it may send another one
   (line_in): so they fit, and what else comes by the GDN gets through. */
#include "forward.h"

enum { Pending = 8 }; /* the linecard's window is smaller */
struct pending {
  word length, payload, head[HeadWords];
};
static struct pending pending[Pending] __attribute__((section(".noinit")));
static struct flow flow __attribute__((section(".noinit")));

static inline struct pending* after(struct pending* slot) {
  return slot + 1 == pending + Pending ? pending : slot + 1;
}

/* All that is rare: something was kept that stage 1 said. Everything that may be sent by now is.
 * Gives the first head that is left. */
__attribute__((noinline)) static struct pending* rare(word from, struct pending* first,
                                                      word* sent) {
  while (flow.count) {
    struct said* said = &kept[flow.first];
    word options = said->out == Options;
    word out = options ? said->options_out : said->out;
    if (out >= Reasons && flow.stopped >> number_of(out, flow.shift) & 1) break;
    *sent += finish(out, from, frame_length_bytes(first->length), said->payload, first->head,
                    options, options ? said->sum : 0);
    gdn_put(config.to_card);
    first = after(first);
    flow.first = (flow.first + 1) % Kept;
    flow.count--;
  }
  return first;
}

__attribute__((noreturn)) void main(void) {
  const word from = config.from;
  struct pending *first = pending, *behind = pending;
  word busy = 0, sent = 0;
  flow.stopped = flow.first = flow.count = 0;
  flow.shift = config.number_shift;
  for (;;) {
    word header = gdn_take();
    if (header_user(header) == FrameHead) {
      gdn_to(&behind->length);
      gdn_to(&behind->payload);
      for (word i = 0; i < HeadWords; i++) gdn_to(&behind->head[i]);
      behind = after(behind);
      continue;
    }
    if (!RARE(busy | header_user(header))) {
      word out = gdn_take();
      word payload = gdn_take();
      if (!RARE(out <= Options)) {
        gdn_put(out);
        gdn_put(from | frame_length_bytes(first->length));
        gdn_put(payload);
        for (word i = 0; i < 6; i++) gdn_from(&first->head[i]);
        gdn_put(less_ttl(first->head[6]));
        for (word i = 7; i < HeadWords; i++) gdn_from(&first->head[i]);
        gdn_put(config.to_card);
        counters.sent = ++sent;
        first = after(first);
        continue;
      }
      flow_keep(&flow, out, payload);
    } else {
      flow_message(&flow, header);
    }
    first = rare(from, first, &sent);
    counters.sent = sent;
    busy = flow.stopped | flow.count;
  }
}
