// SPDX-License-Identifier: Apache-2.0
// The driver core of host-nic against a device in C (fake_nic.c). Prints PASS, or what failed.
#include <stdio.h>
#include <string.h>

#include "../clock.h"
#include "fake_nic.h"
#include "parts_test.h"
#include "ptp_test.h"
#include "queue_formats.h"

static struct fake_nic nic;
static struct emnic* device;
static uint8_t frame[9018], got[9018];

static uint32_t random_state = 1;
static uint32_t any(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)random_state * below >> 32);
}
static unsigned make_frame(unsigned bytes) {
  for (unsigned b = 0; b < bytes; ++b) frame[b] = (uint8_t)any(256);
  return bytes;
}

static struct emnic_config plain(void) {
  struct emnic_config c;
  memset(&c, 0, sizeof c);
  c.tx_queues = c.rx_queues = c.refill_batch = 4;
  c.tx_ring = 16;
  c.rx_ring = 32;
  c.tx_buffers = c.rx_buffers = 1;
  c.max_frame = 1518;
  c.segments = c.doorbell_batch = 1;
  c.cpus = 2;
  c.interrupts = 1;
  return c;
}
static void begin(const struct emnic_config* config, unsigned interfaces) {
  fake_power_on(&nic, interfaces);
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0);
  CHECK(nic.mastering && emnic_interfaces(device) == interfaces);
  CHECK(emnic_start(device, config) == 0);
}
static void end(void) {
  emnic_close(device);
  fake_power_off(&nic);
}

// ---- what is refused

static void open_with(uint32_t magic, uint32_t version, int status) {
  const struct emnic_ops ops = fake_ops(&nic);
  nic.bar->device.magic = magic;
  nic.bar->device.version = version;
  CHECK(emnic_open(&ops, &device) == status && !device);
}
static void test_refusals(void) {
  fake_power_on(&nic, 1);
  open_with(NIC_DEVICE_REGS__MAGIC__VALUE_reset + 1, NIC_DEVICE_REGS__VERSION__VALUE_reset,
            EMNIC_NO_DEVICE);
  open_with(NIC_DEVICE_REGS__MAGIC__VALUE_reset, NIC_DEVICE_REGS__VERSION__VALUE_reset + (1u << 16),
            EMNIC_BAD_VERSION);
  nic.bar->device.version = NIC_DEVICE_REGS__VERSION__VALUE_reset + 1;  // a later map of the kind
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0);
  struct emnic_config c = plain();
#define REFUSED(field, value, status)                            \
  c.field = (value);                                             \
  nic.writes = 0;                                                \
  CHECK(emnic_start(device, &c) == (status) && nic.writes == 0); \
  c = plain();
  REFUSED(tx_ring, 4, EMNIC_BAD_RING)
  REFUSED(rx_ring, 65536, EMNIC_BAD_RING)
  REFUSED(rx_ring, 48, EMNIC_BAD_RING)
  REFUSED(segments, 3, EMNIC_BAD_SEGMENTS)
  REFUSED(segments, 16, EMNIC_BAD_SEGMENTS)
  REFUSED(tx_queues, FAKE_QUEUES + 1, EMNIC_BAD_QUEUES)
  REFUSED(rx_queues, 3, EMNIC_BAD_QUEUES)
  REFUSED(max_frame, 59, EMNIC_BAD_FRAME)
  REFUSED(max_frame, 9019, EMNIC_BAD_FRAME)
  c.rx_stream = 1;
  REFUSED(rx_ring, 64, EMNIC_SHORT_RING)
  for (int code = -19; code <= 0; ++code) CHECK(strcmp(emnic_error(code), "unknown error") != 0);
  CHECK(strcmp(emnic_error(-20), "unknown error") == 0);
  emnic_close(device);
  fake_power_off(&nic);
}

// ---- order of writes

