// SPDX-License-Identifier: Apache-2.0
// Order with `set` and `update`: the rings of commands, a bit for each place.
#include "order.h"

shared_t send_done_bits[SEND_BDS / 32];
shared_t receive_done_bits[RECEIVE_SLOTS / 32];

static shared_t read_reserved, write_reserved;
static shared_t read_bits[READ_RING / 32], write_bits[WRITE_RING / 32];

// Sets `count` bits from `first` on: with `set` if it is one, else a word at a time.
static inline void mark(shared_t* bits, uint32_t places, uint32_t first, uint32_t count) {
  uint32_t place = first & (places - 1);
  if (count == 1) {
    set_bit(bits, place);
    return;
  }
  do {
    const uint32_t room = 32 - place % 32;
    const uint32_t now = count < room ? count : room;
    atomic_or(&bits[place / 32], ~0u >> (32 - now) << place % 32);
    place = (place + now) & (places - 1);
    count -= now;
  } while (count != 0);
}

// Moves the producer over what is published. Who loses a race for a run gets 0 from `update`;
// whoever won it comes back for what is published until then, after he has moved the count.
static inline void publish(shared_t* bits, uint32_t places, shared_t* producer) {
  uint32_t at = *producer;
  uint32_t run;
  while ((run = update_bits(bits, at & (places - 1))) != 0) {
    at += run;
    *producer = at;
  }
}

uint32_t read_ring_reserve(uint32_t count) { return atomic_add(&read_reserved, count); }

void read_ring_publish(uint32_t first, uint32_t count) {
  mark(read_bits, READ_RING, first, count);
  publish(read_bits, READ_RING, &DEVICE(DmaRead + Producer));
}

uint32_t write_ring_reserve(uint32_t count) { return atomic_add(&write_reserved, count); }

void write_ring_publish(uint32_t first, uint32_t count) {
  mark(write_bits, WRITE_RING, first, count);
  publish(write_bits, WRITE_RING, &DEVICE(DmaWrite + Producer));
}
