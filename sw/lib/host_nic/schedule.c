// SPDX-License-Identifier: Apache-2.0
// Transmit schedulers: which queues they serve, their windows, their schedules of time slots, their
// queues' rate limits.
#include "clock.h"
#include "device.h"

enum { FCS = 4, MOST_BURST = (1 << 20) - 1 };

// Clocks a byte in 2^-20 clocks, to the nearest; what does not fit is the slowest rate there is.
static uint32_t period_of(uint32_t core_khz, uint64_t bits) {
  if (bits == 0) return 0;
  const uint64_t period = (((uint64_t)core_khz * 8000 << 20) + bits / 2) / bits;
  return period > UINT32_MAX ? UINT32_MAX : period == 0 ? 1 : (uint32_t)period;
}

// The limit of a queue: set since the start, or as emnic_start was told; NULL: there are none.
static const struct emnic_limit* limit_of(const struct emnic* d, unsigned i, unsigned n) {
  const struct emnic_scheduler* s = &d->config.scheduler;
  if (d->interface[i].limits) return &d->interface[i].limits[n];
  return s->limit_count ? &s->limits[n % s->limit_count] : NULL;
}

// Ports by which a queue's frames leave: set since the start, or as they are dealt.
static unsigned ports_of(const struct emnic* d, unsigned i, unsigned n) {
  const struct interface* interface = &d->interface[i];
  return interface->tx_ports ? interface->tx_ports[n] : 1u << n % interface->is.ports;
}

static void write_limit(struct emnic* d, unsigned i, unsigned n, unsigned ports,
                        const struct emnic_limit* limit) {
  for (unsigned p = 0; ports >> p != 0; ++p) {
    if (!(ports >> p & 1)) continue;
    const uint32_t at = d->interface[i].is.registers +
                        (uint32_t)offsetof(nic_interface_map__stride800000_t, limit) +
                        p * (uint32_t)sizeof(((nic_interface_map__stride800000_t*)0)->limit[0]) +
                        n * (uint32_t)sizeof(sched_limit_regs_t);
    reg_write(d, at + (uint32_t)offsetof(sched_limit_regs_t, burst), limit->burst);
    reg_write(d, at + (uint32_t)offsetof(sched_limit_regs_t, period),
              period_of(emnic_core_khz(d), limit->bits));
  }
}

// At these of its ports a queue is served, or not.
static void write_queue(struct emnic* d, unsigned i, unsigned n, unsigned ports, int enable) {
  const struct emnic_interface* is = &d->interface[i].is;
  const uint32_t value =
      share_of(&d->config.scheduler, n) | (enable ? SCHED_REGS__QUEUE__ENABLE_bm : 0u);
  for (unsigned p = 0; ports >> p != 0; ++p)
    if (ports >> p & 1) reg_write(d, is->sched + p * is->sched_stride + 4 * n, value);
}

void enable_queue(struct emnic* d, unsigned i, unsigned n) {
  write_queue(d, i, n, ports_of(d, i, n), 1);
}

int emnic_set_tx_ports(struct emnic* d, unsigned i, unsigned n, unsigned ports) {
  if (i >= d->interfaces || !d->started) return EMNIC_NOT_FOUND;
  struct interface* interface = &d->interface[i];
  if (!(interface->is.features & EMNIC_SHARED)) return EMNIC_UNSUPPORTED;
  if (n >= d->config.tx_queues || ports >> interface->is.ports != 0) return EMNIC_BAD_QUEUES;
  if (!interface->tx_ports) {
    uint8_t* all = (uint8_t*)own_get(d, d->config.tx_queues);
    if (!all) return EMNIC_NO_MEMORY;
    for (unsigned q = 0; q < d->config.tx_queues; ++q) all[q] = (uint8_t)ports_of(d, i, q);
    interface->tx_ports = all;
  }
  const unsigned before = interface->tx_ports[n];
  interface->tx_ports[n] = (uint8_t)ports;
  write_queue(d, i, n, before & ~ports, 0);
  if (limit_of(d, i, n)) write_limit(d, i, n, ports & ~before, limit_of(d, i, n));
  write_queue(d, i, n, ports & ~before, 1);
  return 0;
}

