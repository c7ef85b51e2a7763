// SPDX-License-Identifier: Apache-2.0
// Names of the device's counters and levels (emnic.h).
#ifndef EMNIC_COUNTERS_H
#define EMNIC_COUNTERS_H

#include <stdint.h>

// Counters of the device, and levels that are 0 when it holds nothing. A counter has 64 bits here,
// 32 in the device: read it before it comes around (2^32 frames: 28 s at 148.8 M a second).
// clang-format off
#define EMNIC_COUNTERS(X)                                                           \
  X(DEVICE, dma_timeouts) X(DEVICE, dma_errors) X(DEVICE, dma_late)                 \
  X(DEVICE, dma_unexpected) X(DEVICE, tlp_foreign) X(DEVICE, tlp_refused)           \
  X(DEVICE, settings_refused)                                                       \
  X(INTERFACE, errors) X(INTERFACE, tx_cpl_lost) X(INTERFACE, rx_cpl_lost)          \
  X(INTERFACE, event_lost) X(INTERFACE, settings_refused) X(INTERFACE, tx_pushed)   \
  X(INTERFACE, tx_push_dropped)                                                     \
  X(PORT, settings_refused) X(PORT, rx_frames) X(PORT, rx_bad_fcs) X(PORT, rx_runt) \
  X(PORT, rx_oversize) X(PORT, rx_fifo_full) X(PORT, rx_buffer_full)                \
  X(PORT, rx_hook) X(PORT, rx_no_descriptor) X(PORT, rx_queue_stopped) X(PORT, rx_descriptor_error)  \
  X(PORT, rx_truncated) X(PORT, rx_dma_error) X(PORT, tx_frames) X(PORT, tx_errors)
#define EMNIC_LEVELS(X)                         \
  X(DEVICE, dma_reads)                          \
  X(INTERFACE, tx_slots) X(INTERFACE, rx_slots) \
  X(PORT, tx_units) X(PORT, rx_units)
// clang-format on
#define EMNIC_COUNTER_ENUM(group, name) EMNIC_##group##_##name,
enum emnic_counter {
  EMNIC_COUNTERS(EMNIC_COUNTER_ENUM) EMNIC_COUNTERS_END,
  EMNIC_BEFORE_LEVELS = EMNIC_COUNTERS_END - 1,
  EMNIC_LEVELS(EMNIC_COUNTER_ENUM) EMNIC_LEVELS_END
};
#undef EMNIC_COUNTER_ENUM
// "rx_frames" and so on, and what it is of: 'd' device, 'i' interface, 'p' port.
const char* emnic_counter_name(enum emnic_counter counter, char* of);

// Counters of one queue since the device's reset, 64 bits in the device too, as they were at one
// moment. Bytes are those of the packets, without FCS and without tags that the device puts in or
// takes out. What was cut into frames counts them, with their headers. Errors: not sent, or not
// whole in memory; drops: no slot for a received frame, or its queue was out of use.
struct emnic_queue_counts {
  uint64_t packets, bytes, errors, drops;
};
// How many there are; a transmit queue has the first ones: what is not sent is an error.
enum { EMNIC_TX_QUEUE_COUNTS = 3, EMNIC_RX_QUEUE_COUNTS = 4 };
// The name of one, in that order; a null pointer where there is none.
const char* emnic_queue_count_name(unsigned which);
struct emnic;
// EMNIC_NOT_FOUND: no such queue; EMNIC_UNSUPPORTED: a device without such counters;
// EMNIC_NO_DEVICE; `out` stays as it is then. One at a time for each way of an interface.
int emnic_get_queue_counts(struct emnic* device, unsigned interface, int transmit, unsigned queue,
                           struct emnic_queue_counts* out);

#endif
