// SPDX-License-Identifier: Apache-2.0
// What the device has written: records of completion queues and streams, events. And buffers back.
#include "device.h"

// Types of hash of a record that is of several segments.
enum { SEVERAL = EMNIC_TCP | EMNIC_UDP };

// A ring's phase bit is 1 in the first pass and toggles with each one.
static int is_new(uint64_t phase, uint16_t index, unsigned slots) {
  return (phase != 0) == !(index / slots & 1);
}

// A record or event of a queue that is not this driver's.
static void note_foreign(struct emnic* d) { __atomic_fetch_add(&d->foreign, 1, __ATOMIC_RELAXED); }
uint64_t emnic_foreign(const struct emnic* d) {
  return __atomic_load_n(&d->foreign, __ATOMIC_RELAXED);
}

static void take_sent(struct emnic_tx* tx, const uint64_t words[2], struct emnic_completion* out) {
  const int stream = tx->q.device->config.tx_stream;
  // Of a stream: where it is done up to, and how many packets that are.
  out->packets = stream ? (unsigned)cpl_hash(words) : 1;
  store16(&tx->q.done, stream ? (uint16_t)cpl_csum(words) : (uint16_t)(tx->q.done + 1u));
  __atomic_store_n(&tx->sent, tx->sent + out->packets, __ATOMIC_RELEASE);
  out->slot = (uint16_t)((tx->q.done - 1u) & (tx->q.slots - 1));
  out->waiting =
      __atomic_load_n(&tx->made, __ATOMIC_RELAXED) - __atomic_load_n(&tx->told, __ATOMIC_RELAXED);
}

static void set_hash(struct emnic_completion* c, uint32_t hash, unsigned flags) {
  c->flags = (uint8_t)flags;
  c->tag = rx_flags_stripped(flags);
  c->tci = c->tag ? (uint16_t)(hash >> 16) : 0;
  c->hash = c->tag ? hash & 0xffff : hash;
}

static void take_received(struct emnic_rx* rx, const uint64_t words[2],
                          struct emnic_completion* out) {
  out->packets = 1;
  out->slot = (uint16_t)(rx->q.done & (rx->q.slots - 1));
  out->data = rx->q.buffers ? rx->q.buffers + (size_t)out->slot * rx->q.buffer_bytes : NULL;
  out->bytes = (unsigned)cpl_len(words);
  out->csum = (uint16_t)cpl_csum(words);
  set_hash(out, (uint32_t)cpl_hash(words), (unsigned)cpl_flags(words));
  if ((out->flags & SEVERAL) == SEVERAL) {
    out->flags &= (uint8_t)~EMNIC_UDP;
    out->segment_bytes = out->csum & 0x3fffu;
    out->push = out->csum >> 15;
    out->csum = 0;
  }
  if (rx->headers) {
    const uint64_t stamp = out->timestamp;
    const unsigned behind = (unsigned)split_stamp_words(stamp) * 4;
    out->timestamp = split_stamp_ns(stamp);
    out->headers = rx->headers + (size_t)out->slot * rx->q.device->config.header_bytes;
    out->header_bytes = behind ? ETHERNET + behind : 0;
  }
  ++rx->q.done;
}

unsigned emnic_take(struct emnic_cq* cq, struct emnic_completion* out, unsigned most) {
  struct emnic* d = cq->device;
  unsigned n = 0;
  while (n < most) {
    const uint8_t* at = cq->memory.at + (size_t)(cq->consumer & (CPL_RING - 1)) * RECORD_BYTES;
    uint64_t words[2];
    load_record(d, at, 0, words);
    if (!is_new(cpl_phase(words), cq->consumer, CPL_RING)) break;
    ++cq->consumer;
    struct emnic_completion* c = &out[n];
    c->record = at;
    c->interface = cq->interface;
    c->transmit = cq->transmit;
    c->queue = (unsigned)cpl_queue(words);
    c->error = (int)cpl_error(words);
    c->timestamp = cpl_timestamp(words);
    c->data = c->headers = NULL;
    c->packets = c->waiting = c->header_bytes = c->segment_bytes = 0;
    c->push = 0;
    struct emnic_tx* tx = cq->transmit ? emnic_tx_queue(d, cq->interface, c->queue) : NULL;
    struct emnic_rx* rx = cq->transmit ? NULL : emnic_rx_queue(d, cq->interface, c->queue);
    if (tx) take_sent(tx, words, c);
    if (rx) take_received(rx, words, c);
    if (tx || rx) {
      ++n;
    } else {
      note_foreign(d);
    }
  }
  return n;
}

void emnic_taken(struct emnic_cq* q, int arm) {
  if (!arm && (uint16_t)(q->consumer - q->rung) < CPL_RING / 8) return;
  q->rung = q->consumer;
  reg_write(q->device, q->regs + CQ_REG(consumer),
            q->consumer | (arm ? CPL_QUEUE_REGS__CONSUMER__ARM_bm : 0u));
}

// ---- receive queues

static uint8_t* record_of(const struct emnic_rx* rx, uint16_t granules) {
  return rx->q.ring + (size_t)(~(uint32_t)granules & (rx->q.slots - 1)) * GranuleBytes;
}

