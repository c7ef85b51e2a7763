// SPDX-License-Identifier: Apache-2.0
// The frame-parallel firmware (core-nic paper, section 3.3): every core runs this loop. It looks at
// the hardware's progress counts; where one has moved on, it takes a few of the units of work for
// itself, so that another core can have the next few, and does them. Work that software finds for
// itself, or must try again, comes from the queue of events.
#include "nic.h"

// Takes a share of the work there is: how much, from `first` on. None if another core is just
// taking some.
static inline uint32_t claim(lock_t* lock, bool (*try_lock)(lock_t*), void (*unlock)(lock_t*),
                             shared_t* taken, shared_t* progress, uint32_t places,
                             uint32_t* first) {
  if (!try_lock(lock)) return 0;
  const uint32_t from = *taken;
  const uint32_t count = share(from, *progress, places);
  *taken = from + count;
  unlock(lock);
  *first = from;
  return count;
}

// Is there anything? Asked before a lock is tried, and by a core that has nothing to do.
static inline bool event_waiting(void) {
  return events_waiting() && DEVICE(DMA_READ + PRODUCER) - DEVICE(DMA_READ + PROGRESS) < AHEAD;
}
static inline bool send_dmas_waiting(void) { return DEVICE(DMA_READ + PROGRESS) != send.dmas; }
static inline bool receive_dmas_waiting(void) {
  return DEVICE(DMA_WRITE + PROGRESS) != receive.dmas;
}
static inline bool frames_waiting(void) {
  const uint32_t frames = receive.frames;
  return DEVICE(MAC_RX + PRODUCED) != frames && (int32_t)(receive.fetch.arrived - frames) > 0;
}

static __attribute__((noinline)) bool send_dispatch(void) {
  bool found = false;
  if (fetch_arrived(&send.fetch)) {
    send_bds_arrived();
    found = true;
  }
  if (send_fetch_waiting()) {
    fetch_send_bds();
    found = true;
  }
  struct Event event;
  if (event_waiting() && take_event(&event)) {
    if (event.type == EVENT_SEND_FRAMES) {
      send_frames(&event);
    } else {
      receive_frames(&event);
    }
    found = true;
  }
  uint32_t first, count;
  if (send_dmas_waiting() &&
      (count = claim(&send.dma_lock, send_try_lock, send_unlock, &send.dmas,
                     &DEVICE(DMA_READ + PROGRESS), READ_RING, &first)) != 0) {
    send_process_dmas(first, count);
    send_commit();
    found = true;
  }
  if (send_report_waiting()) {
    send_report();
    found = true;
  }
  return found;
}

static __attribute__((noinline)) bool receive_dispatch(void) {
  bool found = false;
  if (fetch_arrived(&receive.fetch)) {
    receive_bds_arrived();
    found = true;
  }
  if (receive_fetch_waiting()) {
    fetch_receive_bds();
    found = true;
  }
  uint32_t first, count;
  if (frames_waiting() &&
      (count = claim(&receive.frame_lock, receive_try_lock, receive_unlock, &receive.frames,
                     &DEVICE(MAC_RX + PRODUCED), receive.slots_mask + 1, &first)) != 0) {
    const struct Event event = {
        .type = EVENT_RECEIVE_FRAMES, .count = (uint16_t)count, .first = first};
    receive_frames(&event);
    found = true;
  }
  if (receive_dmas_waiting() &&
      (count = claim(&receive.dma_lock, receive_try_lock, receive_unlock, &receive.dmas,
                     &DEVICE(DMA_WRITE + PROGRESS), WRITE_RING, &first)) != 0) {
    receive_process_dmas(first, count);
    receive_commit();
    found = true;
  }
  return found;
}

// Nothing to do: looks now and then until there is.
static __attribute__((noinline)) void idle(void) {
  do {
    DEVICE(WATCHDOG_KICK) = 0;
    pause_core();
  } while (!(send_dmas_waiting() || receive_dmas_waiting() || frames_waiting() ||
             event_waiting() || send_report_waiting() || fetch_arrived(&send.fetch) ||
             fetch_arrived(&receive.fetch) || send_fetch_waiting() || receive_fetch_waiting()));
}

void run_core(void) {
  for (;;) {
    DEVICE(WATCHDOG_KICK) = 0;
    const bool sends = send_dispatch();
    const bool receives = receive_dispatch();
    if (!sends && !receives) idle();
  }
}
