// SPDX-License-Identifier: Apache-2.0
// A queue is taken out of use and set up anew in the middle of traffic, and what goes with it: its
// errors, other sizes, other lengths of frames.
//
// A queue is disabled; when the device has finished all slots that it had taken, and their records
// have come, nothing of the old ring is under way any more. The new one lies in other memory, and
// what was put into the old one and not taken goes into the new one.
#include "device.h"

// What is wanted of it: sizes that it can have.
static int check_restart(struct queue* q, unsigned ring, unsigned max_frame) {
  const struct emnic* d = q->device;
  struct restart* r = &q->restart;
  if (r->phase != RUNNING) return EMNIC_BUSY;
  r->slots = ring ? ring : q->slots;
  r->max_frame = max_frame ? max_frame : q->max_frame;
  if (r->max_frame > d->interface[q->interface].is.max_frame) return EMNIC_BAD_FRAME;
  return check_ring(d, q->interface, q->transmit, r->slots, r->max_frame);
}

static void disable(struct queue* q) {
  write_control(q, 0);
  q->restart.phase = WANTED;
}

int emnic_tx_restart(struct emnic_tx* tx, unsigned ring, unsigned max_frame) {
  struct queue* q = &tx->q;
  if (is_stream(q)) return EMNIC_UNSUPPORTED;
  const int status = check_restart(q, ring, max_frame);
  if (status != 0) return status;
  if ((uint16_t)(q->producer - load16(&q->done)) > q->restart.slots) return EMNIC_FULL;
  q->rung = q->producer;  // no doorbell until then
  tx->told = tx->made;
  tx->gathered = 0;
  disable(q);
  return 0;
}

int emnic_rx_restart(struct emnic_rx* rx, unsigned ring, unsigned max_frame) {
  struct queue* q = &rx->q;
  const int status = check_restart(q, ring, max_frame);
  if (status != 0) return status;
  if (!q->buffers && (uint16_t)(q->producer - q->done) > q->restart.slots) return EMNIC_FULL;
  disable(q);
  return 0;
}

static void answered(void* of, uint32_t value) {
  struct queue* q = (struct queue*)of;
  q->restart.taken = (uint16_t)(value >> 16);
  if (value == GONE) {  // or it has finished 65535 slots
    q->restart.phase = DOUBTED;
    return;
  }
  // A stream's finished frames are not its granules; that its last record has come says the same.
  q->restart.phase = (uint16_t)value == q->restart.taken || is_stream(q) ? IDLE : WANTED;
}

static void looked(void* of, uint32_t magic) {
  ((struct queue*)of)->restart.phase = magic == GONE ? LOST : IDLE;
}

// Asks how far the queue has come, unless that is known or asked already; and whether the device is
// still there to say so.
static void ask(struct queue* q) {
  struct emnic* d = q->device;
  const int doubted = q->restart.phase == DOUBTED;
  if (!doubted && q->restart.phase != WANTED) return;
  const uint32_t at = doubted ? DEVICE_REG(magic) : q->regs + QUEUE_REG(consumer);
  void (*done)(void*, uint32_t) = doubted ? looked : answered;
  q->restart.phase = ASKED;
  if (d->ops.read32_later) {
    d->ops.read32_later(d->ops.context, at, done, q);
  } else {
    done(q, reg_read(d, at));
  }
}

static size_t buffers_of(const struct queue* q, uint32_t slots, uint32_t buffer_bytes) {
  return q->buffers ? (size_t)slots * buffer_bytes : 0;
}

// For the ring and, where it has them, its buffers.
static int get_both(const struct queue* q, size_t ring_bytes, uint32_t buffer_bytes,
                    struct memory* ring, struct memory* buffers) {
  const size_t buffers_bytes = buffers_of(q, q->restart.slots, buffer_bytes);
  zero(buffers, sizeof *buffers);
  int status = dma_get(q->device, ring_bytes, ring);
  if (status == 0 && buffers_bytes != 0) status = dma_get(q->device, buffers_bytes, buffers);
  if (status != 0) dma_give(q->device, ring);
  return status;
}

static void give_up(struct emnic* d, struct memory* own, struct memory next, uint64_t bus,
                    size_t bytes) {
  if (bytes == 0) return;
  tell_memory(d, EMNIC_GIVEN_UP, 0, 1, bus, bytes);
  dma_give(d, own);
  *own = next;
}

