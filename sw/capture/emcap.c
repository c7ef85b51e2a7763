// SPDX-License-Identifier: Apache-2.0
#include "emcap.h"

#include <assert.h>
#include <string.h>

#include "cap_formats.h"  // what lies in memory, generated from rtl/capture/cap_pkg.sv
#include "capture.h"      // registers, generated from systems/capture/capture.rdl

enum { HELD = 4 };
static_assert((int)EMCAP_MAX_LINKS == MaxLinks && EMCAP_MAX_RINGS == 1 << RingW,
              "as the device has them");

#define DEVICE(field) ((uint32_t)offsetof(cap_regs_t, field))
#define LINK(n, field) \
  ((uint32_t)(DEVICE(link) + (n) * sizeof(cap_regs__link_t) + offsetof(cap_regs__link_t, field)))
#define RING(n, field)                                                          \
  ((uint32_t)(offsetof(capture_t, ring) + (n) * sizeof(ring_regs__stride20_t) + \
              offsetof(ring_regs__stride20_t, field)))

// A progress entry as the device wrote it.
struct entry {
  uint32_t valid, before, packets;
  unsigned link;
  int closed;
};

enum slot_state { FREE, TAKEN, DONE };

// A block from when it is handed out until it is given back.
struct slot {
  uint32_t delivered;
  uint8_t state;
  uint8_t seen;  // it has an entry
};

struct ring {
  struct emcap* device;
  unsigned number;
  const uint8_t* data;
  const uint64_t* progress;
  struct slot* slots;
  uint32_t next;       // block to hand out next; sequence numbers count from 1
  uint32_t returned;   // blocks given back
  uint32_t accounted;  // packets of blocks given back, lost ones among them, modulo 2^32
  uint32_t lost_limit[EMCAP_MAX_LINKS];  // blocks up to this one that were on that link and are not
                                         // here never will be
  uint32_t settled;                      // blocks up to this one that are not here never will be
  uint32_t start;                        // how often capture was turned on
  uint64_t packets_before;               // handed out or lost in earlier ones
  uint32_t tail_lost;  // packets lost behind the last block that came, once all is settled
  struct emcap_stats stats;
};

struct held {
  uint32_t block, valid, read, put;
  int ended;
};

struct emcap_consumer {
  struct ring* ring;
  struct held held[HELD];  // oldest first; the last one is being read
  unsigned count;
  uint32_t start;
};

struct emcap {
  struct emcap_ops ops;
  struct emcap_config config;
  unsigned links, preferred;
  unsigned function[EMCAP_MAX_LINKS];
  int lost[EMCAP_MAX_LINKS], settled[EMCAP_MAX_LINKS];
  uint64_t link_losses;
  void *data, *progress;
  int started, drained;
  struct ring rings[EMCAP_MAX_RINGS];
};

static int after(uint32_t a, uint32_t b) {
  return (int32_t)(a - b) > 0;
}  // sequence numbers, modulo 2^32

static unsigned log2_of(uint32_t value) {
  unsigned bits = 0;
  while (value >> bits > 1) ++bits;
  return bits;
}

static int power_of_two(uint32_t value, uint32_t low, uint32_t high) {
  return value >= low && value <= high && (value & (value - 1)) == 0;
}

const char* emcap_error(int code) {
  switch (code) {
    case 0:
      return "no error";
    case EMCAP_NO_DEVICE:
      return "no capture device found";
    case EMCAP_BAD_CONFIG:
      return "rings, blocks or block size the device does not take";
    case EMCAP_NO_MEMORY:
      return "no memory for the rings";
    case EMCAP_REFUSED:
      return "refused";
    case EMCAP_NO_LINK:
      return "no link to the device is left";
    default:
      return "unknown error";
  }
}

uint32_t emcap_read(struct emcap* d, uint32_t offset) {
  return d->ops.read32(d->ops.context, d->function[d->preferred], offset);
}

void emcap_write(struct emcap* d, uint32_t offset, uint32_t value) {
  d->ops.write32(d->ops.context, d->function[d->preferred], offset, value);
}

// ---- opening and closing

// Both endpoints of a device have its serial number; each says which link it is.
static int find(struct emcap* d) {
  const struct emcap_ops* ops = &d->ops;
  const unsigned functions = ops->functions(ops->context);
  uint64_t serial = d->config.serial;
  unsigned found = 0;
  for (unsigned f = 0; f < functions; ++f) {
    const uint64_t own = ops->serial(ops->context, f);
    if ((serial != 0 && own != serial) ||
        ops->read32(ops->context, f, DEVICE(magic)) != CAP_REGS__MAGIC__VALUE_reset)
      continue;
    if (ops->read32(ops->context, f, DEVICE(version)) >> 16 != CAP_REGS__VERSION__VALUE_reset >> 16)
      continue;
    const uint32_t link = ops->read32(ops->context, f, DEVICE(link_index));
    const uint32_t links = ops->read32(ops->context, f, DEVICE(links));
    if (links > EMCAP_MAX_LINKS || link >= links || (found >> link & 1)) continue;
    d->function[link] = f;
    d->links = links;
    found |= 1u << link;
    if (own == 0) break;  // without a number nothing says what belongs together
    serial = own;
  }
  for (unsigned l = 0; l < EMCAP_MAX_LINKS; ++l) d->lost[l] = !(found >> l & 1);
  if (found == 0) return EMCAP_NO_DEVICE;
  d->preferred = (found & 1) ? 0 : 1;
  return 0;
}

static int set_up_memory(struct emcap* d) {
  const struct emcap_config* c = &d->config;
  const size_t ring_bytes = (size_t)c->blocks * c->block_bytes;
  const size_t entries = (size_t)c->blocks * CAP_ENTRY_BYTES;
  uint64_t data = 0, progress = 0;
  d->data = d->ops.dma_alloc(d->ops.context, ring_bytes * c->rings, 4096, &data);
  d->progress = d->ops.dma_alloc(d->ops.context, entries * c->rings, 4096, &progress);
  if (!d->data || !d->progress) return EMCAP_NO_MEMORY;
  for (unsigned r = 0; r < c->rings; ++r) {
    struct ring* ring = &d->rings[r];
    ring->device = d;
    ring->number = r;
    ring->data = (const uint8_t*)d->data + r * ring_bytes;
    ring->progress = (const uint64_t*)(const void*)((const uint8_t*)d->progress + r * entries);
    ring->slots = (struct slot*)d->ops.alloc(d->ops.context, c->blocks * sizeof(struct slot));
    ring->next = 1;
    if (!ring->slots) return EMCAP_NO_MEMORY;
  }
  emcap_write(d, DEVICE(base_lo), (uint32_t)data);
  emcap_write(d, DEVICE(base_hi), (uint32_t)(data >> 32));
  emcap_write(d, DEVICE(progress_lo), (uint32_t)progress);
  emcap_write(d, DEVICE(progress_hi), (uint32_t)(progress >> 32));
  return 0;
}

int emcap_open(const struct emcap_ops* ops, const struct emcap_config* config, struct emcap** out) {
  struct emcap* d = (struct emcap*)ops->alloc(ops->context, sizeof *d);
  *out = NULL;
  if (!d) return EMCAP_NO_MEMORY;
  d->ops = *ops;
  d->config = *config;
  int status = find(d);
  if (status == 0) {
    const int good = power_of_two(config->rings, 1, EMCAP_MAX_RINGS) &&
                     config->rings <= emcap_read(d, DEVICE(rings)) &&
                     power_of_two(config->block_bytes, 4096, 1u << 20) &&
                     power_of_two(config->blocks, 2, 1u << 16);
    status = good ? 0 : EMCAP_BAD_CONFIG;
  }
  if (status == 0) {
    emcap_write(d, DEVICE(control), 0);
    status = set_up_memory(d);
  }
  if (status != 0) {
    emcap_close(d);
    return status;
  }
  emcap_write(d, DEVICE(log_block_bytes), log2_of(config->block_bytes));
  emcap_write(d, DEVICE(log_blocks), log2_of(config->blocks));
  emcap_write(d, DEVICE(log_rings), log2_of(config->rings));
  if (config->flush_clocks) emcap_write(d, DEVICE(flush_clocks), config->flush_clocks);
  for (unsigned l = 0; l < d->links; ++l) {
    if (d->lost[l]) continue;
    ops->bus_master(ops->context, d->function[l], 1);
    emcap_write(d, LINK(l, control), CAP_REGS__LINK__CONTROL__ENABLE_bm);
  }
  emcap_read(d, DEVICE(magic));  // a read returns when all writes before it have arrived
  *out = d;
  return 0;
}

void emcap_close(struct emcap* d) {
  if (!d) return;
  const struct emcap_ops ops = d->ops;
  for (unsigned r = 0; r < EMCAP_MAX_RINGS; ++r) ops.free(ops.context, d->rings[r].slots);
  if (d->data) {
    emcap_write(d, DEVICE(control), 0);
    for (unsigned l = 0; l < d->links; ++l) {
      emcap_write(d, LINK(l, control), 0);
      if (!d->lost[l]) ops.bus_master(ops.context, d->function[l], 0);
    }
    ops.dma_free(ops.context, d->data);
  }
  if (d->progress) ops.dma_free(ops.context, d->progress);
  ops.free(ops.context, d);
}

unsigned emcap_links(const struct emcap* d) { return d->links; }

// The device's counts begin anew with each start; so do ours, with all blocks its own again.
static void restart(struct ring* ring) {
  const struct emcap_config* config = &ring->device->config;
  memset((uint8_t*)ring->device->progress + (size_t)ring->number * config->blocks * CAP_ENTRY_BYTES,
         0, (size_t)config->blocks * CAP_ENTRY_BYTES);
  memset(ring->slots, 0, config->blocks * sizeof *ring->slots);
  ring->stats.lost_packets += ring->tail_lost;
  ring->next = 1;
  ring->returned = ring->accounted = ring->settled = ring->tail_lost = 0;
  ring->lost_limit[0] = ring->lost_limit[1] = 0;
  ring->packets_before = ring->stats.packets + ring->stats.lost_packets;
  ++ring->start;
}

// Writes until a read behind it has come back: a lost link that is not known to be one carries
// nothing.
static void write_through(struct emcap* d, uint32_t offset, uint32_t value) {
  for (unsigned l = 0; l < EMCAP_MAX_LINKS; ++l) {
    emcap_write(d, offset, value);
    if (emcap_read(d, DEVICE(magic)) == CAP_REGS__MAGIC__VALUE_reset) return;
    emcap_service(d);
  }
}

void emcap_start(struct emcap* d, int generator) {
  uint32_t control = CAP_REGS__CONTROL__ENABLE_bm;
  for (unsigned r = 0; r < d->config.rings; ++r) restart(&d->rings[r]);
  if (d->config.timestamps) control |= CAP_REGS__CONTROL__TIMESTAMPS_bm;
  if (generator) control |= CAP_REGS__CONTROL__GENERATOR_bm;
  d->started = 1;
  d->drained = 0;
  write_through(d, DEVICE(control), control);
}

void emcap_stop(struct emcap* d) {
  uint32_t control = emcap_read(d, DEVICE(control));
  if (control == ~0u) {
    emcap_service(d);
    control = emcap_read(d, DEVICE(control));
  }
  write_through(d, DEVICE(control), control & ~CAP_REGS__CONTROL__ENABLE_bm);
  d->started = 0;
}

// ---- the frontier

static struct slot* slot_of(const struct ring* ring, uint32_t block) {
  return &ring->slots[(block - 1) & (ring->device->config.blocks - 1)];
}

// The entry of a block, if the device has written one. The halves of an entry come in one write of
// 16 aligned bytes, which hosts do not split; the first half, which says that it is there, is read
// first all the same.
static int load(const struct ring* ring, uint32_t block, struct entry* e) {
  const uint64_t* at =
      ring->progress + 2 * (size_t)((block - 1) & (ring->device->config.blocks - 1));
  uint64_t words[2];
  words[0] = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  words[1] = __atomic_load_n(at + 1, __ATOMIC_RELAXED);
  if (cap_entry_seq(words) != (block & 0x7fffffffu)) return 0;
  e->valid = (uint32_t)cap_entry_bytes(words);
  e->closed = (int)cap_entry_closed(words);
  e->before = (uint32_t)cap_entry_first(words);
  e->packets = (uint32_t)cap_entry_packets(words);
  e->link = (unsigned)cap_entry_link(words) & 1u;
  if (e->valid > ring->device->config.block_bytes) e->valid = 0;
  return 1;
}

// Whether what is missing of a block will never come. A later block that has an entry shows which
// link this one was on: the other, since a link brings its blocks in order. What that link had not
// brought when it was given up is lost.
static int never_comes(const struct ring* ring, uint32_t block) {
  const struct emcap* d = ring->device;
  struct entry later;
  if (!after(block, ring->settled)) return 1;
  if (after(block, ring->lost_limit[0]) && after(block, ring->lost_limit[1])) return 0;
  for (uint32_t b = block + 1; b - ring->returned <= d->config.blocks; ++b) {
    if (load(ring, b, &later)) return !after(block, ring->lost_limit[!later.link]);
  }
  return 0;
}

// Gives blocks back that are done with, in order, and does the sums. Not one that the device still
// fills, if a consumer was detached in the middle of it.
static void retire(struct ring* ring) {
  struct emcap* d = ring->device;
  const uint32_t before = ring->returned;
  for (;;) {
    const uint32_t block = ring->returned + 1;
    struct slot* slot = slot_of(ring, block);
    struct entry e;
    if (slot->state != DONE) break;
    if (slot->seen && load(ring, block, &e)) {
      if (!e.closed && !never_comes(ring, block)) break;
      ring->stats.lost_packets += e.before - ring->accounted;
      ring->accounted = e.before + slot->delivered;
    }
    slot->state = FREE;
    ++ring->returned;
    ++ring->stats.blocks;
  }
  if (ring->returned != before) emcap_write(d, RING(ring->number, returned), ring->returned);
}

static void begin_slot(struct ring* ring, uint32_t block, uint8_t seen, enum slot_state state) {
  struct slot* slot = slot_of(ring, block);
  slot->delivered = 0;
  slot->seen = seen;
  slot->state = (uint8_t)state;
  ++ring->next;
}

static struct held* take_block(struct emcap_consumer* c) {
  struct ring* ring = c->ring;
  struct entry e;
  while (ring->next - ring->returned <= ring->device->config.blocks) {
    const uint32_t block = ring->next;
    if (load(ring, block, &e)) {
      if (c->count == HELD) return NULL;
      struct held* h = &c->held[c->count++];
      memset(h, 0, sizeof *h);
      h->block = block;
      begin_slot(ring, block, 1, TAKEN);
      return h;
    }
    if (!never_comes(ring, block)) return NULL;
    begin_slot(ring, block, 0, DONE);
    ++ring->stats.lost_blocks;
    retire(ring);
  }
  return NULL;
}

// A consumer is through with its oldest block.
static void give_back(struct emcap_consumer* c) {
  while (c->count != 0 && c->held[0].ended && c->held[0].put == c->held[0].read) {
    struct slot* slot = slot_of(c->ring, c->held[0].block);
    slot->state = DONE;
    --c->count;
    memmove(&c->held[0], &c->held[1], c->count * sizeof c->held[0]);
    retire(c->ring);
  }
}

// Looks for more in a block that has been read as far as known; 0 when there is none now.
static int more(struct emcap_consumer* c, struct held* h) {
  struct entry e;
  const int lost =
      never_comes(c->ring, h->block);  // before the entry is read: it is the last one then
  if (!load(c->ring, h->block, &e)) return 0;
  h->valid = e.valid;
  if (h->read < h->valid) return 1;
  if (e.closed || lost) {
    h->ended = 1;
    if (!e.closed) ++c->ring->stats.lost_blocks;
    give_back(c);
  }
  return 0;
}

static const uint8_t* block_data(const struct ring* ring, uint32_t block) {
  const struct emcap_config* config = &ring->device->config;
  return ring->data + (size_t)((block - 1) & (config->blocks - 1)) * config->block_bytes;
}

// The record at `offset`; its size, or 0 when it does not lie within the valid bytes.
static uint32_t parse(const struct ring* ring, uint32_t block, uint32_t offset, uint32_t valid,
                      struct emcap_packet* p) {
  const uint8_t* at = block_data(ring, block) + offset;
  uint64_t header;
  if (valid - offset < CAP_RECORD_BYTES) return 0;
  memcpy(&header, at, sizeof header);
  const int stamped = (int)cap_record_stamped(header);
  const uint32_t stored = (uint32_t)cap_record_stored(header);
  const uint32_t start = stamped ? CAP_RECORD_BYTES + StampBytes : CAP_RECORD_BYTES;
  const uint32_t size = start + ((stored + 7u) & ~7u);
  if (stored == 0 || size > valid - offset) return 0;
  p->data = at + start;
  p->stored = stored;
  p->length = (uint32_t)cap_record_bytes(header);
  p->hash = (uint32_t)cap_record_hash(header);
  p->block = block;
  p->time_ns = 0;
  if (stamped) memcpy(&p->time_ns, at + CAP_RECORD_BYTES, sizeof p->time_ns);
  return size;
}

// Blocks held from before the latest start are none any more.
static void catch_up(struct emcap_consumer* c) {
  if (c->start != c->ring->start) c->count = 0;
  c->start = c->ring->start;
}

unsigned emcap_get_burst(struct emcap_consumer* c, struct emcap_packet* packets, unsigned most) {
  struct ring* ring = c->ring;
  unsigned n = 0;
  catch_up(c);
  while (n < most) {
    struct held* h = c->count ? &c->held[c->count - 1] : NULL;
    if ((!h || h->ended) && !(h = take_block(c))) break;
    if (h->read == h->valid && !more(c, h)) {
      if (c->count != 0 && !c->held[c->count - 1].ended) break;
      continue;  // that block has come to its end
    }
    const uint32_t size = parse(ring, h->block, h->read, h->valid, &packets[n]);
    if (size == 0) {
      ++ring->stats.damaged;
      h->ended = 1;
      give_back(c);
      continue;
    }
    h->read += size;
    ++slot_of(ring, h->block)->delivered;
    ++ring->stats.packets;
    ring->stats.bytes += packets[n].stored;
    ++n;
  }
  return n;
}

int emcap_put_burst(struct emcap_consumer* c, const struct emcap_packet* packets, unsigned count) {
  struct emcap_packet own;
  unsigned at = 0;
  catch_up(c);
  uint32_t offset = c->count ? c->held[0].put : 0;
  // First all are looked at, then all are taken.
  for (unsigned i = 0; i < count; ++i) {
    while (at < c->count && offset == c->held[at].read) {
      if (++at < c->count) offset = 0;
    }
    const uint32_t size =
        at < c->count ? parse(c->ring, c->held[at].block, offset, c->held[at].read, &own) : 0;
    if (size == 0 || packets[i].data != own.data) {
      ++c->ring->stats.bad_puts;
      return EMCAP_REFUSED;
    }
    offset += size;
  }
  for (unsigned i = 0; i < at && i < c->count; ++i) c->held[i].put = c->held[i].read;
  if (at < c->count) c->held[at].put = offset;
  give_back(c);
  return 0;
}

struct emcap_consumer* emcap_attach(struct emcap* d, unsigned ring) {
  if (ring >= d->config.rings) return NULL;
  struct emcap_consumer* c = (struct emcap_consumer*)d->ops.alloc(d->ops.context, sizeof *c);
  if (c) c->ring = &d->rings[ring];
  return c;
}

// What the consumer still holds goes back unread.
void emcap_detach(struct emcap_consumer* c) {
  if (!c) return;
  const struct emcap_ops* ops = &c->ring->device->ops;
  if (c->start != c->ring->start) c->count = 0;
  for (unsigned i = 0; i < c->count; ++i) slot_of(c->ring, c->held[i].block)->state = DONE;
  if (c->count) retire(c->ring);
  ops->free(ops->context, c);
}

// ---- links

static uint32_t link_status(struct emcap* d, unsigned link) {
  return emcap_read(d, LINK(link, status));
}

// Nothing that the link was given will come any more: it is down, or the device has emptied it and
// a read over it, which no earlier write is behind of, has come back. Then blocks opened until now
// that are not here and were its are lost.
static void settle_link(struct emcap* d, unsigned link) {
  const uint32_t status = link_status(d, link);
  if (status == ~0u) return;
  if (status & CAP_REGS__LINK__STATUS__UP_bm) {
    if (!(status & CAP_REGS__LINK__STATUS__IDLE_bm)) return;
    if (d->ops.read32(d->ops.context, d->function[link], DEVICE(magic)) !=
        CAP_REGS__MAGIC__VALUE_reset)
      return;
  }
  for (unsigned r = 0; r < d->config.rings; ++r) {
    const uint32_t opened = emcap_read(d, RING(r, opened));
    d->rings[r].lost_limit[link] = opened;
  }
  d->settled[link] = 1;
}

// Whether links that are lost are settled and the others idle, with all they wrote in memory.
static int links_idle(struct emcap* d) {
  for (unsigned l = 0; l < d->links; ++l) {
    if (d->lost[l] ? !d->settled[l]
                   : !(d->ops.read32(d->ops.context, d->function[l], LINK(l, status)) &
                       CAP_REGS__LINK__STATUS__IDLE_bm))
      return 0;
  }
  return 1;
}

// With all remaining links idle, nothing that was closed before is still to come.
static void settle_rings(struct emcap* d) {
  uint32_t closed[EMCAP_MAX_RINGS];
  for (unsigned r = 0; r < d->config.rings; ++r) closed[r] = emcap_read(d, RING(r, closed));
  if (!links_idle(d)) return;
  for (unsigned r = 0; r < d->config.rings; ++r) d->rings[r].settled = closed[r];
}

int emcap_link_disable(struct emcap* d, unsigned link) {
  if (link >= d->links || d->lost[link]) return EMCAP_REFUSED;
  if (d->links < 2 || d->lost[!link]) return EMCAP_NO_LINK;
  d->lost[link] = 1;
  d->settled[link] = 0;
  d->preferred = !link;
  ++d->link_losses;
  emcap_write(d, LINK(link, control), 0);
  // Counts written over the lost link may not have arrived.
  for (unsigned r = 0; r < d->config.rings; ++r)
    emcap_write(d, RING(r, returned), d->rings[r].returned);
  settle_link(d, link);
  return 0;
}

int emcap_service(struct emcap* d) {
  int news = 0, any = 0;
  for (unsigned l = 0; l < d->links; ++l) {
    if (!d->lost[l] && d->links > 1 && !d->lost[!l]) {
      const uint32_t magic = d->ops.read32(d->ops.context, d->function[l], DEVICE(magic));
      if (magic != CAP_REGS__MAGIC__VALUE_reset && emcap_link_disable(d, l) == 0) news = 1;
    }
    if (d->lost[l] && !d->settled[l]) settle_link(d, l);
    any |= d->lost[l] && d->settled[l];
  }
  if (any) settle_rings(d);
  return news;
}

int emcap_link_restore(struct emcap* d, unsigned link) {
  if (link >= d->links || !d->lost[link]) return EMCAP_REFUSED;
  if (!d->settled[link]) settle_link(d, link);
  if (!d->settled[link]) return EMCAP_REFUSED;
  if (d->ops.read32(d->ops.context, d->function[link], DEVICE(magic)) !=
      CAP_REGS__MAGIC__VALUE_reset)
    return EMCAP_REFUSED;
  if (!(link_status(d, link) & CAP_REGS__LINK__STATUS__IDLE_bm)) return EMCAP_REFUSED;
  // Blocks the link is given from now on come after these.
  for (unsigned r = 0; r < d->config.rings; ++r) {
    const uint32_t opened = emcap_read(d, RING(r, opened));
    d->rings[r].lost_limit[link] = opened;
  }
  d->ops.bus_master(d->ops.context, d->function[link], 1);
  d->lost[link] = 0;
  emcap_write(d, LINK(link, control), CAP_REGS__LINK__CONTROL__ENABLE_bm);
  return 0;
}

int emcap_link_lost(const struct emcap* d, unsigned link) {
  return link >= d->links || d->lost[link];
}

// ---- numbers

void emcap_get_stats(const struct emcap* d, struct emcap_stats* s) {
  memset(s, 0, sizeof *s);
  s->link_losses = d->link_losses;
  for (unsigned r = 0; r < d->config.rings; ++r) {
    const struct ring* ring = &d->rings[r];
    s->packets += ring->stats.packets;
    s->bytes += ring->stats.bytes;
    s->blocks += ring->stats.blocks;
    s->lost_blocks += ring->stats.lost_blocks;
    s->lost_packets += ring->stats.lost_packets + ring->tail_lost;
    s->bad_puts += ring->stats.bad_puts;
    s->damaged += ring->stats.damaged;
  }
}

int emcap_drained(struct emcap* d) {
  if (d->started) return 0;
  if (d->drained) return 1;
  uint32_t opened[EMCAP_MAX_RINGS], packets[EMCAP_MAX_RINGS];
  const uint32_t captured = emcap_read(d, DEVICE(captured));
  for (unsigned r = 0; r < d->config.rings; ++r) {
    opened[r] = emcap_read(d, RING(r, opened));
    packets[r] = emcap_read(d, RING(r, packets));
  }
  settle_rings(d);
  if (!links_idle(d)) return 0;
  // A packet that has come since the first look may have a block of its own, written by now.
  if (emcap_read(d, DEVICE(captured)) != captured) return 0;
  for (unsigned r = 0; r < d->config.rings; ++r) {
    struct ring* ring = &d->rings[r];
    struct entry e;
    const uint32_t last = ring->next - 1;
    if (last != opened[r] || last - ring->returned > 1) return 0;
    // The last block may be open, with all there is in it handed out.
    if (last != ring->returned && load(ring, last, &e) &&
        slot_of(ring, last)->delivered != e.packets)
      return 0;
  }
  // All blocks have been handed out and all links are empty: what is missing now is lost.
  for (unsigned r = 0; r < d->config.rings; ++r) {
    struct ring* ring = &d->rings[r];
    ring->tail_lost = packets[r] - (uint32_t)(ring->stats.packets + ring->stats.lost_packets -
                                              ring->packets_before);
  }
  d->drained = 1;
  return 1;
}

unsigned emcap_fill(const struct emcap* d, unsigned ring) {
  const struct ring* r = &d->rings[ring];
  return r->next - 1 - r->returned;
}

uint64_t emcap_waiting(const struct emcap* d) {
  uint64_t sum = 0;
  struct entry e;
  for (unsigned i = 0; i < d->config.rings; ++i) {
    const struct ring* r = &d->rings[i];
    for (uint32_t b = r->returned + 1; b - r->returned <= d->config.blocks; ++b) {
      const uint32_t taken = after(r->next, b) ? slot_of(r, b)->delivered : 0;
      if (load(r, b, &e)) sum += e.packets - taken;
    }
  }
  return sum;
}

void emcap_get_counters(struct emcap* d, struct emcap_counters* c) {
  c->captured = emcap_read(d, DEVICE(captured));
  c->ring_full = emcap_read(d, DEVICE(ring_full));
  c->too_long = emcap_read(d, DEVICE(too_long));
  c->filtered = emcap_read(d, DEVICE(filtered));
  c->bad_returns = emcap_read(d, DEVICE(bad_returns));
  c->rx_frames = emcap_read(d, DEVICE(rx_frames));
  c->rx_bad_fcs = emcap_read(d, DEVICE(rx_bad_fcs));
  c->rx_runt = emcap_read(d, DEVICE(rx_runt));
  c->rx_oversize = emcap_read(d, DEVICE(rx_oversize));
  c->rx_fifo_full = emcap_read(d, DEVICE(rx_fifo_full));
  c->rx_buffer_full = emcap_read(d, DEVICE(rx_buffer_full));
  c->generated = emcap_read(d, DEVICE(gen_sent));
  for (unsigned l = 0; l < EMCAP_MAX_LINKS; ++l) {
    c->link_blocks[l] = l < d->links ? emcap_read(d, LINK(l, opened)) : 0;
    c->link_entries[l] = l < d->links ? emcap_read(d, LINK(l, entries)) : 0;
  }
}
