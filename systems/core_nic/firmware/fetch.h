// SPDX-License-Identifier: Apache-2.0
// Fetching buffer descriptors from the host, for both directions.
#ifndef EMERY_FIRMWARE_FETCH_H
#define EMERY_FIRMWARE_FETCH_H

#include "order.h"

// Asks for the next descriptors: `size` of them at a time, or those there are, never across a
// multiple of `size`, so that a piece lies in one piece in all rings. `places` is where they go.
static inline void fetch_piece(struct Fetch* fetch, uint32_t kind, uint32_t size, uint32_t producer,
                               struct bd* places, uint32_t place_mask) {
  const uint32_t from = TAKEN(kind);
  const uint32_t there = producer - from;
  const uint32_t piece = size - from % size;
  const uint32_t count = there < piece ? there : piece;
  const uint32_t begun = fetch->begun;
  const uint32_t at = read_ring_reserve(1);
  struct dma_ring_command* command = &read_ring[at % READ_RING];
  command->host_low = fetch->host_low + (from & fetch->host_mask) * sizeof(struct bd);
  command->host_high = fetch->host_high;
  command->local_addr = (uint32_t)&places[from & place_mask];
  command->info = count * sizeof(struct bd);
  fetch->pieces[begun % FETCHES].command = at;
  fetch->pieces[begun % FETCHES].end = from + count;
  TAKEN(kind) = from + count;
  fetch->begun = begun + 1;
  read_ring_publish(at, 1);
}

#endif
