/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 2: is it for this router, and is the header right? (RFC 1812, 5.2.2, 5.3.1, 5.3.4, 5.3.7)

   Takes the length of a frame and words 0, 1 and 3 .. 8 of its head as they stream past (address of
   the station, Ethernet type, and an IP header without options), and sends one word to stage 1: a
   message without payload, whose code is 0 or the reason to drop the packet. A header with options,
   which is rare, is summed up to its end by stage 3, which has all words: its verdict is `Options`,
   the sum so far, and what is wrong besides. In version III.d the head comes as a message, all of
   it. */
#include "tile.h"

/* The network that words 0, 2, 4 ... of the head come by, and that of the length and the others. */
#if defined DYNAMIC
#define EVEN "x28"
#define ODD "x28"
static inline void skip(word words) {
  for (word i = 0; i < words; i++) gdn_skip();
}
#elif defined BOTH
#define EVEN "x27"
#define ODD "x26"
#else
#define EVEN "x26"
#define ODD "x26"
#endif
#ifndef DYNAMIC
static inline void skip(word words) { (void)words; }
#endif

/* A word is taken by the instruction that works on it. */
#define TAKE(w, network) __asm__ volatile("mv %0, " network : "=r"(w))
#define TAKE_LEFT16(w, network) __asm__ volatile("slli %0, " network ", 16" : "=r"(w))
#define TAKE_PLUS(w, network, x) __asm__ volatile("add %0, " network ", %1" : "=r"(w) : "r"(x))
#define TAKE_MINUS(w, network, x) __asm__ volatile("sub %0, " network ", %1" : "=r"(w) : "r"(x))

#define ETHERNET_IPV4 0x0800u
#define IP_MULTICAST 14u /* the first four bits of an address */

enum { IpBytes = 20, Least = EthernetBytes + IpBytes }; /* without options */

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
  if (type != ETHERNET_IPV4 << 16) return DropNotIp;
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
  /* Numbers that the compiler is to have in registers, as they are. */
  word ipv4 = 0x45, least = IpBytes << 16, least_ttl = 2u << 24, loopback = 127;
  __asm__("" : "+r"(ipv4), "+r"(least), "+r"(least_ttl), "+r"(loopback));
  word frames = 0;
  for (;;) {
    word beyond, to0, to1, type, first, second, ttl, source, sum;
    skip(1); /* header of the message */
    TAKE_MINUS(beyond, ODD, Least << 16); /* bits 31:16: bytes beyond these */
    skip(1); /* where the payload is */
    TAKE_LEFT16(to0, EVEN);
    TAKE(to1, ODD);
    skip(1);
    TAKE_LEFT16(type, ODD);
    word began = task_begins(type);
    TAKE(first, EVEN); /* version, header length, type of service, total length */
    TAKE_PLUS(second, ODD, first);
    sum = second + (second < first);
    TAKE(ttl, EVEN); /* time to live, protocol, checksum */
    sum = add(sum, ttl);
    TAKE(source, ODD);
    word before = add(sum, source);
    TAKE_PLUS(sum, EVEN, before); /* destination */
    word destination = sum - before;
    sum += sum < before;
    skip(HeadWords - 9);
    counters.frames = ++frames;
    word length = first << 16;
    word net = source >> 24;
    /* As a rule nothing is wrong: each condition an instruction or two; what it was is found out
     * later. */
    if (RARE(to1 != mac1 || to0 != mac0) && (to0 >> 16 | strict) & GroupBit) goto wrong;
    if (RARE(type != ETHERNET_IPV4 << 16)) goto wrong;
    if (RARE(first >> 24 != ipv4)) goto wrong;
    if (RARE((int)beyond < 0)) goto wrong;
    if (RARE(length - least > beyond)) goto wrong;
    if (RARE(sum + (sum << 16) < 0xffff0000u)) goto wrong; /* or 0xfffe...., which may be right */
    if (RARE(net - 1 >= 223)) goto wrong;
    if (RARE(net == loopback)) goto wrong;
    if (RARE(ttl < least_ttl)) goto wrong;
    task_ends(began, fine);
    gdn_put(fine);
    continue;
  wrong:;
    word to = Us;
    if (to0 & GroupBit << 16)
      to = Group;
    else if ((to1 != mac1 || to0 != mac0) && strict)
      to = Another;
    word what = reason(to, ((int)beyond >> 16) + IpBytes, type, first, sum, source, destination, ttl);
    word code = what & 31, options = code == Options;
    gdn_put(fine | HEADER_USER(code) | HEADER_LEN(options ? 2 : 0));
    if (options) {
      gdn_put(sum);
      gdn_put(what >> 8);
    }
  }
}
