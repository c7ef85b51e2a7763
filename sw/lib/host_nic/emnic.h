// SPDX-License-Identifier: Apache-2.0
// emnic: the driver core of host-nic, for whoever drives it: an operating system, a user-space
// stack, a simulator. It finds out what the device is made of, sets up its queues, puts frames into
// rings and takes records out of them, in the order of writes that the device asks for
// (docs/write-a-driver.md). What it needs of the machine is `emnic_ops`; of a C library it needs
// nothing but what a compiler takes for granted (memcpy, memset, memcmp).
//
// A driver's life: emnic_open, emnic_start; then emnic_send or emnic_post and emnic_tx_flush,
// emnic_take and emnic_release; when an interrupt of vector v comes (or always, polling) the events
// of event queue v, then the records of the completion queues they name; emnic_stop, emnic_close.
// After a hot reset of the slot: emnic_recover.
//
// Nothing is allocated but by emnic_open, emnic_start, emnic_recover, the first emnic_steer of a
// port and the end of a restart. Calls for one queue must not overlap, nor those for a completion
// queue; different queues are independent, and emnic_take of transmitted frames may run beside
// emnic_send. All other calls come one at a time.
//
// Numbers that are negative are errors, EMNIC_...: emnic_error says them in words. What the device
// reports of a queue is enum error_e and enum event_e of queue_formats.h. Works in C11 and C++.
#ifndef EMNIC_H
#define EMNIC_H

#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "errors.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  EMNIC_MAX_INTERFACES = 4,
  EMNIC_MAX_PORTS = 4,  // of an interface
  EMNIC_MAX_SEGMENTS = 8,
  EMNIC_MAX_PACKET = 65535,  // bytes that become several frames
  EMNIC_MAX_HEADERS = 126,   // of them before the payload of TCP
  EMNIC_KEY_WORDS = 10,
  EMNIC_FLOW_BYTES = 36
};

const char* emnic_error(int code);

// ---- the machine

// What memory is for, to who wants to know (`ring_memory`).
enum emnic_memory {
  EMNIC_EVENT_RINGS,
  EMNIC_COMPLETION_RINGS,
  EMNIC_STREAM_RINGS,  // of receive queues, with what lies below each
  EMNIC_GIVEN_UP       // the device has no more to do with it
};

// Offsets are of BAR 0, in bytes.
struct emnic_ops {
  void* context;
  // All ones when the read failed. A read returns when all writes before it have arrived.
  uint32_t (*read32)(void* context, uint32_t offset);
  // The device finds what was stored to memory before (writel, rte_write32). In order.
  void (*write32)(void* context, uint32_t offset, uint32_t value);
  // Up to 256 bytes, in lines of 64 and in order with write32 (write-combined, then fenced). NULL:
  // frames are not pushed.
  void (*write_lines)(void* context, uint32_t offset, const void* from, unsigned bytes);
  // A read whose value `done` is given later, for machines that cannot wait where queues are
  // restarted. NULL: read32.
  void (*read32_later)(void* context, uint32_t offset, void (*done)(void* of, uint32_t value),
                       void* of);
  // Memory of the driver's own: zeroed; NULL when there is none.
  void* (*alloc)(void* context, size_t bytes);
  void (*free)(void* context, void* memory);
  // Memory the device reaches: zeroed, in one piece for the device, from a multiple of 4096 on;
  // NULL when there is none.
  void* (*dma_alloc)(void* context, size_t bytes, uint64_t* bus);
  void (*dma_free)(void* context, void* memory, size_t bytes, uint64_t bus);
  // Between the word of a record that says that it is there and the rest (dma_rmb). NULL: loads
  // that acquire are enough.
  void (*dma_barrier)(void* context);
  // Told of memory that the device writes records to, `count` rings of `stride` bytes, the first of
  // which is number `first` of its kind: for monitors, simulators, checkers. NULL: nobody.
  void (*ring_memory)(void* context, enum emnic_memory what, unsigned first, unsigned count,
                      uint64_t bus, size_t stride);
  // The device may read and write memory, or not.
  void (*bus_master)(void* context, int on);
  // The first `vectors` entries of the MSI-X table lead to this driver, unmasked; 0: none does. 0,
  // or negative when that cannot be.
  int (*interrupts)(void* context, unsigned vectors);
  void (*delay_us)(void* context, unsigned us);
};

// ---- the device

