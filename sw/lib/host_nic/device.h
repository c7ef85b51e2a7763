// SPDX-License-Identifier: Apache-2.0
// What the parts of the driver core know of each other.
#ifndef EMNIC_DEVICE_H
#define EMNIC_DEVICE_H

#include "emnic.h"
#include "filter.h"
#include "host_nic.h"       // registers, generated from systems/nic_core/host_nic.rdl
#include "queue_formats.h"  // what lies in memory, generated from rtl/queue/queue_pkg.sv

enum {
  RECORD_BYTES = CPL_BYTES,
  CPL_RING = 32768,
  LEAST_EVENTS = 256,
  LARGEST_RING = 32768,
  ETHERNET = 14,
  SHORTEST_FRAME = 60,                         // on a wire, without its FCS
  PACKED_GRANULES = 1024 / (int)GranuleBytes,  // of a transmit stream, worth a doorbell
  GATHERED_BYTES = 8192,                       // beside which a read of descriptors is little
  TALLIES = (int)EMNIC_COUNTERS_END * (int)EMNIC_MAX_INTERFACES * (int)EMNIC_MAX_PORTS,
  MOST_QUEUES = 65536,  // of each way: what records and descriptors can name
  PORT_TALLIES = 2 * (int)EMNIC_PORT_COUNTS_END
};

#define DEVICE_REG(field) ((uint32_t)offsetof(nic_device_regs_t, field))
#define INTERFACE_REG(field)                                      \
  ((uint32_t)(offsetof(nic_interface_map__stride800000_t, regs) + \
              offsetof(nic_interface_regs_t, field)))
#define PORT_REG(field) ((uint32_t)offsetof(nic_port_regs__stride1000_t, field))
#define QUEUE_REG(field) ((uint32_t)offsetof(desc_queue_regs__stride20_t, field))
#define CQ_REG(field) ((uint32_t)offsetof(cpl_queue_regs__stride20_t, field))
#define FLOW_REG(field) ((uint32_t)offsetof(flow_regs__stride1000_t, field))
#define STAT_REG(field) ((uint32_t)offsetof(stat_regs_t, field))
#define SCHEDULER_REG(field) ((uint32_t)offsetof(nic_sched_map_t, regs.field))

struct memory {
  uint8_t* at;
  uint64_t bus;
  size_t bytes;
};

// DOUBTED: its answer may be that of a device that has gone; LOST: it was.
enum restart_phase { RUNNING, WANTED, ASKED, IDLE, DOUBTED, LOST };

struct restart {
  uint8_t phase;
  uint16_t taken;
  uint32_t slots, max_frame;  // the new ones
};

// What transmit and receive queues have alike. What each packet needs comes first.
struct queue {
  struct emnic* device;
  uint8_t *ring, *buffers;  // buffers: null when the caller has them, or in transmit streams; of a
                            // receive stream what lies below its ring
  uint64_t ring_bus, buffers_bus;
  uint32_t regs, slots, buffer_bytes, max_frame;
  uint16_t producer, rung, done;
  uint8_t interface, stopped, transmit;
  struct restart restart;
  int completions;                      // number of its completion queue; -1: none
  struct memory own_ring, own_buffers;  // since a restart
};

struct emnic_tx {
  uint32_t made, told, sent;  // packets: in the ring, with a doorbell, done
  uint32_t gathered;          // bytes without a doorbell
  uint32_t window;
  uint16_t newest;
  uint16_t small;  // doorbells for less than PACKED_GRANULES since the stream was empty
  struct queue q;
};

struct emnic_rx {
  uint8_t* headers;  // behind the ring; NULL: none
  uint64_t headers_bus;
  uint16_t number;
  struct queue q;
};

struct emnic_cq {
  struct emnic* device;
  struct memory memory;
  uint32_t regs;
  uint16_t consumer, rung, cpu;
  uint8_t interface, transmit;
};

struct emnic_eq {
  struct emnic* device;
  struct memory memory;
  uint32_t regs, slots;
  uint16_t consumer;
  uint8_t interface;
};

