/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 2: is the header right? (RFC 1812, 5.2.2, 5.3.1, 5.3.7)

   Takes the length of a frame and words 3 .. 8 of its head as they stream past (Ethernet type, and
   an IP header without options), and sends one word to stage 1: a message without payload, whose
   code is 0 or the reason to drop the packet. A header with options, which is rare, is summed up to
   its end by stage 3, which has all words: its verdict is `Options`, and the sum so far. In version
   III.d the head comes as a message, all of it. */
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

/* What is wrong with a header, in the order of RFC 1812, if anything; Options if that is yet to be
   seen. `room` is for IP in the frame. */
__attribute__((noinline)) static word reason(int room, word type, word first, word sum, word source,
                                             word ttl) {
  int header = (int)(first >> 22 & 60);
  int length = (int)(first & 0xffff);
  word net = source >> 24;
  if (type << 16 != ETHERNET_IPV4 << 16) return DropNotIp;
  if (room < 20) return DropShort;
  if (first >> 28 != 4) return DropVersion;
  if (header < 20 || header > room) return DropHeader;
  if (header == 20 && !right(sum)) return DropChecksum;
  if (length < header || length > room) return DropLength;
  if (header > 4 * HeadIpWords) return DropOptions;
  if (net == 0 || net == 127 || net >= 224) return DropSource;
  if (ttl < 2u << 24) return DropTtl;
  return header == 20 ? Fine : Options;
}

__attribute__((noreturn)) void main(void) {
  const word fine = config.to_next;
  word frames = 0;
  for (;;) {
    skip(1); /* header of the message */
    int room = (int)(take() >> 16) - EthernetBytes;
    skip(4); /* where the payload is, words 0 .. 2 */
    word type = take();
    word began = task_begins(type);
    word first = take(); /* version, header length, type of service, total length */
    word sum = add(first, take());
    word ttl = take(); /* time to live, protocol, checksum */
    sum = add(sum, ttl);
    word source = take();
    sum = add(sum, source);
    sum = add(sum, take());
    skip(HeadWords - 9);
    counters.frames = ++frames;
    int length = (int)(first & 0xffff);
    word net = source >> 24;
    /* As a rule nothing is wrong: each condition an instruction or two; what it was is found out
     * later. */
    if (RARE((type & 0xffff) != ETHERNET_IPV4)) goto wrong;
    if (RARE(first >> 24 != 0x45)) goto wrong;
    if (RARE(length < 20)) goto wrong;
    if (RARE(length > room)) goto wrong;
    if (RARE((sum >> 16) + (sum & 0xffff) != 0xffff)) goto wrong; /* or 0x1fffe, which is right */
    if (RARE(net - 1 >= 223)) goto wrong;
    if (RARE(net == 127)) goto wrong;
    if (RARE(ttl < 2u << 24)) goto wrong;
    task_ends(began, fine);
    gdn_put(fine);
    continue;
  wrong:;
    word what = reason(room, type, first, sum, source, ttl);
    gdn_put(fine | HEADER_USER(what) | HEADER_LEN(what == Options));
    if (what == Options) gdn_put(sum);
  }
}