enum {  // emnic_interface.features
  EMNIC_RX_HASH = 1,
  EMNIC_RX_CHECKSUM = 2,
  EMNIC_TX_CHECKSUM = 4,
  EMNIC_TIMESTAMPS = 8,
  EMNIC_VLAN = 16,
  EMNIC_TSO = 32,
  EMNIC_SHARED = 64,  // queues are all ports'
  EMNIC_SPLIT = 128,
  EMNIC_VIRTUAL = 256,  // a virtual function: its own queues, nothing else
  EMNIC_COALESCE = 512,
  EMNIC_FILTER = 1024  // functions have addresses (filter.h), and RSS tables of their own
};

// What the device says of an interface. The others are offsets of BAR 0, of the first one.
struct emnic_interface {
  unsigned ports, tx_queues, rx_queues, event_queues, max_frame, features, rss_entries;
  uint32_t registers, txq, rxq, txcq, rxcq, eq, sched, sched_stride, port, port_stride, rss,
      rss_stride;
};

struct emnic;
struct emnic_tx;  // a transmit queue
struct emnic_rx;  // a receive queue
struct emnic_cq;  // a completion queue, of transmit queues or of receive queues
struct emnic_eq;  // an event queue

// Finds out what the device is; nothing is set up.
int emnic_open(const struct emnic_ops* ops, struct emnic** out);
// Stops it if need be, and forgets it.
void emnic_close(struct emnic* device);
unsigned emnic_interfaces(const struct emnic* device);
unsigned emnic_vectors(const struct emnic* device);
const struct emnic_interface* emnic_get_interface(const struct emnic* device, unsigned interface);

enum emnic_push { EMNIC_PUSH_NONE, EMNIC_PUSH_DESCRIPTOR, EMNIC_PUSH_FRAME };

// The same for each interface.
// What a transmit scheduler other than round robin is set to, at every port; kept by the caller as
// long as the device is in use.
struct emnic_slot {
  uint32_t ns;
  uint32_t classes;  // that may send in it: a bit each
};
struct emnic_limit {
  uint64_t bits;   // a second, with FCS; 0: none. The device's least: core_khz * 2 / 10^6 Mb/s
  uint32_t burst;  // bytes, less than 2^20
};
struct emnic_scheduler {
  const uint8_t* shares;      // priority, weight or class of queue n: entry n modulo their number
  unsigned share_count;       // 0: all have 0
  const uint8_t* priorities;  // where it has priorities beside weights (PIEO): as shares
  unsigned priority_count;    // 0: all have 0, the highest
  int own_registers;          // of round robin there are none
  uint32_t window;            // bytes on their way to a port
  const struct emnic_slot* slots;    // a schedule, from PTP time 0 on
  unsigned slot_count;               // 0: none
  uint32_t open_ns, close_ns;        // its edges come so much sooner
  const struct emnic_limit* limits;  // of queue n: entry n modulo their number
  unsigned limit_count;              // 0: none; with any the scheduler must have rate limits
};

struct emnic_config {
  unsigned tx_queues, rx_queues;  // to open; receive queues are dealt to the ports by turns,
  int shared;                     // or each takes frames of all ports. Needs EMNIC_SHARED
  unsigned functions;  // whose rx_queues a physical function's frames are dealt to; 0: its own, as
                       // ever with EMNIC_FILTER
  unsigned tx_ring, rx_ring;  // slots, or of streams granules of 16 bytes: 8 ... 32768
  int tx_stream, rx_stream;   // rings hold the frames themselves
  // Buffers of the rings' own (streams have them anyway): emnic_send copies into them, emnic_take
  // hands them out. Without: emnic_post and emnic_rx_post are given the caller's.
  int tx_buffers, rx_buffers;
  // Receive slots have a buffer of the ring's own more, of so many bytes, up to EMNIC_MAX_HEADERS +
  // 2: for the headers of TCP and UDP alone. 0: none. Needs EMNIC_SPLIT, and no stream.
  unsigned header_bytes;
  // Consecutive segments of TCP take one slot under one record: up to so many bytes with the
  // headers of the first, for which receive buffers have to be large enough; 0: none do. And core
  // clocks that one waits for the next. CoalesceMostBytes and CoalesceMostClocks of queue_formats.h
  // at the most. Needs EMNIC_COALESCE, and no stream.
  unsigned coalesce_bytes, coalesce_clocks;
  unsigned max_frame;       // longest frame, bytes without FCS
  unsigned max_packet;      // that becomes several, for transmit buffers; 0: none does
  unsigned segments;        // descriptors of a transmit slot: 1, 2, 4 or 8
  unsigned tx_burst;        // packets a queue sends in its turn; 0: as the device has it
  enum emnic_push tx_push;  // what goes to an idle device with the doorbell
  unsigned doorbell_batch;  // packets gathered for one doorbell of a queue busy with as many
  unsigned refill_batch;    // buffers given back with one doorbell, or a quarter of the ring
  unsigned cpus;   // completion queues are dealt to so many; an event queue each, if there are
  int interrupts;  // completion queues ask for events from the start
  // In core clocks (`core_khz`); of the first two 0 means as the device has it.
  unsigned dma_timeout, dma_overtaken, cpl_delay, interrupt_interval;
  unsigned strip;           // tags taken out of received frames: EMNIC_C_TAG, EMNIC_S_TAG
  const uint32_t* rss_key;  // EMNIC_KEY_WORDS words; NULL: emnic_rss_key
  struct emnic_scheduler scheduler;
};
extern const uint32_t emnic_rss_key[EMNIC_KEY_WORDS];  // of Microsoft's specification

