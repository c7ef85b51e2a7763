// SPDX-License-Identifier: Apache-2.0
// Order: several cores work on frames at the same time and end in any order, but the hardware's
// producer counts, and the host, must see commands and frames in theirs. Three ways: order_rmw with
// the instructions `set` and `update`, order_locks with flags and locks, order_tasks where only one
// core at a time does a kind of work. Each has:
//
//   send_frame_done(frame), receive_frame_done(frame)
//     The frame's data is where it should be; told in any order.
//   send_order_take(count, &first), receive_order_take(count, &first)
//     `count` is the count of frames that are committed. Gives how many more are done, from `first`
//     on: 32 at most, and none after one whose number is 31 modulo 32, so that what belongs to them
//     lies side by side in every ring. Who gets more than 0 is the only one to commit frames until
//     he has moved the count.
//   send_order_leave(), receive_order_leave()
//     He has moved it. Then he takes again: a frame that was done meanwhile was left to him.
#ifndef EMERY_FIRMWARE_ORDER_H
#define EMERY_FIRMWARE_ORDER_H

#include "nic.h"

// Places for `count` (1 ... 32) commands in the ring of the DMA read or write assist: the number of
// the first. Who has written his commands publishes them; the assist gets them when all before them
// are published too.
uint32_t read_ring_reserve(uint32_t count);
void read_ring_publish(uint32_t first, uint32_t count);
uint32_t write_ring_reserve(uint32_t count);
void write_ring_publish(uint32_t first, uint32_t count);

#if defined(ORDER_RMW)
#include "order_rmw.h"
#elif defined(ORDER_LOCKS)
#include "order_locks.h"
#elif defined(ORDER_TASKS)
#include "order_tasks.h"
#else
#error "no way to keep order chosen"
#endif

#endif