static unsigned when(const void* reg, unsigned from) {
  const uint32_t offset = (uint32_t)((const uint8_t*)reg - (const uint8_t*)nic.bar);
  while (from < nic.writes && nic.log[from].offset != offset) ++from;
  return from;
}
static unsigned when_enabled(const void* control) {
  unsigned at = when(control, 0);
  while (at < nic.writes && !(nic.log[at].value & DESC_QUEUE_REGS__CONTROL__ENABLE_bm))
    at = when(control, at + 1);
  CHECK(at < nic.writes);
  return at;
}
static void test_order_of_writes(void) {
  const struct emnic_config c = plain();
  begin(&c, 2);
  for (unsigned i = 0; i < 2; ++i) {
    nic_interface_map__stride800000_t* map = &nic.bar->interface[i];
    for (unsigned n = 0; n < c.tx_queues + c.rx_queues; ++n) {
      const int tx = n < c.tx_queues;
      desc_queue_regs__stride20_t* q = tx ? &map->txq[n] : &map->rxq[n - c.tx_queues];
      cpl_queue_regs__stride20_t* cq = (tx ? map->txcq : map->rxcq) + q->cq;
      cpl_queue_regs__stride20_t* eq = &map->eq[cq->target];
      const unsigned enabled = when_enabled(&q->control);
      CHECK(when(&q->base_lo, 0) < enabled && when(&q->base_hi, 0) < enabled);
      CHECK(when(&q->cq, 0) < enabled && when_enabled(&cq->control) < enabled);
      CHECK(when(&cq->base_lo, 0) < when_enabled(&cq->control));
      CHECK(when(&cq->target, 0) < when_enabled(&cq->control));
      CHECK(when_enabled(&eq->control) < when_enabled(&cq->control));
      CHECK(when(&eq->consumer, 0) > when_enabled(&eq->control));
      if (tx) CHECK(when(&map->sched[n % FAKE_PORTS][n], 0) > enabled);
      if (!tx) CHECK(q->producer == c.rx_ring && when(&q->producer, 0) > enabled);
    }
    for (unsigned p = 0; p < FAKE_PORTS; ++p) {
      CHECK(map->port[p].max_frame == c.max_frame);
      CHECK(memcmp(map->port[p].rss_key, emnic_rss_key, sizeof emnic_rss_key) == 0);
      for (unsigned e = 0; e < 128; ++e) CHECK(map->rss[p].entry[e] == (e * FAKE_PORTS + p) % 4);
    }
  }
  CHECK(nic.vectors == 8 && emnic_completion_queues(device) == 8 &&
        emnic_event_queues(device) == 4 && nic.told == 12);
  end();
}

// ---- frames

static unsigned events, completions;

// As an interrupt handler would: the events, then the records they name.
static void serve(void (*each)(const struct emnic_completion* c)) {
  struct emnic_event event;
  struct emnic_completion c;
  for (unsigned n = 0; n < emnic_event_queues(device); ++n) {
    while (emnic_next_event(emnic_event_queue(device, n), &event)) {
      ++events;
      if (event.completions < 0) continue;
      struct emnic_cq* q = emnic_completions(device, (unsigned)event.completions);
      while (emnic_take(q, &c, 1)) {
        ++completions;
        if (each) each(&c);
      }
      emnic_taken(q, 1);
    }
    emnic_arm(emnic_event_queue(device, n));
  }
}

// More than twice around what pointers count.
static void test_transmit(unsigned segments) {
  struct emnic_config c = plain();
  c.segments = segments;
  begin(&c, 1);
  completions = 0;
  const unsigned rounds = segments == 1 ? 140000 : 3000;
  for (unsigned n = 0; n < rounds; ++n) {
    struct emnic_tx* q = emnic_tx_queue(device, 0, n % 4);
    const unsigned bytes = make_frame(1 + any(n % 64 ? 90 : 1518));
    const struct emnic_offloads sum = {1, any(256), any(256), any(3), (uint16_t)any(65536), 0};
    const int with = n % 3 == 0 && bytes >= 12 && bytes + 4 <= c.max_frame;
    nic.writes = 0;
    CHECK(emnic_send(q, frame, bytes, with ? &sum : NULL) == 0 && nic.writes == 0);
    CHECK(emnic_tx_flush(q, 0, 0) == EMNIC_RANG && nic.sent_queue == n % 4);
    CHECK(nic.sent_bytes == bytes && memcmp(nic.sent, frame, bytes) == 0);
    CHECK(nic.csum_enable == (unsigned)with);
    CHECK(!with || (nic.csum_start == sum.start && nic.csum_offset == sum.offset));
    CHECK(nic.tag == (with ? sum.tag : 0u) && (!nic.tag || nic.tci == sum.tci));
    serve(NULL);
    CHECK(emnic_tx_room(q) == c.tx_ring && completions == n + 1);
  }
  CHECK(nic.interrupts > 0 && emnic_foreign(device) == 0);
  struct emnic_tx* q = emnic_tx_queue(device, 0, 1);
  CHECK(emnic_send(q, frame, 0, NULL) == EMNIC_BAD_FRAME);
  CHECK(emnic_send(q, frame, c.max_frame + 1, NULL) == EMNIC_BAD_FRAME);
  const struct emnic_segment piece = {1, 60};
  CHECK(emnic_post(q, &piece, 1, NULL) == EMNIC_UNSUPPORTED);
  end();
}

