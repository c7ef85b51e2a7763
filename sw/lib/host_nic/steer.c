// SPDX-License-Identifier: Apache-2.0
// Which queue a received frame goes to: by its hash, or by an entry for its flow.
//
// A port's table of flows (flow_table.sv) has two places for each flow, one in each half. Two
// choices of one place each hold up to about half as many flows as there are entries. The driver
// keeps the table in memory and finds the moves that make room for one more.
#include "device.h"

enum { FLOW_WORDS = EMNIC_FLOW_BYTES / 4, NO_PLACE = -1 };

static void write_rss(struct emnic* d, unsigned i, unsigned p) {
  const struct emnic_interface* is = &d->interface[i].is;
  for (unsigned e = 0; e < is->rss_entries; ++e)
    reg_write(d, is->rss + p * is->rss_stride + 4 * e, d->interface[i].port[p].rss[e]);
}

void deal_frames(struct emnic* d, unsigned i) {
  const struct interface* interface = &d->interface[i];
  for (unsigned p = 0; p < interface->is.ports; ++p) {
    if (is_virtual(d)) {  // has a table at the most
      if (interface->is.features & EMNIC_FILTER) write_rss(d, i, p);
      continue;
    }
    const uint32_t regs = port_regs(d, i, p);
    reg_write(d, regs + PORT_REG(max_frame), interface->max_frame);
    if (interface->is.features & EMNIC_VLAN) reg_write(d, regs + PORT_REG(strip), interface->strip);
    if (interface->is.features & EMNIC_COALESCE) {
      reg_write(d, regs + PORT_REG(coalesce_bytes), d->config.coalesce_bytes);
      reg_write(d, regs + PORT_REG(coalesce_clocks), d->config.coalesce_clocks);
    }
    for (unsigned k = 0; k < EMNIC_KEY_WORDS; ++k)
      reg_write(d, regs + PORT_REG(rss_key) + 4 * k, interface->port[p].key[k]);
    write_rss(d, i, p);
  }
}

static struct port* find_port(struct emnic* d, unsigned i, unsigned p) {
  if (i >= d->interfaces || p >= d->interface[i].is.ports || !d->started || is_virtual(d))
    return NULL;
  return &d->interface[i].port[p];
}

int emnic_set_strip(struct emnic* d, unsigned i, unsigned tags) {
  if (i >= d->interfaces || !d->started) return EMNIC_NOT_FOUND;
  struct interface* interface = &d->interface[i];
  if (!(interface->is.features & EMNIC_VLAN)) return EMNIC_UNSUPPORTED;
  interface->strip = tags;
  for (unsigned p = 0; p < interface->is.ports; ++p)
    reg_write(d, port_regs(d, i, p) + PORT_REG(strip), tags);
  return 0;
}

int emnic_set_rss(struct emnic* d, unsigned i, unsigned p, unsigned entry, unsigned queue) {
  if (i >= d->interfaces) return EMNIC_NOT_FOUND;
  const struct emnic_interface* is = &d->interface[i].is;
  const int own_table = is_virtual(d) && (is->features & EMNIC_FILTER);
  struct port* port = own_table && d->started && p < is->ports ? &d->interface[i].port[p] : find_port(d, i, p);
  if (!port) return EMNIC_NOT_FOUND;
  if (entry >= is->rss_entries || queue >= d->config.rx_queues) return EMNIC_BAD_QUEUES;
  port->rss[entry] = (uint16_t)queue;
  reg_write(d, is->rss + p * is->rss_stride + 4 * entry, queue);
  return 0;
}

int emnic_set_rss_key(struct emnic* d, unsigned i, unsigned p, const uint32_t* key) {
  struct port* port = find_port(d, i, p);
  if (!port) return EMNIC_NOT_FOUND;
  if (port->flows.used != 0) return EMNIC_BUSY;
  for (unsigned k = 0; k < EMNIC_KEY_WORDS; ++k) {
    port->key[k] = key[k];
    reg_write(d, port_regs(d, i, p) + PORT_REG(rss_key) + 4 * k, key[k]);
  }
  return 0;
}

