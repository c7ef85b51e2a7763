// SPDX-License-Identifier: Apache-2.0
// Transmit schedulers: their windows, and their schedules of time slots.
#include "device.h"

void set_up_scheduler(struct emnic* d, unsigned i) {
  const struct emnic_scheduler* s = &d->config.scheduler;
  for (unsigned p = 0; s->own_registers && p < d->interface[i].is.ports; ++p) {
    const uint32_t at = d->interface[i].is.registers +
                        (uint32_t)offsetof(nic_interface_map__stride800000_t, sched_own) +
                        p * (uint32_t)sizeof(nic_sched_map_t);
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
}
