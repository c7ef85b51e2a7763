// SPDX-License-Identifier: Apache-2.0
// Transmit schedulers: their windows, their schedules of time slots, their queues' rate limits.
#include "clock.h"
#include "device.h"

enum { FCS = 4 };

// Clocks a byte in 2^-20 clocks, to the nearest; what does not fit is the slowest rate there is.
static uint32_t period_of(uint32_t core_khz, uint64_t bits) {
  if (bits == 0) return 0;
  const uint64_t period = (((uint64_t)core_khz * 8000 << 20) + bits / 2) / bits;
  return period > UINT32_MAX ? UINT32_MAX : period == 0 ? 1 : (uint32_t)period;
}

static void set_up_limits(struct emnic* d, unsigned i) {
  const struct emnic_scheduler* s = &d->config.scheduler;
  const unsigned ports = d->interface[i].is.ports;
  for (unsigned n = 0; s->limit_count && n < d->config.tx_queues; ++n) {
    const struct emnic_limit* limit = &s->limits[n % s->limit_count];
    const uint32_t at = d->interface[i].is.registers +
                        (uint32_t)offsetof(nic_interface_map__stride800000_t, limit) +
                        n % ports * (uint32_t)sizeof(((nic_interface_map__stride800000_t*)0)->limit[0]) +
                        n * (uint32_t)sizeof(sched_limit_regs_t);
    reg_write(d, at + (uint32_t)offsetof(sched_limit_regs_t, burst), limit->burst);
    reg_write(d, at + (uint32_t)offsetof(sched_limit_regs_t, period),
              period_of(emnic_core_khz(d), limit->bits));
  }
}

void set_up_scheduler(struct emnic* d, unsigned i) {
  const struct emnic_scheduler* s = &d->config.scheduler;
  for (unsigned p = 0; s->own_registers && p < d->interface[i].is.ports; ++p) {
    const uint32_t at = d->interface[i].is.registers +
                        (uint32_t)offsetof(nic_interface_map__stride800000_t, sched_own) +
                        p * (uint32_t)sizeof(nic_sched_map_t);
    reg_write(d, at + SCHEDULER_REG(window), s->window);
    if (s->limit_count) reg_write(d, at + SCHEDULER_REG(longest), d->config.max_frame + FCS);
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
  set_up_limits(d, i);
}
