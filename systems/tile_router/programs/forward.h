/* SPDX-License-Identifier: Apache-2.0 */
/* What the third stages have in common. */
#pragma once
#include "tile.h"

/* A packet that is dropped may be answered: the control tile has it, if this stage has leave to
 * send one (an interrupt). */
#ifdef CONTROL
#define ETHERNET_ARP 0x0806u
enum {
  Leave = 1,
  Answered = 1 << DropNotIp | 1 << DropOwnAddress | 1 << DropNoRoute | 1 << DropTtl,
};
__attribute__((always_inline)) static inline void ask(word reason, word bytes, word payload,
                                                      const word* head) {
  if (!RARE(1u << reason & Answered)) return;
  if (reason == DropNotIp && (head[3] & 0xffff) != ETHERNET_ARP) return;
  if (!(flags() & Leave)) {
    counters.busy++;
    return;
  }
  flags_clear(Leave);
  gdn_put(config.to_control);
  gdn_put(bytes << 16 | reason);
  gdn_put(payload);
  for (word i = 0; i < HeadWords; i++) gdn_from(&head[i]);
  counters.asked++;
}
#else
static inline void ask(word reason, word bytes, word payload, const word* head) {
  (void)reason, (void)bytes, (void)payload, (void)head;
}
#endif

/* A packet is dropped; if its payload is kept in a linecard, that hears of it. */
__attribute__((unused)) static void drop(word reason, word bytes, word payload) {
  counters.drops[reason]++;
  if (config.to_free && bytes > HeadBytes) {
    gdn_put(config.to_free);
    gdn_put(payload);
  }
}

/* The word with time to live, protocol and checksum, one hop on (RFC 1141, in the form that never
 * makes an 0xffff of a 0). */
static inline word less_ttl(word w) {
#ifdef NULL_ROUTER
  return w;
#endif
  word sum, less = w - (1u << 24) + (1u << 8);
  /* Written so that the compiler does neither shift the sum back nor add up the two numbers. */
  __asm__("slli %0, %2, 16" : "=r"(sum), "+r"(less) : "r"(w));
  if (RARE(sum >= 0xfeffu << 16)) less -= 0xffff; /* the carry of the checksum comes in again */
  return less;
}

/* First word of a head that stage 4 gets; the Ethernet header before it is stage 4's to make. */
#ifdef NO_LINK
enum { FirstSent = LinkWords };
#else
enum { FirstSent = 0 };
#endif

/* The Ethernet header of what leaves by an output: to the next hop, from the output's address. */
#ifdef REWRITE
/* `left`: brings the number of an output to bits 7:4, where it counts headers of 16 bytes. */
static inline const word* link_of(word out, word left) {
  return (const word*)((const char*)config.port + (out << left & 0xf0));
}
static inline word link_left(void) { return 4 - config.number_shift; }
#endif

/* Sends a head that is in the RAM, or drops it; 1 if it was sent. With options the sum of the whole
 * header is seen to first. */
__attribute__((noinline, unused)) static word finish(word out, word from, word bytes, word payload,
                                                     word* head, word options, word sum) {
  if (options) {
    word words = head[4] >> 24 & 15;
    for (word i = 5; i < words; i++) sum = add(sum, head[4 + i]);
    if (!right(sum)) out = DropChecksum;
  }
  if (RARE(out < Reasons)) {
    drop(out, bytes, payload);
    ask(out, bytes, payload, head);
    return 0;
  }
#ifdef REWRITE
  const word* link = link_of(out, link_left());
  for (word i = 0; i < LinkWords; i++) head[i] = link[i];
#endif
  head[6] = less_ttl(head[6]);
  gdn_put(out);
  gdn_put(from | bytes);
  gdn_put(payload);
  for (word i = FirstSent; i < HeadWords; i++) gdn_from(&head[i]);
  return 1;
}

/* A queue that fills says Stop to who sends to it, and Go when there is room again: 1 << output.
   What stage 1 says meanwhile is kept here; it is two packets ahead at most. */
struct said {
  word out, payload, options_out, sum;
};
enum { Kept = 8 };
struct flow {
  word stopped, first, count, shift;
};
static struct said kept[Kept] __attribute__((section(".noinit")));

/* Keeps what stage 1 says, of which two words have been taken. */
static inline void flow_keep(struct flow* flow, word out, word payload) {
  struct said* said = &kept[(flow->first + flow->count++) % Kept];
  said->out = out;
  said->payload = payload;
  if (out == Options) {
    said->options_out = gdn_take();
    said->sum = gdn_take();
  }
}

/* Takes a message: Stop, Go, or of stage 1, which is put behind those that are kept. */
static inline void flow_message(struct flow* flow, word header) {
  word kind = header_user(header);
  word bit = 1u << (header >> 16 & 15);
  if (kind == Stop) {
    flow->stopped |= bit;
  } else if (kind == Go) {
    flow->stopped &= ~bit;
  } else {
    word out = gdn_take();
    flow_keep(flow, out, gdn_take());
  }
}

/* What stage 1 says of the next packet, when that may be sent; `header` of a message that has
   begun, or 0. Gives 0 when nothing is stopped or kept any more. */
__attribute__((noinline, unused)) static word flow_next(struct flow* flow, struct said* said,
                                                        word header) {
  if (header) flow_message(flow, header);
  while (!flow->count) flow_message(flow, gdn_take());
  *said = kept[flow->first % Kept];
  flow->first = (flow->first + 1) % Kept;
  flow->count--;
  word out = said->out == Options ? said->options_out : said->out;
  if (out >= Reasons)
    while (flow->stopped >> number_of(out, flow->shift) & 1) flow_message(flow, gdn_take());
  return flow->stopped | flow->count;
}
