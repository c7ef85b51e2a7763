// SPDX-License-Identifier: Apache-2.0
// Locks. A core that must wait does so without touching memory for a while; most only try, and do
// something else.
#include "nic.h"

bool send_try_lock(lock_t* lock) { return atomic_swap(lock, 1) == 0; }

void send_lock(lock_t* lock) {
  while (atomic_swap(lock, 1) != 0) pause_core();
}

void send_unlock(lock_t* lock) {
  in_order();
  *lock = 0;
}

bool receive_try_lock(lock_t* lock) { return atomic_swap(lock, 1) == 0; }

void receive_lock(lock_t* lock) {
  while (atomic_swap(lock, 1) != 0) pause_core();
}

void receive_unlock(lock_t* lock) {
  in_order();
  *lock = 0;
}
