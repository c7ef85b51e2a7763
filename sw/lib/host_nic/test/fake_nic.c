// SPDX-License-Identifier: Apache-2.0
#include "fake_nic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue_formats.h"

enum { FAKE_HASH = 0x1234567 };

void fake_failed(const char* file, int line, const char* what) {
  printf("%s:%d: %s\n", file, line, what);
  exit(1);
}

// ---- memory: its bus address is its address with a bit that no pointer has

#define BUS (1ull << 62)

static uint8_t* reach(uint64_t bus) {
  CHECK(bus & BUS);
  return (uint8_t*)(uintptr_t)(bus & ~BUS);
}

struct lent {
  uint64_t words[2];
};
static struct lent load(uint64_t bus) {
  struct lent l;
  memcpy(&l, reach(bus), sizeof l);
  return l;
}

// ---- records

static void notify(struct fake_nic* nic, unsigned i, unsigned eq, unsigned kind, unsigned source,
                   unsigned code) {
  cpl_queue_regs__stride20_t* regs = &nic->bar->interface[i].eq[eq];
  struct fake_queue* q = &nic->eq[i][eq];
  const unsigned log_size = regs->control >> CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bp & 15;
  uint64_t words[2] = {0, 0};
  CHECK(regs->control & CPL_QUEUE_REGS__CONTROL__ENABLE_bm);
  event_set_kind(words, kind);
  event_set_source(words, source);
  event_set_code(words, code);
  event_set_phase(words, !(q->taken >> log_size & 1));
  const uint64_t base = (uint64_t)regs->base_hi << 32 | regs->base_lo;
  memcpy(reach(base) + 16u * (q->taken & ((1u << log_size) - 1)), words, 16);
  ++q->taken;
  if (q->armed) ++nic->interrupts;
  q->armed = 0;
}

static void complete(struct fake_nic* nic, unsigned i, int transmit, unsigned cq, uint64_t* words) {
  cpl_queue_regs__stride20_t* regs =
      transmit ? &nic->bar->interface[i].txcq[cq] : &nic->bar->interface[i].rxcq[cq];
  struct fake_queue* q = transmit ? &nic->txcq[i][cq] : &nic->rxcq[i][cq];
  const unsigned log_size = regs->control >> CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bp & 15;
  CHECK(regs->control & CPL_QUEUE_REGS__CONTROL__ENABLE_bm);
  CHECK((uint16_t)(q->taken - q->done) < 1u << log_size);
  cpl_set_phase(words, !(q->taken >> log_size & 1));
  const uint64_t base = (uint64_t)regs->base_hi << 32 | regs->base_lo;
  memcpy(reach(base) + 16u * (q->taken & ((1u << log_size) - 1)), words, 16);
  ++q->taken;
  if (q->armed) {
    q->armed = 0;
    notify(nic, i, regs->target, transmit ? EvtTxCpl : EvtRxCpl, cq, 0);
  }
}

// ---- counters of queues and ports

static void select_counts(stat_regs_t* regs, unsigned row, unsigned rows,
                          const struct emnic_queue_counts* of) {
  const struct emnic_queue_counts none = {0, 0, 0, 0};
  const struct emnic_queue_counts* c = row < rows ? &of[row] : &none;
  const uint64_t counts[] = {c->packets, c->bytes, c->errors, c->drops};
  regs->select = row;
  memcpy(&regs->packets_lo, counts, sizeof counts);
  regs->nonzero = 0;
  for (unsigned word = 0; word < 8; ++word)
    regs->nonzero |= ((counts[word / 2] >> word % 2 * 32 & 0xffffffff) != 0) << word;
}

static void write_port_stat(struct fake_nic* nic, unsigned i, int transmit, uint32_t at,
                            uint32_t value) {
  const uint32_t p = at / sizeof nic->bar->interface[i].port_tx_stat[0];
  CHECK(p < FAKE_PORTS && at % sizeof nic->bar->interface[i].port_tx_stat[0] ==
                              offsetof(stat_regs_t, select));
  void* const regs = transmit ? (void*)&nic->bar->interface[i].port_tx_stat[p]
                              : (void*)&nic->bar->interface[i].port_rx_stat[p];
  select_counts((stat_regs_t*)regs, value, 64, nic->port_counts[transmit][i][p]);
}