static void test_full_rings_and_batches(void) {
  struct emnic_config c = plain();
  c.doorbell_batch = 4;
  begin(&c, 1);
  struct emnic_tx* q = emnic_tx_queue(device, 0, 2);
  nic.hold = 1;
  // An idle queue's frame goes at once, then four by four.
  unsigned rang = 0;
  for (unsigned n = 0; n < c.tx_ring; ++n) {
    CHECK(emnic_send(q, frame, make_frame(60), NULL) == 0);
    const int did = emnic_tx_flush(q, 0, 0);
    rang += did == EMNIC_RANG;
    CHECK(did == 0 || n < 4 || n % 4 == 3);
  }
  CHECK(rang == 4 + 3 && emnic_tx_room(q) == 0);
  CHECK(emnic_send(q, frame, 60, NULL) == EMNIC_FULL);
  fake_go_on(&nic);
  serve(NULL);
  CHECK(emnic_tx_room(q) == c.tx_ring);
  // Whatever went before: of a busy queue's doorbells each ends a batch of the ring, as blocks of descriptors are read.
  CHECK(emnic_send(q, frame, make_frame(60), NULL) == 0 && emnic_tx_flush(q, 0, 0) == EMNIC_RANG);
  serve(NULL);
  nic.hold = 1;
  for (unsigned n = 1; n < 12; ++n) {
    CHECK(emnic_send(q, frame, make_frame(60), NULL) == 0);
    CHECK(emnic_tx_flush(q, 0, 0) == 0 || n < 5 || n % 4 == 3);
  }
  fake_go_on(&nic);
  serve(NULL);
  end();
}

static void test_pushes(void) {
  struct emnic_config c = plain();
  c.tx_push = EMNIC_PUSH_FRAME;
  begin(&c, 1);
  struct emnic_tx* q = emnic_tx_queue(device, 0, 3);
  for (unsigned n = 0; n < 100; ++n) {
    const unsigned bytes = make_frame(60 + any(300));
    const int inlined = bytes <= PushBytes;
    uint64_t head[2];
    CHECK(emnic_send(q, frame, bytes, NULL) == 0);
    CHECK(emnic_tx_flush(q, 0, n % 2 == 0) == (n % 2 ? EMNIC_RANG : EMNIC_RANG | EMNIC_PUSHED));
    serve(NULL);
    if (n % 2) continue;
    memcpy(head, nic.pushed, sizeof head);
    CHECK(nic.push_bytes == 16 + (inlined ? (bytes + 15) / 16 * 16 : 0));
    CHECK(desc_slot(head) == n && desc_inlined(head) == (unsigned)inlined);
    CHECK(desc_len(head) == bytes && (!inlined || !memcmp(nic.pushed + 16, frame, bytes)));
  }
  CHECK(nic.pushes == 50);
  end();
}

static unsigned taken_frames;
static void check_frame(const struct emnic_completion* c) {
  CHECK(!c->transmit && !c->error && c->packets == 1 && memcmp(c->data, got, c->bytes) == 0);
  CHECK(c->csum == 0x4321 && c->timestamp == 0xff12345678ull);
  struct emnic_rx* q = emnic_rx_queue(device, c->interface, c->queue);
  emnic_release(q, 1);
  emnic_rx_flush(q);
  ++taken_frames;
}
static void test_receive(void) {
  const struct emnic_config c = plain();
  begin(&c, 2);
  taken_frames = 0;
  for (unsigned n = 0; n < 140000; ++n) {
    const unsigned bytes = make_frame(60 + any(n % 64 ? 9 : 1459));
    memcpy(got, frame, bytes);
    nic.writes = 0;
    CHECK(fake_receive(&nic, n % 2, n / 2 % 4, frame, bytes));
    serve(check_frame);
    CHECK(taken_frames == n + 1);
  }
  CHECK(emnic_foreign(device) == 0);
  // A queue nobody serves takes a ring of frames, and no more.
  for (unsigned n = 0; n < 2 * c.rx_ring; ++n)
    CHECK(fake_receive(&nic, 0, 1, frame, 60) == (n < c.rx_ring - (140000 / 8 % c.refill_batch)));
  end();
}

