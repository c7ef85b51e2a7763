// SPDX-License-Identifier: Apache-2.0
// A device that is pulled out: from any of its reads on all give all ones. Nothing is written
// where no register is (fake_nic.c looks), nothing waited for, and all memory comes back.
#include "fake_nic.h"
#include "parts_test.h"

static struct fake_nic nic;

static struct emnic_flow flow(unsigned number) {
  struct emnic_flow f = {{10, 0, 0, 1, 10, 0, 0, 2, 0, (uint8_t)number, 0, 7},
                         EMNIC_IPV4 | EMNIC_TCP};
  return f;
}

static int use(struct emnic* device) {
  const struct emnic_flow f = flow(1);
  int status = emnic_set_interrupt_interval(device, 0, 100);
  if (status == 0) status = emnic_steer(device, 0, 0, &f, 1);
  if (status > 0) status = emnic_unsteer(device, 0, 0, &f);
  if (status == 0) status = emnic_tx_restart(emnic_tx_queue(device, 0, 0), 0, 0);
  if (status == 0) emnic_tx_restarting(emnic_tx_queue(device, 0, 0));
  return status;
}

// Whether it ran to its end with the device in place.
static int pull_at(const struct emnic_config* c, unsigned read) {
  struct emnic* device;
  fake_power_on(&nic, 2);
  const struct emnic_ops ops = fake_ops(&nic);
  nic.gone_at = read;
  int status = emnic_open(&ops, &device);
  if (status == 0) status = emnic_start(device, c);
  if (status == 0) status = use(device);
  if (status == 0) {
    fake_reset(&nic);
    status = emnic_recover(device);
  }
  if (status == 0) status = emnic_stop(device);
  if (status != 0 && device) emnic_start(device, c);
  emnic_close(device);
  const int gone = nic.reads >= read;
  CHECK(status == 0 || (gone && status == EMNIC_NO_DEVICE));
  CHECK(nic.waited_us < 1000 && nic.allocations < 1000);
  fake_power_off(&nic);
  return !gone;
}

void test_gone(struct emnic_config c) {
  unsigned read = 1;
  while (!pull_at(&c, read)) ++read;
  CHECK(read > 100);
}
