// SPDX-License-Identifier: Apache-2.0
// Counters of 32 bits that wrap, levels, names; counters of single queues: both halves,
// only the words that are not 0 read, devices without; counters of ports: what each row adds to.
#include <string.h>

#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

static struct fake_nic nic;
static struct emnic* device;

static void begin(const struct emnic_config* c, unsigned interfaces) {
  fake_power_on(&nic, interfaces);
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0 && emnic_start(device, c) == 0);
}
static void end(void) {
  emnic_close(device);
  fake_power_off(&nic);
}

void test_counters(struct emnic_config c) {
  char of;
  begin(&c, 1);
  nic.bar->interface[0].port[1].rx_runt = 0xfffffff0;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 1) == 0xfffffff0);
  nic.bar->interface[0].port[1].rx_runt = 0x10;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 1) == 0x100000010);
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 0) == 0);
  nic.bar->interface[0].regs.tx_slots = 5;
  CHECK(emnic_get_counter(device, EMNIC_INTERFACE_tx_slots, 0, 0) == 5);
  nic.bar->interface[0].regs.tx_slots = 0;
  CHECK(emnic_get_counter(device, EMNIC_INTERFACE_tx_slots, 0, 0) == 0);
  CHECK(strcmp(emnic_counter_name(EMNIC_PORT_rx_dma_error, &of), "rx_dma_error") == 0 && of == 'p');
  CHECK(strcmp(emnic_counter_name(EMNIC_DEVICE_dma_reads, &of), "dma_reads") == 0 && of == 'd');
  CHECK(!emnic_counter_name(EMNIC_LEVELS_END, &of));
  CHECK(strcmp(emnic_queue_count_name(EMNIC_TX_QUEUE_COUNTS), "drops") == 0);
  CHECK(!emnic_queue_count_name(EMNIC_RX_QUEUE_COUNTS));
  // Reset while it was stopped: it counts from 0 on, and that is added.
  CHECK(emnic_stop(device) == 0);
  const unsigned writes = nic.writes;
  fake_reset(&nic);
  nic.bar->interface[0].port[1].rx_runt = 2;
  CHECK(emnic_recover(device) == 0 && nic.writes <= writes);
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 1) == 0x100000012);
  // A read that fails, once, is no count.
  nic.bar->interface[0].port[1].rx_runt = ~0u;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 1) == 0x100000012);
  nic.bar->interface[0].port[1].rx_runt = 3;
  CHECK(emnic_get_counter(device, EMNIC_PORT_rx_runt, 0, 1) == 0x100000013);
  end();
}

static int same(const struct emnic_queue_counts* a, uint64_t packets, uint64_t bytes,
                uint64_t errors, uint64_t drops) {
  return a->packets == packets && a->bytes == bytes && a->errors == errors && a->drops == drops;
}

void test_queue_counts(struct emnic_config c) {
  struct emnic_queue_counts got;
  begin(&c, 2);
  nic.counts[1][1][3] = (struct emnic_queue_counts){0x100000002ull, 0xffffffff00000000ull, 7, 0};
  nic.counts[0][1][3] = (struct emnic_queue_counts){1, 60, 1ull << 63, 0x123456789abcull};
  nic.counts[0][0][FAKE_QUEUES - 1] = (struct emnic_queue_counts){0, 0, 0, 9};
  CHECK(emnic_get_queue_counts(device, 1, 1, 3, &got) == 0);
  CHECK(same(&got, 0x100000002ull, 0xffffffff00000000ull, 7, 0));
  CHECK(emnic_get_queue_counts(device, 1, 0, 3, &got) == 0);
  CHECK(same(&got, 1, 60, 1ull << 63, 0x123456789abcull));
  // Where each way's are is known now. An idle queue is one read, another one more for each word.
  CHECK(emnic_get_queue_counts(device, 0, 0, 0, &got) == 0 && same(&got, 0, 0, 0, 0));
  unsigned reads = nic.reads;
  CHECK(emnic_get_queue_counts(device, 0, 0, 1, &got) == 0 && nic.reads == reads + 1);
  reads = nic.reads;
  CHECK(emnic_get_queue_counts(device, 0, 0, FAKE_QUEUES - 1, &got) == 0);
  CHECK(same(&got, 0, 0, 0, 9) && nic.reads == reads + 2);

  CHECK(emnic_get_queue_counts(device, 2, 0, 0, &got) == EMNIC_NOT_FOUND);
  CHECK(emnic_get_queue_counts(device, 0, 1, FAKE_QUEUES, &got) == EMNIC_NOT_FOUND);
  nic.bar->interface[0].regs.tx_stat_offset = 0;
  CHECK(emnic_get_queue_counts(device, 0, 1, 0, &got) == EMNIC_UNSUPPORTED);
  nic.gone_at = nic.reads + 1;
  CHECK(emnic_get_queue_counts(device, 0, 1, 0, &got) == EMNIC_NO_DEVICE);
  CHECK(emnic_get_queue_counts(device, 1, 1, 3, &got) == EMNIC_NO_DEVICE && same(&got, 0, 0, 0, 9));
  nic.gone_at = 0;
  end();
}

