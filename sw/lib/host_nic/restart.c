// SPDX-License-Identifier: Apache-2.0
// A queue is taken out of use and set up anew in the middle of traffic, and what goes with it: its
// errors, other sizes, other lengths of frames.
//
// A queue is disabled; when the device has finished all slots that it had taken, and their records
// have come, nothing of the old ring is under way any more. The new one lies in other memory, and
// what was put into the old one and not taken goes into the new one.
#include "device.h"

static int check_restart(const struct emnic* d, unsigned i, int transmit, uint32_t* slots,
                         uint32_t* max_frame, uint32_t slots_now, uint32_t max_frame_now) {
  if (*slots == 0) *slots = slots_now;
  if (*max_frame == 0) *max_frame = max_frame_now;
  if (*max_frame > d->interface[i].is.max_frame) return EMNIC_BAD_FRAME;
  return check_ring(d, i, transmit, *slots, *max_frame);
}

static void disable(struct emnic* d, uint32_t regs, int transmit, uint32_t slots,
                    struct restart* restart) {
  reg_write(d, regs + QUEUE_REG(control), queue_control(d, transmit, slots, 0));
  restart->phase = WANTED;
}

int emnic_tx_restart(struct emnic_tx* q, unsigned ring, unsigned max_frame) {
  struct restart* r = &q->restart;
  if (q->device->config.tx_stream) return EMNIC_UNSUPPORTED;
  if (r->phase != RUNNING) return EMNIC_BUSY;
  r->slots = ring;
  r->max_frame = max_frame;
  const int status =
      check_restart(q->device, q->interface, 1, &r->slots, &r->max_frame, q->slots, q->max_frame);
  if (status != 0) return status;
  if ((uint16_t)(q->producer - load16(&q->done)) > r->slots) return EMNIC_FULL;
  q->rung = q->producer;  // no doorbell until then
  q->told = q->made;
  q->gathered = 0;
  disable(q->device, q->regs, 1, q->slots, r);
  return 0;
}

int emnic_rx_restart(struct emnic_rx* q, unsigned ring, unsigned max_frame) {
  struct restart* r = &q->restart;
  if (r->phase != RUNNING) return EMNIC_BUSY;
  r->slots = ring;
  r->max_frame = max_frame;
  const int status =
      check_restart(q->device, q->interface, 0, &r->slots, &r->max_frame, q->slots, q->max_frame);
  if (status != 0) return status;
  if (!q->buffers && (uint16_t)(q->producer - q->done) > r->slots) return EMNIC_FULL;
  disable(q->device, q->regs, 0, q->slots, r);
  return 0;
}

static void answered(struct restart* r, uint32_t value, int stream) {
  r->taken = (uint16_t)(value >> 16);
  // A stream's finished frames are not its granules; that its last record has come says the same.
  r->phase = (uint16_t)value == r->taken || stream ? IDLE : WANTED;
}
static void tx_answered(void* of, uint32_t value) {
  answered(&((struct emnic_tx*)of)->restart, value, 0);
}
static void rx_answered(void* of, uint32_t value) {
  struct emnic_rx* q = (struct emnic_rx*)of;
  answered(&q->restart, value, q->device->config.rx_stream);
}

// Asks how far the queue has come, unless that is known or asked already.
static void ask(struct emnic* d, uint32_t regs, struct restart* r,
                void (*done)(void* of, uint32_t value), void* of) {
  if (r->phase != WANTED) return;
  r->phase = ASKED;
  if (d->ops.read32_later) {
    d->ops.read32_later(d->ops.context, regs + QUEUE_REG(consumer), done, of);
  } else {
    done(of, reg_read(d, regs + QUEUE_REG(consumer)));
  }
}

static int get_both(struct emnic* d, size_t ring_bytes, size_t buffers_bytes, struct memory* ring,
                    struct memory* buffers) {
  zero(buffers, sizeof *buffers);
  int status = dma_get(d, ring_bytes, ring);
  if (status == 0 && buffers_bytes != 0) status = dma_get(d, buffers_bytes, buffers);
  if (status != 0) dma_give(d, ring);
  return status;
}

