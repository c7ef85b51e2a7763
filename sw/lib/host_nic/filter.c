// SPDX-License-Identifier: Apache-2.0
// Addresses of functions (filter.h, rtl/packet/function_filter.sv).
#include "filter.h"

#include "device.h"

#define FILTER_REG(function, field) \
  (FLOW_REG(filter) + (uint32_t)((function) * FILTER_BYTES) + (uint32_t)offsetof(flow_regs__filter_t, field))
enum { FILTER_BYTES = sizeof(flow_regs__filter_t) };
static_assert(sizeof(((flow_regs__stride1000_t*)0)->filter) == EMNIC_MAX_FUNCTIONS * FILTER_BYTES,
              "as the register map has them");

// 0, or why there is no such entry.
static int find(const struct emnic* d, unsigned i, unsigned p, unsigned function) {
  if (i >= d->interfaces || p >= d->interface[i].is.ports) return EMNIC_NOT_FOUND;
  if (!(d->interface[i].is.features & EMNIC_FILTER)) return EMNIC_UNSUPPORTED;
  return function < (is_virtual(d) ? 1 : d->functions) ? 0 : EMNIC_NOT_FOUND;
}

static void write_entry(struct emnic* d, uint32_t regs, unsigned n, const struct emnic_address* a) {
  const uint8_t* m = a->mac;
  reg_write(d, regs + FILTER_REG(n, vlan),
            (a->has_vlan ? FLOW_REGS__FILTER__VLAN__ONLY_bm : 0u) | a->vlan);
  reg_write(d, regs + FILTER_REG(n, address_lo),
            m[0] | (uint32_t)m[1] << 8 | (uint32_t)m[2] << 16 | (uint32_t)m[3] << 24);
  reg_write(d, regs + FILTER_REG(n, address_hi),
            m[4] | (uint32_t)m[5] << 8 | (a->valid ? FLOW_REGS__FILTER__ADDRESS_HI__VALID_bm : 0u) |
                (a->coalesce ? FLOW_REGS__FILTER__ADDRESS_HI__COALESCE_bm : 0u) |
                (a->check ? FLOW_REGS__FILTER__ADDRESS_HI__CHECK_bm : 0u));
}

int emnic_set_address(struct emnic* d, unsigned i, unsigned p, unsigned function,
                      const struct emnic_address* address) {
  const int status = find(d, i, p, function);
  if (status != 0) return status;
  if (is_virtual(d) || !d->started) return EMNIC_NOT_FOUND;
  if ((address->valid && (address->mac[0] & 1)) || address->vlan > FLOW_REGS__FILTER__VLAN__ID_bm)
    return EMNIC_BAD_ADDRESS;
  if (address->coalesce && !(d->interface[i].is.features & EMNIC_COALESCE)) return EMNIC_UNSUPPORTED;
  const uint32_t regs = flow_regs(d, i, p);
  if (regs == 0) return EMNIC_NO_DEVICE;
  struct port* port = &d->interface[i].port[p];
  if (!port->address)
    port->address = (struct emnic_address*)own_get(d, d->functions * sizeof *port->address);
  if (!port->address) return EMNIC_NO_MEMORY;
  port->address[function] = *address;
  write_entry(d, regs, function, address);
  return 0;
}

int emnic_get_address(struct emnic* d, unsigned i, unsigned p, unsigned function,
                      struct emnic_address* out) {
  const int status = find(d, i, p, function);
  if (status != 0) return status;
  const uint32_t regs = flow_regs(d, i, p);
  if (regs == 0) return EMNIC_NO_DEVICE;
  const uint32_t lo = reg_read(d, regs + FILTER_REG(function, address_lo));
  const uint32_t hi = reg_read(d, regs + FILTER_REG(function, address_hi));
  const uint32_t vlan = reg_read(d, regs + FILTER_REG(function, vlan));
  if (vlan == GONE) return EMNIC_NO_DEVICE;
  for (unsigned b = 0; b < EMNIC_MAC_BYTES; ++b)
    out->mac[b] = (uint8_t)(b < 4 ? lo >> 8 * b : hi >> 8 * (b - 4));
  out->valid = (hi & FLOW_REGS__FILTER__ADDRESS_HI__VALID_bm) != 0;
  out->coalesce = (hi & FLOW_REGS__FILTER__ADDRESS_HI__COALESCE_bm) != 0;
  out->check = (hi & FLOW_REGS__FILTER__ADDRESS_HI__CHECK_bm) != 0;
  out->has_vlan = (vlan & FLOW_REGS__FILTER__VLAN__ONLY_bm) != 0;
  out->vlan = vlan & FLOW_REGS__FILTER__VLAN__ID_bm;
  return 0;
}

void restore_addresses(struct emnic* d, unsigned i) {
  for (unsigned p = 0; p < d->interface[i].is.ports; ++p) {
    const struct emnic_address* address = d->interface[i].port[p].address;
    const uint32_t regs = address ? flow_regs(d, i, p) : 0;
    for (unsigned n = 0; regs != 0 && n < d->functions; ++n)
      write_entry(d, regs, n, &address[n]);
  }
}
