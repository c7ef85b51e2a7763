// SPDX-License-Identifier: Apache-2.0
// Setting up the queues of an interface: event queues, completion queues, rings.
//
// The queues of a CPU share its completion queues, as few as hold a record for every slot: records
// then come in full blocks.
#include "device.h"

enum { PAGE = 4096 };

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// Of the ring of a stream: what lies below it for a frame near its end, and all.
static size_t below_stream(uint32_t max_frame) { return pages(max_frame); }
size_t stream_stride(uint32_t slots, uint32_t max_frame) {
  return below_stream(max_frame) + pages((size_t)slots * GranuleBytes);
}

// The most records of a ring that can be in its completion queue: one a slot. Of a stream one a page and one a doorbell, of which
// emnic_tx_flush has no more on their way; an eighth is for those that the device does not know to be taken (emnic_taken).
static unsigned most_records(const struct emnic_config* c, int transmit, unsigned ring) {
  if (!transmit || !c->tx_stream) return ring;
  const unsigned records = 2 * (ring / PACKED_GRANULES + 1) + ring / PageGranules + 2;
  return records + (records + 6) / 7;
}

static unsigned completion_queues(const struct emnic* d, unsigned i, int transmit, unsigned ring) {
  const struct emnic_config* c = &d->config;
  const unsigned queues = transmit ? c->tx_queues : c->rx_queues;
  const unsigned most = transmit ? d->interface[i].is.tx_queues : d->interface[i].is.rx_queues;
  const unsigned share = CPL_RING / most_records(c, transmit, ring);
  const unsigned least = (queues + share - 1) / share;
  const unsigned wanted = least > c->cpus ? least : c->cpus;
  return wanted < most ? wanted : most;
}

int check_ring(const struct emnic* d, unsigned i, int transmit, unsigned ring, unsigned max_frame) {
  const struct emnic_config* c = &d->config;
  const unsigned queues = transmit ? c->tx_queues : c->rx_queues;
  if (!power_of_two(ring) || ring < BlockSlots || ring > LARGEST_RING) return EMNIC_BAD_RING;
  if (!transmit && c->rx_stream) return stream_granules(max_frame) > ring ? EMNIC_SHORT_RING : 0;
  const unsigned cqs = completion_queues(d, i, transmit, ring);
  const uint64_t share = (queues + cqs - 1) / cqs;
  return share * most_records(c, transmit, ring) > CPL_RING ? EMNIC_MANY_SLOTS : 0;
}

// ---- registers

uint32_t cq_control(unsigned slots, int enable) {
  return (enable ? CPL_QUEUE_REGS__CONTROL__ENABLE_bm : 0u) |
         log2_of(slots) << CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bp;
}

static void set_up_cq(struct emnic* d, uint32_t regs, uint64_t bus, unsigned slots,
                      unsigned target) {
  reg_write(d, regs + CQ_REG(base_lo), (uint32_t)bus);
  reg_write(d, regs + CQ_REG(base_hi), (uint32_t)(bus >> 32));
  reg_write(d, regs + CQ_REG(target), target);
  reg_write(d, regs + CQ_REG(control), cq_control(slots, 1));
}

void write_control(const struct queue* q, int enable) {
  reg_write(q->device, q->regs + QUEUE_REG(control),
            (enable ? DESC_QUEUE_REGS__CONTROL__ENABLE_bm : 0u) |
                log2_of(q->slots) << DESC_QUEUE_REGS__CONTROL__LOG_SIZE_bp |
                log_block(q) << DESC_QUEUE_REGS__CONTROL__LOG_BLOCK_bp);
}

void start_ring(const struct queue* q) {
  struct emnic* d = q->device;
  reg_write(d, q->regs + QUEUE_REG(base_lo),
            (uint32_t)q->ring_bus | (is_stream(q) ? DESC_QUEUE_REGS__BASE_LO__STREAM_bm : 0u));
  reg_write(d, q->regs + QUEUE_REG(base_hi), (uint32_t)(q->ring_bus >> 32));
  // Before it is enabled: no frame is to find it empty.
  if (q->producer != 0) reg_write(d, q->regs + QUEUE_REG(producer), q->producer);
  write_control(q, 1);
}

// ---- queues

