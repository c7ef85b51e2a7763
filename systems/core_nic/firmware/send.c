// SPDX-License-Identifier: Apache-2.0
// Sending (core-nic paper, figure 1): descriptors from the host, frames into the frame memory, frames to the MAC, report.
#include "order.h"

struct Send send;
struct Bd send_bds[SEND_BDS] __attribute__((section(".noinit")));
struct DmaCommand read_ring[READ_RING] __attribute__((section(".noinit")));
struct MacCommand tx_ring[SEND_BDS] __attribute__((section(".noinit")));

// Step 3: asks for the next descriptors, 32 at a time. Fewer only when nothing is on its way, so that a driver that adds them
// one by one does not make us fetch them one by one.
void fetch_send_bds(void) {
  struct Fetch *fetch = &send.fetch;
  if (!send_try_lock(&fetch->lock)) return;
  const uint32_t from = fetch->requested;
  const uint32_t there = DEVICE(SEND_PRODUCER) - from;
  const uint32_t piece = SEND_FETCH - from % SEND_FETCH;
  const uint32_t count = there < piece ? there : piece;
  const uint32_t begun = fetch->begun;
  if (!send_fetch_waiting()) {
    send_unlock(&fetch->lock);
    return;
  }
  const uint32_t at = read_ring_reserve(1);
  struct DmaCommand *command = &read_ring[at % READ_RING];
  command->host_low = fetch->host_low + (from & fetch->host_mask) * sizeof(struct Bd);
  command->host_high = fetch->host_high;
  command->local = (uint32_t)&send_bds[from % SEND_BDS];
  command->info = count * sizeof(struct Bd);
  fetch->pieces[begun % FETCHES].command = at;
  fetch->pieces[begun % FETCHES].end = from + count;
  fetch->requested = from + count;
  fetch->begun = begun + 1;
  read_ring_publish(at, 1);
  send_unlock(&fetch->lock);
}

// Descriptors have come: cuts them into frames and raises events to send those, a few frames each, for all cores to share.
void send_bds_arrived(void) {
  struct Fetch *fetch = &send.fetch;
  if (!send_try_lock(&fetch->arrival_lock)) return;
  uint32_t end = fetch->arrived;
  while (fetch_arrived(fetch)) {
    end = fetch->pieces[fetch->done % FETCHES].end;
    fetch->done++;
  }
  fetch->arrived = end;
  const uint32_t cut = send.cut;
  struct Event event = {.type = EVENT_SEND_FRAMES, .first = send.frames, .bd = cut};
  uint32_t frames = 0;
  // Descriptors of a frame that is not whole yet are looked at again when more come.
  for (uint32_t bd = cut; bd != end;) {
    const uint32_t info = send_bds[bd % SEND_BDS].info;
    bd++;
    if (!(info & BD_LAST)) continue;
    frames++;
    event.bds = bd - event.bd;
    if (frames == BATCH) {
      event.count = frames;
      raise_event(&event);
      event.first += frames;
      event.bd = bd;
      event.bds = 0;
      frames = 0;
    }
  }
  if (frames != 0) {
    event.count = frames;
    raise_event(&event);
    event.first += frames;
    event.bd += event.bds;
  }
  send.frames = event.first;
  send.cut = event.bd;
  send_unlock(&fetch->arrival_lock);
}

// Step 4: has the parts of each frame put together in its slot of the frame memory, and writes what the MAC is to do with it
// later. The last part's command carries the frame's number.
void send_frames(const struct Event *event) {
  const uint32_t first = read_ring_reserve(event->bds);
  uint32_t at = first;
  uint32_t bd = event->bd;
  uint32_t frame = event->first;
  const uint32_t end = frame + event->count;
  do {
    const uint32_t slot = SEND_SLOT(frame);
    uint32_t local = slot;
    uint32_t info;
    struct DmaCommand *command;
    do {
      const struct Bd *part = &send_bds[bd % SEND_BDS];
      command = &read_ring[at % READ_RING];
      const uint32_t low = part->address_low;
      const uint32_t high = part->address_high;
      info = part->info;
      const uint32_t length = info & BD_LENGTH;
      command->host_low = low;
      command->host_high = high;
      command->local = local;
      command->info = length;
      local += length;
      bd++;
      at++;
    } while (!(info & BD_LAST));
    command->info = (info & BD_LENGTH) | DMA_NOTE(frame % SEND_BDS);
    struct MacCommand *mac = &tx_ring[frame % SEND_BDS];
    mac->address = slot;
    mac->info = (local - slot) | bd << 16;
    frame++;
  } while (frame != end);
  read_ring_publish(first, event->bds);
}

// The DMA read assist has done these commands: marks the frames that are complete now.
void send_process_dmas(uint32_t first, uint32_t count) {
  const uint32_t end = first + count;
  for (uint32_t at = first; at != end; at++) {
    const uint32_t info = read_ring[at % READ_RING].info;
    if ((int32_t)info < 0) send_frame_done(DMA_NOTE_FRAME(info));
  }
}

// Step 5: gives frames to the MAC, in order. Their commands are in its ring already.
void send_commit(void) {
  uint32_t first, count;
  while ((count = send_order_take(&DEVICE(MAC_TX + PRODUCER), &first)) != 0) {
    DEVICE(MAC_TX + PRODUCER) = first + count;
    send_order_leave();
  }
}

// Step 6: tells the host how many of its descriptors are free again.
void send_report(void) {
  if (!send_try_lock(&send.report_lock)) return;
  const uint32_t sent = DEVICE(MAC_TX + PROGRESS);
  if (sent == send.reported) {
    send_unlock(&send.report_lock);
    return;
  }
  // The last frame's command has the low half of the number of the descriptor after it.
  const uint32_t was = send.consumed;
  const uint32_t consumed = was + (uint16_t)((tx_ring[(sent - 1) % SEND_BDS].info >> 16) - was);
  const uint32_t at = write_ring_reserve(1);
  struct DmaCommand *command = &write_ring[at % WRITE_RING];
  status_words[at % WRITE_RING] = consumed;
  command->host_low = receive.status_low;
  command->host_high = receive.status_high;
  command->local = (uint32_t)&status_words[at % WRITE_RING];
  command->info = sizeof(uint32_t) | receive.interrupt;
  // Only now may the descriptors' places, and the command we looked at, be used again.
  send.consumed = consumed;
  send.reported = sent;
  write_ring_publish(at, 1);
  send_unlock(&send.report_lock);
}