unsigned emnic_take_stream(struct emnic_rx* rx, struct emnic_completion* out, unsigned most) {
  unsigned n = 0;
  for (; n < most; ++n) {
    const uint8_t* at = record_of(rx, rx->q.done);
    struct emnic_completion* c = &out[n];
    uint64_t words[2];
    // What is offered ends here: the granule behind it is the first of the oldest frame.
    if (rx->q.done == rx->q.producer) break;
    load_record(rx->q.device, at, 1, words);
    if (!stream_cpl_phase(words)) break;
    c->record = at;
    c->interface = rx->q.interface;
    c->transmit = 0;
    c->queue = rx->number;
    c->error = (int)stream_cpl_error(words);
    c->packets = 1;
    c->waiting = c->header_bytes = c->segment_bytes = 0;
    c->push = 0;
    c->headers = NULL;
    c->slot = (uint16_t)(~(uint32_t)rx->q.done & (rx->q.slots - 1));
    c->timestamp = stream_cpl_timestamp(words);
    c->bytes = (unsigned)stream_cpl_len(words);
    c->csum = (uint16_t)stream_cpl_csum(words);
    set_hash(c, (uint32_t)stream_cpl_hash(words), (unsigned)stream_cpl_flags(words));
    c->data = at - (c->bytes + 3) / 4 * 4;
    rx->q.done = (uint16_t)(rx->q.done + stream_granules(c->bytes));
  }
  return n;
}

void emnic_release(struct emnic_rx* rx, unsigned frames) {
  if (!rx->q.device->config.rx_stream) {
    rx->q.producer = (uint16_t)(rx->q.producer + frames);
    return;
  }
  for (; frames != 0; --frames) {
    // The oldest frame that has not been given back begins where what is offered ends.
    uint8_t* at = record_of(rx, rx->q.producer);
    uint64_t words[2];
    __builtin_memcpy(words, at, sizeof words);
    const uint32_t taken = stream_granules((uint32_t)stream_cpl_len(words));
    zero(at - (taken - 1) * GranuleBytes, (size_t)taken * GranuleBytes);
    rx->q.producer = (uint16_t)(rx->q.producer + taken);
  }
}

int emnic_rx_flush(struct emnic_rx* rx) {
  const struct emnic_config* c = &rx->q.device->config;
  uint32_t enough = rx->q.slots / 4;
  if (!c->rx_stream && c->refill_batch < enough) enough = c->refill_batch;
  const uint16_t waiting = (uint16_t)(rx->q.producer - rx->q.rung);
  if (waiting == 0 || waiting < enough) return 0;
  rx->q.rung = rx->q.producer;
  reg_write(rx->q.device, rx->q.regs + QUEUE_REG(producer), rx->q.producer);
  return 1;
}

int emnic_rx_post(struct emnic_rx* rx, uint64_t bus, unsigned bytes) {
  if (rx->q.buffers || rx->q.device->config.rx_stream) return EMNIC_UNSUPPORTED;
  if (bytes == 0 || bytes > 0xffff) return EMNIC_BAD_FRAME;
  if (rx->q.restart.phase != RUNNING) return EMNIC_STOPPED;
  if ((uint16_t)(rx->q.producer - rx->q.done) >= rx->q.slots) return EMNIC_FULL;
  put_slot(rx, rx->q.producer & (rx->q.slots - 1), bus, bytes);
  ++rx->q.producer;
  return 0;
}

void emnic_rx_state(const struct emnic_rx* rx, struct emnic_queue_state* out) {
  queue_state(&rx->q, out);
  out->headers = rx->headers;
}

// ---- events

static void note_event(struct emnic* d, struct emnic_event* e) {
  const struct interface* interface = &d->interface[e->interface];
  const int sent = e->kind == EvtTxCpl;
  e->completions = -1;
  e->stranded = 0;
  if (sent || e->kind == EvtRxCpl) {
    if (e->source < (sent ? interface->tx_cqs : interface->rx_cqs)) {
      e->completions = (int)((sent ? interface->first_tx_cq : interface->first_rx_cq) + e->source);
    } else {
      note_foreign(d);
    }
  } else if (e->kind == EvtTxError) {
    struct emnic_tx* tx = emnic_tx_queue(d, e->interface, e->source);
    if (tx && !tx->q.stopped) {
      tx->q.stopped = 1;
      e->stranded = tx->made - tx->sent;
    }
  } else if (e->kind == EvtRxError) {
    struct emnic_rx* rx = emnic_rx_queue(d, e->interface, e->source);
    if (rx) rx->q.stopped = 1;
  }
}

int emnic_next_event(struct emnic_eq* q, struct emnic_event* out) {
  uint64_t words[2];
  load_record(q->device, q->memory.at + (size_t)(q->consumer & (q->slots - 1)) * RECORD_BYTES, 0,
              words);
  if (!is_new(event_phase(words), q->consumer, q->slots)) return 0;
  ++q->consumer;
  out->interface = q->interface;
  out->kind = (unsigned)event_kind(words);
  out->source = (unsigned)event_source(words);
  out->code = (unsigned)event_code(words);
  note_event(q->device, out);
  return 1;
}

void emnic_arm(struct emnic_eq* q) {
  reg_write(q->device, q->regs + CQ_REG(consumer), q->consumer | CPL_QUEUE_REGS__CONSUMER__ARM_bm);
}