static uint32_t scheduler_regs(const struct emnic* d, unsigned i, unsigned p) {
  return d->interface[i].is.registers +
         (uint32_t)offsetof(nic_interface_map__stride800000_t, sched_own) +
         p * (uint32_t)sizeof(nic_sched_map_t);
}

void tell_longest(struct emnic* d, unsigned i) {
  for (unsigned p = 0; limit_of(d, i, 0) && p < d->interface[i].is.ports; ++p)
    reg_write(d, scheduler_regs(d, i, p) + SCHEDULER_REG(longest),
              d->interface[i].max_frame + FCS);
}

int emnic_set_limit(struct emnic* d, unsigned i, unsigned n, const struct emnic_limit* limit) {
  if (i >= d->interfaces || !d->started) return EMNIC_NOT_FOUND;
  struct interface* interface = &d->interface[i];
  if (n >= d->config.tx_queues) return EMNIC_BAD_QUEUES;
  if (!d->config.scheduler.own_registers) return EMNIC_UNSUPPORTED;
  const uint32_t kind = reg_read(d, scheduler_regs(d, i, 0) + SCHEDULER_REG(kind));
  if (kind == GONE) return EMNIC_NO_DEVICE;
  if (kind != SchedRate && kind != SchedPieo) return EMNIC_UNSUPPORTED;
  if (limit->burst > MOST_BURST) return EMNIC_BAD_BURST;
  if (!interface->limits) {
    const int first = !limit_of(d, i, 0);
    struct emnic_limit* limits =
        (struct emnic_limit*)own_get(d, d->config.tx_queues * sizeof *limits);
    if (!limits) return EMNIC_NO_MEMORY;
    for (unsigned q = 0; limit_of(d, i, q) && q < d->config.tx_queues; ++q)
      limits[q] = *limit_of(d, i, q);
    interface->limits = limits;
    if (first) tell_longest(d, i);
  }
  interface->limits[n] = *limit;
  write_limit(d, i, n, ports_of(d, i, n), limit);
  return 0;
}

void forget_schedules(struct emnic* d, unsigned i) {
  own_give(d, d->interface[i].limits);
  own_give(d, d->interface[i].tx_ports);
  d->interface[i].limits = NULL;
  d->interface[i].tx_ports = NULL;
}

void set_up_scheduler(struct emnic* d, unsigned i) {
  const struct emnic_scheduler* s = &d->config.scheduler;
  for (unsigned p = 0; s->own_registers && p < d->interface[i].is.ports; ++p) {
    const uint32_t at = scheduler_regs(d, i, p);
    reg_write(d, at + SCHEDULER_REG(window), s->window);
    if (s->slot_count == 0) continue;
    for (unsigned n = 0; n < s->slot_count; ++n) {
      const uint32_t slot = at + (uint32_t)offsetof(nic_sched_map_t, slot) +
                            n * (uint32_t)sizeof(((nic_sched_map_t*)0)->slot[0]);
      reg_write(d, slot, s->slots[n].ns);
      reg_write(d, slot + 4, s->slots[n].classes);
    }
    reg_write(d, at + SCHEDULER_REG(start_lo), 0);
    reg_write(d, at + SCHEDULER_REG(start_hi), 0);
    reg_write(d, at + SCHEDULER_REG(open_lead), s->open_ns);
    reg_write(d, at + SCHEDULER_REG(close_lead), s->close_ns);
    reg_write(d, at + SCHEDULER_REG(tdma), 1 | (s->slot_count - 1) << NIC_SCHED_REGS__TDMA__LAST_bp);
  }
  tell_longest(d, i);
  for (unsigned n = 0; limit_of(d, i, n) && n < d->config.tx_queues; ++n)
    write_limit(d, i, n, ports_of(d, i, n), limit_of(d, i, n));
}
