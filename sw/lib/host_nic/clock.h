// SPDX-License-Identifier: Apache-2.0
// The clock of a host-nic, for a PTP servo (ptp.h has one) and for who looks at what it does.
#ifndef EMNIC_CLOCK_H
#define EMNIC_CLOCK_H

#include "emnic.h"

#ifdef __cplusplus
extern "C" {
#endif

// The device's clock: ns modulo 2^48, read in one piece, with the fraction in ns * 2^-32 if that is
// wanted; set, and moved. EMNIC_UNSUPPORTED: further than 2^31 ns at once.
uint64_t emnic_clock_read(struct emnic* device, uint32_t* fraction);
void emnic_clock_set(struct emnic* device, uint64_t ns);
int emnic_clock_step(struct emnic* device, int64_t ns);
// Its frequency: so much more than its crystal's, in 2^-40 (0.0009 ppb; the device keeps 0.058 ppb,
// of up to 12 %).
void emnic_clock_adjust(struct emnic* device, int64_t rate);
// Of the core clock, in which intervals and delays are given (emnic.h); 1: the device has gone.
uint32_t emnic_core_khz(struct emnic* device);
// A square wave from then on, with an edge every `half_ns`; 0: none.
void emnic_clock_output(struct emnic* device, uint64_t start, uint32_t half_ns);
// Likewise, of a stamp up to nine minutes before or after a time that is known.
static inline uint64_t emnic_stamp_near(uint64_t time, uint64_t stamp) {
  return emnic_stamp_time(time + 0x8000000000u, stamp);
}
// And of a stamp of 35 bits (config.header_bytes), from up to 34 s before.
static inline uint64_t emnic_split_stamp_time(uint64_t now, uint64_t stamp) {
  return now - ((now - stamp) & 0x7ffffffffu);
}

#ifdef __cplusplus
}
#endif
#endif
