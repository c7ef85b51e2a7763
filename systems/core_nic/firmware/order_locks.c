// SPDX-License-Identifier: Apache-2.0
// Order in software only: the rings of commands, a flag for each place.
#include "order.h"

flag_t send_done_flags[SEND_BDS];
flag_t receive_done_flags[RECEIVE_SLOTS];
lock_t send_order_lock, receive_order_lock;

static flag_t read_flags[READ_RING], write_flags[WRITE_RING];
static lock_t read_lock, write_lock, read_publish_lock, write_publish_lock;
static shared_t read_reserved, write_reserved;

uint32_t read_ring_reserve(uint32_t count) {
  send_lock(&read_lock);
  const uint32_t first = read_reserved;
  read_reserved = first + count;
  send_unlock(&read_lock);
  return first;
}

void read_ring_publish(uint32_t first, uint32_t count) {
  shared_t* producer = &DEVICE(DmaRead + Producer);
  for (uint32_t i = 0; i < count; i++) read_flags[(first + i) & (READ_RING - 1)] = 1;
  uint32_t from, run;
  while ((run = take_flags(read_flags, READ_RING, producer, &from, &read_publish_lock,
                           send_try_lock, send_unlock)) != 0) {
    *producer = from + run;
    send_unlock(&read_publish_lock);
  }
}

uint32_t write_ring_reserve(uint32_t count) {
  receive_lock(&write_lock);
  const uint32_t first = write_reserved;
  write_reserved = first + count;
  receive_unlock(&write_lock);
  return first;
}

void write_ring_publish(uint32_t first, uint32_t count) {
  shared_t* producer = &DEVICE(DmaWrite + Producer);
  for (uint32_t i = 0; i < count; i++) write_flags[(first + i) & (WRITE_RING - 1)] = 1;
  uint32_t from, run;
  while ((run = take_flags(write_flags, WRITE_RING, producer, &from, &write_publish_lock,
                           receive_try_lock, receive_unlock)) != 0) {
    *producer = from + run;
    receive_unlock(&write_publish_lock);
  }
}
