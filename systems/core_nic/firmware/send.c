// SPDX-License-Identifier: Apache-2.0
// Sending (core-nic paper, figure 1): descriptors from the host, frames into the frame memory,
// frames to the MAC, report.
#include "fetch.h"

struct Send send;
struct bd send_bds[SEND_BDS] __attribute__((section(".noinit")));
struct dma_ring_command read_ring[READ_RING + BEYOND] __attribute__((section(".noinit")));
struct mac_ring_command tx_ring[SEND_BDS] __attribute__((section(".noinit")));

// Step 3: asks for the next descriptors, 32 at a time.
void fetch_send_bds(void) {
  if (!send_try_lock(&send.fetch.lock)) return;
  if (send_fetch_wanted()) {  // still
    fetch_piece(&send.fetch, KindSendBds, SEND_FETCH, DEVICE(SendProducer), send_bds, SEND_BDS - 1);
  }
  send_unlock(&send.fetch.lock);
}

// How many of these descriptors are the last of a frame.
static uint32_t count_frames(const struct bd* bds, uint32_t count) {
  uint32_t frames = 0;
  for (const struct bd* end = bds + count; bds != end; bds++) frames += bd_info_last(bds->info);
  return frames;
}

// A piece has come, which lies in one piece here too: raises an event to send its frames. What is
// left of a frame that is not whole yet goes with the next ones.
static void piece_arrived(uint32_t from, uint32_t end) {
  const uint32_t frames = count_frames(&send_bds[from % SEND_BDS], end - from);
  if (frames == 0) return;
  while (!bd_info_last(send_bds[(end - 1) % SEND_BDS].info)) end--;
  const struct Event event = {
      .count = frames, .first = send.frames, .bd = send.cut, .bds = end - send.cut};
  raise_event(&event);
  send.frames += frames;
  send.cut = end;
}

// Descriptors have come, whose frames are for whichever core is free. Who comes while another looks
// leaves it to him: he looks again afterwards.
void send_bds_arrived(void) {
  struct Fetch* fetch = &send.fetch;
  do {
    if (!send_try_lock(&fetch->arrival_lock)) return;
    while (fetch_arrived(fetch)) {
      const uint32_t from = fetch->arrived;
      const uint32_t end = fetch->pieces[fetch->done % FETCHES].end;
      fetch->arrived = end;
      fetch->done++;
      piece_arrived(from, end);
    }
    send_unlock(&fetch->arrival_lock);
  } while (fetch_arrived(fetch));
}

// Step 4: has the parts of each frame put together in its slot of the frame memory, and writes what
// the MAC is to do with it later. The last part's command carries the frame's number.
void send_frames(uint32_t frame, uint32_t count, uint32_t bd, uint32_t bds) {
  const uint32_t end = frame + count;
  const uint32_t first = read_ring_reserve(bds);
  const struct bd* part = &send_bds[bd % SEND_BDS];
  struct dma_ring_command* command = &read_ring[first % READ_RING];
  do {
    const uint32_t place = frame % SEND_BDS;
    const uint32_t slot = SEND_SLOT(place);
    uint32_t local = slot;
    uint32_t info;
    do {
      const uint32_t low = part->address_low;
      const uint32_t high = part->address_high;
      info = part->info;
      command->host_low = low;
      command->host_high = high;
      command->local_addr = local;
      command->info = bd_info_len(info);
      local += bd_info_len(info);
      command++;
      bd++;
      if (__builtin_expect(++part == send_bds + SEND_BDS, 0)) part = send_bds;
    } while (!bd_info_last(info));
    command[-1].info = bd_info_len(info) | DMA_NOTE(place);
    tx_ring[place].address = slot;
    tx_ring[place].info = (local - slot) | bd << 16;
    frame++;
  } while (frame != end);
  close_ring(read_ring, READ_RING, first, bds);
  read_ring_publish(first, bds);
}

// The DMA read assist has done these commands, which lie in one piece: marks the frames that are
// complete now.
void send_process_dmas(uint32_t first, uint32_t count) {
  const struct dma_ring_command* command = &read_ring[first % READ_RING];
  for (const struct dma_ring_command* end = command + count; command != end; command++) {
    const uint32_t info = command->info;
    if ((int32_t)info < 0) send_frame_done(DMA_NOTE_FRAME(info));
  }
}

// Step 5: gives frames to the MAC, in order. Their commands are in its ring already.
void send_commit(void) {
  uint32_t first, count;
  while ((count = send_order_take(&DEVICE(MacTx + Producer), &first)) != 0) {
    DEVICE(MacTx + Producer) = first + count;
    send_order_leave();
  }
}

// Step 6: tells the host how many of its descriptors are free again.
void send_report(void) {
  if (!send_try_lock(&send.report_lock)) return;
  const uint32_t sent = DEVICE(MacTx + Progress);
  if (sent == TAKEN(KindMacTx)) {
    send_unlock(&send.report_lock);
    return;
  }
  // The last frame's command has the low half of the number of the descriptor after it.
  const uint32_t was = send.consumed;
  const uint32_t consumed = was + (uint16_t)((tx_ring[(sent - 1) % SEND_BDS].info >> 16) - was);
  const uint32_t at = write_ring_reserve(1);
  struct dma_ring_command* command = &write_ring[at % WRITE_RING];
  status_words[at % WRITE_RING] = consumed;
  command->host_low = receive.status_low;
  command->host_high = receive.status_high;
  command->local_addr = (uint32_t)&status_words[at % WRITE_RING];
  command->info = sizeof(uint32_t) | receive.interrupt;
  // Only now may the descriptors' places, and the command we looked at, be used again.
  send.consumed = consumed;
  TAKEN(KindMacTx) = sent;
  write_ring_publish(at, 1);
  send_unlock(&send.report_lock);
}
