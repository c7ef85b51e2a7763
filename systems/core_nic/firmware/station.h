// SPDX-License-Identifier: Apache-2.0
// A frame in its slot as a core loads it: two bytes of the wire are a half of a word, the first one
// low. What those share that answer frames without a host (echo.c).
#ifndef EMERY_FIRMWARE_STATION_H
#define EMERY_FIRMWARE_STATION_H

#include "echo_formats.h"
#include "hw.h"

enum { SLOT = 2048, IP_AT = 14, ICMP = 1, UDP = 17 };

static inline uint32_t config(uint32_t word) { return DEVICE(Config + 4 * word); }
static inline uint32_t low(uint32_t word) { return word & 0xffff; }
static inline uint32_t high(uint32_t word) { return word >> 16; }
static inline uint32_t join(uint32_t first, uint32_t second) { return low(first) | second << 16; }
static inline uint32_t halves(uint32_t word) { return low(word) + high(word); }
static inline uint32_t folded(uint32_t sum) {
  sum = halves(sum);
  return low(halves(sum));
}
static inline uint32_t swapped(uint32_t half) { return (half >> 8 & 0xff) | (half & 0xff) << 8; }

static inline void take_lock(shared_t* lock) {
  while (atomic_swap(lock, 1) != 0) pause_core();
}
static inline void leave_lock(shared_t* lock) {
  in_order();
  *lock = 0;
}

// Makes the packet one to whom it came from, with so many bytes behind its header, the first half
// of which is given. The length of the frame.
uint32_t answer_ip(shared_t* frame, uint32_t payload, uint32_t first);

#endif
