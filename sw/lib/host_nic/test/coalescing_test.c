// SPDX-License-Identifier: Apache-2.0
// Several TCP segments under one record: what is set and refused, how large buffers are, around a
// restart too, and what records say; the headers of one packet that is made of them.
#include <string.h>

#include "../joined.h"
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

static unsigned word(const uint8_t* at) { return (unsigned)at[0] << 8 | at[1]; }
static unsigned sum(const uint8_t* at, unsigned count) {
  unsigned total = 0;
  for (unsigned n = 0; n < count; n += 2) total += word(at + n);
  while (total >> 16) total = (total & 0xffff) + (total >> 16);
  return total;
}

// Three segments of 1,460 bytes, the last one shorter, behind so many tags.
static void test_headers(unsigned tags, int v6, int push) {
  static const uint8_t tag[4] = {0, 5, 0x81, 0}, four[2] = {8, 0}, six[2] = {0x86, 0xdd};
  const unsigned ip = 14 + 4 * tags, tcp = ip + (v6 ? 40 : 20), headers = tcp + 32;
  const unsigned length = headers + 2 * SEGMENT + 100, packet = length - tcp;
  struct emnic_completion c = {.bytes = length, .segment_bytes = SEGMENT, .push = push};
  struct emnic_joined joined;
  uint8_t before[FRAME];
  for (unsigned n = 0; n < FRAME; ++n) bytes[n] = (uint8_t)(n * 7 + 3);
  memcpy(bytes + 12, tags ? &tag[2] : v6 ? six : four, 2);
  for (unsigned n = 0; n < tags; ++n) {
    memcpy(bytes + 14 + 4 * n, tag, 2);
    memcpy(bytes + 16 + 4 * n, n + 1 < tags ? &tag[2] : v6 ? six : four, 2);
  }
  bytes[ip] = v6 ? 0x60 : 0x45;
  bytes[ip + (v6 ? 6 : 9)] = 6;
  bytes[tcp + 12] = 0x80;
  bytes[tcp + 13] = 0x10;
  memcpy(before, bytes, FRAME);
  CHECK(emnic_find_joined(bytes, &c, &joined) == 0);
  CHECK(joined.network == ip && joined.transport == tcp && joined.headers == headers);
  CHECK(joined.frames == 3 && joined.v6 == v6);
  emnic_set_joined(bytes, &c, &joined);
  CHECK(bytes[tcp + 13] == (push ? 0x18 : 0x10));
  CHECK(word(bytes + ip + (v6 ? 4 : 2)) == (v6 ? packet : packet + 20));
  CHECK(v6 || sum(bytes + ip, 20) == 0xffff);
  const unsigned pseudo = sum(bytes + ip + (v6 ? 8 : 12), v6 ? 32 : 8) + 6 + packet;
  CHECK(word(bytes + tcp + 16) % 0xffff == pseudo % 0xffff);
  // Nothing else is another.
  memcpy(before + ip + (v6 ? 4 : 2), bytes + ip + (v6 ? 4 : 2), 2);
  if (!v6) memcpy(before + ip + 10, bytes + ip + 10, 2);
  memcpy(before + tcp + 16, bytes + tcp + 16, 2);
  before[tcp + 13] = bytes[tcp + 13];
  CHECK(!memcmp(before, bytes, FRAME));
  // What cannot be such a record.
  for (unsigned n = 0; n < 6; ++n) {
    struct emnic_completion bad = c;
    memcpy(bytes, before, FRAME);
    if (n == 0) bad.bytes = headers + SEGMENT;
    if (n == 1) bad.bytes = tcp + 19;
    if (n == 2) bytes[ip + (v6 ? 6 : 9)] = 17;
    if (n == 3) bytes[tcp + 12] = 0x40;
    if (n == 4) bytes[ip - 1] ^= 1;
    if (n == 5) bad.segment_bytes = 0;
    CHECK(emnic_find_joined(bytes, &bad, &joined) == EMNIC_BAD_FRAME);
  }
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
  nic.bar->device.core_khz = 250000;
  CHECK(emnic_joined_clocks(device) == 2500);
  for (unsigned n = 0; n < 100; ++n) receive(n % 3 ? SEGMENT + n : 0, n % 2);
  // Other sizes of frames, and buffers that hold what they do all the same.
  struct emnic_rx* q = emnic_rx_queue(device, 0, 1);
  emnic_rx_state(q, &state);
  CHECK(state.buffer_bytes >= MOST);
  CHECK(emnic_rx_restart(q, 8, 0) == 0 && emnic_rx_restarting(q) == 1);
  emnic_rx_state(q, &state);
  CHECK(state.buffer_bytes >= MOST);
  for (unsigned n = 0; n < 20; ++n) receive(SEGMENT, n % 2);
  for (unsigned n = 0; n < 12; ++n) test_headers(n / 4, n % 2, n / 2 % 2);
  end();
}
