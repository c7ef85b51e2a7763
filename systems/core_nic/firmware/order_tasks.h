// SPDX-License-Identifier: Apache-2.0
// Order where only one core at a time does a kind of work (core-nic paper, section 3.2): frames end
// in order by themselves, so a count of them is enough.
#ifndef EMERY_FIRMWARE_ORDER_TASKS_H
#define EMERY_FIRMWARE_ORDER_TASKS_H

#include "nic.h"

extern shared_t send_done, receive_done;  // frames

static inline uint32_t frames_in_order(uint32_t done, shared_t* count, uint32_t* first) {
  const uint32_t from = *count;
  const uint32_t to_end = 32 - from % 32;
  *first = from;
  return done - from < to_end ? done - from : to_end;
}

static inline void send_frame_done(uint32_t frame) { send_done++; }
static inline uint32_t send_order_take(shared_t* count, uint32_t* first) {
  return frames_in_order(send_done, count, first);
}
static inline void send_order_leave(void) {}

static inline void receive_frame_done(uint32_t frame) { receive_done++; }
static inline uint32_t receive_order_take(shared_t* count, uint32_t* first) {
  return frames_in_order(receive_done, count, first);
}
static inline void receive_order_leave(void) {}

#endif