// Sets up all queues and lets traffic in.
int emnic_start(struct emnic* device, const struct emnic_config* config);
// Takes all queues out of use, waits until the device holds nothing (EMNIC_TIMEOUT when it does not
// give it back: it may write no more memory then either), and frees what emnic_start allocated.
// Frames on their way are lost.
int emnic_stop(struct emnic* device);
// After the device was reset while it was in use: finds it again and does what emnic_start did, in
// new memory, with the settings made since and the flows steered. What was with the device is gone.
// One that is stopped stays so. Counters go on. No read of its registers may be under way.
int emnic_recover(struct emnic* device);

// The queues that emnic_start opened; NULL when there is no such. Completion and event queues are
// numbered through all interfaces: of each interface those of transmit queues, then those of
// receive queues. Vector n is that of event queue n.
struct emnic_tx* emnic_tx_queue(struct emnic* device, unsigned interface, unsigned queue);
struct emnic_rx* emnic_rx_queue(struct emnic* device, unsigned interface, unsigned queue);
struct emnic_cq* emnic_completions(struct emnic* device, unsigned number);
struct emnic_eq* emnic_event_queue(struct emnic* device, unsigned number);
unsigned emnic_completion_queues(const struct emnic* device);
unsigned emnic_event_queues(const struct emnic* device);

// ---- transmitting

enum { EMNIC_C_TAG = 1, EMNIC_S_TAG = 2 };  // VLAN tags of 802.1Q and of 802.1ad
// What is left to the device. A checksum: of the bytes from `start` on, stored `offset` behind it,
// where the sum of the pseudo header stands (skb->csum_start, csum_offset), 0 ... 255. A VLAN tag,
// which the device puts in behind the addresses once that is made; the frame is so much longer.
// Segmentation (`mss` not 0): the packet, up to EMNIC_MAX_PACKET bytes, becomes frames of `mss`
// bytes of payload and a rest, each with the headers: Ethernet, IPv4 or IPv6 without extensions,
// TCP from `start` on, EMNIC_MAX_HEADERS at the most. Each has its own checksums; where that of TCP
// stands there has to be the sum of the pseudo header without the length. One record for all of
// them. What the device cannot cut stops its queue (ErrSegments).
struct emnic_offloads {
  int checksum;
  unsigned start, offset, tag;  // EMNIC_C_TAG, EMNIC_S_TAG; 0: none. Needs EMNIC_VLAN
  uint16_t tci;
  unsigned mss;  // 0: one frame. Needs EMNIC_TSO
};
struct emnic_segment {
  uint64_t bus;
  unsigned bytes;
};

// Puts a frame into the ring by copying it, spread over the slot's descriptors; 0, EMNIC_FULL,
// EMNIC_STOPPED, EMNIC_BAD_FRAME. `offloads` may be NULL. The device hears of it with the next
// emnic_tx_flush that rings.
int emnic_send(struct emnic_tx* queue, const void* frame, unsigned bytes,
               const struct emnic_offloads* offloads);
// Likewise, of up to `segments` pieces of the caller's, which stay as they are until it is done.
int emnic_post(struct emnic_tx* queue, const struct emnic_segment* segments, unsigned count,
               const struct emnic_offloads* offloads);