// Records that may be in an event queue at once: one of each completion queue that has something;
// in the first also one of each queue, of descriptors or completions, that has stopped. What finds no
// room is lost, and with it that a queue has stopped.
static unsigned events(const struct emnic* d, unsigned i, int first) {
  const struct emnic_config* c = &d->config;
  const unsigned cqs = completion_queues(d, i, 1, c->tx_ring) +
                       (c->rx_stream ? 0 : completion_queues(d, i, 0, c->rx_ring));
  const unsigned most = cqs + (first ? cqs + c->tx_queues + c->rx_queues : 0);
  unsigned slots = LEAST_EVENTS;
  while (slots < most && slots < LARGEST_RING) slots *= 2;
  return slots;
}

// One a vector, as many as there are CPUs to interrupt.
static int open_events(struct emnic* d, unsigned i) {
  struct interface* interface = &d->interface[i];
  const unsigned share = d->vectors / d->interfaces;
  unsigned count = d->config.cpus;
  if (count > interface->is.event_queues) count = interface->is.event_queues;
  if (count > share) count = share ? share : 1;
  interface->first_eq = d->eqs;
  interface->eqs = count;
  for (unsigned e = 0; e < count; ++e) {
    struct emnic_eq* q = &d->eq[d->eqs];
    q->slots = events(d, i, e == 0);
    const size_t bytes = (size_t)q->slots * RECORD_BYTES;
    const int status = dma_get(d, bytes, &q->memory);
    if (status != 0) return status;
    q->device = d;
    q->interface = (uint8_t)i;
    q->regs = interface->is.eq + e * (uint32_t)sizeof(cpl_queue_regs__stride20_t);
    set_up_cq(d, q->regs, q->memory.bus, q->slots, d->eqs);
    ++d->eqs;
    emnic_arm(q);
    tell_memory(d, EMNIC_EVENT_RINGS, d->eqs - 1, 1, q->memory.bus, bytes);
  }
  return 0;
}

static int open_completions(struct emnic* d, unsigned i, int transmit) {
  struct interface* interface = &d->interface[i];
  const unsigned ring = transmit ? d->config.tx_ring : d->config.rx_ring;
  const unsigned count = completion_queues(d, i, transmit, ring);
  *(transmit ? &interface->first_tx_cq : &interface->first_rx_cq) = d->cqs;
  *(transmit ? &interface->tx_cqs : &interface->rx_cqs) = count;
  for (unsigned n = 0; n < count; ++n) {
    struct emnic_cq* q = &d->cq[d->cqs];
    const size_t bytes = (size_t)CPL_RING * RECORD_BYTES;
    const int status = dma_get(d, bytes, &q->memory);
    if (status != 0) return status;
    q->device = d;
    q->interface = (uint8_t)i;
    q->transmit = (uint8_t)transmit;
    q->cpu = (uint16_t)(n % d->config.cpus);
    q->regs = (transmit ? interface->is.txcq : interface->is.rxcq) +
              n * (uint32_t)sizeof(cpl_queue_regs__stride20_t);
    set_up_cq(d, q->regs, q->memory.bus, CPL_RING, n % interface->eqs);
    ++d->cqs;
    if (d->config.interrupts) emnic_taken(q, 1);
    tell_memory(d, EMNIC_COMPLETION_RINGS, d->cqs - 1, 1, q->memory.bus, bytes);
  }
  return 0;
}

// What a queue has of its own; of buffers, if there are any, the nth part.
static void lay_out_queue(struct queue* q, struct emnic* d, unsigned i, int transmit, unsigned n,
                          uint32_t buffer_bytes) {
  const struct interface* interface = &d->interface[i];
  const struct emnic_config* c = &d->config;
  const struct memory* buffers = transmit ? &interface->tx_buffers : &interface->rx_buffers;
  q->device = d;
  q->interface = (uint8_t)i;
  q->transmit = (uint8_t)transmit;
  q->regs = (transmit ? interface->is.txq : interface->is.rxq) +
            n * (uint32_t)sizeof(desc_queue_regs__stride20_t);
  q->slots = transmit ? c->tx_ring : c->rx_ring;
  q->max_frame = c->max_frame;
  q->buffer_bytes = buffer_bytes;
  if (!buffers->at) return;
  q->buffers = buffers->at + (size_t)n * q->slots * buffer_bytes;
  q->buffers_bus = buffers->bus + (uint64_t)n * q->slots * buffer_bytes;
}