// Both take the places of those that `old` has.
static void replace(struct queue* q, const struct queue* old, size_t ring_bytes,
                    uint32_t buffer_bytes, struct memory ring, struct memory buffers) {
  give_up(q->device, &q->own_ring, ring, old->ring_bus, ring_bytes);
  give_up(q->device, &q->own_buffers, buffers, old->buffers_bus,
          buffers_of(old, old->slots, old->buffer_bytes));
  q->ring = ring.at;
  q->ring_bus = ring.bus;
  q->buffers = buffers.at;
  q->buffers_bus = buffers.bus;
  q->slots = q->restart.slots;
  q->buffer_bytes = buffer_bytes;
  q->max_frame = q->restart.max_frame;
}

static int run_again(struct queue* q, uint16_t producer) {
  q->producer = q->rung = producer;
  store16(&q->done, 0);
  q->stopped = 0;
  q->restart.phase = RUNNING;
  start_ring(q);
  return 1;
}

// Moves the slot that was number `from` to number `to` of another ring.
static void move_slot(const struct queue* q, uint32_t from, uint32_t to, struct memory ring,
                      struct memory buffers, uint32_t buffer_bytes) {
  const uint32_t block = 1u << log_block(q);
  const size_t from_at = (size_t)from * q->buffer_bytes, to_at = (size_t)to * buffer_bytes;
  uint8_t* old = q->ring + (size_t)from * block * DESC_BYTES;
  uint8_t* made = ring.at + (size_t)to * block * DESC_BYTES;
  __builtin_memcpy(made, old, (size_t)block * DESC_BYTES);
  if (!q->buffers) return;
  __builtin_memcpy(buffers.at + to_at, q->buffers + from_at, q->buffer_bytes);
  for (uint32_t s = 0; s < block; ++s) {
    uint64_t words[2];
    __builtin_memcpy(words, made + s * DESC_BYTES, sizeof words);
    const uint64_t offset = desc_addr(words) - q->buffers_bus - from_at;
    desc_set_addr(words, buffers.bus + to_at + offset);
    __builtin_memcpy(made + s * DESC_BYTES, words, sizeof words);
  }
}

int emnic_tx_restarting(struct emnic_tx* tx) {
  struct queue* q = &tx->q;
  const struct restart* r = &q->restart;
  const size_t slot_bytes = (size_t)DESC_BYTES << log_block(q);
  struct memory ring, buffers;
  ask(q);
  if (r->phase == RUNNING) return 1;
  if (r->phase == LOST) return EMNIC_NO_DEVICE;
  if (r->phase != IDLE || load16(&q->done) != r->taken) return 0;
  // Frames that wait are as long as they are.
  uint32_t buffer_bytes = buffer_of(r->max_frame);
  if (buffer_bytes < q->buffer_bytes) buffer_bytes = q->buffer_bytes;
  const int status = get_both(q, r->slots * slot_bytes, buffer_bytes, &ring, &buffers);
  if (status != 0) return status;
  const uint16_t left = (uint16_t)(q->producer - r->taken);
  for (uint32_t n = 0; n < left; ++n)
    move_slot(q, (r->taken + n) & (q->slots - 1), n, ring, buffers, buffer_bytes);
  replace(q, q, q->slots * slot_bytes, buffer_bytes, ring, buffers);
  return run_again(q, left);
}

static int move_stream(struct emnic_rx* rx) {
  struct queue* q = &rx->q;
  struct emnic* d = q->device;
  const size_t before = stream_stride(q->slots, q->max_frame);
  const size_t stride = stream_stride(q->restart.slots, q->restart.max_frame);
  struct memory memory;
  const int status = dma_get(d, stride, &memory);
  if (status != 0) return status;
  give_up(d, &q->own_ring, memory, q->buffers_bus, before);
  q->slots = q->restart.slots;
  q->max_frame = q->restart.max_frame;
  lay_out_stream(rx, memory, 0);
  tell_memory(d, EMNIC_STREAM_RINGS, (unsigned)(rx - d->rx), 1, memory.bus, stride);
  return 0;
}

