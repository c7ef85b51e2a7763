// SPDX-License-Identifier: Apache-2.0
// Segments of TCP under one record (emnic_completion.segment_bytes) as one packet, for stacks that
// take one as their own (LRO, GRO) and may cut it into the same frames again.
#ifndef EMNIC_JOINED_H
#define EMNIC_JOINED_H

#include "clock.h"

#ifdef __cplusplus
extern "C" {
#endif

// emnic_config.coalesce_clocks where nobody says how long: 10 us.
static inline unsigned emnic_joined_clocks(struct emnic* device) {
  return emnic_core_khz(device) / 100;
}

struct emnic_joined {
  unsigned network, transport, headers;  // where IP and TCP begin, and the payload
  unsigned frames;
  int v6;
};
// Where its headers are; EMNIC_BAD_FRAME when they are not those of such a record. `frame` is what
// was received, its headers in one piece.
int emnic_find_joined(const uint8_t* frame, const struct emnic_completion* completion,
                      struct emnic_joined* out);
// Makes the headers those of one packet: IP's length and checksum, PSH as the last one has it;
// where TCP's checksum stands the sum of the pseudo header, as for emnic_offloads.checksum.
void emnic_set_joined(uint8_t* frame, const struct emnic_completion* completion,
                      const struct emnic_joined* joined);

#ifdef __cplusplus
}
#endif
#endif
