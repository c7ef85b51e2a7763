// SPDX-License-Identifier: Apache-2.0
// Which received frames the host is to have: all, but for the variant with a filter.
#ifndef EMERY_FIRMWARE_FILTER_H
#define EMERY_FIRMWARE_FILTER_H

#include "nic.h"

#ifdef FILTER
// Whether the host is to have the frame of this slot; if not, the frame has been counted as
// dropped.
bool receive_wanted(uint32_t slot, uint32_t length);
#else
static inline bool receive_wanted(uint32_t slot, uint32_t length) { return true; }
#endif

#endif