// A port's table of flows as the driver keeps it (steer.c).
struct flow_entry {
  struct emnic_flow flow;  // type 0: none
  uint32_t hash, queue;
};
struct flow_step {
  uint32_t at;
  int32_t from;  // the step whose flow moves here; -1: the new one
};
struct flow_table {
  struct flow_entry* entries;
  struct flow_step* steps;
  uint32_t* seen;  // number of the search that came by last
  uint32_t count, used, search;
  uint32_t written[EMNIC_FLOW_BYTES / 4 + 1];  // what its registers hold
  uint8_t known;
};

// A counter as its reader sees it, which goes on when the device begins at 0 again.
struct tally {
  uint64_t last;  // the device's value; 0 after its reset
  uint64_t sum;
};

struct port {
  uint16_t* rss;
  struct emnic_address* address;  // of each function; NULL: none set
  uint32_t key[EMNIC_KEY_WORDS];
  struct flow_table flows;
};

struct interface {
  struct emnic_interface is;
  uint32_t flow, flow_stride, tx_stat, rx_stat;  // 0: not read yet
  struct tally *queue_tally[2], *port_tally;  // [transmit][queue][count]; [port][transmit][count]
  uint32_t max_frame, cpl_delay, strip;
  unsigned first_eq, eqs, first_tx_cq, tx_cqs, first_rx_cq, rx_cqs;
  struct memory tx_rings, tx_buffers, rx_rings, rx_buffers;
  struct port port[EMNIC_MAX_PORTS];
  struct emnic_limit* limits;  // of each transmit queue; NULL: none set since the start
  uint8_t* tx_ports;           // by which each leaves, a bit each; NULL: as dealt
};

struct emnic {
  struct emnic_ops ops;
  struct emnic_config config;
  unsigned interfaces, vectors, functions;
  uint32_t core_khz;  // 0: not read yet
  struct interface interface[EMNIC_MAX_INTERFACES];
  struct emnic_tx* tx;
  struct emnic_rx* rx;
  struct emnic_cq* cq;
  struct emnic_eq* eq;
  unsigned cqs, eqs;
  unsigned log_block, rx_log_block;  // descriptors of a slot
  uint32_t* interval;                // of each vector
  struct tally* tally;               // [counter][interface][port], then those of interfaces
  size_t tallies;
  int started, was_open, mastering;
  uint64_t foreign;
};

// What every register of a device reads as that is not there any more. What says where to write is
// looked at for it.
#define GONE 0xffffffffu

static inline uint32_t reg_read(struct emnic* d, uint32_t offset) {
  return d->ops.read32(d->ops.context, offset);
}
static inline void reg_write(struct emnic* d, uint32_t offset, uint32_t value) {
  d->ops.write32(d->ops.context, offset, value);
}
static inline uint32_t interface_read(struct emnic* d, unsigned i, uint32_t reg) {
  return reg_read(d, d->interface[i].is.registers + reg);
}
static inline uint32_t port_regs(const struct emnic* d, unsigned i, unsigned p) {
  return d->interface[i].is.port + p * d->interface[i].is.port_stride;
}
// A virtual function has its queues; what is all functions' is the physical one's to set.
static inline int is_virtual(const struct emnic* d) {
  return d->interfaces != 0 && (d->interface[0].is.features & EMNIC_VIRTUAL) != 0;
}
static inline int power_of_two(uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }
static inline unsigned log2_of(uint32_t value) {
  unsigned bits = 0;
  while (value >> bits > 1) ++bits;
  return bits;
}
static inline void zero(void* at, size_t bytes) { __builtin_memset(at, 0, bytes); }