static void reset(void) {
  fake_reset(&nic);
  CHECK(emnic_recover(device) == 0);
}

static void put_row(unsigned transmit, unsigned i, unsigned p, unsigned class_, unsigned place,
                    uint64_t frames, uint64_t bytes) {
  nic.port_counts[transmit][i][p][8 * class_ + place] =
      (struct emnic_queue_counts){frames, bytes, 0, 0};
  fake_port_rows(&nic, i, (int)transmit, p);
}

// Over two resets, in use and stopped, each counter goes on from where it was read last, and those
// that are not read in between lose nothing that was read.
void test_counts_over_resets(struct emnic_config c) {
  struct emnic_queue_counts queue, last;
  struct emnic_port_counts port, before;
  begin(&c, 2);
  nic.counts[1][1][3] = (struct emnic_queue_counts){100, 1ull << 40, 7, 0};
  nic.counts[0][1][3] = (struct emnic_queue_counts){1, 60, 2, 1ull << 33};
  nic.counts[0][0][FAKE_QUEUES - 1].packets = 5;
  put_row(0, 1, 1, ClassUnicast, 1, 40, 40 * 64);
  put_row(1, 1, 1, ClassLost, LostHook, 9, 0);
  CHECK(emnic_get_queue_counts(device, 1, 1, 3, &queue) == 0);
  CHECK(emnic_get_queue_counts(device, 1, 0, 3, &queue) == 0);
  CHECK(emnic_get_queue_counts(device, 0, 0, FAKE_QUEUES - 1, &queue) == 0);
  CHECK(emnic_get_port_counts(device, 1, 0, 1, &before) == 0 && before.packets == 40);
  CHECK(emnic_get_port_counts(device, 1, 1, 1, &port) == 0 && port.lost_hook == 9);

  reset();
  CHECK(emnic_get_queue_counts(device, 1, 1, 3, &queue) == 0);
  CHECK(same(&queue, 100, 1ull << 40, 7, 0));
  nic.counts[1][1][3] = (struct emnic_queue_counts){2, 128, 0, 0};
  nic.counts[0][1][3] = (struct emnic_queue_counts){3, 180, 1, 4};
  put_row(0, 1, 1, ClassUnicast, 1, 2, 2 * 64);
  CHECK(emnic_get_queue_counts(device, 1, 1, 3, &queue) == 0);
  CHECK(same(&queue, 102, (1ull << 40) + 128, 7, 0));
  CHECK(emnic_get_queue_counts(device, 1, 0, 3, &queue) == 0);
  CHECK(same(&queue, 4, 240, 3, (1ull << 33) + 4));
  CHECK(emnic_get_port_counts(device, 1, 0, 1, &port) == 0);
  CHECK(port.packets == 42 && port.bytes == 42 * 64 && port.size_64 == 42);

  CHECK(emnic_stop(device) == 0);
  reset();
  put_row(1, 1, 1, ClassUnicast, 7, 1, 2000);
  CHECK(emnic_get_port_counts(device, 1, 0, 1, &before) == 0);
  CHECK(memcmp(&before, &port, sizeof port) == 0);
  CHECK(emnic_get_port_counts(device, 1, 1, 1, &port) == 0);
  CHECK(port.lost_hook == 9 && port.packets == 1 && port.bytes == 2000);
  CHECK(emnic_get_queue_counts(device, 0, 0, FAKE_QUEUES - 1, &queue) == 0);
  CHECK(same(&queue, 5, 0, 0, 0));
  // Neighbours, the other way and the other interface have nothing of all that.
  CHECK(emnic_get_queue_counts(device, 1, 0, 2, &last) == 0 && same(&last, 0, 0, 0, 0));
  CHECK(emnic_get_queue_counts(device, 1, 1, 4, &last) == 0 && same(&last, 0, 0, 0, 0));
  CHECK(emnic_get_queue_counts(device, 0, 1, 3, &last) == 0 && same(&last, 0, 0, 0, 0));
  CHECK(emnic_get_queue_counts(device, 1, 0, 0, &last) == 0 && same(&last, 0, 0, 0, 0));
  CHECK(emnic_get_port_counts(device, 1, 0, 0, &port) == 0 && port.packets == 0);
  CHECK(emnic_get_port_counts(device, 0, 1, 1, &port) == 0 && port.packets == 0);
  end();
}

