// SPDX-License-Identifier: Apache-2.0
// Several TCP segments under one record: what is set and refused, how large buffers are, around a
// restart too, and what records say.
#include <string.h>

#include "fake_nic.h"
#include "parts_test.h"

enum { MOST = 9000, FRAME = 4434, SEGMENT = 1460 };

static struct fake_nic nic;
static struct emnic* device;
static uint8_t bytes[FRAME];

static int start(const struct emnic_config* c, unsigned features) {
  device = fake_open(&nic, features);
  return emnic_start(device, c);
}
static void end(void) { fake_close(&nic, device); }

static void receive(unsigned segment_bytes, int push) {
  struct emnic_completion c;
  struct emnic_rx* q = emnic_rx_queue(device, 0, 1);
  nic.segment_bytes = segment_bytes;
  nic.push = push;
  for (unsigned b = 0; b < FRAME; ++b) bytes[b] = (uint8_t)(bytes[b] + b * 5 + 1);
  CHECK(fake_receive(&nic, 0, 1, bytes, FRAME));
  CHECK(emnic_take(emnic_completions(device, nic.bar->interface[0].rxq[1].cq + 2), &c, 1) == 1);
  CHECK(c.bytes == FRAME && !memcmp(c.data, bytes, FRAME) && c.segment_bytes == segment_bytes);
  CHECK(c.push == (segment_bytes && push) && c.csum == (segment_bytes ? 0 : 0x4321));
  CHECK(c.flags == (EMNIC_IPV4 | EMNIC_TCP));
  emnic_release(q, 1);
  emnic_rx_flush(q);
}

void test_coalescing(struct emnic_config c) {
  struct emnic_queue_state state;
  c.coalesce_bytes = MOST;
  c.coalesce_clocks = 1000;
  CHECK(start(&c, EMNIC_COALESCE - 1) == EMNIC_UNSUPPORTED);
  end();
  c.coalesce_bytes = 16384;
  CHECK(start(&c, EMNIC_COALESCE) == EMNIC_BAD_FRAME);
  end();
  c.coalesce_bytes = MOST;
  c.coalesce_clocks = 50001;
  CHECK(start(&c, EMNIC_COALESCE) == EMNIC_BAD_FRAME);
  end();
  c.coalesce_clocks = 1000;
  CHECK(start(&c, EMNIC_COALESCE) == 0);
  CHECK(nic.bar->interface[0].port[0].coalesce_bytes == MOST);
  CHECK(nic.bar->interface[0].port[0].coalesce_clocks == 1000);
  for (unsigned n = 0; n < 100; ++n) receive(n % 3 ? SEGMENT + n : 0, n % 2);
  // Other sizes of frames, and buffers that hold what they do all the same.
  struct emnic_rx* q = emnic_rx_queue(device, 0, 1);
  emnic_rx_state(q, &state);
  CHECK(state.buffer_bytes >= MOST);
  CHECK(emnic_rx_restart(q, 8, 0) == 0 && emnic_rx_restarting(q) == 1);
  emnic_rx_state(q, &state);
  CHECK(state.buffer_bytes >= MOST);
  for (unsigned n = 0; n < 20; ++n) receive(SEGMENT, n % 2);
  end();
}
