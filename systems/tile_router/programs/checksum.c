/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 2: is the header right? (RFC 1812, 5.2.2, 5.3.1, 5.3.7)

   Takes the length of a frame and words 3 .. 8 of its head as they stream past (Ethernet type, and an IP header without
   options), and sends one word to stage 1: a message without payload, whose code is 0 or the reason to drop the packet.
   A header with options, which is rare, is summed up to its end by stage 3, which has all words: its verdict is `Options`, and the
   sum so far. In version III.d the head comes as a message, all of it. */
#include "tile.h"

#ifdef DYNAMIC
#define take gdn_take
static inline void skip(word words) {
  for (word i = 0; i < words; i++) gdn_skip();
}
#else
#define take st1_take
static inline void skip(word words) { (void)words; }
#endif

#define ETHERNET_IPV4 0x0800u

static inline word check(word *sum_so_far) {
  skip(1); /* header of the message */
  word bytes = take() >> 16;
  skip(4); /* where the payload is, words 0 .. 2 */
  word type = take();
  word first = take(); /* version, header length, type of service, total length */
  word sum = add(first, take());
  word ttl = take(); /* time to live, protocol, checksum */
  sum = add(sum, ttl);
  word source = take();
  sum = add(sum, source);
  sum = add(sum, take());
  skip(HeadWords - 9);
  int room = (int)bytes - EthernetBytes;
  int length = (int)(first & 0xffff);
  word net = source >> 24;
  if (RARE(type << 16 != ETHERNET_IPV4 << 16)) return DropNotIp;
  if (RARE(room < 20)) return DropShort;
  if (RARE(first >> 24 != 0x45)) {
    int header = (int)(first >> 22 & 60);
    if (first >> 28 != 4) return DropVersion;
    if (header < 20 || header > room) return DropHeader;
    if (length < header || length > room) return DropLength;
    if (header > 4 * HeadIpWords) return DropOptions;
    *sum_so_far = sum;
  } else {
    if (RARE(!right(sum))) return DropChecksum;
    if (RARE(length < 20 || length > room)) return DropLength;
  }
  if (RARE(net - 1 >= 223 || net == 127)) return DropSource;
  if (RARE(ttl < 2u << 24)) return DropTtl;
  return Fine;
}

__attribute__((noreturn)) void main(void) {
  const word to_next = config.to_next;
  word frames = 0;
  for (;;) {
    word sum = 0;
    word reason = check(&sum);
    if (RARE(sum && reason == Fine)) {
      gdn_put(to_next | MESSAGE_USER(Options) | MESSAGE_LEN(1));
      gdn_put(sum);
    } else {
      gdn_put(to_next | MESSAGE_USER(reason));
    }
    counters.frames = ++frames;
  }
}