// Buffers of the caller's, in pieces.
static void test_buffers_of_the_caller(void) {
  struct emnic_config c = plain();
  struct emnic_completion done;
  c.tx_buffers = c.rx_buffers = 0;
  c.segments = 4;
  begin(&c, 1);
  struct emnic_ops ops = fake_ops(&nic);
  struct emnic_rx* rx = emnic_rx_queue(device, 0, 0);
  struct emnic_tx* tx = emnic_tx_queue(device, 0, 0);
  uint64_t bus;
  uint8_t* memory = (uint8_t*)ops.dma_alloc(&nic, 4096 * c.rx_ring, &bus);
  CHECK(!fake_receive(&nic, 0, 0, frame, 60));
  for (unsigned n = 0; n < c.rx_ring; ++n) CHECK(emnic_rx_post(rx, bus + 4096 * n, 4096) == 0);
  CHECK(emnic_rx_post(rx, bus, 4096) == EMNIC_FULL && emnic_rx_flush(rx) == 1);
  for (unsigned n = 0; n < 1000; ++n) {
    struct emnic_segment pieces[5];
    const unsigned count = 1 + any(4), bytes = make_frame(200);
    CHECK(fake_receive(&nic, 0, 0, frame, bytes));
    CHECK(emnic_take(emnic_completions(device, 2), &done, 1) == 1 && done.slot == n % c.rx_ring);
    uint8_t* at = memory + 4096 * done.slot;
    CHECK(!done.data && memcmp(at, frame, bytes) == 0);
    for (unsigned s = 0; s < 5; ++s) {
      pieces[s].bus = bus + 4096 * done.slot + 40 * s;
      pieces[s].bytes = s + 1 == count ? bytes - 40 * s : 40;
    }
    CHECK(emnic_post(tx, pieces, count, NULL) == 0 && emnic_tx_flush(tx, 1, 0));
    CHECK(nic.sent_bytes == bytes && memcmp(nic.sent, frame, bytes) == 0);
    CHECK(emnic_take(emnic_completions(device, 0), &done, 1) == 1 && done.slot == n % c.tx_ring);
    CHECK(emnic_rx_post(rx, bus + 4096 * (n % c.rx_ring), 4096) == 0);
    emnic_rx_flush(rx);
    CHECK(emnic_post(tx, pieces, 5, NULL) == EMNIC_BAD_SEGMENTS);
  }
  // What is offered moves with the ring.
  CHECK(emnic_rx_restart(rx, 64, 0) == 0 && emnic_rx_post(rx, bus, 4096) == EMNIC_STOPPED);
  CHECK(emnic_rx_restarting(rx) == 1);
  CHECK(fake_receive(&nic, 0, 0, frame, 77));
  CHECK(emnic_take(emnic_completions(device, 2), &done, 1) == 1 && done.bytes == 77);
  CHECK(memcmp(memory + 4096 * (1000 % c.rx_ring), frame, 77) == 0);
  emnic_stop(device);
  ops.dma_free(&nic, memory, 4096 * c.rx_ring, bus);
  end();
}

static void test_streams(void) {
  struct emnic_config c = plain();
  c.tx_stream = c.rx_stream = 1;
  c.tx_ring = 512;
  c.rx_ring = 256;
  c.doorbell_batch = 2;
  begin(&c, 1);
  CHECK(emnic_completion_queues(device) == 2);
  for (unsigned n = 0; n < 60000; ++n) {
    struct emnic_rx* rx = emnic_rx_queue(device, 0, n % 4);
    struct emnic_tx* tx = emnic_tx_queue(device, 0, n % 4);
    struct emnic_completion done[2];
    const unsigned bytes = make_frame(60 + any(n % 8 ? 20 : 1459));
    CHECK(fake_receive(&nic, 0, n % 4, frame, bytes));
    CHECK(emnic_take_stream(rx, done, 2) == 1 && done[0].bytes == bytes);
    CHECK(memcmp(done[0].data, frame, bytes) == 0 && done[0].queue == n % 4);
    CHECK(emnic_send(tx, done[0].data, bytes, NULL) == 0);
    emnic_release(rx, 1);
    emnic_rx_flush(rx);
    CHECK(emnic_tx_flush(tx, 0, 1) == EMNIC_RANG && nic.sent_queue == n % 4);
    CHECK(nic.sent_bytes == bytes && memcmp(nic.sent, frame, bytes) == 0);
    serve(NULL);
    CHECK(emnic_tx_room(tx) == c.tx_ring);
  }
  // Two taken and given back together; none beyond what is offered.
  struct emnic_rx* rx = emnic_rx_queue(device, 0, 0);
  struct emnic_completion done[40];
  unsigned frames = 0;
  while (fake_receive(&nic, 0, 0, frame, 100)) ++frames;
  CHECK(frames >= 24 && emnic_take_stream(rx, done, 40) == frames);
  emnic_release(rx, frames);
  CHECK(emnic_rx_flush(rx) == 1 && emnic_rx_restart(rx, 512, 0) == 0);
  CHECK(emnic_rx_restarting(rx) == 1 && nic.given_up == 1);
  CHECK(fake_receive(&nic, 0, 0, frame, 1000) && emnic_take_stream(rx, done, 1) == 1);
  CHECK(done[0].bytes == 1000 && memcmp(done[0].data, frame, 1000) == 0);
  CHECK(emnic_tx_restart(emnic_tx_queue(device, 0, 0), 0, 0) == EMNIC_UNSUPPORTED);
  end();
}

// ---- errors, restarts, resets

