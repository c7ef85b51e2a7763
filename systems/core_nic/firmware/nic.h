// SPDX-License-Identifier: Apache-2.0
// The firmware's data, all of it in the scratchpad, and its functions.
//
// A frame is known by a number: frames are counted as they come, modulo 2^32, and what belongs to a
// frame lies at its number modulo the size of an array. So nothing is ever searched for or
// allocated: frame f waits in slot f, its MAC command is at place f of the MAC's ring, its "done"
// flag is flag f.
//
// What bounds what: a send buffer descriptor stays here until the MAC has sent its frame, and there
// is room for SEND_BDS. So at most that many frames and DMA reads of frames are under way, and no
// ring below can overflow. A received frame keeps its slot until it and everything before it is
// with the host, so at most RECEIVE_SLOTS are under way.
#ifndef EMERY_FIRMWARE_NIC_H
#define EMERY_FIRMWARE_NIC_H

#include "hw.h"

enum {
  // Buffer descriptors of frames to be sent that are kept here; as many slots in the frame memory
  // and places in the MAC's ring.
  SEND_BDS = 512,
  // Received frames in the frame memory, at most.
  RECEIVE_SLOTS = 256,
  // Places for descriptors of receive buffers. At most half of them are ahead of the frames.
  RECEIVE_BDS = 1024,
  // Commands for DMA read: SEND_BDS and some fetches. For DMA write: RECEIVE_SLOTS, two for each
  // commit, and reports of what was sent.
  READ_RING = 1024,
  WRITE_RING = 2048,
  BEYOND = 64,         // commands that somebody writes at a time, at most
  EVENTS = 1024,       // more than there can be: each is about another frame
  SLOT = 2048,         // bytes of a slot
  SEND_FETCH = 32,     // buffer descriptors a DMA
  RECEIVE_FETCH = 16,  // likewise
  FETCHES = 8,         // of a ring under way
  FEW = 64,            // descriptors here; with fewer, a piece that is not whole is fetched too
  AHEAD = 64,          // DMA reads of frames under way; with more, fetches would wait for them
  CLAIM = 32,          // units of work a core takes from the hardware at a time
  REPORT = 8,          // frames sent before the host is told, unless the MAC has run dry
  LONG_REST =
      1024,  // clocks from one wake-up to the next, in which work gathers, when there is much
};
#define SEND_SLOT(frame) (FrameBase + ((frame) & (SEND_BDS - 1)) * SLOT)
#define RECEIVE_SLOT_BASE (FrameBase + SEND_BDS * SLOT)

// How far the work of a kind has been taken, in the unit of the hardware's count: DMA commands
// whose end was looked at, frames the host knows to be sent, received frames, descriptors asked
// for. The hardware compares these with its own counts, so one load, of the event register, tells a
// core what kinds of work there are.
#define TAKEN(kind) DEVICE(Seen + 4 * (kind))

// A lock is held while it is not 0.
typedef shared_t lock_t;

// A ring of buffer descriptors that is fetched from the host, a piece at a time.
struct Fetch {
  lock_t lock;           // of who fetches
  lock_t arrival_lock;   // of who looks what has arrived
  shared_t arrived;      // descriptors here
  shared_t begun, done;  // fetches, counted
  struct {
    shared_t command;  // number of its DMA command
    shared_t end;      // descriptors there are when it is done
  } pieces[FETCHES];
  uint32_t host_low, host_high;  // the ring in host memory
  uint32_t host_mask;            // its descriptors - 1
};

struct Send {
  struct Fetch fetch;
  shared_t cut;     // descriptors of whole frames
  shared_t frames;  // those frames
  lock_t dma_lock;
  lock_t report_lock;
  shared_t consumed;  // descriptors of frames the host knows to be sent
};

struct Receive {
  struct Fetch fetch;
  lock_t frame_lock;
  lock_t dma_lock;
  uint32_t slots_mask;  // slots of the MAC receive assist - 1
  uint32_t return_low, return_high, return_mask;
  uint32_t status_low, status_high;
  uint32_t interrupt;  // DMA_INFO_IRQ(1) or nothing, for the writes of the status block
};

// Frames to be sent, by whichever core comes first.
struct Event {
  uint32_t count;
  uint32_t first;  // number of the first frame
  uint32_t bd;     // number of its first buffer descriptor
  uint32_t bds;    // and how many there are
};

