// SPDX-License-Identifier: Apache-2.0
// Receiving (core-nic paper, figure 2): descriptors of free buffers from the host, frames into
// those, descriptors back.
#include "balance.h"
#include "fetch.h"
#include "filter.h"

struct Receive receive;
struct bd receive_bds[RECEIVE_BDS] __attribute__((section(".noinit")));
struct dma_ring_command write_ring[WRITE_RING + BEYOND] __attribute__((section(".noinit")));
struct mac_ring_command rx_ring[RECEIVE_SLOTS] __attribute__((section(".noinit")));
uint32_t status_words[WRITE_RING] __attribute__((section(".noinit")));

// Asks for the next descriptors, 16 at a time.
void fetch_receive_bds(void) {
  if (!receive_try_lock(&receive.fetch.lock)) return;
  if (receive_fetch_wanted()) {  // still
    fetch_piece(&receive.fetch, KindReceiveBds, RECEIVE_FETCH, DEVICE(ReceiveProducer), receive_bds,
                RECEIVE_BDS - 1);
  }
  receive_unlock(&receive.fetch.lock);
}

// Descriptors have come; that they are here is all there is to know. Who comes while another looks
// leaves it to him: he looks again afterwards.
void receive_bds_arrived(void) {
  struct Fetch* fetch = &receive.fetch;
  do {
    if (!receive_try_lock(&fetch->arrival_lock)) return;
    while (fetch_arrived(fetch)) {
      fetch->arrived = fetch->pieces[fetch->done % FETCHES].end;
      fetch->done++;
    }
    receive_unlock(&fetch->arrival_lock);
  } while (fetch_arrived(fetch));
}

// Step 2: has each frame written to the buffer of the descriptor with the frame's own number. That
// descriptor, with the frame's length in it, is also what the host gets back. The buffer of a frame
// that the host is not to have goes back with a length of 0; so that it does in its turn, a byte of
// the frame is written to it.
void receive_frames(uint32_t frame, uint32_t count) {
  const uint32_t first = write_ring_reserve(count);
  // What belongs to these frames lies side by side: shares are made so.
  const struct mac_ring_command* mac = &rx_ring[frame & receive.slots_mask];
  struct bd* buffer = &receive_bds[frame % RECEIVE_BDS];
  struct dma_ring_command* command = &write_ring[first % WRITE_RING];
  const uint32_t end = frame + count;
  do {
    const uint32_t slot = mac->address;
    const uint32_t length = mac_info_len(mac->info);
    const uint32_t low = buffer->address_low;
    const uint32_t high = buffer->address_high;
    const bool wanted = receive_wanted(slot, length);
    buffer->info = (wanted ? length : 0) | BD_INFO_LAST(1) | receive_queue(slot, length);
    command->host_low = low;
    command->host_high = high;
    command->local_addr = slot;
    command->info = (wanted ? length : 1) | DMA_NOTE(frame % RECEIVE_SLOTS);
    frame++;
    mac++;
    buffer++;
    command++;
  } while (frame != end);
  close_ring(write_ring, WRITE_RING, first, count);
  write_ring_publish(first, count);
}

// The DMA write assist has done these commands, which lie in one piece: marks the frames that are
// in their buffers now.
void receive_process_dmas(uint32_t first, uint32_t count) {
  const struct dma_ring_command* command = &write_ring[first % WRITE_RING];
  for (const struct dma_ring_command* end = command + count; command != end; command++) {
    const uint32_t info = command->info;
    if ((int32_t)info < 0) receive_frame_done(DMA_NOTE_FRAME(info));
  }
}

// Steps 3 and 4: gives descriptors of frames back to the host, then tells how many have been given
// back. Both are in reserved places, as the order of the reservations is the order in which the
// host sees them.
static void __attribute__((noinline)) receive_return(uint32_t frame, uint32_t count, uint32_t at) {
  struct dma_ring_command* command = &write_ring[at % WRITE_RING];
  command->host_low = receive.return_low + (frame & receive.return_mask) * sizeof(struct bd);
  command->host_high = receive.return_high;
  command->local_addr = (uint32_t)&receive_bds[frame % RECEIVE_BDS];
  command->info = count * sizeof(struct bd);
  at++;
  command = &write_ring[at % WRITE_RING];
  status_words[at % WRITE_RING] = frame + count;
  command->host_low = receive.status_low + sizeof(uint32_t);
  command->host_high = receive.status_high;
  command->local_addr = (uint32_t)&status_words[at % WRITE_RING];
  command->info = sizeof(uint32_t) | receive.interrupt;
}

// Takes frames in order: their slots are free again, their descriptors go back.
void receive_commit(void) {
  uint32_t first, count;
  while ((count = receive_order_take(&DEVICE(MacRx + Freed), &first)) != 0) {
    const uint32_t at = write_ring_reserve(2);
    DEVICE(MacRx + Freed) = first + count;
    receive_order_leave();
    receive_return(first, count, at);
    write_ring_publish(at, 2);
  }
}
