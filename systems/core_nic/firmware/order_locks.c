// SPDX-License-Identifier: Apache-2.0
// Order in software only: the rings of commands, a flag for each place.
#include "order.h"

flag_t send_done_flags[SEND_BDS];
flag_t receive_done_flags[RECEIVE_SLOTS];
lock_t send_order_lock, receive_order_lock;

static flag_t read_flags[READ_RING], write_flags[WRITE_RING];
static lock_t read_lock, write_lock, read_publish_lock, write_publish_lock;
static shared_t read_reserved, write_reserved;

// The functions of order.h for one ring, with the locks of the side of the firmware that uses it.
#define COMMAND_RING(ring, RING, assist, side)                                                 \
  uint32_t ring##_ring_reserve(uint32_t count) {                                               \
    side##_lock(&ring##_lock);                                                                 \
    const uint32_t first = ring##_reserved;                                                    \
    ring##_reserved = first + count;                                                           \
    side##_unlock(&ring##_lock);                                                               \
    return first;                                                                              \
  }                                                                                            \
  void ring##_ring_publish(uint32_t first, uint32_t count) {                                   \
    shared_t* producer = &DEVICE(assist + Producer);                                           \
    for (uint32_t i = 0; i < count; i++) ring##_flags[(first + i) & (RING##_RING - 1)] = 1;    \
    uint32_t from, run;                                                                        \
    while ((run = take_flags(ring##_flags, RING##_RING, producer, &from, &ring##_publish_lock, \
                             side##_try_lock, side##_unlock)) != 0) {                          \
      *producer = from + run;                                                                  \
      side##_unlock(&ring##_publish_lock);                                                     \
    }                                                                                          \
  }

COMMAND_RING(read, READ, DmaRead, send)
COMMAND_RING(write, WRITE, DmaWrite, receive)