static void test_a_stopped_queue(void) {
  struct emnic_config c = plain();
  struct emnic_event event;
  struct emnic_last_error last;
  unsigned code;
  c.doorbell_batch = 100;
  begin(&c, 1);
  struct emnic_tx* q = emnic_tx_queue(device, 0, 1);
  nic.hold = 1;
  for (unsigned n = 0; n < 3; ++n) CHECK(emnic_send(q, frame, make_frame(60 + n), NULL) == 0);
  CHECK(emnic_tx_flush(q, 1, 0));
  for (unsigned n = 0; n < 5; ++n) CHECK(emnic_send(q, frame, make_frame(70 + n), NULL) == 0);
  fake_stop(&nic, 0, 1, 1, ErrPoisoned);
  CHECK(emnic_next_event(emnic_event_queue(device, 0), &event) == 1);
  CHECK(event.kind == EvtTxError && event.source == 1 && event.code == ErrPoisoned);
  CHECK(event.completions == -1 && event.stranded == 8 && emnic_tx_stopped(q));
  CHECK(emnic_tx_status(q, &code) == 1 && code == ErrPoisoned);
  emnic_get_last_error(device, 0, &last);
  CHECK(last.errors == 1 && last.kind == EvtTxError && last.queue == 1 && last.code == code);
  CHECK(emnic_send(q, frame, 60, NULL) == EMNIC_STOPPED && emnic_tx_room(q) == 0);

  nic.later = 1;
  CHECK(emnic_tx_restart(q, 64, 2000) == 0 && emnic_tx_restart(q, 0, 0) == EMNIC_BUSY);
  CHECK(emnic_tx_restarting(q) == 0);  // asked
  fake_answer(&nic);
  CHECK(emnic_tx_restarting(q) == 0);  // three were taken and are not done
  fake_go_on(&nic);
  nic.hold = 1;
  CHECK(emnic_tx_restarting(q) == 0);  // asked once more
  fake_answer(&nic);
  CHECK(emnic_tx_restarting(q) == 0);  // their records are to be taken
  struct emnic_completion done[8];
  CHECK(emnic_take(emnic_completions(device, 1), done, 8) == 3);
  nic.fail_at = nic.allocations + 2;
  CHECK(emnic_tx_restarting(q) == EMNIC_NO_MEMORY);
  nic.hold = 0;
  const uint64_t before = nic.frames;
  CHECK(emnic_tx_restarting(q) == 1 && nic.given_up == 2);
  CHECK(emnic_tx_status(q, &code) == 0 && !emnic_tx_stopped(q));
  // The five that it had not taken lie in the new ring; it was told before it was enabled.
  CHECK(nic.frames == before && emnic_tx_room(q) == 64 - 5);
  CHECK(emnic_send(q, frame, make_frame(1999), NULL) == EMNIC_BAD_FRAME);  // ports take 1518
  CHECK(emnic_set_max_frame(device, 0, 2000) == EMNIC_BUSY);
  CHECK(emnic_send(q, frame, make_frame(1500), NULL) == 0 && emnic_tx_flush(q, 1, 0));
  CHECK(nic.frames == before + 6 && nic.sent_bytes == 1500);
  CHECK(memcmp(nic.sent, frame, 1500) == 0);
  CHECK(emnic_take(emnic_completions(device, 1), done, 8) == 6 && emnic_tx_room(q) == 64);
  end();
}

static void test_longer_frames(void) {
  struct emnic_config c = plain();
  begin(&c, 1);
  nic.later = 0;
  CHECK(emnic_set_max_frame(device, 0, 9019) == EMNIC_BAD_FRAME);
  CHECK(emnic_set_max_frame(device, 1, 100) == EMNIC_NOT_FOUND);
  for (unsigned n = 0; n < 4; ++n) {
    CHECK(emnic_set_max_frame(device, 0, 9018) == EMNIC_BUSY);
    CHECK(emnic_rx_restart(emnic_rx_queue(device, 0, n), 0, 9018) == 0);
    CHECK(!fake_receive(&nic, 0, n, frame, 60));
    CHECK(emnic_rx_restarting(emnic_rx_queue(device, 0, n)) == 1);
    CHECK(emnic_tx_restart(emnic_tx_queue(device, 0, n), 0, 9018) == 0);
    CHECK(emnic_tx_restarting(emnic_tx_queue(device, 0, n)) == 1);
  }
  CHECK(emnic_set_max_frame(device, 0, 9018) == 0);
  CHECK(nic.bar->interface[0].port[1].max_frame == 9018);
  taken_frames = 0;
  memcpy(got, frame, make_frame(9018));
  CHECK(fake_receive(&nic, 0, 2, frame, 9018));
  serve(check_frame);
  CHECK(taken_frames == 1 && emnic_send(emnic_tx_queue(device, 0, 3), frame, 9018, NULL) == 0);
  CHECK(emnic_set_max_frame(device, 0, 1000) == EMNIC_BUSY);  // one that waits is longer
  emnic_tx_flush(emnic_tx_queue(device, 0, 3), 1, 0);
  CHECK(nic.sent_bytes == 9018);
  serve(NULL);
  CHECK(emnic_set_max_frame(device, 0, 1000) == 0);
  CHECK(emnic_send(emnic_tx_queue(device, 0, 3), frame, 1001, NULL) == EMNIC_BAD_FRAME);
  end();
}

