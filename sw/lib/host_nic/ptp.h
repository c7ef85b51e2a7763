// SPDX-License-Identifier: Apache-2.0
// A PTP port (IEEE 1588-2019) with a servo, for whoever has a clock and frames with stamps:
// host-nic with its driver core, or anything else. Two-step, delay request-response, over Ethernet
// (EtherType 0x88f7, without tags), an ordinary clock or one side of a boundary clock. Which side
// is the master is configured: there are no Announce messages and no best master clock algorithm;
// nor peer delay, unicast, TLVs, management.
//
// All times are ns of some epoch, modulo 2^48 as the device's clock; those of the wire have the 48
// bits of seconds that IEEE 1588 has. Nothing is allocated; no floating point; of a C library
// nothing but memcpy, memset and memcmp. Calls for one port must not overlap.
#ifndef EMNIC_PTP_H
#define EMNIC_PTP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PTP_ETHERTYPE = 0x88f7, PTP_LONGEST = 68 };  // bytes of a frame, without FCS
enum ptp_type { PTP_SYNC = 0, PTP_DELAY_REQ = 1, PTP_FOLLOW_UP = 8, PTP_DELAY_RESP = 9 };

struct ptp_ops {
  void* context;
  // Sends a frame; of an event message (`event`) ptp_sent is called when its stamp is known. 0, or
  // it could not be sent.
  int (*send)(void* context, const uint8_t* frame, unsigned bytes, int event);
  // A slave's clock: moved by so many ns at once (0, or it cannot be), and so much faster than it
  // is by itself, in 2^-40.
  int (*step)(void* context, int64_t ns);
  void (*adjust)(void* context, int64_t rate);
};

struct ptp_config {
  int master;
  uint8_t station[6];   // Ethernet address
  uint8_t identity[8];  // of the clock
  uint16_t port;        // from 1
  uint8_t domain;
  uint32_t interval_ns;  // between Syncs, of a master
  // Of the servo: an offset is to be gone by 2^-gain within an interval; 2 ... 6.
  unsigned gain;
  uint32_t step_ns;  // from there on an offset is jumped over
};

enum ptp_state {
  PTP_UNKNOWN,   // nothing measured yet, or the clock was stepped just now
  PTP_MEASURED,  // one offset, from which with the next one the frequency follows
  PTP_FOLLOWING  // the servo runs
};

struct ptp_port {
  struct ptp_config config;
  struct ptp_ops ops;
  enum ptp_state state;
  uint16_t sequence;  // of the next message of our own
  uint64_t due;       // when the next Sync is, in the time of ptp_tick
  int due_known;
  // The event message under way whose stamp has not come.
  int sending;      // -1: none, or enum ptp_type
  unsigned waited;  // for it, how many others were not sent
  uint16_t sending_sequence;
  // A slave's: the Sync that waits for its Follow_Up, the request that waits for its answer.
  int have_sync, have_t1, have_request, have_t3, have_t4, have_delay;
  uint16_t sync_sequence, request_sequence;
  uint64_t t2, t3, t4, t1_followed, t2_followed;
  int64_t sync_correction;  // 2^-16 ns
  int64_t delay;            // filtered, 2^-8 ns
  int64_t last_offset;      // ns
  int64_t rate;             // integral part, 2^-40
  unsigned ignore;          // Syncs that may have been stamped before a step
  uint8_t master_identity[10];
  int master_known;
  // What there was to see.
  int64_t offset;  // newest, ns
  uint64_t syncs, exchanges, steps, bad;
};

// PTP_UNKNOWN; 0, or a configuration that cannot be.
int ptp_init(struct ptp_port* port, const struct ptp_config* config, const struct ptp_ops* ops);
// Sends what is due. `now`: any time in ns that goes forwards.
void ptp_tick(struct ptp_port* port, uint64_t now);
// The event message sent last has this stamp.
void ptp_sent(struct ptp_port* port, uint64_t stamp);
// It has none: it was not sent.
void ptp_unsent(struct ptp_port* port);
// A frame came. 1 when it was one of ours, 0 when it is for somebody else or was not understood
// (`bad` counts what was meant for us).
int ptp_received(struct ptp_port* port, const uint8_t* frame, unsigned bytes, uint64_t stamp);
// Whether a frame is of PTP.
int ptp_is(const uint8_t* frame, unsigned bytes);

#ifdef __cplusplus
}
#endif
#endif
