/* SPDX-License-Identifier: Apache-2.0 */
/* What the third stages have in common. */
#pragma once
#include "tile.h"

/* A packet is dropped; if its payload is kept in a linecard, that hears of it. */
static void drop(word reason, word bytes, word payload) {
  counters.drops[reason]++;
  if (config.to_free && bytes > HeadBytes) {
    gdn_put(config.to_free);
    gdn_put(payload);
  }
}

/* The word with time to live, protocol and checksum, one hop on (RFC 1141, in the form that never
 * makes an 0xffff of a 0). */
static inline word less_ttl(word w) {
  word sum; /* written so that the compiler does not shift it back */
  __asm__("slli %0, %1, 16" : "=r"(sum) : "r"(w));
  if (RARE(sum >= 0xfeffu << 16)) w -= 0xffff; /* the carry of the checksum comes in again */
  return w - (1u << 24) + (1u << 8);
}

/* Sends a head that is in the RAM, or drops it; 1 if it was sent. With options the sum of the whole
 * header is seen to first. */
__attribute__((noinline)) static word finish(word out, word from, word bytes, word payload,
                                             word* head, word options, word sum) {
  if (options) {
    word words = head[4] >> 24 & 15;
    for (word i = 5; i < words; i++) sum = add(sum, head[4 + i]);
    if (!right(sum)) out = DropChecksum;
  }
  if (RARE(out < Reasons)) {
    drop(out, bytes, payload);
    return 0;
  }
  head[6] = less_ttl(head[6]);
  gdn_put(out);
  gdn_put(from | bytes);
  gdn_put(payload);
  for (word i = 0; i < HeadWords; i++) gdn_from(&head[i]);
  return 1;
}
