/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 1 without static networks (version III.d): whole heads come as messages, among the verdicts
   of stage 2, which may be a frame or two behind. The linecard sends a head to stage 3 first, then
   here, then to stage 2: so the verdict about a frame comes after its head, here as in stage 3. */
#include "lookup.h"

enum {
  Pending = 8
}; /* frames that wait for their verdict; the FIFOs between linecard and stage 2 hold less than one
      head */
static struct {
  word out, payload;
} pending[Pending] __attribute__((section(".noinit")));

__attribute__((noreturn)) void main(void) {
  const word to_next = config.to_next;
  word first = 0, behind = 0, frames = 0;
  for (;;) {
#ifdef CHANGES
    while (RARE(!gdn_some())) look_for_changes();
#endif
    word verdict = header_user(gdn_take());
    if (verdict == FrameHead) {
      gdn_skip();
      pending[behind].payload = gdn_take();
      for (word i = 0; i < 8; i++) gdn_skip();
      look_for_changes();
      word address = gdn_take();
      for (word i = 9; i < HeadWords; i++) gdn_skip();
      pending[behind].out = config.port[lookup(address)];
      behind = (behind + 1) % Pending;
      counters.frames = ++frames;
      continue;
    }
    word out = pending[first].out;
    if (verdict == Options) {
      word sum = gdn_take();
      out = outcome(gdn_take(), out);
      gdn_put(to_next | HEADER_LEN(4));
      gdn_put(Options);
      gdn_put(pending[first].payload);
      gdn_put(out);
      gdn_put(sum);
    } else {
      gdn_put(to_next | HEADER_LEN(2));
      gdn_put(outcome(verdict, out));
      gdn_put(pending[first].payload);
    }
    first = (first + 1) % Pending;
  }
}
