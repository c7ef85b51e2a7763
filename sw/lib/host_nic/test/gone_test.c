// SPDX-License-Identifier: Apache-2.0
// A device that is pulled out: from any of its reads on all give all ones. Nothing is written
// where no register is (fake_nic.c looks), nothing waited for, and all memory comes back.
#include "../clock.h"
#include "../joined.h"
#include "fake_nic.h"
#include "parts_test.h"
#include "queue_formats.h"

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

// A card that is there again answers as before.
static void pull(void) { nic.gone_at = 1; }
static void put_back(void) { nic.gone_at = 0; }

static struct emnic* start(const struct emnic_config* c, unsigned kind) {
  struct emnic* device = fake_open(&nic, EMNIC_COALESCE);
  nic.bar->device.core_khz = 250000;
  for (unsigned p = 0; p < FAKE_PORTS; ++p)
    nic.bar->interface[0].sched_own[p].regs.kind = kind;
  if (c) CHECK(emnic_start(device, c) == 0);
  return device;
}

// What a driver makes of the clock's frequency is not out of range with a card that has gone.
static void test_frequency(struct emnic_config c) {
  struct emnic* device = start(NULL, 0);
  pull();
  c.coalesce_bytes = 9000;
  c.coalesce_clocks = emnic_joined_clocks(device);
  CHECK(emnic_start(device, &c) == EMNIC_NO_DEVICE);
  put_back();
  CHECK(emnic_joined_clocks(device) == 2500);
  fake_close(&nic, device);

  device = start(NULL, 0);
  pull();
  emnic_core_khz(device);
  put_back();
  emnic_clock_adjust(device, -1099512);
  CHECK((int32_t)nic.bar->device.ptp_adjust == -17179);
  fake_close(&nic, device);
}

// One that goes while it is set up has not been started, whatever is read of it last.
static void test_start(const struct emnic_config* c) {
  struct emnic* device = start(NULL, 0);
  const unsigned before = nic.reads;
  CHECK(emnic_start(device, c) == 0);
  const unsigned last = nic.reads;
  fake_close(&nic, device);
  CHECK(last > before);
  for (unsigned read = before + 1; read <= last; ++read) {
    device = start(NULL, 0);
    nic.gone_at = read;
    CHECK(emnic_start(device, c) == EMNIC_NO_DEVICE && nic.dma_blocks == 0);
    fake_close(&nic, device);
  }
}

static void test_registers(const struct emnic_config* c) {
  const struct emnic_limit limit = {1000000, 9000};
  const struct emnic_flow f = flow(1);
  struct emnic_config own = *c;
  own.scheduler.own_registers = 1;
  struct emnic* device = start(&own, SchedRate);
  struct emnic_last_error last;
  unsigned code = 1;
  pull();
  CHECK(emnic_set_limit(device, 0, 0, &limit) == EMNIC_NO_DEVICE);
  CHECK(emnic_tx_status(emnic_tx_queue(device, 0, 0), &code) == EMNIC_NO_DEVICE && code == 0);
  CHECK(emnic_rx_status(emnic_rx_queue(device, 0, 0), &code) == EMNIC_NO_DEVICE && code == 0);
  CHECK(emnic_get_last_error(device, 0, &last) == EMNIC_NO_DEVICE && last.errors == 0);
  CHECK(emnic_get_counter(device, EMNIC_PORT_tx_units, 0, 0) == 0);
  CHECK(emnic_steer(device, 0, 0, &f, 1) == EMNIC_NO_DEVICE);
  put_back();
  CHECK(emnic_tx_status(emnic_tx_queue(device, 0, 0), &code) == 0);
  CHECK(emnic_get_last_error(device, 0, &last) == 0);
  CHECK(emnic_steer(device, 0, 0, &f, 1) > 0);
  CHECK(emnic_set_limit(device, 0, 0, &limit) == 0);
  fake_close(&nic, device);
}

// The pointers of a queue that has finished 65535 slots read as all ones too.
static void test_restarts(const struct emnic_config* c) {
  for (int gone = 0; gone < 2; ++gone) {
    struct emnic* device = start(c, 0);
    struct emnic_tx* tx = emnic_tx_queue(device, 0, 0);
    struct emnic_rx* rx = emnic_rx_queue(device, 0, 0);
    CHECK(emnic_tx_restart(tx, 0, 0) == 0 && emnic_rx_restart(rx, 0, 0) == 0);
    nic.txq[0][0].taken = nic.txq[0][0].done = 0xffff;
    nic.rxq[0][0].taken = nic.rxq[0][0].done = 0xffff;
    if (gone) pull();
    int sent = 0, received = 0;
    for (unsigned n = 0; n < 4; ++n) {
      sent = emnic_tx_restarting(tx);
      received = emnic_rx_restarting(rx);
    }
    CHECK(sent == (gone ? EMNIC_NO_DEVICE : 0) && received == sent);
    fake_close(&nic, device);
  }
}

void test_gone(struct emnic_config c) {
  unsigned read = 1;
  while (!pull_at(&c, read)) ++read;
  CHECK(read > 100);
  test_frequency(c);
  test_start(&c);
  test_registers(&c);
  test_restarts(&c);
}
