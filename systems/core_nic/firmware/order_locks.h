// SPDX-License-Identifier: Apache-2.0
// Order in software only: a flag for each frame; who commits holds a lock, looks at flag after flag
// and clears them (core-nic paper, section 3.3). Compare with order_rmw.h, which has one
// instruction for it.
#ifndef EMERY_FIRMWARE_ORDER_LOCKS_H
#define EMERY_FIRMWARE_ORDER_LOCKS_H

#include "nic.h"

typedef volatile uint8_t flag_t;

extern flag_t send_done_flags[SEND_BDS];
extern flag_t receive_done_flags[RECEIVE_SLOTS];
extern lock_t send_order_lock, receive_order_lock;

// Counts and clears the flags from the committed count on, with the lock held if there are any. Who
// does not get the lock leaves his frames to him who has it and looks again when he has given it
// back.
static inline uint32_t take_flags(flag_t* flags, uint32_t places, shared_t* count, uint32_t* first,
                                  lock_t* lock, bool (*try_lock)(lock_t*),
                                  void (*unlock)(lock_t*)) {
  while (flags[*count & (places - 1)] && try_lock(lock)) {
    const uint32_t from = *count;
    uint32_t at = from;
    while (flags[at & (places - 1)]) {
      flags[at & (places - 1)] = 0;
      at++;
      if (at % 32 == 0) break;
    }
    if (at != from) {
      *first = from;
      return at - from;
    }
    unlock(lock);  // someone else was faster
  }
  return 0;
}

static inline void send_frame_done(uint32_t frame) { send_done_flags[frame & (SEND_BDS - 1)] = 1; }
static inline uint32_t send_order_take(shared_t* count, uint32_t* first) {
  return take_flags(send_done_flags, SEND_BDS, count, first, &send_order_lock, send_try_lock,
                    send_unlock);
}
static inline void send_order_leave(void) { send_unlock(&send_order_lock); }

static inline void receive_frame_done(uint32_t frame) {
  receive_done_flags[frame & (RECEIVE_SLOTS - 1)] = 1;
}
static inline uint32_t receive_order_take(shared_t* count, uint32_t* first) {
  return take_flags(receive_done_flags, RECEIVE_SLOTS, count, first, &receive_order_lock,
                    receive_try_lock, receive_unlock);
}
static inline void receive_order_leave(void) { receive_unlock(&receive_order_lock); }

#endif