// Slots (granules) that are free; 0 when the queue is out of use.
unsigned emnic_tx_room(const struct emnic_tx* queue);
// An event has said that the device stopped the queue: what is in it will not be sent.
int emnic_tx_stopped(const struct emnic_tx* queue);
// What emnic_tx_flush has done.
enum { EMNIC_RANG = 1, EMNIC_PUSHED = 2 };
enum emnic_load { EMNIC_IDLE = 1, EMNIC_LOADED };
// Rings the doorbell if it is time, or in any case with `now`: a queue with a batch under way can
// wait until it has gathered another, or the one under way is nearly done (call it again then). So
// can a stream with many small batches under way, even with `now`. `load`, as far as it is known:
// EMNIC_IDLE where the device has next to nothing to do, so that a push is worth it; EMNIC_LOADED
// where it has more bytes than a round trip takes: queues gather then (call it again later).
int emnic_tx_flush(struct emnic_tx* queue, int now, int load);

// ---- taking records

struct emnic_completion {
  const uint8_t* record;  // what the device wrote: struct cpl, of a receive stream stream_cpl
  unsigned interface, queue;
  int transmit;
  int error;           // the packet was not sent, or is not whole
  unsigned packets;    // finished: 1, but of transmit streams
  unsigned waiting;    // transmit: packets in the ring without a doorbell, which may be due now
  uint16_t slot;       // the newest, as a place in the ring
  uint64_t timestamp;  // PTP, ns, modulo 2^40
  // Received:
  const uint8_t* data;     // NULL without buffers of the ring's own; with `header_bytes` the rest
  const uint8_t* headers;  // with config.header_bytes, until the slot is offered again; its stamp
  unsigned header_bytes;   // then is modulo 2^35; 0: the frame is whole in `data`
  unsigned bytes, tag;     // tag: taken out, EMNIC_C_TAG or EMNIC_S_TAG; 0: none
  uint32_t hash;           // of a frame whose tag was taken out the lower half
  uint16_t tci, csum;      // its TCI; ones' complement sum of all 16-bit words from byte 14 on
  uint8_t flags;           // rx_flags_t of queue_formats.h
  // Several segments of TCP: `data` has the headers of the first as they came, `csum` is 0, and the
  // payload is theirs, of so many bytes each and a rest; 0: one frame. `push`: the last has PSH.
  // Their other fields go on: sequence number, lengths, of IPv4 identification, checksums right.
  unsigned segment_bytes;
  int push;
};

// Up to `most` records of a completion queue, in order.
unsigned emnic_take(struct emnic_cq* queue, struct emnic_completion* out, unsigned most);
// Likewise of a receive stream, which has no completion queue.
unsigned emnic_take_stream(struct emnic_rx* queue, struct emnic_completion* out, unsigned most);
// Tells the device what has been taken when that is worth a write; with `arm` in any case, and one
// event will come when there is more.
void emnic_taken(struct emnic_cq* queue, int arm);
// Gives the buffers of the frames taken longest ago back, of rings with buffers of their own; then
// emnic_rx_flush tells the device when it is time, which returns 1 when it did.
void emnic_release(struct emnic_rx* queue, unsigned frames);
int emnic_rx_flush(struct emnic_rx* queue);
// Offers a buffer of the caller's, `bytes` long; emnic_rx_flush tells. 0, EMNIC_FULL.
int emnic_rx_post(struct emnic_rx* queue, uint64_t bus, unsigned bytes);
// Whether a frame's TCP or UDP checksum is right, from what its record says: 1, 0, or
// EMNIC_NOT_FOUND when it has none (or one behind options, headers or fragments that this does not
// look through).
int emnic_checksum_good(const uint8_t* frame, unsigned bytes, uint16_t csum);

struct emnic_event {
  unsigned interface, kind, source, code;  // kind: enum event_e, code: enum error_e
  int completions;    // number of the completion queue with something in it; -1: none
  unsigned stranded;  // packets that lie in the transmit queue just stopped
};
// The next event; 0 when there is none. A queue that it says has stopped is marked so.
int emnic_next_event(struct emnic_eq* queue, struct emnic_event* out);
// One interrupt will come when there is more.
void emnic_arm(struct emnic_eq* queue);

// ---- errors and restarts

// Whether the device has stopped the queue, as its register says, and why (enum error_e). As the
// next: EMNIC_NO_DEVICE when it has gone.
int emnic_tx_status(struct emnic_tx* queue, unsigned* code);
int emnic_rx_status(struct emnic_rx* queue, unsigned* code);
// The interface's newest error and how many there were.
struct emnic_last_error {
  uint32_t errors;
  unsigned kind, queue, code;
};
int emnic_get_last_error(struct emnic* device, unsigned interface, struct emnic_last_error* out);