// Its completion queue, the nth of the interface's from `first` on; -1: it has none.
static void set_up_queue(struct queue* q, unsigned first, int n) {
  q->completions = n < 0 ? -1 : (int)first + n;
  reg_write(q->device, q->regs + QUEUE_REG(cq), n < 0 ? 0 : (unsigned)n);
  start_ring(q);
}

static int open_transmit(struct emnic* d, unsigned i) {
  struct interface* interface = &d->interface[i];
  const struct emnic_config* c = &d->config;
  const uint32_t buffer_bytes =
      buffer_of(c->max_packet > c->max_frame ? c->max_packet : c->max_frame);
  size_t ring_bytes = ((size_t)c->tx_ring << d->log_block) * DESC_BYTES;
  if (ring_bytes < PAGE) ring_bytes = PAGE;
  int status = dma_get(d, c->tx_queues * ring_bytes, &interface->tx_rings);
  if (status == 0 && c->tx_buffers && !c->tx_stream)
    status = dma_get(d, (size_t)c->tx_queues * c->tx_ring * buffer_bytes, &interface->tx_buffers);
  if (status == 0) status = open_completions(d, i, 1);
  for (unsigned n = 0; n < c->tx_queues && status == 0; ++n) {
    struct emnic_tx* tx = &d->tx[i * c->tx_queues + n];
    lay_out_queue(&tx->q, d, i, 1, n, buffer_bytes);
    tx->window = (uint32_t)(offsetof(host_nic_t, push) + sizeof(((host_nic_t*)0)->push[0]) * i +
                            sizeof(((host_nic_t*)0)->push[0][0]) * n);
    tx->q.ring = interface->tx_rings.at + n * ring_bytes;
    tx->q.ring_bus = interface->tx_rings.bus + n * ring_bytes;
    set_up_queue(&tx->q, interface->first_tx_cq, (int)(n % interface->tx_cqs));
    enable_queue(d, i, n);
  }
  return status;
}

static size_t rx_descriptors(const struct emnic* d, uint32_t slots) {
  return pages(((size_t)slots << d->rx_log_block) * DESC_BYTES);
}
size_t rx_ring_bytes(const struct emnic* d, uint32_t slots) {
  return rx_descriptors(d, slots) + pages((size_t)slots * d->config.header_bytes);
}
void lay_out_ring(struct emnic_rx* rx, uint8_t* at, uint64_t bus, uint32_t slots) {
  rx->q.ring = at;
  rx->q.ring_bus = bus;
  rx->q.slots = slots;
  if (rx->q.device->config.header_bytes == 0) return;
  rx->headers = at + rx_descriptors(rx->q.device, slots);
  rx->headers_bus = bus + rx_descriptors(rx->q.device, slots);
}

void put_slot(struct emnic_rx* rx, uint32_t slot, uint64_t bus, uint32_t bytes) {
  const uint32_t header_bytes = rx->q.device->config.header_bytes;
  uint64_t words[2] = {0, 0};
  put_descriptor(rx->q.ring, ((slot + 1) << rx->q.device->rx_log_block) - 1, bus, bytes);
  if (header_bytes == 0) return;
  desc_set_addr(words, rx->headers_bus + (uint64_t)slot * header_bytes);
  desc_set_len(words, header_bytes);
  desc_set_headers(words, 1);
  __builtin_memcpy(rx->q.ring + (size_t)slot * 2 * DESC_BYTES, words, DESC_BYTES);
}

void fill_ring(struct emnic_rx* rx) {
  for (uint32_t slot = 0; slot < rx->q.slots; ++slot)
    put_slot(rx, slot, rx->q.buffers_bus + (uint64_t)slot * rx->q.buffer_bytes, rx->q.buffer_bytes);
}

// Where in memory the queue's own stream lies.
void lay_out_stream(struct emnic_rx* rx, struct memory memory, size_t offset) {
  const size_t below = below_stream(rx->q.max_frame);
  rx->q.buffers = memory.at + offset;
  rx->q.buffers_bus = memory.bus + offset;
  rx->q.ring = rx->q.buffers + below;
  rx->q.ring_bus = rx->q.buffers_bus + below;
}

