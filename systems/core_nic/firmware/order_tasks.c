// SPDX-License-Identifier: Apache-2.0
// The rings of commands where only one core at a time does a kind of work: several kinds write to
// the same ring, so a ring is locked from reserving places to publishing them.
#include "order.h"

shared_t send_done, receive_done;

static lock_t read_lock, write_lock;

uint32_t read_ring_reserve(uint32_t count) {
  send_lock(&read_lock);
  return DEVICE(DmaRead + Producer);
}

void read_ring_publish(uint32_t first, uint32_t count) {
  DEVICE(DmaRead + Producer) = first + count;
  send_unlock(&read_lock);
}

uint32_t write_ring_reserve(uint32_t count) {
  receive_lock(&write_lock);
  return DEVICE(DmaWrite + Producer);
}

void write_ring_publish(uint32_t first, uint32_t count) {
  in_order();
  DEVICE(DmaWrite + Producer) = first + count;
  receive_unlock(&write_lock);
}
