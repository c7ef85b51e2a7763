// SPDX-License-Identifier: Apache-2.0
// Packets that the device cuts into frames: what their descriptor says, and what is refused before the device sees it.
#include <string.h>

#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

enum { TCP_AT = 34, HEADERS = TCP_AT + 20, MAX_FRAME = 1518, LONGEST = 9000 };

static struct fake_nic nic;
static uint8_t packet[EMNIC_MAX_PACKET + 1];

static struct emnic* begin(unsigned features, int stream) {
  struct emnic_config c;
  struct emnic* device;
  memset(&c, 0, sizeof c);
  c.tx_queues = c.rx_queues = FAKE_QUEUES;
  c.tx_ring = stream ? 512 : 16;
  c.rx_ring = 32;
  c.rx_buffers = c.tx_buffers = 1;
  c.tx_stream = stream;
  c.max_frame = MAX_FRAME;
  c.max_packet = features & EMNIC_TSO ? LONGEST : 0;
  c.segments = c.refill_batch = c.cpus = c.doorbell_batch = 1;
  c.tx_push = EMNIC_PUSH_FRAME;
  device = fake_open(&nic, features);
  if (features & EMNIC_TSO) {
    c.max_packet = EMNIC_MAX_PACKET + 1;
    CHECK(emnic_start(device, &c) == EMNIC_BAD_FRAME);
    c.max_packet = LONGEST;
  } else {
    c.max_packet = LONGEST;
    CHECK(emnic_start(device, &c) == EMNIC_UNSUPPORTED);
    c.max_packet = 0;
  }
  CHECK(emnic_start(device, &c) == 0);
  return device;
}

void test_segments(void) {
  const unsigned all = EMNIC_TX_CHECKSUM | EMNIC_VLAN | EMNIC_TSO;
  struct emnic_offloads cut;
  memset(&cut, 0, sizeof cut);
  cut.start = TCP_AT;
  for (unsigned b = 0; b < sizeof packet; ++b) packet[b] = (uint8_t)(b * 7 + (b >> 8));

  struct emnic* device = begin(all, 0);
  struct emnic_tx* q = emnic_tx_queue(device, 0, 1);
  for (unsigned bytes = HEADERS + 1; bytes <= LONGEST; bytes += 1111) {
    struct emnic_completion c;
    for (cut.mss = 1; cut.mss <= MAX_FRAME - HEADERS - 4; cut.mss += 257) {
      cut.tag = cut.mss % 3;
      CHECK(emnic_send(q, packet, bytes, &cut) == 0);
      // An idle device is pushed no packet that it is to cut.
      CHECK(emnic_tx_flush(q, 1, 1) == EMNIC_RANG);
      CHECK(nic.cut == 1 && nic.mss == cut.mss && nic.csum_start == TCP_AT && nic.tag == cut.tag);
      CHECK(nic.sent_bytes == bytes && memcmp(nic.sent, packet, bytes) == 0);
      CHECK(emnic_take(emnic_completions(device, (unsigned)0), &c, 1) +
                emnic_take(emnic_completions(device, (unsigned)1), &c, 1) ==
            1);
    }
  }
  cut.tag = 0;
  cut.mss = MAX_FRAME - HEADERS;
  CHECK(emnic_send(q, packet, LONGEST + 1024, &cut) == EMNIC_BAD_FRAME);  // than its buffer
  CHECK(emnic_send(q, packet, EMNIC_MAX_PACKET + 1, &cut) == EMNIC_BAD_FRAME);
  CHECK(emnic_send(q, packet, 0, &cut) == EMNIC_BAD_FRAME);
  cut.tag = EMNIC_C_TAG;
  CHECK(emnic_send(q, packet, LONGEST, &cut) == EMNIC_BAD_FRAME);  // frames with their tags
  cut.tag = 0;
  cut.mss = MAX_FRAME - HEADERS + 1;
  CHECK(emnic_send(q, packet, LONGEST, &cut) == EMNIC_BAD_FRAME);
  cut.mss = 1u << 14;
  CHECK(emnic_send(q, packet, LONGEST, &cut) == EMNIC_UNSUPPORTED);
  cut.mss = 100;
  cut.start = 256;
  CHECK(emnic_send(q, packet, LONGEST, &cut) == EMNIC_UNSUPPORTED);
  struct emnic_offloads sum = {.checksum = 1, .start = 256};
  CHECK(emnic_send(q, packet, 60, &sum) == EMNIC_UNSUPPORTED);
  sum.checksum = 0;  // where nothing is left to the device, where it would be does not matter
  CHECK(emnic_send(q, packet, 60, &sum) == 0);
  cut.start = TCP_AT;
  // The next frame has nothing of it.
  CHECK(emnic_send(q, packet, 60, NULL) == 0 && emnic_tx_flush(q, 1, 0) == EMNIC_RANG);
  CHECK(nic.cut == 0 && nic.sent_bytes == 60);
  fake_close(&nic, device);

  device = begin(all & ~EMNIC_TSO, 0);
  CHECK(emnic_send(emnic_tx_queue(device, 0, 0), packet, 1000, &cut) == EMNIC_UNSUPPORTED);
  fake_close(&nic, device);
  device = begin(all, 1);
  CHECK(emnic_send(emnic_tx_queue(device, 0, 0), packet, 1000, &cut) == EMNIC_UNSUPPORTED);
  fake_close(&nic, device);
}