void fake_port_rows(struct fake_nic* nic, unsigned i, int transmit, unsigned p) {
  uint32_t busy[2] = {0, 0};
  for (unsigned row = 0; row < 64; ++row)
    busy[row / 32] |= (uint32_t)(nic->port_counts[transmit][i][p][row].packets != 0) << row % 32;
  void* const regs = transmit ? (void*)&nic->bar->interface[i].port_tx_stat[p]
                              : (void*)&nic->bar->interface[i].port_rx_stat[p];
  memcpy(&((stat_regs_t*)regs)->busy_lo, busy, sizeof busy);
}

// ---- queues

static desc_queue_regs__stride20_t* queue_regs(struct fake_nic* nic, unsigned i, int transmit,
                                               unsigned queue) {
  return transmit ? &nic->bar->interface[i].txq[queue] : &nic->bar->interface[i].rxq[queue];
}
static uint64_t base_of(const desc_queue_regs__stride20_t* regs) {
  return (uint64_t)regs->base_hi << 32 | (regs->base_lo & DESC_QUEUE_REGS__BASE_LO__VALUE_bm);
}
static uint32_t slots_of(const desc_queue_regs__stride20_t* regs) {
  return 1u << (regs->control >> DESC_QUEUE_REGS__CONTROL__LOG_SIZE_bp & 15);
}
static int runs(const desc_queue_regs__stride20_t* regs) {
  return (regs->control & DESC_QUEUE_REGS__CONTROL__ENABLE_bm) &&
         !(regs->control & DESC_QUEUE_REGS__CONTROL__STOPPED_bm);
}

void fake_stop(struct fake_nic* nic, unsigned i, int transmit, unsigned queue, unsigned code) {
  nic_interface_regs_t* regs = &nic->bar->interface[i].regs;
  queue_regs(nic, i, transmit, queue)->control |=
      DESC_QUEUE_REGS__CONTROL__STOPPED_bm | code << DESC_QUEUE_REGS__CONTROL__ERROR_bp;
  const unsigned kind = transmit ? EvtTxError : EvtRxError;
  regs->last_error = kind << 24 | code << 16 | queue;
  ++regs->errors;
  notify(nic, i, 0, kind, queue, code);
}

static void sent(struct fake_nic* nic, unsigned i, unsigned queue, const uint64_t* head) {
  nic->sent_interface = i;
  nic->sent_queue = queue;
  nic->csum_enable = (unsigned)desc_csum_enable(head);
  nic->csum_start = (unsigned)desc_csum_start(head);
  nic->csum_offset = (unsigned)desc_csum_offset(head);
  nic->tag = !desc_vlan(head) ? 0 : desc_service(head) ? EMNIC_S_TAG : EMNIC_C_TAG;
  nic->tci = (unsigned)desc_slot(head);
  nic->cut = (unsigned)desc_cut(head);
  nic->mss = (unsigned)(desc_mss_high(head) << 8 | desc_csum_offset(head));
  ++nic->frames;
}

static void finish(struct fake_nic* nic, unsigned i, unsigned queue) {
  uint64_t words[2] = {0, 0};
  struct fake_queue* q = &nic->txq[i][queue];
  cpl_set_queue(words, queue);
  cpl_set_timestamp(words, nic->frames);
  complete(nic, i, 1, queue_regs(nic, i, 1, queue)->cq, words);
  ++q->done;
}

static void send_slot(struct fake_nic* nic, unsigned i, unsigned queue) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, 1, queue);
  struct fake_queue* q = &nic->txq[i][queue];
  const unsigned block = 1u << (regs->control >> DESC_QUEUE_REGS__CONTROL__LOG_BLOCK_bp & 3);
  uint64_t at = base_of(regs) + (uint64_t)(q->taken & (slots_of(regs) - 1)) * block * 16;
  const struct lent head = load(at);
  nic->sent_bytes = 0;
  ++q->taken;
  for (unsigned s = 0; s < block; ++s, at += 16) {
    const struct lent d = load(at);
    if (desc_len(d.words) == 0) break;
    memcpy(nic->sent + nic->sent_bytes, reach(desc_addr(d.words)), desc_len(d.words));
    nic->sent_bytes += (unsigned)desc_len(d.words);
  }
  if (!nic->hold) {
    sent(nic, i, queue, head.words);
    finish(nic, i, queue);
  }
}

