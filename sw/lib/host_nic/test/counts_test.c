// SPDX-License-Identifier: Apache-2.0
// Counters of 32 bits that wrap, levels, names; counters of single queues: both halves, only the words that are not 0 read, devices without.
#include <string.h>

#include "fake_nic.h"
#include "parts_test.h"

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
