// SPDX-License-Identifier: Apache-2.0
// A virtual function, whose driver writes to nothing that is all functions', and the physical one,
// which deals frames to all, or gives each function its address.
#include <string.h>

#include "../filter.h"
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

static const volatile uint32_t* entry(unsigned port, unsigned function) {
  return (const uint32_t*)(const void*)&nic.bar->interface[0].flow[port].filter[function];
}

static const struct emnic_address kEach = {{2, 0x11, 0x22, 0x33, 0x44, 0x55}, 1, 1, 1, 7, 1};

static void power_on_filter(struct emnic_config* c, unsigned features) {
  fake_power_on(&nic, 1);
  nic.bar->interface[0].regs.features |= features;
  nic.bar->device.functions = 4;
  const struct emnic_ops ops = fake_ops(&nic);
  CHECK(emnic_open(&ops, &device) == 0);
  CHECK(emnic_set_address(device, 0, 0, 1, &kEach) == EMNIC_NOT_FOUND);
  c->functions = 4;  // each deals to its own queues all the same
  CHECK(emnic_start(device, c) == 0);
  nic.writes = 0;
}

static void test_filter(struct emnic_config c) {
  struct emnic_address is, address = kEach;
  c.shared = 0;
  c.rx_queues = 4;
  // Without the filter, and before the device is in use.
  power_on(0);
  CHECK(emnic_set_address(device, 0, 0, 0, &address) == EMNIC_UNSUPPORTED);
  fake_close(&nic, device);
  // A card that joins nothing joins nothing of a function's.
  power_on_filter(&c, EMNIC_FILTER);
  CHECK(emnic_set_address(device, 0, 1, 3, &address) == EMNIC_UNSUPPORTED && nic.writes == 0);
  fake_close(&nic, device);
  power_on_filter(&c, EMNIC_FILTER | EMNIC_COALESCE);
  for (unsigned e = 0; e < 128; ++e)
    CHECK(nic.bar->interface[0].rss[0].entry[e] == emnic_rss_queue(e, 0, FAKE_PORTS, 4));

  CHECK(emnic_set_address(device, 0, 1, 3, &address) == 0);
  const uint32_t want[] = {0x33221102, 0xe0005544, 0x80000007};
  CHECK(memcmp((const void*)entry(1, 3), want, sizeof want) == 0);
  // The word that puts the entry comes last.
  const uint32_t at = (uint32_t)offsetof(host_nic_t, interface[0].flow[1].filter[3].address_hi);
  CHECK(nic.writes == 3 && nic.log[2].offset == at);
  memset(&is, 0, sizeof is);
  CHECK(emnic_get_address(device, 0, 1, 3, &is) == 0);
  CHECK(memcmp(&is, &kEach, sizeof is) == 0);
  address.has_vlan = address.check = address.coalesce = 0;
  address.vlan = 0;
  CHECK(emnic_set_address(device, 0, 0, 2, &address) == 0 && entry(0, 2)[1] == 0x80005544);
  CHECK(emnic_get_address(device, 0, 0, 2, &is) == 0 && !is.has_vlan && !is.check && !is.coalesce);

  // What is refused is not written.
  nic.writes = 0;
  address.mac[0] = 1;
  CHECK(emnic_set_address(device, 0, 0, 1, &address) == EMNIC_BAD_ADDRESS);
  address.mac[0] = 2;
  address.vlan = 4096;
  CHECK(emnic_set_address(device, 0, 0, 1, &address) == EMNIC_BAD_ADDRESS);
  address.vlan = 0;
  CHECK(emnic_set_address(device, 0, 0, 4, &address) == EMNIC_NOT_FOUND);
  CHECK(emnic_set_address(device, 0, FAKE_PORTS, 1, &address) == EMNIC_NOT_FOUND);
  CHECK(emnic_set_address(device, 1, 0, 1, &address) == EMNIC_NOT_FOUND);
  CHECK(emnic_get_address(device, 0, 0, 4, &is) == EMNIC_NOT_FOUND);
  CHECK(nic.writes == 0);

  // After a reset the entries are there again.
  fake_reset(&nic);
  nic.bar->interface[0].regs.features |= EMNIC_FILTER;
  nic.bar->device.functions = 4;
  CHECK(entry(1, 3)[1] == 0);
  CHECK(emnic_recover(device) == 0);
  CHECK(memcmp((const void*)entry(1, 3), want, sizeof want) == 0);
  CHECK(entry(0, 2)[1] == 0x80005544);
  fake_close(&nic, device);

  // A virtual function has its own entry, and its own table, for what is left of the device's.
  power_on(EMNIC_VIRTUAL | EMNIC_FILTER);
  memcpy((void*)(uintptr_t)entry(0, 0), want, sizeof want);
  CHECK(emnic_start(device, &c) == 0);
  for (unsigned e = 0; e < 128; ++e)
    CHECK(nic.bar->interface[0].rss[1].entry[e] == emnic_rss_queue(e, 1, FAKE_PORTS, 4));
  CHECK(emnic_set_rss(device, 0, 0, 5, 3) == 0 && nic.bar->interface[0].rss[0].entry[5] == 3);
  CHECK(emnic_set_rss(device, 0, 0, 5, 4) == EMNIC_BAD_QUEUES);
  CHECK(emnic_get_address(device, 0, 0, 0, &is) == 0 && memcmp(&is, &kEach, sizeof is) == 0);
  CHECK(emnic_get_address(device, 0, 0, 1, &is) == EMNIC_NOT_FOUND);
  CHECK(emnic_set_address(device, 0, 0, 0, &is) == EMNIC_NOT_FOUND);
  emnic_close(device);
  for (unsigned n = 0; n < nic.writes; ++n) {
    const uint32_t rss = nic.log[n].offset - (uint32_t)offsetof(host_nic_t, interface[0].rss);
    CHECK(own(nic.log[n].offset) || rss < sizeof nic.bar->interface[0].rss);
  }
  fake_power_off(&nic);
}

static void test_no_memory(const struct emnic_config* c) {
  int status = EMNIC_NO_MEMORY;
  for (unsigned fail = 1; status != 0; ++fail) {
    power_on(EMNIC_VIRTUAL);
    nic.fail_at = nic.allocations + fail;
    status = emnic_start(device, c);
    CHECK(status == (nic.allocations < nic.fail_at ? 0 : EMNIC_NO_MEMORY));
    fake_close(&nic, device);
  }
}

void test_virtual(struct emnic_config c) {
  test_filter(c);
  test_no_memory(&c);
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
