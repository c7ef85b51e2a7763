// SPDX-License-Identifier: Apache-2.0
// The rings of commands where only one core at a time does a kind of work: several kinds write to
// the same ring, so a ring is locked from reserving places to publishing them.
#include "order.h"

shared_t send_done, receive_done;

static lock_t read_lock, write_lock;

uint32_t read_ring_reserve(uint32_t count) {
  send_lock(&read_lock);
  return DEVICE(DMA_READ + PRODUCER);
}

void read_ring_publish(uint32_t first, uint32_t count) {
  DEVICE(DMA_READ + PRODUCER) = first + count;
  send_unlock(&read_lock);
}

uint32_t write_ring_reserve(uint32_t count) {
  receive_lock(&write_lock);
  return DEVICE(DMA_WRITE + PRODUCER);
}

void write_ring_publish(uint32_t first, uint32_t count) {
  in_order();
  DEVICE(DMA_WRITE + PRODUCER) = first + count;
  receive_unlock(&write_lock);
}
