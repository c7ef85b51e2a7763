// SPDX-License-Identifier: Apache-2.0
// Names of the device's counters and levels, and where its queues stand (emnic.h).
#ifndef EMNIC_COUNTERS_H
#define EMNIC_COUNTERS_H

#include <stdint.h>

// All counters below go on while the device is open: no value is less than one read before. A reset
// of the device, after which it counts from 0 again, does not take them back (emnic_recover): what
// was counted up to then is what was read last, so read those that matter right before a reset that
// is planned. What came between is in none of them. Of a virtual function all read 0.

// Counters of the device, and levels that are 0 when it holds nothing. A counter has 64 bits here,
// 32 in the device: read it before it comes around (2^32 frames: 28 s at 148.8 M a second).
// clang-format off
#define EMNIC_COUNTERS(X)                                                           \
  X(DEVICE, dma_timeouts) X(DEVICE, dma_errors) X(DEVICE, dma_late)                 \
  X(DEVICE, dma_unexpected) X(DEVICE, tlp_foreign) X(DEVICE, tlp_refused)           \
  X(DEVICE, settings_refused) X(DEVICE, function_outside) X(DEVICE, function_resets) \
  X(INTERFACE, errors) X(INTERFACE, tx_cpl_lost) X(INTERFACE, rx_cpl_lost)          \
  X(INTERFACE, event_lost) X(INTERFACE, settings_refused) X(INTERFACE, tx_pushed)   \
  X(INTERFACE, tx_push_dropped)                                                     \
  X(PORT, settings_refused) X(PORT, rx_bad_fcs) X(PORT, rx_runt) \
  X(PORT, rx_oversize) X(PORT, rx_fifo_full) X(PORT, rx_buffer_full)                \
  X(PORT, rx_hook) X(PORT, rx_no_descriptor) X(PORT, rx_queue_stopped) X(PORT, rx_descriptor_error)  \
  X(PORT, rx_truncated) X(PORT, rx_dma_error) X(PORT, rx_joined) X(PORT, tx_errors) \
  X(PORT, tx_spoofed)
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
// "rx_runt" and so on, and what it is of: 'd' device, 'i' interface, 'p' port.
const char* emnic_counter_name(enum emnic_counter counter, char* of);

// Counters of one queue, 64 bits in the device too, as they were at one moment. Bytes are those of
// the packets, without FCS and without tags that the device puts in or takes out. What was cut into
// frames counts them, with their headers. Errors: not sent, or not whole in memory; drops: no slot
// for a received frame, or its queue was out of use.
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

// Counters of one way of a port, 64 bits in the device too: frames on the line, bytes with FCS (RFC
// 2819, RFC 3635), and what they are called. Packets and bytes are those of all good frames;
// multicast is without pause and pfc, which a MAC may keep from the device. Sizes are of good
// frames and of those with a bad FCS. An oversize frame has as many bytes as came until it was cut.
// Discards: between the clocks (in no other counter), in the packet buffer, by a hook.
// clang-format off
#define EMNIC_PORT_COUNTS(X)                                                          \
  X(packets, "packets") X(bytes, "bytes") X(multicast, "multicast")                   \
  X(broadcast, "broadcast") X(pause, "pause") X(pfc, "pfc")                           \
  X(crc_errors, "crc_errors") X(undersize, "undersize_pkts")                          \
  X(fragments, "fragments") X(oversize, "oversize_pkts") X(bad_bytes, "bad_bytes")    \
  X(lost_crossing, "discards_crossing") X(lost_buffer, "discards_buffer")             \
  X(lost_hook, "discards_hook") X(size_64, "64_bytes")                                \
  X(size_65, "65_to_127_bytes") X(size_128, "128_to_255_bytes")                       \
  X(size_256, "256_to_511_bytes") X(size_512, "512_to_1023_bytes")                    \
  X(size_1024, "1024_to_1518_bytes") X(size_1519, "1519_to_max_bytes")
// clang-format on
#define EMNIC_PORT_COUNT_FIELD(field, name) uint64_t field;
#define EMNIC_PORT_COUNT_ONE(field, name) +1
struct emnic_port_counts {
  EMNIC_PORT_COUNTS(EMNIC_PORT_COUNT_FIELD)
};
enum { EMNIC_PORT_COUNTS_END = EMNIC_PORT_COUNTS(EMNIC_PORT_COUNT_ONE), EMNIC_PORT_SIZES = 7 };
#undef EMNIC_PORT_COUNT_FIELD
#undef EMNIC_PORT_COUNT_ONE
// The name of one, in that order; a null pointer where there is none.
const char* emnic_port_count_name(unsigned which);
// The smallest frame of each of the last ones, from size_64 on.
unsigned emnic_port_size_from(unsigned which);
// As emnic_get_queue_counts. Takes a read for each class of frames that there has been, and more.
int emnic_get_port_counts(struct emnic* device, unsigned interface, int transmit, unsigned port,
                          struct emnic_port_counts* out);

struct emnic_tx;
struct emnic_rx;
struct emnic_cq;
// Where a queue stands and lies, for dumps and for tests.
struct emnic_queue_state {
  uint64_t ring_bus, buffers_bus;
  uint8_t *ring, *buffers, *headers;  // of a receive stream: buffers, what lies below the ring
  int completions;                    // number of its completion queue; -1: none
  uint32_t doorbell;                  // offset in BAR 0
  unsigned slots, slot_descriptors, buffer_bytes;
  uint16_t producer, rung, done;  // of a receive queue: offered, told, taken
  uint16_t newest;                // transmit: slot of the packet put in last
  uint32_t made, told, sent;      // transmit: packets
  int stopped, restarting;
};
void emnic_tx_state(const struct emnic_tx* queue, struct emnic_queue_state* out);
void emnic_rx_state(const struct emnic_rx* queue, struct emnic_queue_state* out);
unsigned emnic_cq_cpu(const struct emnic_cq* queue);  // which it was dealt to

#endif
