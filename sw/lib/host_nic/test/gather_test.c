// SPDX-License-Identifier: Apache-2.0
// What a loaded device is told of: whole blocks of descriptors, or many bytes, or what the caller
// wants at once; and all that has gathered when it is loaded no more. Where buffers lie.
#include <string.h>

#include "fake_nic.h"
#include "parts_test.h"

enum { BATCH = 8, SHORT = 60, LONG = 1500, MANY = 8192 };

static struct fake_nic nic;
static struct emnic* device;
static uint8_t frame[2048];

static void begin(struct emnic_config c, unsigned max_frame) {
  c.doorbell_batch = BATCH;
  c.max_frame = max_frame;
  c.tx_ring = 64;
  fake_power_on(&nic, 1);
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0 && emnic_start(device, &c) == 0);
  nic.hold = 1;
}

static void end(void) {
  emnic_close(device);
  fake_power_off(&nic);
}

static int put(struct emnic_tx* q, unsigned bytes, int load) {
  CHECK(emnic_send(q, frame, bytes, NULL) == 0);
  return emnic_tx_flush(q, 0, load);
}

// Frames that lie in one page each need one read each.
static void test_pages(struct emnic_config c, unsigned max_frame, unsigned least, unsigned inside) {
  struct emnic_queue_state state;
  begin(c, max_frame);
  emnic_tx_state(emnic_tx_queue(device, 0, 1), &state);
  CHECK(state.buffer_bytes >= max_frame && state.buffer_bytes <= least);
  for (unsigned n = 0; n < state.slots; ++n) {
    const uint64_t at = state.buffers_bus + (uint64_t)n * state.buffer_bytes;
    CHECK(at / 4096 == (at + inside - 1) / 4096);
  }
  end();
}

void test_gathering(struct emnic_config c) {
  memset(frame, 0x5a, sizeof frame);
  begin(c, 1518);
  // None goes before a block is full, whether the queue is idle or not.
  struct emnic_tx* q = emnic_tx_queue(device, 0, 1);
  for (unsigned n = 0; n < 3 * BATCH; ++n)
    CHECK((put(q, SHORT, EMNIC_LOADED) == EMNIC_RANG) == (n % BATCH == BATCH - 1));
  // After a part of a block, which the caller wanted at once, the rest of it.
  CHECK(put(q, SHORT, EMNIC_LOADED) == 0 && emnic_tx_flush(q, 1, EMNIC_LOADED) == EMNIC_RANG);
  for (unsigned n = 1; n < BATCH; ++n)
    CHECK((put(q, SHORT, EMNIC_LOADED) == EMNIC_RANG) == (n == BATCH - 1));
  // What has gathered, when the device is loaded no more.
  q = emnic_tx_queue(device, 0, 2);
  CHECK(put(q, SHORT, EMNIC_LOADED) == 0 && put(q, SHORT, EMNIC_LOADED) == 0);
  CHECK(emnic_tx_flush(q, 0, EMNIC_LOADED) == 0 && emnic_tx_flush(q, 0, 0) == EMNIC_RANG);
  CHECK(nic.frames == 0 && emnic_tx_flush(q, 0, 0) == 0);
  // Long ones do not wait for eight; the next ones end the block.
  q = emnic_tx_queue(device, 0, 3);
  const unsigned many = (MANY + LONG - 1) / LONG;
  for (unsigned n = 1; n <= 3 * BATCH; ++n)
    CHECK((put(q, LONG, EMNIC_LOADED) == EMNIC_RANG) == (n % BATCH == many || n % BATCH == 0));
  end();
  test_pages(c, 100, 128, 100);
  test_pages(c, 400, 512, 400);
  test_pages(c, 1518, 2048, 1518);
  test_pages(c, 9014, 9216, 1024);
}
