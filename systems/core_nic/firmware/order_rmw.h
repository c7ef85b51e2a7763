// SPDX-License-Identifier: Apache-2.0
// Order with `set` and `update` (core-nic paper, section 4): a bit for each frame. Nobody locks
// anything: `update` gives a run of frames to one core only, and the next run begins where that
// core will move the count to, so nobody gets it before. (A core that has read the count asks in
// the next few clocks; the same bit comes up again hundreds of frames later.)
#ifndef EMERY_FIRMWARE_ORDER_RMW_H
#define EMERY_FIRMWARE_ORDER_RMW_H

#include "nic.h"

extern shared_t send_done_bits[SEND_BDS / 32];
extern shared_t receive_done_bits[RECEIVE_SLOTS / 32];

static inline void send_frame_done(uint32_t frame) {
  set_bit(send_done_bits, frame & (SEND_BDS - 1));
}
static inline uint32_t send_order_take(shared_t* count, uint32_t* first) {
  *first = *count;
  return update_bits(send_done_bits, *first & (SEND_BDS - 1));
}
static inline void send_order_leave(void) {}

static inline void receive_frame_done(uint32_t frame) {
  set_bit(receive_done_bits, frame & (RECEIVE_SLOTS - 1));
}
static inline uint32_t receive_order_take(shared_t* count, uint32_t* first) {
  *first = *count;
  return update_bits(receive_done_bits, *first & (RECEIVE_SLOTS - 1));
}
static inline void receive_order_leave(void) {}

#endif
