/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 2: is it for this router, and is the header right? (RFC 1812, 5.2.2, 5.3.1, 5.3.4, 5.3.7)

   Takes the length of a frame and words 0, 1 and 3 .. 8 of its head as they stream past (address of
   the station, Ethernet type, and an IP header without options), and sends one word to stage 1: a
   message without payload, whose code is 0 or the reason to drop the packet. A header with options,
   which is rare, is summed up to its end by stage 3, which has all words: its verdict is `Options`,
   the sum so far, and what is wrong besides. In version III.d the head comes as a message, all of
   it. */
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
#define IP_MULTICAST 14u /* the first four bits of an address */

/* Whom a frame is sent to on the link. */
enum { Us, Group, Another };

/* What is wrong with a header, in the order of verdict_e, if anything. With options the sum is yet
   to be seen: Options, and in bits 12:8 what is wrong if it is right. `room` is for IP in the
   frame. */
__attribute__((noinline)) static word reason(word to, int room, word type, word first, word sum,
                                             word source, word destination, word ttl) {
  int header = (int)(first >> 22 & 60);
  int length = (int)(first & 0xffff);
  word net = source >> 24;
  word later = Fine;
  if (to == Another) return DropNotOurs;
  if (type << 16 != ETHERNET_IPV4 << 16) return DropNotIp;
  if (room < 20) return DropShort;
  if (first >> 28 != 4) return DropVersion;
  if (header < 20 || header > room) return DropHeader;
  if (length < header || length > room) return DropLength;
  if (header > 4 * HeadIpWords) return DropOptions;
  if (header == 20 && !right(sum)) return DropChecksum;
  if (to == Group && destination >> 28 != IP_MULTICAST)
    later = DropGroupMac;
  else if (net == 0 || net == 127 || net >= 224)
    later = DropSource;
  else if (ttl < 2u << 24)
    later = DropTtl;
  return header == 20 ? later : Options | later << 8;
}

__attribute__((noreturn)) void main(void) {
  const word fine = config.to_next;
  const word mac0 = config.mac[0], mac1 = config.mac[1], strict = config.mac_strict;
  word frames = 0;
  for (;;) {
    skip(1); /* header of the message */
    int room = (int)(take() >> 16) - EthernetBytes;
    skip(1); /* where the payload is */
    word to0 = take(), to1 = take();
    skip(1);
    word type = take();
    word began = task_begins(type);
    word first = take(); /* version, header length, type of service, total length */
    word sum = add(first, take());
    word ttl = take(); /* time to live, protocol, checksum */
    sum = add(sum, ttl);
    word source = take();
    sum = add(sum, source);
    word destination = take();
    sum = add(sum, destination);
    skip(HeadWords - 9);
    counters.frames = ++frames;
    int length = (int)(first & 0xffff);
    word net = source >> 24;
    /* As a rule nothing is wrong: each condition an instruction or two; what it was is found out
     * later. */
    if (RARE(to1 != mac1 || to0 << 16 != mac0) && (to0 | strict) & GroupBit) goto wrong;
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
    word to = Us;
    if (to0 & GroupBit)
      to = Group;
    else if ((to1 != mac1 || to0 << 16 != mac0) && strict)
      to = Another;
    word what = reason(to, room, type, first, sum, source, destination, ttl);
    word code = what & 31, options = code == Options;
    gdn_put(fine | HEADER_USER(code) | HEADER_LEN(options ? 2 : 0));
    if (options) {
      gdn_put(sum);
      gdn_put(what >> 8);
    }
  }
}