// All that is ready up to the ring's end or a turn's.
static void send_turn(struct fake_nic* nic, unsigned i, unsigned queue, uint16_t producer) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, 1, queue);
  struct fake_queue* q = &nic->txq[i][queue];
  const uint32_t slots = slots_of(regs);
  const uint32_t turn = slots < (uint32_t)TurnGranules ? slots : (uint32_t)TurnGranules;
  uint32_t left = turn - (q->taken & (turn - 1)), packets = 0;
  if (left > (uint16_t)(producer - q->taken)) left = (uint16_t)(producer - q->taken);
  const uint16_t end = (uint16_t)(q->taken + left);
  while (q->taken != end) {
    const uint64_t at = base_of(regs) + 16u * (uint64_t)(q->taken & (slots - 1));
    const struct lent head = load(at);
    const unsigned bytes = (unsigned)desc_len(head.words);
    if (bytes == 0) break;
    const uint32_t granules = (16 + bytes + 15) / 16;
    CHECK(granules <= (uint16_t)(end - q->taken));
    memcpy(nic->sent, reach(at) + 16, bytes);
    nic->sent_bytes = bytes;
    sent(nic, i, queue, head.words);
    q->taken = (uint16_t)(q->taken + granules);
    ++packets;
  }
  q->taken = end;
  uint64_t words[2] = {0, 0};
  cpl_set_queue(words, queue);
  cpl_set_hash(words, packets);
  cpl_set_csum(words, end);
  complete(nic, i, 1, regs->cq, words);
}

static void send_all(struct fake_nic* nic, unsigned i, unsigned queue) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, 1, queue);
  struct fake_queue* q = &nic->txq[i][queue];
  const uint16_t producer = (uint16_t)regs->producer;
  while (runs(regs) && q->taken != producer) {
    if (regs->base_lo & DESC_QUEUE_REGS__BASE_LO__STREAM_bm) {
      send_turn(nic, i, queue, producer);
    } else {
      send_slot(nic, i, queue);
    }
  }
}

void fake_go_on(struct fake_nic* nic) {
  nic->hold = 0;
  for (unsigned i = 0; i < nic->interfaces; ++i)
    for (unsigned n = 0; n < FAKE_QUEUES; ++n)
      while (nic->txq[i][n].done != nic->txq[i][n].taken &&
             !(queue_regs(nic, i, 1, n)->base_lo & DESC_QUEUE_REGS__BASE_LO__STREAM_bm))
        finish(nic, i, n);
}

// Granules down from the ring's end: the record, right below it the frame.
static void fill_stream(struct fake_nic* nic, unsigned i, unsigned queue, const uint8_t* frame,
                        unsigned bytes) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, 0, queue);
  struct fake_queue* q = &nic->rxq[i][queue];
  const uint32_t slots = slots_of(regs), granules = (bytes + 15) / 16 + 1;
  uint64_t words[2] = {0, 0};
  uint8_t* record = reach(base_of(regs)) + 16u * (slots - 1 - (q->taken & (slots - 1)));
  for (const uint8_t* at = record - 16 * (granules - 1); at < record + 16; ++at) CHECK(*at == 0);
  memcpy(record - (bytes + 3) / 4 * 4, frame, bytes);
  stream_cpl_set_phase(words, 1);
  stream_cpl_set_len(words, bytes);
  stream_cpl_set_hash(words, FAKE_HASH);
  memcpy(record, words, 16);
  q->taken = (uint16_t)(q->taken + granules);
  ++q->done;
}