// Each bit that is set adds the 32 bits of the key that begin at its place (Toeplitz).
uint32_t emnic_flow_hash(const uint32_t* key, const struct emnic_flow* flow) {
  uint32_t hash = 0;
  for (unsigned bit = 0; bit < 8 * EMNIC_FLOW_BYTES; ++bit) {
    if (!(flow->fields[bit / 8] >> (7 - bit % 8) & 1)) continue;
    const uint64_t window = (uint64_t)key[bit / 32] << 32 | key[(bit / 32 + 1) % EMNIC_KEY_WORDS];
    hash ^= (uint32_t)(window >> (32 - bit % 32));
  }
  return hash;
}

// ---- the table in memory

static int same_flow(const struct emnic_flow* a, const struct emnic_flow* b) {
  return a->type == b->type && __builtin_memcmp(a->fields, b->fields, sizeof a->fields) == 0;
}

static uint32_t place_of(const struct flow_table* t, uint32_t hash, unsigned which) {
  const uint32_t half = t->count / 2;
  return which ? half + (hash >> 16) % half : hash % half;
}

static int32_t find_flow(const struct flow_table* t, const struct emnic_flow* flow, uint32_t hash) {
  for (unsigned which = 0; which < 2; ++which) {
    const uint32_t at = place_of(t, hash, which);
    if (same_flow(&t->entries[at].flow, flow)) return (int32_t)at;
  }
  return NO_PLACE;
}

// The places of a flow that the search has not come by.
static uint32_t look_at(struct flow_table* t, uint32_t hash, int32_t from, uint32_t steps) {
  for (unsigned which = 0; which < 2; ++which) {
    const uint32_t at = place_of(t, hash, which);
    if (t->seen[at] != t->search) {
      t->steps[steps].at = at;
      t->steps[steps++].from = from;
    }
    t->seen[at] = t->search;
  }
  return steps;
}

// Breadth first: the last step of the shortest chain of moves to a free place.
static int32_t find_place(struct flow_table* t, uint32_t hash) {
  ++t->search;
  uint32_t count = look_at(t, hash, -1, 0);
  for (uint32_t step = 0; step < count; ++step) {
    const struct flow_entry* entry = &t->entries[t->steps[step].at];
    if (entry->flow.type == 0) return (int32_t)step;
    count = look_at(t, entry->hash, (int32_t)step, count);
  }
  return NO_PLACE;
}

// ---- its registers

uint32_t flow_regs(struct emnic* d, unsigned i, unsigned p) {
  struct interface* interface = &d->interface[i];
  if (interface->flow == 0) {
    const uint32_t offset = interface_read(d, i, INTERFACE_REG(flow_offset));
    const uint32_t stride = interface_read(d, i, INTERFACE_REG(flow_stride));
    if (stride == GONE) return 0;
    interface->flow = interface->is.registers + offset;
    interface->flow_stride = stride;
  }
  return interface->flow + p * interface->flow_stride;
}

static int know_table(struct emnic* d, unsigned i, unsigned p, struct flow_table* t) {
  if (!t->known) {
    const uint32_t regs = flow_regs(d, i, p);
    const uint32_t count = regs != 0 ? reg_read(d, regs + FLOW_REG(entries)) : GONE;
    if (count == GONE) return EMNIC_NO_DEVICE;
    t->count = count;
    t->known = 1;
  }
  if (t->count == 0 || t->entries) return 0;
  t->steps = (struct flow_step*)own_get(d, t->count * sizeof *t->steps);
  t->seen = (uint32_t*)own_get(d, t->count * sizeof *t->seen);
  t->entries = (struct flow_entry*)own_get(d, t->count * sizeof *t->entries);
  if (t->steps && t->seen && t->entries) return 0;
  forget_flows(d, i, p);
  return EMNIC_NO_MEMORY;
}

