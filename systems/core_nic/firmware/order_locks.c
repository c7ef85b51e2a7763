// SPDX-License-Identifier: Apache-2.0
// Order in software only: the rings of commands, a flag for each place.
#include "order.h"

flag_t send_done_flags[SEND_BDS];
flag_t receive_done_flags[RECEIVE_SLOTS];
lock_t send_order_lock, receive_order_lock;

static flag_t read_flags[READ_RING], write_flags[WRITE_RING];
static lock_t read_lock, write_lock, read_publish_lock, write_publish_lock;
static shared_t read_reserved, write_reserved;

static inline uint32_t reserve(shared_t* reserved, uint32_t count, lock_t* lock,
                               void (*take)(lock_t*), void (*give)(lock_t*)) {
  take(lock);
  const uint32_t first = *reserved;
  *reserved = first + count;
  give(lock);
  return first;
}

static inline void publish(flag_t* flags, uint32_t places, uint32_t first, uint32_t count,
                           shared_t* producer, lock_t* lock, bool (*try_lock)(lock_t*),
                           void (*give)(lock_t*)) {
  for (uint32_t i = 0; i < count; i++) flags[(first + i) & (places - 1)] = 1;
  uint32_t from, run;
  while ((run = take_flags(flags, places, producer, &from, lock, try_lock, give)) != 0) {
    *producer = from + run;
    give(lock);
  }
}

uint32_t read_ring_reserve(uint32_t count) {
  return reserve(&read_reserved, count, &read_lock, send_lock, send_unlock);
}

void read_ring_publish(uint32_t first, uint32_t count) {
  publish(read_flags, READ_RING, first, count, &DEVICE(DmaRead + Producer), &read_publish_lock,
          send_try_lock, send_unlock);
}

uint32_t write_ring_reserve(uint32_t count) {
  return reserve(&write_reserved, count, &write_lock, receive_lock, receive_unlock);
}

void write_ring_publish(uint32_t first, uint32_t count) {
  publish(write_flags, WRITE_RING, first, count, &DEVICE(DmaWrite + Producer), &write_publish_lock,
          receive_try_lock, receive_unlock);
}
