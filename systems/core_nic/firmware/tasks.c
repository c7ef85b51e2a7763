// SPDX-License-Identifier: Apache-2.0
// The task-parallel firmware (core-nic paper, section 3.2), to compare with: the hardware's event
// register tells what kinds of work there are, and one core at a time does all there is of a kind.
// Cores beyond the number of kinds are of no use.
#include "nic.h"

static lock_t task_locks[6];

// What software raises is done at once: it belongs to the same kind of work. A task may be all of a
// ring, so a sign of life is given for each piece of it.
void raise_event(const struct Event* event) {
  DEVICE(WatchdogKick) = 0;
  send_frames(event->first, event->count, event->bd, event->bds);
}

static __attribute__((noinline)) void task_dma_read(void) {
  const uint32_t progress = DEVICE(DmaRead + Progress);
  if (fetch_arrived(&send.fetch)) send_bds_arrived();
  if (fetch_arrived(&receive.fetch)) receive_bds_arrived();
  for (uint32_t at = TAKEN(KindDmaRead); at != progress;) {
    const uint32_t count = share(at, progress, READ_RING);
    send_process_dmas(at, count);
    TAKEN(KindDmaRead) = at += count;
  }
  send_commit();
}

static __attribute__((noinline)) void task_dma_write(void) {
  const uint32_t progress = DEVICE(DmaWrite + Progress);
  for (uint32_t at = TAKEN(KindDmaWrite); at != progress;) {
    const uint32_t count = share(at, progress, WRITE_RING);
    receive_process_dmas(at, count);
    TAKEN(KindDmaWrite) = at += count;
  }
  receive_commit();
}

static __attribute__((noinline)) void task_mac_tx(void) {
  if (send_report_wanted()) send_report();
}

static __attribute__((noinline)) void task_mac_rx(void) {
  const uint32_t from = TAKEN(KindMacRx);
  const uint32_t count = share(from, frames_with_buffers(), receive.slots_mask + 1);
  if (count == 0) return;  // no buffers: the bit stays
  receive_frames(from, count);
  TAKEN(KindMacRx) = from + count;
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
  while ((events = DEVICE(Event)) == 0) {
    DEVICE(WatchdogKick) = 0;
    wait_for_work();
  }
  return events;
}

void run_core(void) {
  for (;;) {
    DEVICE(WatchdogKick) = 0;
    const uint32_t events = idle();
    if (events >> KindMacRx & 1) task_dispatch(KindMacRx, task_mac_rx);
    if (events >> KindDmaRead & 1) task_dispatch(KindDmaRead, task_dma_read);
    if (events >> KindDmaWrite & 1) task_dispatch(KindDmaWrite, task_dma_write);
    if (events >> KindMacTx & 1) task_dispatch(KindMacTx, task_mac_tx);
    if (events >> KindSendBds & 1) task_dispatch(KindSendBds, task_send_bds);
    if (events >> KindReceiveBds & 1) task_dispatch(KindReceiveBds, task_receive_bds);
  }
}