void forget_flows(struct emnic* d, unsigned i, unsigned p) {
  struct flow_table* t = &d->interface[i].port[p].flows;
  own_give(d, t->steps);
  own_give(d, t->seen);
  own_give(d, t->entries);
  zero(t, sizeof *t);
}

// A word that is there already is not written again.
static void write_word(struct emnic* d, struct flow_table* t, uint32_t regs, unsigned word,
                       uint32_t value) {
  if (t->written[word] == value) return;
  t->written[word] = value;
  reg_write(d, regs + FLOW_REG(flow) + 4 * word, value);
}

static void write_flow(struct emnic* d, unsigned i, unsigned p, uint32_t at) {
  struct flow_table* t = &d->interface[i].port[p].flows;
  const struct flow_entry* entry = &t->entries[at];
  const uint32_t regs = flow_regs(d, i, p);
  if (regs == 0) return;
  for (unsigned word = 0; word < FLOW_WORDS; ++word) {
    const uint8_t* b = entry->flow.fields + 4 * word;
    write_word(d, t, regs, word,
               (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]);
  }
  write_word(d, t, regs, FLOW_WORDS,
             (entry->flow.type != 0 ? FLOW_REGS__ACTION__VALID_bm : 0u) |
                 (uint32_t)entry->flow.type << FLOW_REGS__ACTION__HASH_TYPE_bp | entry->queue);
  reg_write(d, regs + FLOW_REG(put), at);
}

void restore_flows(struct emnic* d, unsigned i) {
  for (unsigned p = 0; p < d->interface[i].is.ports; ++p) {
    struct flow_table* t = &d->interface[i].port[p].flows;
    zero(t->written, sizeof t->written);
    for (uint32_t at = 0; t->entries && at < t->count; ++at)
      if (t->entries[at].flow.type != 0) write_flow(d, i, p, at);
  }
}

int emnic_steer(struct emnic* d, unsigned i, unsigned p, const struct emnic_flow* flow,
                unsigned queue) {
  struct port* port = find_port(d, i, p);
  if (!port || flow->type == 0) return EMNIC_NOT_FOUND;
  if (queue >= d->config.rx_queues) return EMNIC_BAD_QUEUES;
  struct flow_table* t = &port->flows;
  const int status = know_table(d, i, p, t);
  if (status != 0) return status;
  if (t->count == 0) return EMNIC_UNSUPPORTED;
  const uint32_t hash = emnic_flow_hash(port->key, flow);
  const int32_t there = find_flow(t, flow, hash);
  if (there >= 0) {
    t->entries[there].queue = queue;
    write_flow(d, i, p, (uint32_t)there);
    return 1;
  }
  // One that moves is written to its new place before its old one is taken.
  int32_t step = find_place(t, hash);
  if (step < 0) return EMNIC_NO_ROOM;
  int writes = 0;
  while (step >= 0) {
    const uint32_t at = t->steps[step].at;
    step = t->steps[step].from;
    if (step >= 0) {
      t->entries[at] = t->entries[t->steps[step].at];
    } else {
      t->entries[at].flow = *flow;
      t->entries[at].hash = hash;
      t->entries[at].queue = queue;
    }
    write_flow(d, i, p, at);
    ++writes;
  }
  ++t->used;
  return writes;
}

int emnic_unsteer(struct emnic* d, unsigned i, unsigned p, const struct emnic_flow* flow) {
  struct port* port = find_port(d, i, p);
  if (!port || !port->flows.entries || flow->type == 0) return EMNIC_NOT_FOUND;
  struct flow_table* t = &port->flows;
  const int32_t there = find_flow(t, flow, emnic_flow_hash(port->key, flow));
  if (there < 0) return EMNIC_NOT_FOUND;
  zero(&t->entries[there], sizeof t->entries[there]);
  write_flow(d, i, p, (uint32_t)there);
  --t->used;
  return 0;
}