static void test_recovery(void) {
  struct emnic_config c = plain();
  struct emnic_flow flow;
  begin(&c, 2);
  memset(&flow, 0, sizeof flow);
  flow.type = EMNIC_IPV4;
  flow.fields[0] = 10;
  CHECK(emnic_steer(device, 1, 1, &flow, 2) == 1);
  CHECK(emnic_set_rss(device, 1, 0, 5, 3) == 0 && emnic_set_rss(device, 1, 0, 128, 0) < 0);
  CHECK(emnic_set_interrupt_interval(device, 3, 77) == 0);
  CHECK(emnic_set_completion_delay(device, 1, 99) == 0);
  CHECK(emnic_set_max_frame(device, 1, 1400) == 0);
  nic.bar->interface[1].port[1].rx_bad_fcs = 7;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_bad_fcs, 1, 1) == 7);
  nic.hold = 1;
  for (unsigned n = 0; n < 16; ++n) {
    CHECK(emnic_send(emnic_tx_queue(device, 0, 0), frame, 60, NULL) == 0);
    emnic_tx_flush(emnic_tx_queue(device, 0, 0), 1, 0);
  }
  const unsigned blocks = nic.dma_blocks;
  fake_reset(&nic);
  nic.hold = 0;
  CHECK(emnic_recover(device) == 0 && nic.dma_blocks == blocks);
  CHECK(nic.bar->interface[1].rss[0].entry[5] == 3 && nic.bar->moderation.interval[3] == 77);
  CHECK(nic.bar->interface[1].regs.cpl_delay == 99);
  CHECK(nic.bar->interface[1].port[0].max_frame == 1400);
  CHECK(nic.bar->interface[0].port[0].max_frame == 1518);
  // What deals frames is there before the queues are.
  const unsigned enabled = when_enabled(&nic.bar->interface[1].rxq[0].control);
  CHECK(when(&nic.bar->interface[1].flow[1].put, 0) < enabled);
  CHECK(when(&nic.bar->interface[1].rss[1].entry[127], 0) < enabled);
  const uint32_t hash = emnic_flow_hash(emnic_rss_key, &flow), half = FAKE_FLOWS / 2;
  const struct fake_flow *low = &nic.flow[1][1][hash % half],
                         *high = &nic.flow[1][1][half + (hash >> 16) % half];
  CHECK((low->flow.type && low->queue == 2) != (high->flow.type && high->queue == 2));
  // The device counts from 0 again.
  nic.bar->interface[1].port[1].rx_bad_fcs = 3;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_bad_fcs, 1, 1) == 10);
  CHECK(emnic_tx_room(emnic_tx_queue(device, 0, 0)) == c.tx_ring);
  CHECK(emnic_send(emnic_tx_queue(device, 0, 0), frame, 60, NULL) == 0);
  CHECK(emnic_tx_flush(emnic_tx_queue(device, 0, 0), 1, 0) == EMNIC_RANG);
  // And once more by the caller's will.
  CHECK(emnic_stop(device) == 0 && nic.dma_blocks == 0 && !nic.mastering && nic.vectors == 0);
  for (unsigned n = 0; n < 4; ++n)
    CHECK(!(nic.bar->interface[1].rxq[n].control & DESC_QUEUE_REGS__CONTROL__ENABLE_bm) &&
          !(nic.bar->interface[1].rxcq[n].control & 1) &&
          !(nic.bar->interface[1].eq[n].control & 1));
  CHECK(!emnic_rx_queue(device, 0, 0) && !emnic_completions(device, 0));
  CHECK(emnic_start(device, &c) == 0 && nic.mastering);
  // A device that keeps a slot, and one that is gone.
  nic.bar->interface[1].regs.rx_slots = 1;
  CHECK(emnic_stop(device) == EMNIC_TIMEOUT && nic.waited_us >= 100000 && nic.dma_blocks == 0);
  nic.bar->interface[1].regs.rx_slots = 0;
  CHECK(emnic_start(device, &c) == 0);
  nic.bar->device.magic = ~0u;
  CHECK(emnic_stop(device) == EMNIC_NO_DEVICE && nic.dma_blocks == 0 && !nic.mastering);
  end();
}

// ---- steering