int fake_receive(struct fake_nic* nic, unsigned i, unsigned queue, const uint8_t* frame,
                 unsigned bytes) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, 0, queue);
  struct fake_queue* q = &nic->rxq[i][queue];
  const int stream = (regs->base_lo & DESC_QUEUE_REGS__BASE_LO__STREAM_bm) != 0;
  const unsigned need = stream ? (bytes + 15) / 16 + 1 : 1;
  if (!runs(regs) || (uint16_t)((uint16_t)regs->producer - q->taken) < need) return 0;
  if (stream) {
    fill_stream(nic, i, queue, frame, bytes);
    return 1;
  }
  const unsigned block = 1u << (regs->control >> DESC_QUEUE_REGS__CONTROL__LOG_BLOCK_bp & 3);
  uint64_t at = base_of(regs) + 16u * (uint64_t)(q->taken & (slots_of(regs) - 1)) * block;
  uint64_t words[2] = {0, 0};
  unsigned header = 0;
  cpl_set_timestamp(words, 0xff12345678ull);
  if (block == 2) {
    const struct lent own = load(at);
    CHECK(desc_headers(own.words));
    if (nic->header_words) header = 14 + 4 * nic->header_words;
    if (header > desc_len(own.words)) header = 0;
    memcpy(reach(desc_addr(own.words)), frame, header);
    cpl_set_timestamp(words, SPLIT_STAMP_WORDS((uint64_t)(header ? nic->header_words : 0)) |
                                 SPLIT_STAMP_NS(0x712345678ull));
    at += 16;
  }
  const struct lent d = load(at);
  CHECK(desc_len(d.words) >= bytes && !desc_headers(d.words));
  memcpy(reach(desc_addr(d.words)), frame + header, bytes - header);
  ++q->taken;
  ++q->done;
  cpl_set_queue(words, queue);
  cpl_set_len(words, bytes);
  cpl_set_hash(words, FAKE_HASH);
  cpl_set_csum(words, nic->segment_bytes ? nic->segment_bytes | (nic->push ? 0x8000u : 0) : 0x4321);
  cpl_set_flags(words, nic->segment_bytes ? EMNIC_IPV4 | EMNIC_TCP | EMNIC_UDP
                                          : EMNIC_IPV4 | EMNIC_TCP);
  complete(nic, i, 0, regs->cq, words);
  return 1;
}

// ---- registers

// While it is enabled a queue's sizes stay as they are: another value is refused, and counted.
static void check_sizes(uint32_t before, uint32_t value, uint32_t sizes) {
  if (before & DESC_QUEUE_REGS__CONTROL__ENABLE_bm) CHECK(((before ^ value) & sizes) == 0);
}

static void write_queue(struct fake_nic* nic, unsigned i, int transmit, unsigned queue,
                        unsigned word, uint32_t value) {
  desc_queue_regs__stride20_t* regs = queue_regs(nic, i, transmit, queue);
  struct fake_queue* q = transmit ? &nic->txq[i][queue] : &nic->rxq[i][queue];
  const int enabled = (regs->control & DESC_QUEUE_REGS__CONTROL__ENABLE_bm) != 0;
  if (word <= QRegBaseHi || word == QRegCq) CHECK(!enabled);
  if (word == QRegControl)
    check_sizes(regs->control, value, DESC_QUEUE_REGS__CONTROL__LOG_SIZE_bm |
                                          DESC_QUEUE_REGS__CONTROL__LOG_BLOCK_bm);
  ((uint32_t*)(void*)regs)[word] = value;
  if (word == QRegBaseLo) {
    q->taken = q->done = 0;
    regs->producer = 0;
  }
  if (word != QRegProducer) return;
  if ((uint16_t)((uint16_t)value - q->taken) > slots_of(regs) && enabled) {
    fake_stop(nic, i, transmit, queue, ErrDoorbell);
  } else if (transmit) {
    send_all(nic, i, queue);
  }
}

static void write_cq(struct fake_nic* nic, unsigned i, int transmit, unsigned cq, unsigned word,
                     uint32_t value) {
  cpl_queue_regs__stride20_t* regs =
      transmit ? &nic->bar->interface[i].txcq[cq] : &nic->bar->interface[i].rxcq[cq];
  struct fake_queue* q = transmit ? &nic->txcq[i][cq] : &nic->rxcq[i][cq];
  if (word == CqRegControl)
    check_sizes(regs->control, value, CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bm);
  ((uint32_t*)(void*)regs)[word] = value;
  if (word == CqRegBaseLo) q->taken = q->done = 0;
  if (word != CqRegConsumer) return;
  q->done = (uint16_t)value;
  q->armed = (value & CPL_QUEUE_REGS__CONSUMER__ARM_bm) != 0;
  if (q->armed && q->taken != q->done) {
    q->armed = 0;
    notify(nic, i, regs->target, transmit ? EvtTxCpl : EvtRxCpl, cq, 0);
  }
}

