// SPDX-License-Identifier: Apache-2.0
// Rate limits of transmit queues: those of the configuration, and those that are set while it runs.
#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

static struct fake_nic nic;
static struct emnic* device;

static void be(unsigned kind) {
  nic.bar->device.core_khz = 250000;
  for (unsigned i = 0; i < nic.interfaces; ++i) nic.bar->interface[i].sched_own[0].regs.kind = kind;
}
static void power_on(unsigned interfaces, unsigned kind) {
  fake_power_on(&nic, interfaces);
  const struct emnic_ops ops = fake_ops(&nic);
  be(kind);
  CHECK(emnic_open(&ops, &device) == 0);
}
static void power_off(void) {
  emnic_close(device);
  fake_power_off(&nic);
}
static uint32_t offset_of(const void* reg) {
  return (uint32_t)((const uint8_t*)reg - (const uint8_t*)nic.bar);
}
static sched_limit_regs_t* limit_regs(unsigned i, unsigned queue) {
  return &nic.bar->interface[i].limit[queue % FAKE_PORTS][queue];
}

void test_limits(struct emnic_config c) {
  static const struct emnic_limit at_first[2] = {{1000000000, 4096}, {0, 0}};
  const struct emnic_limit slow = {500000, 9000}, none = {0, 0}, big = {1000000, 1 << 20};
  power_on(1, 0);
  CHECK(emnic_start(device, &c) == 0);
  CHECK(emnic_set_limit(device, 0, 0, &slow) == EMNIC_UNSUPPORTED);  // round robin has no registers
  power_off();
  c.scheduler.own_registers = 1;
  power_on(1, 0);
  CHECK(emnic_start(device, &c) == 0);
  CHECK(emnic_set_limit(device, 0, 0, &slow) == EMNIC_UNSUPPORTED);  // and this one no limits
  power_off();

  // Set at the start: 8 bits of 1 Gb/s are 2 clocks of 250 MHz.
  c.scheduler.limits = at_first;
  c.scheduler.limit_count = 2;
  power_on(2, SchedRate);
  CHECK(emnic_start(device, &c) == 0);
  CHECK(limit_regs(1, 2)->period == 2 << 20 && limit_regs(1, 2)->burst == 4096);
  CHECK(limit_regs(1, 3)->period == 0 && limit_regs(1, 3)->burst == 0);
  CHECK(nic.bar->interface[1].sched_own[1].regs.longest == 1522);

  // And while it runs.
  CHECK(emnic_set_limit(device, 2, 0, &slow) == EMNIC_NOT_FOUND);
  CHECK(emnic_set_limit(device, 1, 4, &slow) == EMNIC_BAD_QUEUES);
  CHECK(emnic_set_limit(device, 1, 3, &big) == EMNIC_BAD_BURST);
  nic.writes = 0;
  CHECK(emnic_set_limit(device, 1, 3, &slow) == 0 && emnic_set_limit(device, 1, 2, &none) == 0);
  CHECK(limit_regs(1, 3)->period == 4000u << 20 && limit_regs(1, 3)->burst == 9000);
  CHECK(limit_regs(1, 2)->period == 0 && limit_regs(0, 2)->period == 2 << 20);
  // A limit holds from its period on: the burst is there by then.
  CHECK(nic.writes == 4 && nic.log[1].offset == offset_of(&limit_regs(1, 3)->period));
  CHECK(nic.log[0].offset == offset_of(&limit_regs(1, 3)->burst));
  // Queues count as long as frames may be now.
  for (unsigned n = 0; n < 4; ++n) {
    CHECK(emnic_rx_restart(emnic_rx_queue(device, 1, n), 0, 9018) == 0);
    CHECK(emnic_rx_restarting(emnic_rx_queue(device, 1, n)) == 1);
  }
  CHECK(emnic_set_max_frame(device, 1, 9018) == 0);
  CHECK(nic.bar->interface[1].sched_own[0].regs.longest == 9022);
  CHECK(nic.bar->interface[0].sched_own[0].regs.longest == 1522);

  // After a reset they are as they were set, after a new start as the configuration has them.
  fake_reset(&nic);
  be(SchedRate);
  CHECK(emnic_recover(device) == 0);
  CHECK(limit_regs(1, 3)->period == 4000u << 20 && limit_regs(1, 3)->burst == 9000);
  CHECK(limit_regs(1, 2)->period == 0 && limit_regs(1, 0)->period == 2 << 20);
  CHECK(limit_regs(0, 3)->period == 0 && limit_regs(0, 2)->period == 2 << 20);
  CHECK(nic.bar->interface[1].sched_own[1].regs.longest == 9022);
  CHECK(emnic_stop(device) == 0);
  CHECK(emnic_set_limit(device, 1, 3, &slow) == EMNIC_NOT_FOUND);
  CHECK(emnic_start(device, &c) == 0 && limit_regs(1, 3)->period == 0);
  CHECK(limit_regs(1, 2)->period == 2 << 20);
  // Limits that come with a call where there were none at the start.
  CHECK(emnic_stop(device) == 0);
  c.scheduler.limit_count = 0;
  CHECK(emnic_start(device, &c) == 0);
  nic.bar->interface[0].sched_own[1].regs.longest = 0;
  nic.fail_at = nic.allocations + 1;
  CHECK(emnic_set_limit(device, 0, 1, &slow) == EMNIC_NO_MEMORY);
  nic.fail_at = 0;
  CHECK(emnic_set_limit(device, 0, 1, &slow) == 0 && limit_regs(0, 1)->period == 4000u << 20);
  CHECK(nic.bar->interface[0].sched_own[1].regs.longest == 1522);
  power_off();

  // A scheduler of an ordered list has limits too, and priorities beside its weights.
  static const uint8_t weights[3] = {1, 2, 255}, priorities[2] = {0, 7};
  c.scheduler.shares = weights;
  c.scheduler.share_count = 3;
  c.scheduler.priorities = priorities;
  c.scheduler.priority_count = 2;
  power_on(1, SchedPieo);
  CHECK(emnic_start(device, &c) == 0);
  for (unsigned n = 0; n < 4; ++n) {
    const uint32_t queue = nic.bar->interface[0].sched[n % FAKE_PORTS][n].queue;
    CHECK(queue >> SCHED_REGS__QUEUE__SHARE_bp == weights[n % 3]);
    CHECK((queue & SCHED_REGS__QUEUE__PRIORITY_bm) ==
          (uint32_t)priorities[n % 2] << SCHED_REGS__QUEUE__PRIORITY_bp);
  }
  CHECK(emnic_set_limit(device, 0, 1, &slow) == 0 && limit_regs(0, 1)->period == 4000u << 20);
  power_off();
}
