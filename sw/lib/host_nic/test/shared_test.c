// SPDX-License-Identifier: Apache-2.0
// Queues that ports share: which ports a transmit queue leaves by, and who receives into what.
#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

static struct fake_nic nic;
static struct emnic* device;

static void be(unsigned features) {
  nic.bar->device.core_khz = 250000;
  for (unsigned i = 0; i < nic.interfaces; ++i) {
    nic.bar->interface[i].regs.features |= features;
    nic.bar->interface[i].sched_own[0].regs.kind = SchedRate;
  }
}
static void power_on(unsigned features) {
  fake_power_on(&nic, 2);
  const struct emnic_ops ops = fake_ops(&nic);
  be(features);
  CHECK(emnic_open(&ops, &device) == 0);
}
static uint32_t served(unsigned i, unsigned port, unsigned queue) {
  return nic.bar->interface[i].sched[port][queue].queue & SCHED_REGS__QUEUE__ENABLE_bm;
}
static uint32_t offset_of(const void* reg) {
  return (uint32_t)((const uint8_t*)reg - (const uint8_t*)nic.bar);
}

void test_shared(struct emnic_config c) {
  static const uint8_t weights[3] = {1, 2, 255};
  static const struct emnic_limit limits[2] = {{1000000000, 4096}, {0, 0}};
  c.shared = 1;
  power_on(0);
  CHECK(emnic_start(device, &c) == EMNIC_UNSUPPORTED);
  c.shared = 0;
  c.rx_queues = 3;
  CHECK(emnic_start(device, &c) == EMNIC_BAD_QUEUES);  // not so many for each of two ports
  c.rx_queues = 4;
  CHECK(emnic_start(device, &c) == 0);
  CHECK(emnic_set_tx_ports(device, 0, 0, 2) == EMNIC_UNSUPPORTED);
  emnic_close(device);
  fake_power_off(&nic);

  c.shared = 1;
  c.rx_queues = 3;
  c.scheduler.shares = weights;
  c.scheduler.share_count = 3;
  c.scheduler.own_registers = 1;
  c.scheduler.limits = limits;
  c.scheduler.limit_count = 2;
  power_on(EMNIC_SHARED);
  CHECK(emnic_start(device, &c) == 0);
  // Receive queues take frames of all ports alike, and however many there are.
  for (unsigned p = 0; p < FAKE_PORTS; ++p)
    for (unsigned e = 0; e < 128; ++e)
      CHECK(nic.bar->interface[1].rss[p].entry[e] == e % 3);
  for (unsigned q = 0; q < 4; ++q) CHECK(served(1, q % 2, q) && !served(1, 1 - q % 2, q));
  CHECK(emnic_set_tx_ports(device, 2, 0, 1) == EMNIC_NOT_FOUND);
  CHECK(emnic_set_tx_ports(device, 1, 4, 1) == EMNIC_BAD_QUEUES);
  CHECK(emnic_set_tx_ports(device, 1, 0, 4) == EMNIC_BAD_QUEUES);
  nic.fail_at = nic.allocations + 1;
  CHECK(emnic_set_tx_ports(device, 1, 0, 2) == EMNIC_NO_MEMORY && served(1, 0, 0));
  nic.fail_at = 0;

  // To the other port: not served any more at the one, with its limit and weight at the other.
  nic.writes = 0;
  CHECK(emnic_set_tx_ports(device, 1, 2, 2) == 0);
  CHECK(!served(1, 0, 2) && served(1, 1, 2) && served(0, 0, 2) && served(1, 0, 0));
  CHECK(nic.bar->interface[1].sched[1][2].queue >> SCHED_REGS__QUEUE__SHARE_bp == 255);
  CHECK(nic.bar->interface[1].limit[1][2].period == 2 << 20);
  CHECK(nic.writes == 4 && nic.log[0].offset == offset_of(&nic.bar->interface[1].sched[0][2]));
  CHECK(nic.log[3].offset == offset_of(&nic.bar->interface[1].sched[1][2]));
  // At both, at none, and where it is already.
  CHECK(emnic_set_tx_ports(device, 1, 2, 3) == 0 && served(1, 0, 2) && served(1, 1, 2));
  CHECK(emnic_set_tx_ports(device, 1, 1, 0) == 0 && !served(1, 0, 1) && !served(1, 1, 1));
  nic.writes = 0;
  CHECK(emnic_set_tx_ports(device, 1, 2, 3) == 0 && nic.writes == 0);
  // A limit is set at each of its ports.
  const struct emnic_limit slow = {500000, 9000};
  CHECK(emnic_set_limit(device, 1, 2, &slow) == 0);
  for (unsigned p = 0; p < 2; ++p)
    CHECK(nic.bar->interface[1].limit[p][2].period == 4000u << 20);

  // After a reset as they were set, after a new start as they are dealt.
  fake_reset(&nic);
  be(EMNIC_SHARED);
  CHECK(emnic_recover(device) == 0);
  CHECK(served(1, 0, 2) && served(1, 1, 2) && !served(1, 0, 1) && !served(1, 1, 1));
  CHECK(nic.bar->interface[1].limit[1][2].period == 4000u << 20 && served(0, 0, 2));
  CHECK(emnic_stop(device) == 0 && emnic_set_tx_ports(device, 1, 2, 1) == EMNIC_NOT_FOUND);
  for (unsigned q = 0; q < 4; ++q)
    for (unsigned p = 0; p < 2; ++p) nic.bar->interface[1].sched[p][q].queue = 0;
  CHECK(emnic_start(device, &c) == 0);
  for (unsigned q = 0; q < 4; ++q) CHECK(served(1, q % 2, q) && !served(1, 1 - q % 2, q));
  emnic_close(device);
  fake_power_off(&nic);
}
