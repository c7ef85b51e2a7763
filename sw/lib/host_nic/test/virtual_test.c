// SPDX-License-Identifier: Apache-2.0
// A virtual function, whose driver writes to nothing that is all functions', and the physical one,
// which deals frames to all.
#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

static struct fake_nic nic;
static struct emnic* device;

static void power_on(unsigned features) {
  fake_power_on(&nic, 1);
  const struct emnic_ops ops = fake_ops(&nic);
  nic.bar->interface[0].regs.features |= features;
  CHECK(emnic_open(&ops, &device) == 0);
}
// Queues, their schedulers, vectors and the moderation of these.
static int own(uint32_t offset) {
  const uint32_t at = offset - (uint32_t)offsetof(host_nic_t, interface);
  if (offset >= offsetof(host_nic_t, interface))
    return at < offsetof(nic_interface_map__stride800000_t, regs);
  return offset >= offsetof(host_nic_t, moderation) && offset < offsetof(host_nic_t, mac);
}

void test_virtual(struct emnic_config c) {
  c.dma_timeout = c.dma_overtaken = 5000;
  c.tx_burst = 3;
  c.tx_push = EMNIC_PUSH_FRAME;
  power_on(EMNIC_VIRTUAL);
  CHECK(emnic_start(device, &c) == 0);
  struct emnic_tx* tx = emnic_tx_queue(device, 0, 0);
  static const uint8_t frame[64];
  CHECK(emnic_send(tx, frame, sizeof frame, NULL) == 0);
  CHECK(emnic_tx_flush(tx, 1, 1) == EMNIC_RANG);  // and pushes nothing
  CHECK(emnic_set_rss(device, 0, 0, 0, 0) == EMNIC_NOT_FOUND);
  nic.bar->device.dma_reads = 7;  // others'
  emnic_close(device);
  CHECK(nic.writes > 50 && nic.writes < FAKE_WRITES);
  for (unsigned n = 0; n < nic.writes; ++n) CHECK(own(nic.log[n].offset));
  fake_power_off(&nic);

  // The physical one: three queues of each of two functions, which have eight.
  c.functions = 2;
  c.rx_queues = 3;
  c.shared = 0;
  fake_power_on(&nic, 1);
  nic.bar->interface[0].regs.ports = 1;
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0);
  CHECK(emnic_start(device, &c) == 0);
  for (unsigned e = 0; e < 128; ++e) {
    const unsigned nth = e % 6;
    CHECK(nic.bar->interface[0].rss[0].entry[e] == nth / 3 * FAKE_QUEUES + nth % 3);
  }
  emnic_close(device);
  fake_power_off(&nic);
}