static void give_up(struct emnic* d, struct memory* own, struct memory next, uint64_t bus,
                    size_t bytes) {
  if (bytes == 0) return;
  tell_memory(d, EMNIC_GIVEN_UP, 0, 1, bus, bytes);
  dma_give(d, own);
  *own = next;
}

// Moves the slot that was number `from` to number `to` of another ring.
static void move_slot(const struct emnic_tx* q, uint32_t from, uint32_t to, struct memory ring,
                      struct memory buffers, uint32_t buffer_bytes) {
  const uint32_t block = 1u << q->device->log_block;
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

int emnic_tx_restarting(struct emnic_tx* q) {
  struct emnic* d = q->device;
  struct restart* r = &q->restart;
  const size_t slot_bytes = (size_t)DESC_BYTES << d->log_block;
  struct memory ring, buffers;
  ask(d, q->regs, r, tx_answered, q);
  if (r->phase == RUNNING) return 1;
  if (r->phase != IDLE || load16(&q->done) != r->taken) return 0;
  // Frames that wait are as long as they are.
  uint32_t buffer_bytes = buffer_of(r->max_frame);
  if (buffer_bytes < q->buffer_bytes) buffer_bytes = q->buffer_bytes;
  const int status = get_both(d, r->slots * slot_bytes,
                              q->buffers ? (size_t)r->slots * buffer_bytes : 0, &ring, &buffers);
  if (status != 0) return status;
  const uint16_t left = (uint16_t)(q->producer - r->taken);
  for (uint32_t n = 0; n < left; ++n)
    move_slot(q, (r->taken + n) & (q->slots - 1), n, ring, buffers, buffer_bytes);
  give_up(d, &q->own_ring, ring, q->ring_bus, q->slots * slot_bytes);
  give_up(d, &q->own_buffers, buffers, q->buffers_bus,
          q->buffers ? (size_t)q->slots * q->buffer_bytes : 0);
  q->ring = ring.at;
  q->ring_bus = ring.bus;
  q->buffers = buffers.at;
  q->buffers_bus = buffers.bus;
  q->slots = r->slots;
  q->buffer_bytes = buffer_bytes;
  q->max_frame = r->max_frame;
  q->producer = q->rung = left;
  store16(&q->done, 0);
  q->stopped = 0;
  r->phase = RUNNING;
  start_ring(d, q->regs, q->ring_bus, 1, q->slots, left);
  return 1;
}

static int move_stream(struct emnic_rx* q) {
  struct emnic* d = q->device;
  const size_t before = stream_stride(q->slots, q->max_frame);
  const size_t stride = stream_stride(q->restart.slots, q->restart.max_frame);
  struct memory memory;
  const int status = dma_get(d, stride, &memory);
  if (status != 0) return status;
  give_up(d, &q->own_ring, memory, q->buffers_bus, before);
  q->slots = q->restart.slots;
  q->max_frame = q->restart.max_frame;
  lay_out_stream(q, memory, 0);
  tell_memory(d, EMNIC_STREAM_RINGS, (unsigned)(q - d->rx), 1, memory.bus, stride);
  return 0;
}

static int move_ring(struct emnic_rx* q, uint16_t left) {
  struct emnic* d = q->device;
  const uint32_t buffer_bytes = rx_buffer_of(&d->config, q->restart.max_frame),
                 slots = q->restart.slots;
  struct memory ring, buffers;
  const uint8_t* before = q->ring;
  const uint32_t slots_before = q->slots;
  const int status = get_both(d, rx_ring_bytes(d, slots),
                              q->buffers ? (size_t)slots * buffer_bytes : 0, &ring, &buffers);
  if (status != 0) return status;
  const uint64_t bus_before = q->ring_bus;
  lay_out_ring(q, ring.at, ring.bus, slots);
  for (uint32_t n = 0; !q->buffers && n < left; ++n) {
    const uint32_t slot = (q->done + n) & (slots_before - 1);
    uint64_t words[2];
    __builtin_memcpy(words, before + ((((size_t)slot + 1) << d->rx_log_block) - 1) * DESC_BYTES,
                     DESC_BYTES);
    put_slot(q, n, desc_addr(words), (uint32_t)desc_len(words));
  }
  give_up(d, &q->own_ring, ring, bus_before, rx_ring_bytes(d, slots_before));
  give_up(d, &q->own_buffers, buffers, q->buffers_bus,
          q->buffers ? (size_t)slots_before * q->buffer_bytes : 0);
  q->buffers = buffers.at;
  q->buffers_bus = buffers.bus;
  q->buffer_bytes = buffer_bytes;
  q->max_frame = q->restart.max_frame;
  if (q->buffers) fill_ring(q);
  return 0;
}

int emnic_rx_restarting(struct emnic_rx* q) {
  struct emnic* d = q->device;
  struct restart* r = &q->restart;
  ask(d, q->regs, r, rx_answered, q);
  if (r->phase == RUNNING) return 1;
  if (r->phase != IDLE || q->done != r->taken) return 0;
  const uint16_t left = (uint16_t)(q->producer - q->done);
  if (q->buffers && left != q->slots) return 0;  // some are still to be released
  const int status = d->config.rx_stream ? move_stream(q) : move_ring(q, left);
  if (status != 0) return status;
  q->done = 0;
  q->producer = q->rung = q->buffers ? (uint16_t)q->slots : left;
  q->stopped = 0;
  r->phase = RUNNING;
  start_ring(d, q->regs, q->ring_bus, 0, q->slots, q->producer);
  return 1;
}

int emnic_set_max_frame(struct emnic* d, unsigned i, unsigned bytes) {
  if (i >= d->interfaces || !d->started) return EMNIC_NOT_FOUND;
  struct interface* interface = &d->interface[i];
  if (bytes < SHORTEST_FRAME || bytes > interface->is.max_frame) return EMNIC_BAD_FRAME;
  for (unsigned n = 0; n < d->config.rx_queues; ++n) {
    const struct emnic_rx* q = emnic_rx_queue(d, i, n);
    if (q->buffers && q->max_frame < bytes) return EMNIC_BUSY;
  }
  // A frame that waits to be sent and is too long by then would stop its queue.
  for (unsigned n = 0; bytes < interface->max_frame && n < d->config.tx_queues; ++n) {
    const struct emnic_tx* q = emnic_tx_queue(d, i, n);
    if (q->made != __atomic_load_n(&q->sent, __ATOMIC_ACQUIRE)) return EMNIC_BUSY;
  }
  interface->max_frame = bytes;
  for (unsigned p = 0; p < interface->is.ports; ++p)
    reg_write(d, port_regs(d, i, p) + PORT_REG(max_frame), bytes);
  tell_longest(d, i);
  return 0;
}

// ---- errors

static int status_of(struct emnic* d, uint32_t regs, unsigned* code) {
  const uint32_t control = reg_read(d, regs + QUEUE_REG(control));
  *code = (control & DESC_QUEUE_REGS__CONTROL__ERROR_bm) >> DESC_QUEUE_REGS__CONTROL__ERROR_bp;
  return (control & DESC_QUEUE_REGS__CONTROL__STOPPED_bm) != 0;
}
int emnic_tx_status(struct emnic_tx* q, unsigned* code) {
  return status_of(q->device, q->regs, code);
}
int emnic_rx_status(struct emnic_rx* q, unsigned* code) {
  return status_of(q->device, q->regs, code);
}

void emnic_get_last_error(struct emnic* d, unsigned i, struct emnic_last_error* out) {
  const uint32_t last = interface_read(d, i, INTERFACE_REG(last_error));
#define FIELD(name)                                        \
  ((last & NIC_INTERFACE_REGS__LAST_ERROR__##name##_bm) >> \
   NIC_INTERFACE_REGS__LAST_ERROR__##name##_bp)
  out->errors = interface_read(d, i, INTERFACE_REG(errors));
  out->kind = FIELD(KIND);
  out->queue = FIELD(QUEUE);
  out->code = FIELD(CODE);
#undef FIELD
}
