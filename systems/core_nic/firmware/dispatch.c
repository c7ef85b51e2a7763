// SPDX-License-Identifier: Apache-2.0
// The frame-parallel firmware (core-nic paper, section 3.3): every core runs this loop. It looks where the hardware's progress
// counts have moved on, takes a few of the units of work for itself, so that another core can have the next few, and does them.
// Work that software finds for itself, or must try again, comes from the queue of events.
#include "nic.h"

enum { LONGEST_REST = 8 };

// Takes a share of the work of a kind: how much, from `first` on. None if another core is just taking some.
static inline uint32_t claim(lock_t* lock, bool (*try_lock)(lock_t*), void (*unlock)(lock_t*),
                             uint32_t kind, shared_t* progress, uint32_t places, uint32_t* first) {
  if (!try_lock(lock)) return 0;
  const uint32_t from = TAKEN(kind);
  const uint32_t count = share(from, *progress, places);
  TAKEN(kind) = from + count;
  unlock(lock);
  *first = from;
  return count;
}

// Is there work of this kind that can be done now? `events` is the event register.
static inline bool pending(uint32_t events, uint32_t kind) { return events >> kind & 1; }
static inline bool fetch_pending(uint32_t events) {
  return pending(events, EVENT_SEND_BDS) && send_fetch_wanted();
}
static inline bool event_pending(void) {
  return events_raised != events_taken &&
         DEVICE(DMA_READ + PRODUCER) - DEVICE(DMA_READ + PROGRESS) < AHEAD;
}
static inline bool report_pending(uint32_t events) {
  return pending(events, EVENT_MAC_TX) && send_report_wanted();
}
static inline bool receive_fetch_pending(uint32_t events) {
  return pending(events, EVENT_RECEIVE_BDS) && receive_fetch_wanted();
}
static inline bool frames_pending(uint32_t events) {
  return pending(events, EVENT_MAC_RX) &&
         (int32_t)(receive.fetch.arrived - TAKEN(EVENT_MAC_RX)) > 0;
}

static __attribute__((noinline)) bool send_dispatch(uint32_t events) {
  bool found = false;
  if (fetch_arrived(&send.fetch)) {
    send_bds_arrived();
    found = true;
  }
  if (fetch_pending(events)) {
    fetch_send_bds();
    found = true;
  }
  struct Event event;
  if (event_pending() && take_event(&event)) {
    if (event.type == EVENT_SEND_FRAMES) {
      send_frames(&event);
    } else {
      receive_frames(&event);
    }
    found = true;
  }
  uint32_t first, count;
  if (pending(events, EVENT_DMA_READ) &&
      (count = claim(&send.dma_lock, send_try_lock, send_unlock, EVENT_DMA_READ,
                     &DEVICE(DMA_READ + PROGRESS), READ_RING, &first)) != 0) {
    send_process_dmas(first, count);
    send_commit();
    found = true;
  }
  if (report_pending(events)) {
    send_report();
    found = true;
  }
  return found;
}

static __attribute__((noinline)) bool receive_dispatch(uint32_t events) {
  bool found = false;
  if (fetch_arrived(&receive.fetch)) {
    receive_bds_arrived();
    found = true;
  }
  if (receive_fetch_pending(events)) {
    fetch_receive_bds();
    found = true;
  }
  uint32_t first, count;
  if (frames_pending(events) &&
      (count = claim(&receive.frame_lock, receive_try_lock, receive_unlock, EVENT_MAC_RX,
                     &DEVICE(MAC_RX + PRODUCED), receive.slots_mask + 1, &first)) != 0) {
    const struct Event event = {
        .type = EVENT_RECEIVE_FRAMES, .count = (uint16_t)count, .first = first};
    receive_frames(&event);
    found = true;
  }
  if (pending(events, EVENT_DMA_WRITE) &&
      (count = claim(&receive.dma_lock, receive_try_lock, receive_unlock, EVENT_DMA_WRITE,
                     &DEVICE(DMA_WRITE + PROGRESS), WRITE_RING, &first)) != 0) {
    receive_process_dmas(first, count);
    receive_commit();
    found = true;
  }
  return found;
}

// Nothing to do: looks now and then until there is. The longer there was nothing the longer the rests, so that idle cores leave
// the memory to those that work.
static __attribute__((noinline)) void idle(uint32_t rest) {
  uint32_t events;
  do {
    DEVICE(WATCHDOG_KICK) = 0;
    for (uint32_t i = 0; i < rest; i++) pause_core();
    events = DEVICE(EVENT);
  } while (!pending(events, EVENT_DMA_READ) && !pending(events, EVENT_DMA_WRITE) &&
           !frames_pending(events) && !event_pending() && !report_pending(events) &&
           !fetch_arrived(&send.fetch) && !fetch_arrived(&receive.fetch) &&
           !fetch_pending(events) && !receive_fetch_pending(events));
}

void run_core(void) {
  uint32_t rest = 1;
  for (;;) {
    DEVICE(WATCHDOG_KICK) = 0;
    const uint32_t events = DEVICE(EVENT);
    const bool sends = send_dispatch(events);
    const bool receives = receive_dispatch(events);
    if (sends || receives) {
      rest = 1;
    } else {
      idle(rest);
      if (rest < LONGEST_REST) rest *= 2;
    }
  }
}
