// SPDX-License-Identifier: Apache-2.0
// The frame-parallel firmware (core-nic paper, section 3.3): every core runs this loop. It looks
// where the hardware's progress counts have moved on, takes a few of the units of work for itself,
// so that another core can have the next few, and does them. Work that software finds for itself,
// or must try again, comes from the queue of events.
#include "nic.h"

// Takes a share of the work of a kind, of which there is as much as `there` counts: how much, from
// `first` on. None if another core is just taking some.
static inline uint32_t claim(lock_t* lock, bool (*try_lock)(lock_t*), void (*unlock)(lock_t*),
                             uint32_t kind, uint32_t (*there)(void), uint32_t places,
                             uint32_t* first) {
  if (!try_lock(lock)) return 0;
  const uint32_t from = TAKEN(kind);
  const uint32_t count = share(from, there(), places);
  TAKEN(kind) = from + count;
  unlock(lock);
  *first = from;
  return count;
}
static inline uint32_t dma_reads_done(void) { return DEVICE(DmaRead + Progress); }
static inline uint32_t dma_writes_done(void) { return DEVICE(DmaWrite + Progress); }

// Is there work of this kind that can be done now? `events` is the event register.
static inline bool pending(uint32_t events, uint32_t kind) { return events >> kind & 1; }
static inline bool fetch_pending(uint32_t events) {
  return pending(events, KindSendBds) && send_fetch_wanted();
}
static inline bool event_pending(void) {
  return events_raised != events_taken &&
         DEVICE(DmaRead + Producer) - DEVICE(DmaRead + Progress) < AHEAD;
}
static inline bool report_pending(uint32_t events) {
  return pending(events, KindMacTx) && send_report_wanted();
}
static inline bool receive_fetch_pending(uint32_t events) {
  return pending(events, KindReceiveBds) && receive_fetch_wanted();
}
static inline bool frames_pending(uint32_t events) {
  return pending(events, KindMacRx) && receive.fetch.arrived != TAKEN(KindMacRx);
}

static __attribute__((noinline)) uint32_t send_dispatch(uint32_t events) {
  uint32_t done = 0;
  if (fetch_pending(events)) {
    fetch_send_bds();
    done++;
  }
  uint32_t first, count;
  if (pending(events, KindDmaRead)) {
    count = claim(&send.dma_lock, send_try_lock, send_unlock, KindDmaRead, dma_reads_done, READ_RING, &first);
    if (count != 0) {
      send_process_dmas(first, count);
      send_commit();
      done += count;
    }
    if (fetch_arrived(&send.fetch)) {  // one of those that were claimed
      send_bds_arrived();
      done++;
    }
  }
  const struct Event* event;
  if (event_pending() && (event = take_event()) != 0) {
    send_frames(event->first, event->count, event->bd, event->bds);
    done += event->count;
  }
  if (report_pending(events)) {
    send_report();
    done++;
  }
  return done;
}

static __attribute__((noinline)) uint32_t receive_dispatch(uint32_t events) {
  uint32_t done = 0;
  if (pending(events, KindDmaRead) && fetch_arrived(&receive.fetch)) {
    receive_bds_arrived();
    done++;
  }
  if (receive_fetch_pending(events)) {
    fetch_receive_bds();
    done++;
  }
  uint32_t first, count;
  if (frames_pending(events) &&
      (count = claim(&receive.frame_lock, receive_try_lock, receive_unlock, KindMacRx,
                     frames_with_buffers, receive.slots_mask + 1, &first)) != 0) {
    receive_frames(first, count);
    done += count;
  }
  if (pending(events, KindDmaWrite) &&
      (count = claim(&receive.dma_lock, receive_try_lock, receive_unlock, KindDmaWrite,
                     dma_writes_done, WRITE_RING, &first)) != 0) {
    receive_process_dmas(first, count);
    receive_commit();
    done += count;
  }
  return done;
}

// How long to rest. The more frames come and go, the longer: there is more to do at a time then.
// With few of them, none waits for others; with more than a share in the long rest, there is always
// enough.
static inline uint32_t rest(uint32_t clocks, uint32_t frames) {
  if (frames >= CLAIM * clocks / LONG_REST) return LONG_REST / 4;
  if (frames >= 6 * clocks / LONG_REST) return LONG_REST;
  return frames >= 3 * clocks / LONG_REST ? LONG_REST / 2 : LONG_REST / 4;
}

// Without this, six cores share the work of one out among themselves frame by frame, and spend most
// of their instructions on finding it. What a core has done may have made work that others have
// looked for in vain: it asks that one core, itself or another, look again. Who found nothing at
// all has made nothing.
static __attribute__((noinline)) void idle(uint32_t done) {
  static shared_t last_clock, last_frames;
  if (done != 0) DEVICE(Wake) = 0;
  const uint32_t now = DEVICE(Clock), clocks = now - last_clock;
  if (clocks >= LONG_REST) {
    const uint32_t frames = DEVICE(MacRx + Produced) + DEVICE(MacTx + Progress);
    DEVICE(WakeGap) = rest(clocks, frames - last_frames);
    last_frames = frames;
    last_clock = now;
  }
  wait_for_work();
}

void run_core(void) {
  for (;;) {
    DEVICE(WatchdogKick) = 0;
    const uint32_t events = DEVICE(Event);
    const uint32_t done = send_dispatch(events) + receive_dispatch(events);
    if (done < CLAIM) idle(done);  // there is no more of it
  }
}