void test_port_counts(struct emnic_config c) {
  struct emnic_port_counts got, none;
  memset(&none, 0, sizeof none);
  begin(&c, 2);
  // One power of two a row, so that each sum says what is in it.
  for (unsigned class_ = ClassUnicast; class_ <= ClassFcs; ++class_)
    for (unsigned place = 1; place < 8; ++place)
      put_row(0, 1, 1, class_, place, 1ull << (7 * class_ + place), 1000ull << class_);
  put_row(0, 1, 1, ClassFcs, 0, 3, 1);
  put_row(0, 1, 1, ClassLength, 0, 5, 10);
  put_row(0, 1, 1, ClassLength, 7, 7, 100);
  put_row(0, 1, 1, ClassLength, 2, 8, 200);
  put_row(0, 1, 1, ClassLost, LostCrossing, 1ull << 40, 0);
  put_row(0, 1, 1, ClassLost, LostBuffer, 12, 0);
  put_row(0, 1, 1, ClassLost, LostHook, 13, 0);
  CHECK(emnic_get_port_counts(device, 1, 0, 1, &got) == 0);
  CHECK(got.multicast == 0xfeull << 7 && got.broadcast == 0xfeull << 14);
  CHECK(got.pause == 0xfeull << 21 && got.pfc == 0xfeull << 28 && got.crc_errors == 0xfeull << 35);
  CHECK(got.packets == (0xfeull | 0xfeull << 7 | 0xfeull << 14 | 0xfeull << 21 | 0xfeull << 28));
  CHECK(got.bytes == 7 * 1000 * 31 && got.bad_bytes == 7 * 32000 + 311);
  CHECK(got.fragments == 3 && got.undersize == 5 && got.oversize == 15);
  CHECK(got.lost_crossing == 1ull << 40 && got.lost_buffer == 12 && got.lost_hook == 13);
  const uint64_t* sizes = &got.size_64;
  for (unsigned n = 0; n < EMNIC_PORT_SIZES; ++n)
    CHECK(sizes[n] == 0x810204081ull << (n + 1));
  // The other way, other ports and interfaces have none; the other way is its own.
  for (unsigned p = 0; p < FAKE_PORTS; ++p) {
    CHECK(emnic_get_port_counts(device, 0, 0, p, &got) == 0 && !memcmp(&got, &none, sizeof got));
    CHECK(emnic_get_port_counts(device, 1, 1, p, &got) == 0 && !memcmp(&got, &none, sizeof got));
  }
  put_row(1, 0, 0, ClassUnicast, 7, 2, 1ull << 33);
  CHECK(emnic_get_port_counts(device, 0, 1, 0, &got) == 0);
  CHECK(got.packets == 2 && got.bytes == 1ull << 33 && got.size_1519 == 2 && got.size_1024 == 0);

  CHECK(strcmp(emnic_port_count_name(0), "packets") == 0);
  CHECK(strcmp(emnic_port_count_name(EMNIC_PORT_COUNTS_END - 1), "1519_to_max_bytes") == 0);
  CHECK(!emnic_port_count_name(EMNIC_PORT_COUNTS_END));
  CHECK(emnic_port_size_from(0) == 64 && emnic_port_size_from(1) == 65);
  CHECK(emnic_port_size_from(6) == 1519 && emnic_port_size_from(EMNIC_PORT_SIZES) == 0);

  CHECK(emnic_get_port_counts(device, 2, 0, 0, &got) == EMNIC_NOT_FOUND);
  CHECK(emnic_get_port_counts(device, 0, 0, FAKE_PORTS, &got) == EMNIC_NOT_FOUND);
  nic.bar->interface[1].regs.port_rx_stat_offset = 0;
  CHECK(emnic_get_port_counts(device, 1, 0, 1, &got) == EMNIC_UNSUPPORTED);
  nic.gone_at = nic.reads + 5;  // among the rows
  CHECK(emnic_get_port_counts(device, 0, 1, 0, &got) == EMNIC_NO_DEVICE && got.packets == 2);
  nic.gone_at = nic.reads + 1;
  CHECK(emnic_get_port_counts(device, 0, 1, 0, &got) == EMNIC_NO_DEVICE && got.packets == 2);
  nic.gone_at = 0;
  end();
}