static void write_eq(struct fake_nic* nic, unsigned i, unsigned eq, unsigned word, uint32_t value) {
  struct fake_queue* q = &nic->eq[i][eq];
  if (word == CqRegControl)
    check_sizes(nic->bar->interface[i].eq[eq].control, value,
                CPL_QUEUE_REGS__CONTROL__LOG_SIZE_bm);
  ((uint32_t*)(void*)&nic->bar->interface[i].eq[eq])[word] = value;
  if (word == CqRegBaseLo) q->taken = 0;
  if (word != CqRegConsumer) return;
  q->armed = (value & CPL_QUEUE_REGS__CONSUMER__ARM_bm) != 0;
  if (!q->armed || (uint16_t)value == q->taken) return;
  q->armed = 0;
  ++nic->interrupts;
}

static void put_flow(struct fake_nic* nic, unsigned i, unsigned port, uint32_t at) {
  const flow_regs__stride1000_t* regs = &nic->bar->interface[i].flow[port];
  CHECK(at < FAKE_FLOWS);
  struct fake_flow* flow = &nic->flow[i][port][at];
  memset(flow, 0, sizeof *flow);
  if (!(regs->action & FLOW_REGS__ACTION__VALID_bm)) return;
  for (unsigned b = 0; b < EMNIC_FLOW_BYTES; ++b)
    flow->flow.fields[b] = (uint8_t)(regs->flow[b / 4] >> (24 - 8 * (b % 4)));
  flow->flow.type = regs->action >> FLOW_REGS__ACTION__HASH_TYPE_bp & 15;
  flow->queue = regs->action & FLOW_REGS__ACTION__QUEUE_bm;
}

#define WITHIN(part)                                                  \
  (at - (uint32_t)offsetof(nic_interface_map__stride800000_t, part) < \
   sizeof(((nic_interface_map__stride800000_t*)0)->part))
#define INDEX(part) ((at - (uint32_t)offsetof(nic_interface_map__stride800000_t, part)) / 32)

static int gone(const struct fake_nic* nic) {
  return nic->gone_at != 0 && nic->reads >= nic->gone_at;
}

static void write32(void* context, uint32_t offset, uint32_t value) {
  struct fake_nic* nic = (struct fake_nic*)context;
  CHECK(offset % 4 == 0 && offset < sizeof *nic->bar);
  if (gone(nic)) return;
  if (nic->writes < FAKE_WRITES) {
    nic->log[nic->writes].offset = offset;
    nic->log[nic->writes++].value = value;
  }
  const uint32_t first = offsetof(host_nic_t, interface), each = sizeof nic->bar->interface[0];
  const unsigned i = (offset - first) / each, word = offset / 4 % 8;
  const uint32_t at = (offset - first) % each;
  if (offset < first || i >= nic->interfaces) {
    memcpy((uint8_t*)nic->bar + offset, &value, 4);
  } else if (WITHIN(txq)) {
    write_queue(nic, i, 1, INDEX(txq), word, value);
  } else if (WITHIN(rxq)) {
    write_queue(nic, i, 0, INDEX(rxq), word, value);
  } else if (WITHIN(txcq)) {
    write_cq(nic, i, 1, INDEX(txcq), word, value);
  } else if (WITHIN(rxcq)) {
    write_cq(nic, i, 0, INDEX(rxcq), word, value);
  } else if (WITHIN(eq)) {
    write_eq(nic, i, INDEX(eq), word, value);
  } else if (at == offsetof(nic_interface_map__stride800000_t, tx_stat)) {
    select_counts(&nic->bar->interface[i].tx_stat, value, FAKE_QUEUES, nic->counts[1][i]);
  } else if (at == offsetof(nic_interface_map__stride800000_t, rx_stat)) {
    select_counts(&nic->bar->interface[i].rx_stat, value, FAKE_QUEUES, nic->counts[0][i]);
  } else if (WITHIN(port_tx_stat)) {
    write_port_stat(nic, i, 1, at - (uint32_t)offsetof(nic_interface_map__stride800000_t, port_tx_stat), value);
  } else if (WITHIN(port_rx_stat)) {
    write_port_stat(nic, i, 0, at - (uint32_t)offsetof(nic_interface_map__stride800000_t, port_rx_stat), value);
  } else {
    memcpy((uint8_t*)nic->bar + offset, &value, 4);
    const uint32_t flow = (uint32_t)offsetof(nic_interface_map__stride800000_t, flow);
    const uint32_t stride = sizeof(flow_regs__stride1000_t);
    if (WITHIN(flow) && (at - flow) % stride == offsetof(flow_regs__stride1000_t, put))
      put_flow(nic, i, (at - flow) / stride, value);
  }
}