static int find(const struct emnic_flow* flow) {
  int found = -1;
  for (int at = 0; at < FAKE_FLOWS; ++at) {
    if (nic.flow[0][0][at].flow.type && !memcmp(&nic.flow[0][0][at].flow, flow, sizeof *flow))
      found = at;
  }
  return found;
}
static void test_steering(void) {
  const struct emnic_config c = plain();
  begin(&c, 1);
  // The first vector of Microsoft's specification: 66.9.149.187:2794 to 161.142.100.80:1766.
  struct emnic_flow flows[64] = {
      {{66, 9, 149, 187, 161, 142, 100, 80, 2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255},
       EMNIC_IPV4 | EMNIC_TCP}};
  CHECK(emnic_flow_hash(emnic_rss_key, &flows[0]) == 0x51ccc178);
  unsigned in = 0, moved = 0, refused = 0;
  for (unsigned round = 0; round < 40; ++round) {
    for (unsigned n = 0; n < 64; ++n) {
      for (unsigned b = 0; b < 6; ++b) flows[n].fields[any(36)] = (uint8_t)any(256);
      flows[n].type = EMNIC_IPV6;
    }
    for (unsigned n = 0; n < 64; ++n) {
      const unsigned queue = any(4);
      const int status = emnic_steer(device, 0, 0, &flows[n], queue);
      if (status == EMNIC_NO_ROOM) {
        ++refused;
        CHECK(find(&flows[n]) < 0);
        memset(&flows[n], 0, sizeof flows[n]);
        continue;
      }
      CHECK(status >= 1);
      moved += (unsigned)status - 1;
      ++in;
      // All that were put in are there, where the device looks for them.
      for (unsigned m = 0; m <= n; ++m) {
        if (!flows[m].type) continue;
        const int at = find(&flows[m]);
        const uint32_t hash = emnic_flow_hash(emnic_rss_key, &flows[m]), half = FAKE_FLOWS / 2;
        CHECK(at == (int)(hash % half) || at == (int)(half + (hash >> 16) % half));
      }
      CHECK(nic.flow[0][0][find(&flows[n])].queue == queue);
      CHECK(emnic_steer(device, 0, 0, &flows[n], 3) == 1);
      CHECK(nic.flow[0][0][find(&flows[n])].queue == 3);
      nic.writes = 0;
    }
    CHECK(emnic_set_rss_key(device, 0, 0, emnic_rss_key) == EMNIC_BUSY);
    for (unsigned n = 0; n < 64; ++n) {
      if (!flows[n].type) continue;
      CHECK(emnic_unsteer(device, 0, 0, &flows[n]) == 0 && find(&flows[n]) < 0);
      CHECK(emnic_unsteer(device, 0, 0, &flows[n]) == EMNIC_NOT_FOUND);
    }
  }
  CHECK(in > 40 * 8 && moved > 40 && refused > 40);
  CHECK(emnic_steer(device, 0, 0, &flows[0], 4) < 0 && emnic_steer(device, 0, 2, &flows[0], 0) < 0);
  CHECK(emnic_set_rss_key(device, 0, 0, emnic_rss_key) == 0);
  nic.bar->interface[0].flow[1].entries = 0;
  flows[0].type = EMNIC_IPV4;
  CHECK(emnic_steer(device, 0, 1, &flows[0], 0) == EMNIC_UNSUPPORTED);
  end();
}

// ---- time, checksums

static void test_clock(void) {
  const struct emnic_config c = plain();
  uint32_t fraction;
  begin(&c, 1);
  nic.bar->device.ptp_time_lo = 5;
  nic.bar->device.ptp_time_hi = 0x7;
  CHECK(emnic_time_ns(device) == 0x700000005ull);
  CHECK(emnic_stamp_time(0x50100000005ull, 0xffffffffffull) == 0x4ffffffffffull);
  CHECK(emnic_stamp_time(0x50100000005ull, 0x0100000005ull) == 0x50100000005ull);
  nic_device_regs_t* d = &nic.bar->device;
  d->core_khz = 250000;
  d->ptp_time_fraction = 9;
  CHECK(emnic_clock_read(device, &fraction) == emnic_time_ns(device) && fraction == 9);
  emnic_clock_set(device, 0x123456789abcull);
  CHECK(d->ptp_value_lo == 0x56789abc && d->ptp_value_hi == 0x1234 && d->ptp_command == 1);
  CHECK(when(&d->ptp_command, 0) > when(&d->ptp_value_hi, 0));
  CHECK(emnic_clock_step(device, -7) == 0 && d->ptp_value_lo == 0xfffffff9 && d->ptp_command == 2);
  CHECK(emnic_clock_step(device, 1ll << 31) == EMNIC_UNSUPPORTED);
  // A millionth of 4 ns is 17179.87 units of 2^-32 ns.
  emnic_clock_adjust(device, -1099512);
  CHECK((int32_t)d->ptp_adjust == -17179);
  emnic_clock_adjust(device, INT64_MIN);
  CHECK((int32_t)d->ptp_adjust == INT32_MIN);
  nic.writes = 0;
  emnic_clock_output(device, 0x500000001ull, 500);
  CHECK(d->ptp_out == 1 && d->ptp_out_start_lo == 1 && d->ptp_out_start_hi == 5 &&
        d->ptp_out_half == 500 && nic.log[0].value == 0);
  emnic_clock_output(device, 0, 0);
  CHECK(d->ptp_out == 0);
  CHECK(emnic_stamp_near(0x50000000000ull, 0xffffffffffull) == 0x4ffffffffffull);
  CHECK(emnic_stamp_near(0x4ffffffffffull, 5) == 0x50000000005ull);
  end();
}