// What one side writes and the other looks at without a lock.
static inline uint16_t load16(const uint16_t* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static inline void store16(uint16_t* at, uint16_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
// The halves of a record; `first` is the one that says that it is there.
static inline void load_record(const struct emnic* d, const uint8_t* at, unsigned first,
                               uint64_t words[2]) {
  const uint64_t* from = (const uint64_t*)(const void*)at;
  words[first] = __atomic_load_n(from + first, __ATOMIC_ACQUIRE);
  if (d->ops.dma_barrier) d->ops.dma_barrier(d->ops.context);
  words[!first] = __atomic_load_n(from + !first, __ATOMIC_RELAXED);
}
static inline void put_descriptor(uint8_t* ring, uint32_t index, uint64_t bus, uint32_t bytes) {
  uint64_t words[2] = {0, 0};
  desc_set_addr(words, bus);
  desc_set_len(words, bytes);
  __builtin_memcpy(ring + (size_t)index * DESC_BYTES, words, DESC_BYTES);
}
// Of a receive stream: granules of a frame with its record.
static inline uint32_t stream_granules(uint32_t bytes) {
  return (bytes + GranuleBytes - 1) / GranuleBytes + 1;
}
// As far apart as lets frames of up to 1 kB lie in one page each: another page is another read or
// write.
static inline uint32_t buffer_of(uint32_t max_frame) {
  uint32_t unit = 128;
  while (unit < 1024 && unit < max_frame) unit *= 2;
  return (max_frame + unit - 1) / unit * unit;
}
static inline uint32_t rx_buffer_of(const struct emnic_config* c, uint32_t max_frame) {
  return buffer_of(c->coalesce_bytes > max_frame ? c->coalesce_bytes : max_frame);
}

static inline int is_stream(const struct queue* q) {
  return q->transmit ? q->device->config.tx_stream : q->device->config.rx_stream;
}
static inline unsigned log_block(const struct queue* q) {
  return q->transmit ? q->device->log_block : q->device->rx_log_block;
}

int dma_get(struct emnic* d, size_t bytes, struct memory* out);
void dma_give(struct emnic* d, struct memory* memory);
void* own_get(struct emnic* d, size_t bytes);
void own_give(struct emnic* d, void* memory);
void tell_memory(struct emnic* d, enum emnic_memory what, unsigned first, unsigned count,
                 uint64_t bus, size_t stride);

// queues.c
int check_ring(const struct emnic* d, unsigned i, int transmit, unsigned ring, unsigned max_frame);
int open_queues(struct emnic* d, unsigned i);
void queue_state(const struct queue* q, struct emnic_queue_state* out);
void start_ring(const struct queue* q);
// Registers that enable a queue, or take it out of use: it keeps its sizes then.
uint32_t cq_control(unsigned slots, int enable);
void write_control(const struct queue* q, int enable);
void lay_out_stream(struct emnic_rx* rx, struct memory memory, size_t offset);
size_t stream_stride(uint32_t slots, uint32_t max_frame);
void fill_ring(struct emnic_rx* rx);
size_t rx_ring_bytes(const struct emnic* d, uint32_t slots);  // with the buffers for headers
void lay_out_ring(struct emnic_rx* rx, uint8_t* at, uint64_t bus, uint32_t slots);
void put_slot(struct emnic_rx* rx, uint32_t slot, uint64_t bus, uint32_t bytes);

// counters.c
int get_tallies(struct emnic* d);
void forget_last_counts(struct emnic* d);  // the device counts from 0 again

// steer.c
void deal_frames(struct emnic* d, unsigned i);
uint32_t flow_regs(struct emnic* d, unsigned i, unsigned p);  // 0: the device has gone
// Of each port: what its transmit scheduler is set to besides its queues.
void set_up_scheduler(struct emnic* device, unsigned interface);
void tell_longest(struct emnic* device, unsigned interface);  // where queues have rate limits
void forget_schedules(struct emnic* device, unsigned interface);
void enable_queue(struct emnic* device, unsigned interface, unsigned queue);  // at its ports
static inline uint32_t share_of(const struct emnic_scheduler* scheduler, unsigned queue) {
  const uint32_t share =
      scheduler->share_count ? scheduler->shares[queue % scheduler->share_count] : 0;
  const uint32_t priority =
      scheduler->priority_count ? scheduler->priorities[queue % scheduler->priority_count] : 0;
  return share << SCHED_REGS__QUEUE__SHARE_bp | priority << SCHED_REGS__QUEUE__PRIORITY_bp;
}
void restore_flows(struct emnic* d, unsigned i);
void restore_addresses(struct emnic* d, unsigned i);  // filter.c
void forget_flows(struct emnic* d, unsigned i, unsigned p);

#endif
