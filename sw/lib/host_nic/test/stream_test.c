// SPDX-License-Identifier: Apache-2.0
// However often a stream is told to ring, no more records come of it than its completion queue has
// room for while nobody takes any (most_records of queues.c); what waited goes when they are taken.
#include "parts_test.h"

#include <string.h>

#include "fake_nic.h"

enum { RING = 512, PACKED = 1024 / 16, FRAME = 60 };

static struct fake_nic nic;

static unsigned take(struct emnic* device) {
  struct emnic_completion c;
  unsigned records = 0;
  for (unsigned n = 0; n < emnic_completion_queues(device); ++n) {
    while (emnic_take(emnic_completions(device, n), &c, 1)) ++records;
    emnic_taken(emnic_completions(device, n), 1);
  }
  return records;
}

void test_stream_doorbells(void) {
  const unsigned most = 2 * (RING / PACKED + 1);
  uint8_t frame[FRAME];
  struct emnic* device;
  struct emnic_config c;
  memset(frame, 0x5a, sizeof frame);
  memset(&c, 0, sizeof c);
  c.tx_queues = c.rx_queues = FAKE_QUEUES;
  c.tx_ring = RING;
  c.rx_ring = 32;
  c.rx_buffers = c.tx_stream = 1;
  c.max_frame = 1518;
  c.segments = c.refill_batch = c.cpus = 1;
  c.doorbell_batch = 8;
  fake_power_on(&nic, 1);
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0 && emnic_start(device, &c) == 0);
  CHECK(emnic_completion_queues(device) == 2);
  for (unsigned round = 0; round < 200; ++round) {
    const unsigned sent = nic.frames;
    unsigned put = 0;
    for (unsigned n = 0; n < FAKE_QUEUES; ++n) {
      struct emnic_tx* q = emnic_tx_queue(device, 0, n);
      unsigned rang = 0;
      while (emnic_send(q, frame, FRAME, NULL) == 0) {
        rang += emnic_tx_flush(q, 1, 0) == EMNIC_RANG;
        ++put;
      }
      CHECK(rang > RING / PACKED && rang <= most);
    }
    CHECK(take(device) <= FAKE_QUEUES * (most + RING / 256 + 2));
    for (unsigned n = 0; n < FAKE_QUEUES; ++n) emnic_tx_flush(emnic_tx_queue(device, 0, n), 1, 0);
    take(device);
    CHECK(nic.frames == sent + put);
    for (unsigned n = 0; n < FAKE_QUEUES; ++n)
      CHECK(emnic_tx_room(emnic_tx_queue(device, 0, n)) == RING);
  }
  emnic_close(device);
  fake_power_off(&nic);
}