extern struct Send send;
extern struct Receive receive;
extern struct bd send_bds[SEND_BDS];
extern struct bd receive_bds[RECEIVE_BDS];
// Who writes many commands goes on beyond the end of the ring, and calls close_ring().
extern struct dma_ring_command read_ring[READ_RING + BEYOND];
extern struct dma_ring_command write_ring[WRITE_RING + BEYOND];
// The high half of `info` is the low half of the number of the descriptor after the frame.
extern struct mac_ring_command tx_ring[SEND_BDS];
extern struct mac_ring_command rx_ring[RECEIVE_SLOTS];
// One for each command for DMA write, as several reports may be on their way.
extern uint32_t status_words[WRITE_RING];

// locks.c. Those of send and receive are apart only so that a profile shows them apart.
bool send_try_lock(lock_t* lock);
void send_lock(lock_t* lock);
void send_unlock(lock_t* lock);
bool receive_try_lock(lock_t* lock);
void receive_lock(lock_t* lock);
void receive_unlock(lock_t* lock);

// events.c
void raise_event(const struct Event* event);
const struct Event* take_event(void);
extern shared_t events_raised, events_taken;

// send.c
void fetch_send_bds(void);
void send_bds_arrived(void);
void send_frames(uint32_t frame, uint32_t count, uint32_t bd, uint32_t bds);
void send_process_dmas(uint32_t first, uint32_t count);
void send_commit(void);
void send_report(void);

// receive.c
void fetch_receive_bds(void);
void receive_bds_arrived(void);
void receive_frames(uint32_t frame, uint32_t count);
void receive_process_dmas(uint32_t first, uint32_t count);
void receive_commit(void);

// What a core does from the moment everything is set up; there is one for each way of parallel
// work.
void run_core(void) __attribute__((noreturn));

// Received frames there are buffers for, counted.
static inline uint32_t frames_with_buffers(void) {
  const uint32_t arrived = receive.fetch.arrived;
  const uint32_t there = DEVICE(MacRx + Produced);
  return (int32_t)(there - arrived) < 0 ? there : arrived;
}

// How many of the units of work from `taken` to `there` to take: CLAIM at most, and such that they
// lie in one piece in a ring.
static inline uint32_t share(uint32_t taken, uint32_t there, uint32_t places) {
  const uint32_t to_end = places - (taken & (places - 1));
  uint32_t count = there - taken;
  if (count > CLAIM) count = CLAIM;
  return count < to_end ? count : to_end;
}

// Brings what was written beyond the end of a ring to its beginning.
static inline void close_ring(struct dma_ring_command* ring, uint32_t places, uint32_t first,
                              uint32_t count) {
  const uint32_t place = first & (places - 1);
  if (place + count <= places) return;
  for (uint32_t i = 0; i < place + count - places; i++) ring[i] = ring[places + i];
}

// Whether a fetch has come back.
static inline bool fetch_arrived(const struct Fetch* fetch) {
  const uint32_t done = fetch->done;
  return done != fetch->begun &&
         (int32_t)(DEVICE(DmaRead + Progress) - fetch->pieces[done % FETCHES].command) > 0;
}

// Whether to fetch more. A piece that is not whole is fetched only when `here`, the descriptors not
// used up yet, are few and nothing is on its way: so a driver that adds them one by one does not
// make us fetch them one by one.
static inline bool fetch_wanted(const struct Fetch* fetch, uint32_t kind, uint32_t producer,
                                shared_t* used, uint32_t piece, uint32_t room) {
  const uint32_t requested = TAKEN(kind);
  const uint32_t here = requested - *used;
  if (here > room - piece) return false;
  const uint32_t news = DEVICE(producer) - requested;
  if (news == 0) return false;
  const uint32_t under_way = fetch->begun - fetch->done;
  if (news >= piece - requested % piece) return under_way < FETCHES;
  return under_way == 0 && here < FEW;
}

static inline bool send_fetch_wanted(void) {
  return fetch_wanted(&send.fetch, KindSendBds, SendProducer, &send.consumed, SEND_FETCH, SEND_BDS);
}

static inline bool receive_fetch_wanted(void) {
  return fetch_wanted(&receive.fetch, KindReceiveBds, ReceiveProducer, &DEVICE(MacRx + Freed),
                      RECEIVE_FETCH, RECEIVE_BDS / 2);
}

// Whether the host should be told of frames sent: some are enough to be worth it, or nothing else
// will come for a while. Not while so much is to be written to the host already that it would not
// hear of it soon anyway.
static inline bool send_report_wanted(void) {
  const uint32_t sent = DEVICE(MacTx + Progress);
  const uint32_t news = sent - TAKEN(KindMacTx);
  return news != 0 && (news >= REPORT || sent == DEVICE(MacTx + Producer)) &&
         DEVICE(DmaWrite + Producer) - DEVICE(DmaWrite + Progress) < WRITE_RING / 2;
}

#endif
