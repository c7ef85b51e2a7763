// SPDX-License-Identifier: Apache-2.0
// UDP datagrams to this machine: none is answered, but with a store.
#ifndef EMERY_FIRMWARE_STORE_H
#define EMERY_FIRMWARE_STORE_H

#include "station.h"

#ifdef STORE
// The length of the answer that is in the slot now; 0: there is none.
uint32_t answer_udp(shared_t* frame, uint32_t payload);
#else
static inline uint32_t answer_udp(shared_t* frame, uint32_t payload) { return 0; }
#endif

#endif
