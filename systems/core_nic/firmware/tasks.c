// SPDX-License-Identifier: Apache-2.0
// The task-parallel firmware (core-nic paper, section 3.2), to compare with: the hardware's event
// register tells what kinds of work there are, and one core at a time does all there is of a kind.
// Cores beyond the number of kinds are of no use.
#include "nic.h"

static lock_t task_locks[6];

// What software raises is done at once: it belongs to the same kind of work.
void raise_event(const struct Event* event) {
  send_frames(event->first, event->count, event->bd, event->bds);
}

static __attribute__((noinline)) void task_dma_read(void) {
  const uint32_t progress = DEVICE(DMA_READ + PROGRESS);
  if (fetch_arrived(&send.fetch)) send_bds_arrived();
  if (fetch_arrived(&receive.fetch)) receive_bds_arrived();
  for (uint32_t at = TAKEN(KIND_DMA_READ); at != progress;) {
    const uint32_t count = share(at, progress, READ_RING);
    send_process_dmas(at, count);
    TAKEN(KIND_DMA_READ) = at += count;
  }
  send_commit();
}

static __attribute__((noinline)) void task_dma_write(void) {
  const uint32_t progress = DEVICE(DMA_WRITE + PROGRESS);
  for (uint32_t at = TAKEN(KIND_DMA_WRITE); at != progress;) {
    const uint32_t count = share(at, progress, WRITE_RING);
    receive_process_dmas(at, count);
    TAKEN(KIND_DMA_WRITE) = at += count;
  }
  receive_commit();
}

static __attribute__((noinline)) void task_mac_tx(void) {
  if (send_report_wanted()) send_report();
}

static __attribute__((noinline)) void task_mac_rx(void) {
  const uint32_t from = TAKEN(KIND_MAC_RX);
  const uint32_t there = share(from, DEVICE(MAC_RX + PRODUCED), receive.slots_mask + 1);
  const uint32_t buffers = receive.fetch.arrived - from;
  const uint32_t count = there < buffers ? there : buffers;
  if (count == 0) return;  // no buffers: the bit stays
  receive_frames(from, count);
  TAKEN(KIND_MAC_RX) = from + count;
}

static __attribute__((noinline)) void task_send_bds(void) {
  if (send_fetch_wanted()) fetch_send_bds();
}

static __attribute__((noinline)) void task_receive_bds(void) {
  if (receive_fetch_wanted()) fetch_receive_bds();
}

// Starts the task of a bit of the event register, unless another core is at it.
static __attribute__((noinline)) void task_dispatch(uint32_t event, void (*task)(void)) {
  if (!send_try_lock(&task_locks[event])) return;
  task();
  send_unlock(&task_locks[event]);
}

static __attribute__((noinline)) uint32_t idle(void) {
  uint32_t events;
  while ((events = DEVICE(EVENT)) == 0) {
    DEVICE(WATCHDOG_KICK) = 0;
    pause_core();
  }
  return events;
}

void run_core(void) {
  for (;;) {
    DEVICE(WATCHDOG_KICK) = 0;
    const uint32_t events = idle();
    if (events >> KIND_MAC_RX & 1) task_dispatch(KIND_MAC_RX, task_mac_rx);
    if (events >> KIND_DMA_READ & 1) task_dispatch(KIND_DMA_READ, task_dma_read);
    if (events >> KIND_DMA_WRITE & 1) task_dispatch(KIND_DMA_WRITE, task_dma_write);
    if (events >> KIND_MAC_TX & 1) task_dispatch(KIND_MAC_TX, task_mac_tx);
    if (events >> KIND_SEND_BDS & 1) task_dispatch(KIND_SEND_BDS, task_send_bds);
    if (events >> KIND_RECEIVE_BDS & 1) task_dispatch(KIND_RECEIVE_BDS, task_receive_bds);
  }
}