// Takes a queue out of use and sets it up anew in other memory, after an error or for other sizes
// (0: as they are), while all others go on. Begin; take its records; call emnic_..._restarting
// until it is 1 (EMNIC_NO_MEMORY: call it again). What the device has not taken of a transmit queue
// is sent from the new ring; of what is received only frames for this queue are lost meanwhile.
int emnic_tx_restart(struct emnic_tx* queue, unsigned ring, unsigned max_frame);
int emnic_tx_restarting(struct emnic_tx* queue);
int emnic_rx_restart(struct emnic_rx* queue, unsigned ring, unsigned max_frame);
int emnic_rx_restarting(struct emnic_rx* queue);
// Longest frame that the ports of an interface send and accept. EMNIC_BUSY while one of its queues
// has smaller buffers: restart those first.
int emnic_set_max_frame(struct emnic* device, unsigned interface, unsigned bytes);

// ---- which queue a frame goes to

// Receive-side scaling: queue of an entry of a port's table, as emnic_start deals them, and anew.
static inline unsigned emnic_rss_queue(unsigned entry, unsigned port, unsigned ports,
                                       unsigned rx_queues) {
  return (entry * ports + port) % rx_queues;
}
int emnic_set_rss(struct emnic* device, unsigned interface, unsigned port, unsigned entry,
                  unsigned queue);
// EMNIC_BUSY while flows are steered at this port: their places follow from the key.
int emnic_set_rss_key(struct emnic* device, unsigned interface, unsigned port, const uint32_t* key);

// What the flow hash is over, in network order: addresses, and of TCP and UDP ports; the rest zero.
enum { EMNIC_IPV4 = 1, EMNIC_IPV6 = 2, EMNIC_TCP = 4, EMNIC_UDP = 8 };
struct emnic_flow {
  uint8_t fields[EMNIC_FLOW_BYTES];
  unsigned type;  // of EMNIC_IPV4 ...: as in rx_flags_t.hash_type
};
uint32_t emnic_flow_hash(const uint32_t* key, const struct emnic_flow* flow);
// Exact match: frames of this flow go to this queue, whatever their hash says. How many entries of
// the port's table were written, more than one where others had to move; EMNIC_NO_ROOM and nothing
// written when there is no place, EMNIC_UNSUPPORTED without a table.
int emnic_steer(struct emnic* device, unsigned interface, unsigned port,
                const struct emnic_flow* flow, unsigned queue);
// And by their hash again.
int emnic_unsteer(struct emnic* device, unsigned interface, unsigned port,
                  const struct emnic_flow* flow);

// ---- settings, counters, time

// Least time between two interrupts of a vector; longest time a record waits for company. Clocks.
int emnic_set_interrupt_interval(struct emnic* device, unsigned vector, unsigned clocks);
int emnic_set_completion_delay(struct emnic* device, unsigned interface, unsigned clocks);
// Rate limit of a transmit queue from now on; its bucket is full. A queue that waits by an old
// limit hears of it within 1.05 ms. EMNIC_UNSUPPORTED where the scheduler has no limits.
int emnic_set_limit(struct emnic* device, unsigned interface, unsigned queue,
                    const struct emnic_limit* limit);
// Ports by which the frames of a transmit queue leave from now on, a bit each: at first port number
// queue modulo ports; 0: they wait. In order all the same: a port begins when those before have
// sent what they had taken. Each port has a bucket of its own for the queue's limit, full at first.
// Needs EMNIC_SHARED.
int emnic_set_tx_ports(struct emnic* device, unsigned interface, unsigned queue, unsigned ports);
// Tags taken out of received frames from now on: EMNIC_C_TAG, EMNIC_S_TAG, both or none.
int emnic_set_strip(struct emnic* device, unsigned interface, unsigned tags);

// Counters and levels (counters.h).
uint64_t emnic_get_counter(struct emnic* device, enum emnic_counter counter, unsigned interface,
                           unsigned port);

// Records and events that named queues which the driver does not have: 0, or something is wrong.
uint64_t emnic_foreign(const struct emnic* device);

// The device's clock (clock.h has more), and the time that a stamp of 40 bits from before then
// means.
uint64_t emnic_time_ns(struct emnic* device);
static inline uint64_t emnic_stamp_time(uint64_t now, uint64_t stamp) {
  return now - ((now - stamp) & 0xffffffffffu);
}

// Registers that there is no call for.
uint32_t emnic_read(struct emnic* device, uint32_t offset);
void emnic_write(struct emnic* device, uint32_t offset, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif
