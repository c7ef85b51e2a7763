// SPDX-License-Identifier: Apache-2.0
// Finding the device, starting and stopping it, and finding it again after a reset.
#include "device.h"

const uint32_t emnic_rss_key[EMNIC_KEY_WORDS] = {0x6d5a56da, 0x255b0ec2, 0x4167253d, 0x43a38fb0,
                                                 0xd0ca2bcb, 0xae7b30b4, 0x77cb2da3, 0x8030f20c,
                                                 0x6a42b73b, 0xbeac01fa};

// The names that a user has of the bits of `features` are those of the register.
#define SAME_BIT(name, field) \
  static_assert(name == NIC_INTERFACE_REGS__FEATURES__##field##_bm, #name)
SAME_BIT(EMNIC_RX_HASH, RX_HASH);
SAME_BIT(EMNIC_RX_CHECKSUM, RX_CSUM);
SAME_BIT(EMNIC_TX_CHECKSUM, TX_CSUM);
SAME_BIT(EMNIC_TIMESTAMPS, PTP);
SAME_BIT(EMNIC_VLAN, VLAN);
SAME_BIT(EMNIC_TSO, SEGMENTS);
SAME_BIT(EMNIC_SHARED, SHARED);
SAME_BIT(EMNIC_SPLIT, SPLIT);
SAME_BIT(EMNIC_VIRTUAL, IS_FUNCTION);
SAME_BIT(EMNIC_COALESCE, COALESCE);
SAME_BIT(EMNIC_FILTER, FILTER);

static_assert(sizeof(((nic_port_regs__stride1000_t*)0)->rss_key) == 4 * EMNIC_KEY_WORDS &&
                  sizeof(((host_nic_t*)0)->interface) ==
                      EMNIC_MAX_INTERFACES * sizeof(nic_interface_map__stride800000_t) &&
                  sizeof(((nic_interface_map__stride800000_t*)0)->port) ==
                      EMNIC_MAX_PORTS * sizeof(nic_port_regs__stride1000_t) &&
                  (int)RECORD_BYTES == (int)EVENT_BYTES,
              "as the register map has them");

// Time between looks at a device that comes to rest, and how many there are.
enum { REST_US = 10, REST_LOOKS = 20000 };

const char* emnic_error(int code) {
  switch (code) {
    case 0:
      return "no error";
#define WORDS(name, value, posix, words) \
  case value:                            \
    return words;
      EMNIC_ERRORS(WORDS)
#undef WORDS
    default:
      return "unknown error";
  }
}

uint32_t emnic_read(struct emnic* d, uint32_t offset) { return reg_read(d, offset); }
void emnic_write(struct emnic* d, uint32_t offset, uint32_t value) { reg_write(d, offset, value); }

void* own_get(struct emnic* d, size_t bytes) {
  return d->ops.alloc(d->ops.context, bytes ? bytes : 1);
}
void own_give(struct emnic* d, void* memory) {
  if (memory) d->ops.free(d->ops.context, memory);
}
int dma_get(struct emnic* d, size_t bytes, struct memory* out) {
  out->bytes = bytes;
  out->at = (uint8_t*)d->ops.dma_alloc(d->ops.context, bytes, &out->bus);
  return out->at ? 0 : EMNIC_NO_MEMORY;
}
void dma_give(struct emnic* d, struct memory* memory) {
  if (memory->at) d->ops.dma_free(d->ops.context, memory->at, memory->bytes, memory->bus);
  zero(memory, sizeof *memory);
}
void tell_memory(struct emnic* d, enum emnic_memory what, unsigned first, unsigned count,
                 uint64_t bus, size_t stride) {
  if (d->ops.ring_memory) d->ops.ring_memory(d->ops.context, what, first, count, bus, stride);
}

static int probe_interface(struct emnic* d, unsigned i, uint32_t base) {
  struct interface* interface = &d->interface[i];
  struct emnic_interface* is = &interface->is;
  const struct emnic_interface before = *is;
  is->registers = base;
  is->ports = interface_read(d, i, INTERFACE_REG(ports));
  is->tx_queues = interface_read(d, i, INTERFACE_REG(tx_queues));
  is->rx_queues = interface_read(d, i, INTERFACE_REG(rx_queues));
  is->event_queues = interface_read(d, i, INTERFACE_REG(event_queues));
  is->max_frame = interface_read(d, i, INTERFACE_REG(max_frame));
  is->features = interface_read(d, i, INTERFACE_REG(features));
  is->txq = base + interface_read(d, i, INTERFACE_REG(txq_offset));
  is->rxq = base + interface_read(d, i, INTERFACE_REG(rxq_offset));
  is->txcq = base + interface_read(d, i, INTERFACE_REG(txcq_offset));
  is->rxcq = base + interface_read(d, i, INTERFACE_REG(rxcq_offset));
  is->eq = base + interface_read(d, i, INTERFACE_REG(eq_offset));
  is->sched = base + interface_read(d, i, INTERFACE_REG(sched_offset));
  is->sched_stride = interface_read(d, i, INTERFACE_REG(sched_stride));
  is->port = base + interface_read(d, i, INTERFACE_REG(port_offset));
  is->port_stride = interface_read(d, i, INTERFACE_REG(port_stride));
  is->rss = base + interface_read(d, i, INTERFACE_REG(rss_offset));
  is->rss_stride = interface_read(d, i, INTERFACE_REG(rss_stride));
  is->rss_entries = interface_read(d, i, INTERFACE_REG(rss_entries));
  interface->flow = interface->flow_stride = 0;
  if (is->rss_entries != GONE)
    return is->ports > EMNIC_MAX_PORTS || is->tx_queues > MOST_QUEUES || is->rx_queues > MOST_QUEUES
               ? EMNIC_BAD_VERSION
               : 0;
  *is = before;
  return EMNIC_NO_DEVICE;
}

// What the registers of interfaces lie at relative to their base is part of the map's version.
static int probe(struct emnic* d) {
  d->ops.bus_master(d->ops.context, 1);
  d->mastering = 1;
  if (reg_read(d, DEVICE_REG(magic)) != NIC_DEVICE_REGS__MAGIC__VALUE_reset) return EMNIC_NO_DEVICE;
  const uint32_t version = reg_read(d, DEVICE_REG(version));
  if (version >> 16 != NIC_DEVICE_REGS__VERSION__VALUE_reset >> 16)
    return version == GONE ? EMNIC_NO_DEVICE : EMNIC_BAD_VERSION;
  const uint32_t vectors = reg_read(d, DEVICE_REG(vectors));
  const uint32_t interfaces = reg_read(d, DEVICE_REG(interfaces));
  const uint32_t offset = reg_read(d, DEVICE_REG(interface_offset));
  const uint32_t stride = reg_read(d, DEVICE_REG(interface_stride));
  if (stride == GONE) return EMNIC_NO_DEVICE;
  if (interfaces > EMNIC_MAX_INTERFACES) return EMNIC_BAD_VERSION;
  d->functions = 1;
  d->vectors = vectors;
  d->interfaces = interfaces;
  int status = 0;
  for (unsigned i = 0; i < d->interfaces && status == 0; ++i)
    status = probe_interface(d, i, offset + i * stride);
  if (status != 0 || d->interfaces == 0 || is_virtual(d)) return status;
  if (d->interface[0].is.features & EMNIC_FILTER) {
    const uint32_t functions = reg_read(d, DEVICE_REG(functions));
    if (functions == GONE) return EMNIC_NO_DEVICE;
    if (functions > EMNIC_MAX_FUNCTIONS) return EMNIC_BAD_VERSION;
    d->functions = functions;
  }
  return 0;
}

int emnic_open(const struct emnic_ops* ops, struct emnic** out) {
  struct emnic* d = (struct emnic*)ops->alloc(ops->context, sizeof *d);
  *out = NULL;
  if (!d) return EMNIC_NO_MEMORY;
  d->ops = *ops;
  int status = probe(d);
  if (status == 0) {
    d->interval = (uint32_t*)own_get(d, d->vectors * sizeof *d->interval);
    status = d->interval ? get_tallies(d) : EMNIC_NO_MEMORY;
  }
  if (status != 0) {
    emnic_close(d);
    return status;
  }
  *out = d;
  return 0;
}

unsigned emnic_interfaces(const struct emnic* d) { return d->interfaces; }
unsigned emnic_vectors(const struct emnic* d) { return d->vectors; }
const struct emnic_interface* emnic_get_interface(const struct emnic* d, unsigned i) {
  return i < d->interfaces ? &d->interface[i].is : NULL;
}

// Whether the device can do what is wanted, before any of it is done.
static int check(const struct emnic* d, const struct emnic_config* c) {
  if (!power_of_two(c->segments) || c->segments > EMNIC_MAX_SEGMENTS) return EMNIC_BAD_SEGMENTS;
  if (c->tx_stream && c->segments != 1) return EMNIC_BAD_SEGMENTS;
  if (c->tx_queues == 0 || c->rx_queues == 0) return EMNIC_BAD_QUEUES;
  for (unsigned i = 0; i < d->interfaces; ++i) {
    const struct emnic_interface* is = &d->interface[i].is;
    if (c->tx_queues > is->tx_queues || c->rx_queues > is->rx_queues) return EMNIC_BAD_QUEUES;
    if (c->shared && !(is->features & EMNIC_SHARED)) return EMNIC_UNSUPPORTED;
    if (is->ports == 0 || (!c->shared && c->rx_queues % is->ports != 0)) return EMNIC_BAD_QUEUES;
    if (c->max_frame < SHORTEST_FRAME || c->max_frame > is->max_frame) return EMNIC_BAD_FRAME;
    if (c->strip && !(is->features & EMNIC_VLAN)) return EMNIC_UNSUPPORTED;
    if (c->max_packet && !(is->features & EMNIC_TSO)) return EMNIC_UNSUPPORTED;
    if (c->header_bytes && (!(is->features & EMNIC_SPLIT) || c->rx_stream)) return EMNIC_UNSUPPORTED;
    if (c->coalesce_bytes && (!(is->features & EMNIC_COALESCE) || c->rx_stream))
      return EMNIC_UNSUPPORTED;
    if (c->coalesce_bytes > CoalesceMostBytes || c->coalesce_clocks > CoalesceMostClocks)
      return EMNIC_BAD_FRAME;
    if (c->header_bytes > EMNIC_MAX_HEADERS + 2) return EMNIC_BAD_FRAME;
    if (c->max_packet > EMNIC_MAX_PACKET) return EMNIC_BAD_FRAME;
    for (int transmit = 0; transmit < 2; ++transmit) {
      const int status =
          check_ring(d, i, transmit, transmit ? c->tx_ring : c->rx_ring, c->max_frame);
      if (status != 0) return status;
    }
  }
  return 0;
}

// Everything emnic_start has allocated for a device that will write there no more.
static void free_queues(struct emnic* d) {
  for (unsigned n = 0; d->tx && n < d->interfaces * d->config.tx_queues; ++n) {
    dma_give(d, &d->tx[n].q.own_ring);
    dma_give(d, &d->tx[n].q.own_buffers);
  }
  for (unsigned n = 0; d->rx && n < d->interfaces * d->config.rx_queues; ++n) {
    dma_give(d, &d->rx[n].q.own_ring);
    dma_give(d, &d->rx[n].q.own_buffers);
  }
  for (unsigned i = 0; i < d->interfaces; ++i) {
    struct interface* interface = &d->interface[i];
    dma_give(d, &interface->tx_rings);
    dma_give(d, &interface->tx_buffers);
    dma_give(d, &interface->rx_rings);
    dma_give(d, &interface->rx_buffers);
  }
  for (unsigned n = 0; n < d->cqs; ++n) dma_give(d, &d->cq[n].memory);
  for (unsigned n = 0; n < d->eqs; ++n) dma_give(d, &d->eq[n].memory);
  own_give(d, d->tx);
  own_give(d, d->rx);
  own_give(d, d->cq);
  own_give(d, d->eq);
  d->tx = NULL;
  d->rx = NULL;
  d->cq = NULL;
  d->eq = NULL;
  d->cqs = d->eqs = 0;
}

static int allocate_queues(struct emnic* d) {
  const struct emnic_config* c = &d->config;
  const size_t n = d->interfaces;
  // As many completion queues as rings need or there are CPUs, at the most.
  const unsigned cqs = (c->tx_queues > c->cpus ? c->tx_queues : c->cpus) +
                       (c->rx_queues > c->cpus ? c->rx_queues : c->cpus);
  d->tx = (struct emnic_tx*)own_get(d, sizeof *d->tx * n * c->tx_queues);
  d->rx = (struct emnic_rx*)own_get(d, sizeof *d->rx * n * c->rx_queues);
  d->cq = (struct emnic_cq*)own_get(d, sizeof *d->cq * n * cqs);
  d->eq = (struct emnic_eq*)own_get(d, sizeof *d->eq * n * c->cpus);
  return d->tx && d->rx && d->cq && d->eq ? 0 : EMNIC_NO_MEMORY;
}

static int set_up(struct emnic* d) {
  const struct emnic_config* c = &d->config;
  int status = allocate_queues(d);
  if (status != 0) return status;
  if (c->dma_timeout && !is_virtual(d)) reg_write(d, DEVICE_REG(dma_timeout), c->dma_timeout);
  if (c->dma_overtaken && !is_virtual(d)) reg_write(d, DEVICE_REG(dma_overtaken), c->dma_overtaken);
  if (d->ops.interrupts(d->ops.context, d->vectors) < 0) return EMNIC_NO_INTERRUPTS;
  const uint32_t moderation = reg_read(d, DEVICE_REG(moderation_offset));
  if (moderation == GONE) return EMNIC_NO_DEVICE;
  for (unsigned v = 0; v < d->vectors; ++v) reg_write(d, moderation + 4 * v, d->interval[v]);
  for (unsigned i = 0; i < d->interfaces && status == 0; ++i) status = open_queues(d, i);
  // A read returns when all writes before it have arrived.
  const uint32_t magic = reg_read(d, DEVICE_REG(magic));
  d->was_open = 1;
  return status == 0 && magic == GONE ? EMNIC_NO_DEVICE : status;
}

// Queue of an entry: those of a function come after all that the one before has.
static unsigned dealt_to(const struct emnic_config* c, const struct emnic_interface* is,
                         unsigned entry, unsigned port) {
  const int all = c->functions && !(is->features & EMNIC_FILTER);
  const unsigned queues = c->rx_queues * (all ? c->functions : 1);
  const unsigned nth = c->shared ? emnic_rss_queue(entry, 0, 1, queues)
                                 : emnic_rss_queue(entry, port, is->ports, queues);
  return nth / c->rx_queues * is->rx_queues + nth % c->rx_queues;
}

// The settings that emnic_recover gives the device once more.
static int settings_of(struct emnic* d) {
  const struct emnic_config* c = &d->config;
  const uint32_t* key = c->rss_key ? c->rss_key : emnic_rss_key;
  for (unsigned v = 0; v < d->vectors; ++v) d->interval[v] = c->interrupt_interval;
  for (unsigned i = 0; i < d->interfaces; ++i) {
    struct interface* interface = &d->interface[i];
    const struct emnic_interface* is = &interface->is;
    interface->max_frame = c->max_frame;
    interface->cpl_delay = c->cpl_delay;
    forget_schedules(d, i);
    interface->strip = c->strip;
    for (unsigned p = 0; p < is->ports; ++p) {
      struct port* port = &interface->port[p];
      __builtin_memcpy(port->key, key, sizeof port->key);
      if (!port->rss) port->rss = (uint16_t*)own_get(d, is->rss_entries * sizeof *port->rss);
      if (!port->rss) return EMNIC_NO_MEMORY;
      for (unsigned e = 0; e < is->rss_entries; ++e)
        port->rss[e] = (uint16_t)dealt_to(c, is, e, p);
    }
  }
  return 0;
}

int emnic_start(struct emnic* d, const struct emnic_config* config) {
  if (d->started) return EMNIC_BUSY;
  d->config = *config;
  if (d->config.cpus == 0) d->config.cpus = 1;
  if (is_virtual(d)) d->config.tx_push = EMNIC_PUSH_NONE;
  int status = check(d, &d->config);
  if (status != 0) return status;
  d->log_block = log2_of(config->segments);
  d->rx_log_block = config->header_bytes != 0;
  d->started = 1;
  if (!d->mastering) d->ops.bus_master(d->ops.context, 1);
  d->mastering = 1;
  status = settings_of(d);
  if (status == 0) status = set_up(d);
  if (status != 0) emnic_stop(d);
  return status;
}

int emnic_recover(struct emnic* d) {
  forget_last_counts(d);
  if (!d->started) return 0;
  free_queues(d);
  int status = probe(d);
  if (status == 0) status = check(d, &d->config);
  if (status == 0) status = set_up(d);
  if (status != 0) emnic_stop(d);
  return status;
}

// Of a virtual function: whether its queues have finished all that they handed out.
static int queue_at_rest(const struct queue* q) {
  const uint32_t at = q->device ? reg_read(q->device, q->regs + QUEUE_REG(consumer)) : 0;
  return at == GONE || at >> 16 == (at & 0xffff) || (!q->transmit && is_stream(q));
}
static int queues_at_rest(const struct emnic* d) {
  int rest = 1;
  for (unsigned n = 0; rest && d->tx && n < d->interfaces * d->config.tx_queues; ++n)
    rest = queue_at_rest(&d->tx[n].q);
  for (unsigned n = 0; rest && d->rx && n < d->interfaces * d->config.rx_queues; ++n)
    rest = queue_at_rest(&d->rx[n].q);
  return rest;
}

// Whether the device holds nothing that it was lent; one that has gone does not.
static int at_rest(struct emnic* d) {
  if (is_virtual(d)) return queues_at_rest(d);
  const uint32_t reads = reg_read(d, DEVICE_REG(dma_reads));
  if (reads == GONE) return 1;
  if (reads != 0) return 0;
  for (unsigned i = 0; i < d->interfaces; ++i) {
    if (interface_read(d, i, INTERFACE_REG(tx_slots)) != 0) return 0;
    if (interface_read(d, i, INTERFACE_REG(rx_slots)) != 0) return 0;
    for (unsigned p = 0; p < d->interface[i].is.ports; ++p) {
      if (reg_read(d, port_regs(d, i, p) + PORT_REG(rx_units)) != 0) return 0;
      if (reg_read(d, port_regs(d, i, p) + PORT_REG(tx_units)) != 0) return 0;
    }
  }
  return 1;
}

// Takes what was set up so far out of use, of a device that answers.
static int shut(struct emnic* d) {
  int looks = 0;
  const unsigned tx = d->tx ? d->interfaces * d->config.tx_queues : 0;
  const unsigned rx = d->rx ? d->interfaces * d->config.rx_queues : 0;
  for (unsigned n = 0; n < rx; ++n)
    if (d->rx[n].q.device) write_control(&d->rx[n].q, 0);
  for (unsigned n = 0; n < tx; ++n)
    if (d->tx[n].q.device) write_control(&d->tx[n].q, 0);
  while (!at_rest(d) && ++looks < REST_LOOKS) d->ops.delay_us(d->ops.context, REST_US);
  // No record waits for company any more; the answer to a read comes behind them.
  for (unsigned i = 0; i < d->interfaces && !is_virtual(d); ++i)
    reg_write(d, d->interface[i].is.registers + INTERFACE_REG(cpl_delay), 0);
  reg_read(d, DEVICE_REG(magic));
  d->ops.delay_us(d->ops.context, REST_US);
  reg_read(d, DEVICE_REG(magic));
  for (unsigned n = 0; n < d->cqs; ++n)
    reg_write(d, d->cq[n].regs + CQ_REG(control), cq_control(CPL_RING, 0));
  for (unsigned n = 0; n < d->eqs; ++n)
    reg_write(d, d->eq[n].regs + CQ_REG(control), cq_control(d->eq[n].slots, 0));
  d->ops.interrupts(d->ops.context, 0);
  if (reg_read(d, DEVICE_REG(magic)) == GONE) return EMNIC_NO_DEVICE;
  return looks < REST_LOOKS ? 0 : EMNIC_TIMEOUT;
}

int emnic_stop(struct emnic* d) {
  int status = EMNIC_NO_DEVICE;
  if (!d->started) return 0;
  if (reg_read(d, DEVICE_REG(magic)) == NIC_DEVICE_REGS__MAGIC__VALUE_reset) status = shut(d);
  d->ops.bus_master(d->ops.context, 0);
  d->mastering = 0;
  free_queues(d);
  d->started = 0;
  return status;
}

void emnic_close(struct emnic* d) {
  if (!d) return;
  emnic_stop(d);
  if (d->mastering) d->ops.bus_master(d->ops.context, 0);
  for (unsigned i = 0; i < d->interfaces && i < EMNIC_MAX_INTERFACES; ++i) {
    forget_schedules(d, i);
    for (unsigned p = 0; p < EMNIC_MAX_PORTS; ++p) {
      own_give(d, d->interface[i].port[p].rss);
      own_give(d, d->interface[i].port[p].address);
      forget_flows(d, i, p);
    }
  }
  own_give(d, d->interval);
  own_give(d, d->tally);
  d->ops.free(d->ops.context, d);
}
