// SPDX-License-Identifier: Apache-2.0
// Which of the host's queues a received frame is for: the first, but for the variant that balances.
#ifndef EMERY_FIRMWARE_BALANCE_H
#define EMERY_FIRMWARE_BALANCE_H

#include "nic.h"

#ifdef BALANCE
// The queue of the frame in this slot, as its descriptor's `info` has it.
uint32_t receive_queue(uint32_t slot, uint32_t length);
#else
static inline uint32_t receive_queue(uint32_t slot, uint32_t length) { return 0; }
#endif

#endif