static uint32_t read32(void* context, uint32_t offset) {
  struct fake_nic* nic = (struct fake_nic*)context;
  uint32_t value;
  CHECK(offset % 4 == 0 && offset < sizeof *nic->bar);
  for (unsigned i = 0; i < nic->interfaces; ++i) {
    for (unsigned n = 0; n < FAKE_QUEUES; ++n) {
      nic->bar->interface[i].txq[n].consumer =
          (uint32_t)nic->txq[i][n].taken << 16 | nic->txq[i][n].done;
      nic->bar->interface[i].rxq[n].consumer =
          (uint32_t)nic->rxq[i][n].taken << 16 | nic->rxq[i][n].done;
    }
  }
  memcpy(&value, (uint8_t*)nic->bar + offset, 4);
  ++nic->reads;
  return gone(nic) ? 0xffffffff : value;
}

static void write_lines(void* context, uint32_t offset, const void* from, unsigned bytes) {
  struct fake_nic* nic = (struct fake_nic*)context;
  CHECK(offset >= offsetof(host_nic_t, push) && bytes % 16 == 0 && bytes <= sizeof nic->pushed);
  memcpy(nic->pushed, from, bytes);
  nic->push_bytes = bytes;
  ++nic->pushes;
}

static void read32_later(void* context, uint32_t offset, void (*done)(void* of, uint32_t value),
                         void* of) {
  struct fake_nic* nic = (struct fake_nic*)context;
  nic->done = done;
  nic->of = of;
  nic->asked = offset;
  if (!nic->later) fake_answer(nic);
}
void fake_answer(struct fake_nic* nic) {
  CHECK(nic->done);
  nic->done(nic->of, read32(nic, nic->asked));
  nic->done = NULL;
}

// ---- the machine

static int fails(struct fake_nic* nic) { return ++nic->allocations == nic->fail_at; }

static void* own_alloc(void* context, size_t bytes) {
  struct fake_nic* nic = (struct fake_nic*)context;
  if (fails(nic)) return NULL;
  ++nic->own_blocks;
  return calloc(1, bytes);
}
static void own_free(void* context, void* memory) {
  --((struct fake_nic*)context)->own_blocks;
  free(memory);
}
static void* dma_alloc(void* context, size_t bytes, uint64_t* bus) {
  struct fake_nic* nic = (struct fake_nic*)context;
  if (fails(nic)) return NULL;
  void* memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(memory, 0, bytes);
  *bus = (uint64_t)(uintptr_t)memory | BUS;
  ++nic->dma_blocks;
  return memory;
}
static void dma_free(void* context, void* memory, size_t bytes, uint64_t bus) {
  CHECK(reach(bus) == memory && bytes != 0);
  --((struct fake_nic*)context)->dma_blocks;
  free(memory);
}
static void ring_memory(void* context, enum emnic_memory what, unsigned first, unsigned count,
                        uint64_t bus, size_t stride) {
  struct fake_nic* nic = (struct fake_nic*)context;
  (void)first;
  CHECK(count != 0 && stride != 0);
  reach(bus);
  ++*(what == EMNIC_GIVEN_UP ? &nic->given_up : &nic->told);
}
static void bus_master(void* context, int on) { ((struct fake_nic*)context)->mastering = on; }
static int interrupts(void* context, unsigned vectors) {
  ((struct fake_nic*)context)->vectors = (int)vectors;
  return 0;
}
static void delay_us(void* context, unsigned us) { ((struct fake_nic*)context)->waited_us += us; }

struct emnic_ops fake_ops(struct fake_nic* nic) {
  struct emnic_ops ops;
  memset(&ops, 0, sizeof ops);
  ops.context = nic;
  ops.read32 = read32;
  ops.write32 = write32;
  ops.write_lines = write_lines;
  ops.read32_later = read32_later;
  ops.alloc = own_alloc;
  ops.free = own_free;
  ops.dma_alloc = dma_alloc;
  ops.dma_free = dma_free;
  ops.ring_memory = ring_memory;
  ops.bus_master = bus_master;
  ops.interrupts = interrupts;
  ops.delay_us = delay_us;
  return ops;
}

