// SPDX-License-Identifier: Apache-2.0
// Headers in buffers of their own: what slots and records say, in rings of the core's buffers and of
// the caller's, around and after a restart; what is refused.
#include <string.h>

#include "../clock.h"
#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

enum { PLACE = 64, FRAME = 1000, BUFFER = 2048 };

static struct fake_nic nic;
static struct emnic* device;
static uint8_t frame[FRAME];

static int start(const struct emnic_config* c, unsigned features) {
  device = fake_open(&nic, features);
  return emnic_start(device, c);
}
static void end(void) { fake_close(&nic, device); }

// A frame with so many words of headers behind byte 14; they lie where its record says, or in `data`.
static void receive(unsigned words, const uint8_t* data) {
  struct emnic_completion c;
  const unsigned header = words && 14 + 4 * words <= PLACE ? 14 + 4 * words : 0;
  for (unsigned b = 0; b < FRAME; ++b) frame[b] = (uint8_t)(frame[b] + b * 3 + words + 1);
  nic.header_words = words;
  CHECK(fake_receive(&nic, 0, 1, frame, FRAME));
  CHECK(emnic_take(emnic_completions(device, nic.bar->interface[0].rxq[1].cq + 2), &c, 1) == 1);
  CHECK(c.queue == 1 && !c.error && c.bytes == FRAME && c.headers && c.header_bytes == header);
  CHECK(c.timestamp == 0x712345678ull && !memcmp(c.headers, frame, header));
  if (!data) data = c.data;
  CHECK(!memcmp(data, frame + header, FRAME - header));
}

void test_split(struct emnic_config c) {
  static const unsigned lengths[] = {7, 0, 10, 12, 13, 26, 1};
  const unsigned several = sizeof lengths / sizeof *lengths;
  struct emnic_queue_state state;
  c.header_bytes = PLACE;
  CHECK(start(&c, EMNIC_SPLIT - 1) == EMNIC_UNSUPPORTED);
  end();
  c.rx_stream = 1;
  c.rx_ring = 512;
  CHECK(start(&c, EMNIC_SPLIT) == EMNIC_UNSUPPORTED);
  end();
  c.rx_stream = 0;
  c.rx_ring = 32;
  c.header_bytes = EMNIC_MAX_HEADERS + 3;
  CHECK(start(&c, EMNIC_SPLIT) == EMNIC_BAD_FRAME);
  end();

  c.header_bytes = PLACE;
  CHECK(start(&c, EMNIC_SPLIT) == 0);
  struct emnic_rx* q = emnic_rx_queue(device, 0, 1);
  emnic_rx_state(q, &state);
  CHECK(state.slot_descriptors == 2 && state.headers);
  for (unsigned n = 0; n < 3000; ++n) {
    receive(lengths[n % several], NULL);
    emnic_release(q, 1);
    emnic_rx_flush(q);
  }
  // Other sizes, in other memory.
  const uint8_t* headers = state.headers;
  CHECK(emnic_rx_restart(q, 8, 0) == 0 && emnic_rx_restarting(q) == 1);
  emnic_rx_state(q, &state);
  CHECK(state.headers != headers && state.slots == 8);
  for (unsigned n = 0; n < 30; ++n) {
    receive(lengths[n % several], NULL);
    emnic_release(q, 1);
    emnic_rx_flush(q);
  }
  CHECK(emnic_stop(device) == 0 && nic.dma_blocks == 0);

  // Buffers of the caller's: those that were offered move to the new ring, with headers there.
  uint64_t bus;
  const struct emnic_ops ops = fake_ops(&nic);
  c.rx_buffers = 0;
  CHECK(emnic_start(device, &c) == 0);
  uint8_t* memory = (uint8_t*)ops.dma_alloc(ops.context, (size_t)BUFFER * 32, &bus);
  q = emnic_rx_queue(device, 0, 1);
  for (unsigned n = 0; n < 32; ++n) CHECK(emnic_rx_post(q, bus + BUFFER * n, BUFFER) == 0);
  CHECK(emnic_rx_flush(q) == 1);
  for (unsigned n = 0; n < 20; ++n) receive(lengths[n % several], memory + BUFFER * n);
  CHECK(emnic_rx_restart(q, 64, 0) == 0 && emnic_rx_restarting(q) == 1);
  for (unsigned n = 20; n < 32; ++n) receive(lengths[n % several], memory + BUFFER * n);
  CHECK(!fake_receive(&nic, 0, 1, frame, FRAME));
  ops.dma_free(ops.context, memory, (size_t)BUFFER * 32, bus);
  end();

  CHECK(emnic_split_stamp_time(0x1234567890abull, 0x4567890abull) == 0x1234567890abull);
  CHECK(emnic_split_stamp_time(0x123000000000ull, 0x7ffffffffull) == 0x122fffffffffull);
}