static uint16_t sum_from_14(unsigned bytes) {
  uint32_t sum = 0;
  for (unsigned at = 14; at < bytes; ++at) sum += (uint32_t)frame[at] << (at % 2 ? 0 : 8);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)sum;
}
// An IPv4 or IPv6 frame with a right checksum, perhaps tagged and padded.
static unsigned make_packet(int v6, unsigned tags, int tcp, unsigned data, unsigned padding) {
  const unsigned ip = 14 + 4 * tags, start = ip + (v6 ? 40 : 20), head = tcp ? 20 : 8;
  const unsigned bytes = start + head + data;
  uint32_t sum = 0;
  make_frame(bytes + padding);
  for (unsigned t = 0; t < tags; ++t) memcpy(frame + 12 + 4 * t, "\x81\x00", 2);
  memcpy(frame + ip - 2, v6 ? "\x86\xdd" : "\x08\x00", 2);
  frame[ip] = v6 ? 0x60 : 0x45;
  const unsigned length = v6 ? bytes - start : bytes - ip;
  frame[ip + (v6 ? 4 : 2)] = (uint8_t)(length >> 8);
  frame[ip + (v6 ? 5 : 3)] = (uint8_t)length;
  frame[ip + 6] = v6 ? frame[ip + 6] : 0x40;
  frame[ip + 7] = v6 ? frame[ip + 7] : 0;
  frame[ip + (v6 ? 6 : 9)] = tcp ? 6 : 17;
  uint8_t* field = frame + start + (tcp ? 16 : 6);
  field[0] = field[1] = 0;
  for (unsigned at = v6 ? ip + 8 : ip + 12; at < start; ++at)
    sum += (uint32_t)frame[at] << (at % 2 ? 0 : 8);
  for (unsigned at = start; at < bytes; ++at) sum += (uint32_t)frame[at] << (at % 2 ? 0 : 8);
  sum += (tcp ? 6 : 17) + bytes - start;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  const uint16_t value = (uint16_t)(sum == 0xffff ? sum : ~sum);
  field[0] = (uint8_t)(value >> 8);
  field[1] = (uint8_t)value;
  return bytes + padding;
}
static void test_checksums(void) {
  for (unsigned n = 0; n < 4000; ++n) {
    const int v6 = n & 1, tcp = n >> 1 & 1;
    const unsigned tags = n / 4 % 3, padding = n % 5 ? 0 : any(9);
    const unsigned bytes = make_packet(v6, tags, tcp, any(1200), padding);
    CHECK(emnic_checksum_good(frame, bytes, sum_from_14(bytes)) == 1);
    const unsigned at = 14 + 4 * tags + (v6 ? 40 : 20) + any(4);
    frame[at] = (uint8_t)(frame[at] ^ (1 + any(255)));
    CHECK(emnic_checksum_good(frame, bytes, sum_from_14(bytes)) == 0);
    frame[14 + 4 * tags + (v6 ? 6 : 9)] = 1;
    CHECK(emnic_checksum_good(frame, bytes, sum_from_14(bytes)) == EMNIC_NOT_FOUND);
    CHECK(emnic_checksum_good(frame, 14 + any(20), 0) == EMNIC_NOT_FOUND);
  }
}

// ---- memory that is not there

static void test_no_memory(void) {
  struct emnic_config c = plain();
  for (unsigned stream = 0; stream < 2; ++stream) {
    c.rx_stream = c.tx_stream = (int)stream;
    c.rx_ring = c.tx_ring = stream ? 256 : 32;
    for (unsigned fail = 1;; ++fail) {
      fake_power_on(&nic, 2);
      const struct emnic_ops ops = fake_ops(&nic);
      nic.fail_at = fail;
      int status = emnic_open(&ops, &device);
      if (status == 0) status = emnic_start(device, &c);
      const int all = nic.allocations < fail;
      CHECK(status == (all ? 0 : EMNIC_NO_MEMORY));
      if (!all && device) CHECK(nic.dma_blocks == 0 && emnic_start(device, &c) == 0);
      end();
      if (all) break;
    }
  }
}

int main(void) {
  test_refusals();
  test_order_of_writes();
  for (unsigned segments = 1; segments <= 8; segments *= 2) test_transmit(segments);
  test_full_rings_and_batches();
  test_pushes();
  test_receive();
  test_buffers_of_the_caller();
  test_streams();
  test_stream_doorbells();
  test_a_stopped_queue();
  test_longer_frames();
  test_recovery();
  test_steering();
  test_checksums();
  test_clock();
  test_ptp();
  test_limits(plain());
  test_shared(plain());
  test_virtual(plain());
  test_counters(plain());
  test_queue_counts(plain());
  test_port_counts(plain());
  test_counts_over_resets(plain());
  test_split(plain());
  test_coalescing(plain());
  test_gone(plain());
  test_gathering(plain());
  test_segments();
  test_no_memory();
  CHECK(events > 0);
  printf("PASS\n");
  return 0;
}