static int open_receive(struct emnic* d, unsigned i) {
  struct interface* interface = &d->interface[i];
  const struct emnic_config* c = &d->config;
  const int buffers = c->rx_buffers && !c->rx_stream;
  const uint32_t buffer_bytes = rx_buffer_of(c, c->max_frame);
  size_t ring_bytes = rx_ring_bytes(d, c->rx_ring);
  if (c->rx_stream) ring_bytes = stream_stride(c->rx_ring, c->max_frame);
  int status = dma_get(d, c->rx_queues * ring_bytes, &interface->rx_rings);
  if (status == 0 && buffers)
    status = dma_get(d, (size_t)c->rx_queues * c->rx_ring * buffer_bytes, &interface->rx_buffers);
  interface->first_rx_cq = d->cqs;
  interface->rx_cqs = 0;
  if (status == 0 && !c->rx_stream) status = open_completions(d, i, 0);
  for (unsigned n = 0; n < c->rx_queues && status == 0; ++n) {
    struct emnic_rx* rx = &d->rx[i * c->rx_queues + n];
    struct queue* q = &rx->q;
    lay_out_queue(q, d, i, 0, n, buffer_bytes);
    rx->number = (uint16_t)n;
    if (c->rx_stream)
      lay_out_stream(rx, interface->rx_rings, n * ring_bytes);
    else
      lay_out_ring(rx, interface->rx_rings.at + n * ring_bytes,
                   interface->rx_rings.bus + n * ring_bytes, c->rx_ring);
    if (buffers) fill_ring(rx);
    set_up_queue(q, interface->first_rx_cq, c->rx_stream ? -1 : (int)(n % interface->rx_cqs));
    if (!c->rx_stream && !buffers) continue;
    q->producer = q->rung = (uint16_t)q->slots;
    reg_write(d, q->regs + QUEUE_REG(producer), q->producer);
  }
  if (status == 0 && c->rx_stream)
    tell_memory(d, EMNIC_STREAM_RINGS, i * c->rx_queues, c->rx_queues, interface->rx_rings.bus,
                ring_bytes);
  return status;
}

int open_queues(struct emnic* d, unsigned i) {
  const uint32_t regs = d->interface[i].is.registers;
  const int own = !is_virtual(d);
  if (own) reg_write(d, regs + INTERFACE_REG(cpl_delay), d->interface[i].cpl_delay);
  if (own && d->config.tx_burst)
    reg_write(d, regs + INTERFACE_REG(tx_burst), d->config.tx_burst);
  if (own) set_up_scheduler(d, i);
  int status = open_events(d, i);
  if (status == 0) status = open_transmit(d, i);
  // What deals frames to queues is there before they are when frames may be coming.
  if (status == 0 && d->was_open) {
    deal_frames(d, i);
    if (own) {
      restore_flows(d, i);
      restore_addresses(d, i);
    }
  }
  if (status == 0) status = open_receive(d, i);
  if (status == 0 && !d->was_open) deal_frames(d, i);
  return status;
}

struct emnic_tx* emnic_tx_queue(struct emnic* d, unsigned i, unsigned queue) {
  if (!d->tx || i >= d->interfaces || queue >= d->config.tx_queues) return NULL;
  return &d->tx[i * d->config.tx_queues + queue];
}
struct emnic_rx* emnic_rx_queue(struct emnic* d, unsigned i, unsigned queue) {
  if (!d->rx || i >= d->interfaces || queue >= d->config.rx_queues) return NULL;
  return &d->rx[i * d->config.rx_queues + queue];
}
struct emnic_cq* emnic_completions(struct emnic* d, unsigned n) {
  return n < d->cqs ? &d->cq[n] : NULL;
}
struct emnic_eq* emnic_event_queue(struct emnic* d, unsigned n) {
  return n < d->eqs ? &d->eq[n] : NULL;
}
unsigned emnic_completion_queues(const struct emnic* d) { return d->cqs; }
unsigned emnic_event_queues(const struct emnic* d) { return d->eqs; }
unsigned emnic_cq_cpu(const struct emnic_cq* q) { return q->cpu; }

void queue_state(const struct queue* q, struct emnic_queue_state* out) {
  zero(out, sizeof *out);
  out->ring_bus = q->ring_bus;
  out->buffers_bus = q->buffers_bus;
  out->ring = q->ring;
  out->buffers = q->buffers;
  out->completions = q->completions;
  out->doorbell = q->regs + QUEUE_REG(producer);
  out->slots = q->slots;
  out->slot_descriptors = 1u << log_block(q);
  out->buffer_bytes = q->buffer_bytes;
  out->producer = q->producer;
  out->rung = q->rung;
  out->done = q->done;
  out->stopped = q->stopped;
  out->restarting = q->restart.phase != RUNNING;
}