static int move_ring(struct emnic_rx* rx, uint16_t left) {
  struct queue* q = &rx->q;
  const struct emnic* d = q->device;
  const struct queue old = *q;
  const uint32_t buffer_bytes = rx_buffer_of(&d->config, q->restart.max_frame);
  struct memory ring, buffers;
  const int status =
      get_both(q, rx_ring_bytes(d, q->restart.slots), buffer_bytes, &ring, &buffers);
  if (status != 0) return status;
  lay_out_ring(rx, ring.at, ring.bus, q->restart.slots);
  for (uint32_t n = 0; !q->buffers && n < left; ++n) {
    const uint32_t slot = (q->done + n) & (old.slots - 1);
    uint64_t words[2];
    __builtin_memcpy(words, old.ring + ((((size_t)slot + 1) << log_block(q)) - 1) * DESC_BYTES,
                     DESC_BYTES);
    put_slot(rx, n, desc_addr(words), (uint32_t)desc_len(words));
  }
  replace(q, &old, rx_ring_bytes(d, old.slots), buffer_bytes, ring, buffers);
  if (q->buffers) fill_ring(rx);
  return 0;
}

int emnic_rx_restarting(struct emnic_rx* rx) {
  struct queue* q = &rx->q;
  const struct restart* r = &q->restart;
  ask(q);
  if (r->phase == RUNNING) return 1;
  if (r->phase == LOST) return EMNIC_NO_DEVICE;
  if (r->phase != IDLE || q->done != r->taken) return 0;
  const uint16_t left = (uint16_t)(q->producer - q->done);
  if (q->buffers && left != q->slots) return 0;  // some are still to be released
  const int status = is_stream(q) ? move_stream(rx) : move_ring(rx, left);
  if (status != 0) return status;
  return run_again(q, q->buffers ? (uint16_t)q->slots : left);
}

int emnic_set_max_frame(struct emnic* d, unsigned i, unsigned bytes) {
  if (i >= d->interfaces || !d->started) return EMNIC_NOT_FOUND;
  struct interface* interface = &d->interface[i];
  if (bytes < SHORTEST_FRAME || bytes > interface->is.max_frame) return EMNIC_BAD_FRAME;
  for (unsigned n = 0; n < d->config.rx_queues; ++n) {
    const struct queue* q = &emnic_rx_queue(d, i, n)->q;
    if (q->buffers && q->max_frame < bytes) return EMNIC_BUSY;
  }
  // A frame that waits to be sent and is too long by then would stop its queue.
  for (unsigned n = 0; bytes < interface->max_frame && n < d->config.tx_queues; ++n) {
    const struct emnic_tx* tx = emnic_tx_queue(d, i, n);
    if (tx->made != __atomic_load_n(&tx->sent, __ATOMIC_ACQUIRE)) return EMNIC_BUSY;
  }
  interface->max_frame = bytes;
  for (unsigned p = 0; p < interface->is.ports; ++p)
    reg_write(d, port_regs(d, i, p) + PORT_REG(max_frame), bytes);
  tell_longest(d, i);
  return 0;
}

// ---- errors

static int status_of(const struct queue* q, unsigned* code) {
  const uint32_t control = reg_read(q->device, q->regs + QUEUE_REG(control));
  *code = 0;
  if (control == GONE) return EMNIC_NO_DEVICE;
  *code = (control & DESC_QUEUE_REGS__CONTROL__ERROR_bm) >> DESC_QUEUE_REGS__CONTROL__ERROR_bp;
  return (control & DESC_QUEUE_REGS__CONTROL__STOPPED_bm) != 0;
}
int emnic_tx_status(struct emnic_tx* tx, unsigned* code) { return status_of(&tx->q, code); }
int emnic_rx_status(struct emnic_rx* rx, unsigned* code) { return status_of(&rx->q, code); }

int emnic_get_last_error(struct emnic* d, unsigned i, struct emnic_last_error* out) {
  const uint32_t last = interface_read(d, i, INTERFACE_REG(last_error));
  zero(out, sizeof *out);
  if (last == GONE) return EMNIC_NO_DEVICE;
#define FIELD(name)                                        \
  ((last & NIC_INTERFACE_REGS__LAST_ERROR__##name##_bm) >> \
   NIC_INTERFACE_REGS__LAST_ERROR__##name##_bp)
  out->errors = interface_read(d, i, INTERFACE_REG(errors));
  out->kind = FIELD(KIND);
  out->queue = FIELD(QUEUE);
  out->code = FIELD(CODE);
#undef FIELD
  return 0;
}