void fake_reset(struct fake_nic* nic) {
  free(nic->bar);
  nic->bar = (host_nic_t*)calloc(1, sizeof *nic->bar);  // pages appear when touched
  nic_device_regs_t* device = &nic->bar->device;
  memset(nic->txq, 0, sizeof nic->txq);
  memset(nic->rxq, 0, sizeof nic->rxq);
  memset(nic->txcq, 0, sizeof nic->txcq);
  memset(nic->rxcq, 0, sizeof nic->rxcq);
  memset(nic->eq, 0, sizeof nic->eq);
  memset(nic->flow, 0, sizeof nic->flow);
  memset(nic->counts, 0, sizeof nic->counts);
  memset(nic->port_counts, 0, sizeof nic->port_counts);
  nic->writes = 0;
  device->magic = NIC_DEVICE_REGS__MAGIC__VALUE_reset;
  device->version = NIC_DEVICE_REGS__VERSION__VALUE_reset;
  device->interfaces = nic->interfaces;
  device->interface_offset = offsetof(host_nic_t, interface);
  device->interface_stride = sizeof nic->bar->interface[0];
  device->vectors = 8;
  device->moderation_offset = offsetof(host_nic_t, moderation);
  for (unsigned i = 0; i < nic->interfaces; ++i) {
    nic_interface_regs_t* regs = &nic->bar->interface[i].regs;
    regs->ports = FAKE_PORTS;
    regs->tx_queues = regs->rx_queues = FAKE_QUEUES;
    regs->event_queues = FAKE_EQS;
    regs->max_frame = 9018;
    regs->features = EMNIC_RX_HASH | EMNIC_RX_CHECKSUM | EMNIC_TX_CHECKSUM | EMNIC_TIMESTAMPS |
                     EMNIC_VLAN | EMNIC_TSO;
#define AT(part) (uint32_t)offsetof(nic_interface_map__stride800000_t, part)
    regs->txq_offset = AT(txq);
    regs->rxq_offset = AT(rxq);
    regs->txcq_offset = AT(txcq);
    regs->rxcq_offset = AT(rxcq);
    regs->eq_offset = AT(eq);
    regs->sched_offset = AT(sched);
    regs->sched_stride = sizeof nic->bar->interface[i].sched[0];
    regs->port_offset = AT(port);
    regs->port_stride = sizeof nic->bar->interface[i].port[0];
    regs->rss_offset = AT(rss);
    regs->rss_stride = sizeof nic->bar->interface[i].rss[0];
    regs->rss_entries = 128;
    regs->tx_stat_offset = AT(tx_stat);
    regs->rx_stat_offset = AT(rx_stat);
    regs->port_tx_stat_offset = AT(port_tx_stat);
    regs->port_rx_stat_offset = AT(port_rx_stat);
    regs->port_stat_stride = sizeof nic->bar->interface[i].port_tx_stat[0];
    regs->flow_offset = AT(flow);
    regs->flow_stride = sizeof nic->bar->interface[i].flow[0];
#undef AT
    for (unsigned p = 0; p < FAKE_PORTS; ++p) nic->bar->interface[i].flow[p].entries = FAKE_FLOWS;
  }
}

void fake_power_on(struct fake_nic* nic, unsigned interfaces) {
  memset(nic, 0, sizeof *nic);
  nic->interfaces = interfaces;
  fake_reset(nic);
}

void fake_power_off(struct fake_nic* nic) {
  CHECK(nic->dma_blocks == 0 && nic->own_blocks == 0 && !nic->mastering);
  free(nic->bar);
}

struct emnic* fake_open(struct fake_nic* nic, unsigned features) {
  struct emnic* device = NULL;
  fake_power_on(nic, 1);
  nic->bar->interface[0].regs.features = features;
  const struct emnic_ops ops = fake_ops(nic);
  CHECK(emnic_open(&ops, &device) == 0);
  return device;
}

void fake_close(struct fake_nic* nic, struct emnic* device) {
  emnic_close(device);
  fake_power_off(nic);
}
