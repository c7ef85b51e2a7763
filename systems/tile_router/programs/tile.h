/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of the tiles share: networks, messages, what the boot image tells a tile,
   counters.

   A network is a register: reading it takes a word and waits for one, writing it sends and waits
   for room. All of it is `asm volatile`: the compiler keeps the order. */
#pragma once

typedef unsigned int word;
#define RARE(condition) __builtin_expect(!!(condition), 0)

/* Static network 1. */
static inline word st1_take(void) {
  word w;
  __asm__ volatile("mv %0, x26" : "=r"(w));
  return w;
}
static inline void st1_skip(void) { __asm__ volatile("mv zero, x26"); }

/* Static network 2. */
static inline word st2_take(void) {
  word w;
  __asm__ volatile("mv %0, x27" : "=r"(w));
  return w;
}
static inline void st2_skip(void) { __asm__ volatile("mv zero, x27"); }
static inline void st2_to_gdn(void) { __asm__ volatile("mv x28, x27"); }

/* General dynamic network. */
static inline word gdn_take(void) {
  word w;
  __asm__ volatile("mv %0, x28" : "=r"(w));
  return w;
}
static inline void gdn_skip(void) { __asm__ volatile("mv zero, x28"); }
static inline void gdn_put(word w) { __asm__ volatile("mv x28, %0" : : "r"(w)); }
static inline void gdn_pass(void) { __asm__ volatile("mv x28, x28"); } /* from the GDN to the GDN */
static inline void gdn_to(word* p) {
  __asm__ volatile("sw x28, %0" : "=m"(*p));
} /* a word into the RAM */
static inline void gdn_from(const word* p) {
  __asm__ volatile("lw x28, %0" : : "m"(*p));
} /* a word from there */

/* Whether there is a word of the GDN to take. */
static inline word gdn_some(void) {
  word w;
  __asm__ volatile("csrr %0, 0x7c0" : "=r"(w));
  return w & 4;
}

/* Interrupt flags: bit 0 another core, 1 .. 4 a linecard in the north, east, south, west. */
static inline word flags(void) {
  word w;
  __asm__ volatile("csrr %0, 0x7c1" : "=r"(w));
  return w;
}
static inline void flags_clear(word bits) { __asm__ volatile("csrc 0x7c1, %0" : : "r"(bits)); }

/* Dynamic messages: what is in a header (mesh_pkg::header_t). */
#define MESSAGE_LEN(words) ((word)(words) << 11)
#define MESSAGE_USER(code) ((word)(code) << 27)
enum { StreamWrite = 4, FreeBuffer = 6, Stop = 20, Go = 21, FrameHead = 24, FrameOut = 25 };
enum { HeadWords = 16, OutWords = HeadWords + 2 };

/* The head: two bytes that mean nothing, 14 bytes of Ethernet, and the IP header from word 4. */
enum { EthernetBytes = 14, HeadBytes = 4 * HeadWords - 2, HeadIpWords = HeadWords - 4 };

/* Why a packet does not go on. Also the codes of messages between stages, so none of them is 31 (an
 * interrupt). */
enum {
  Fine = 0,
  DropNotIp = 1,   /* not IPv4 by its Ethernet type */
  DropShort = 2,   /* no room for a header */
  DropVersion = 3, /* not version 4 */
  DropHeader = 4,  /* header length below 20 bytes, or beyond the packet */
  DropLength = 5,  /* total length below the header's, or beyond the frame */
  DropChecksum = 6,
  DropSource = 7,       /* no host has that address (RFC 1812, 5.3.7) */
  DropOptions = 8,      /* header of more than 48 bytes: not all of it is in the head */
  DropRoute = 9,        /* no route, not even a default one */
  DropDestination = 10, /* an address that is not forwarded */
  DropTtl = 11,
  DropQueue = 12, /* output queue full */
  Reasons = 13,
  /* Verdicts that are no reasons. */
  Options = 16 /* a header with options: one word more comes along, the sum of its first 20 bytes */
};

/* Ones' complement sum of words: a carry comes in again below. */
static inline word add(word sum, word w) {
  sum += w;
  return sum + (sum < w);
}

/* Whether the 16-bit sum of a header, its checksum included, is what it should be. */
static inline word right(word sum) {
  sum = (sum >> 16) + (sum & 0xffff);
  return sum == 0xffff || RARE(sum == 0x1fffe);
}

/* What the lookup's table says instead of a port (dir24.hpp). */
enum { PortNoRoute = 62, PortMartian = 63, Ports = 64 };

/* What the boot image tells a tile: at the start of its RAM, in this order. */
struct config {
  word to_next; /* header of messages to the next stage (lookup: forward; checksum: lookup; output:
                   its linecard) */
  word to_memory; /* lookup: header of StreamWrite messages */
  word ring_base; /* lookup: where payloads are kept in that memory */
  word ring_last; /* lookup: no payload begins after this */
  word from;      /* forward: frame_out_t of a frame without bytes: where its payload is */
  word to_free;   /* header of FreeBuffer messages, 0: nothing is freed */
  word to_card; /* forward, heads by the GDN: header of an Interrupt to the linecard they come from
                 */
  word number_shift; /* place of the number of a pipeline or output in a place_t: 0 (x) or 4 (y) */
  word own_number;   /* output: number of this one */
  word ready_flags;  /* flag of the linecard (output), of the packet memory (lookup) */
  word port[Ports];  /* lookup: header of messages to the output of a port, or a reason */
};
extern const struct config config;

/* What the boot port reads while the programs run. */
struct counters {
  word frames;    /* taken */
  word sent;      /* handed on */
  word queued;    /* output: of those sent, how many waited in the queue */
  word deepest;   /* output: most packets in the queue */
  word drops[16]; /* by reason */
  word clocks;    /* with TIMED: of the stage's task, without the two that taking the time costs */
};
extern volatile struct counters counters;

/* How long the task of a stage takes (paper: table 2): from when `from` is there to when `to` is.
 */
#ifdef TIMED
static inline word task_begins(word from) {
  word now;
  __asm__ volatile("mv %1, %1\n csrr %0, 0xb00" : "=r"(now), "+r"(from));
  return now;
}
static inline void task_ends(word began, word to) {
  counters.clocks += task_begins(to) - began - 2;
}
#else
static inline word task_begins(word from) { return from; }
static inline void task_ends(word began, word to) { (void)began, (void)to; }
#endif
