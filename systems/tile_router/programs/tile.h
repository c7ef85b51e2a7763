/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of the tiles share: networks, interrupts, counters. Messages are those of
   mesh_pkg and tile_pkg, as is what the boot image tells a tile.

   A network is a register: reading it takes a word and waits for one, writing it sends and waits
   for room. All of it is `asm volatile`: the compiler keeps the order. */
#pragma once

#include "core_formats.h"
#include "mesh_formats.h"
#include "tile_formats.h"

typedef unsigned int word;
#define RARE(condition) __builtin_expect(!!(condition), 0)

/* Static network 1. */
static inline word st1_take(void) {
  word w;
  __asm__ volatile("mv %0, x26" : "=r"(w));
  return w;
}
static inline word st1_take_left16(void) {
  word w;
  __asm__ volatile("slli %0, x26, 16" : "=r"(w));
  return w;
}
static inline void st1_skip(void) { __asm__ volatile("mv zero, x26"); }
static inline void st1_to_gdn(void) { __asm__ volatile("mv x28, x26"); }

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
static inline word gdn_take_user(void) { /* of a header */
  word w;
  __asm__ volatile("srli %0, x28, 27" : "=r"(w));
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

/* Whether there is a word to take of static network 1, of the GDN; room for one to the GDN. */
static inline word net_status(void) {
  word w;
  __asm__ volatile("csrr %0, %1" : "=r"(w) : "i"(CsrNetStatus));
  return w;
}
static inline word st1_some(void) { return net_status() & 1; }
static inline word gdn_some(void) { return net_status() & 4; }
static inline word gdn_room(void) { return net_status() & 0x40; }

/* Interrupt flags: bit 0 another core, 1 .. 4 a linecard in the north, east, south, west. */
static inline word flags(void) {
  word w;
  __asm__ volatile("csrr %0, %1" : "=r"(w) : "i"(CsrIrqFlags));
  return w;
}
static inline void flags_clear(word bits) {
  __asm__ volatile("csrc %0, %1" : : "i"(CsrIrqFlags), "r"(bits));
}

/* The number of a third stage or an output from its place_t: one coordinate, `shift` says which;
 * WIDE, with pipelines from the north and from the south: x, and whether y is 4 or more. */
static inline word number_of(word place, word shift) {
#ifdef WIDE
  (void)shift;
  return (place & 7) | (place >> 3 & 8);
#else
  return place >> shift & 15;
#endif
}

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

/* What the boot image tells this tile. */
extern const struct config config;

/* What the boot port reads while the programs run. */
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
