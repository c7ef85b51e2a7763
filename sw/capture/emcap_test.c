// SPDX-License-Identifier: Apache-2.0
// Test of the capture library against a device in 150 lines of C: rings filled over two links that
// bring their writes in order, each in its own time; links that die and come back; consumers that
// take and put at random, some of them wrongly. Every packet must be handed out once, whole and in
// the order of its ring, or be counted as lost.
#include "emcap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"

enum { RINGS = 4, BLOCKS = 8, BLOCK = 4096, QUEUE = 1 << 16, WRITE = 512 };

static uint64_t state = 88172645463325252ull;
static uint32_t below(uint32_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 20) % n;
}

static long failed;
#define CHECK(what)                                                                      \
  do {                                                                                   \
    if (!(what) && failed++ < 10) printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #what); \
  } while (0)

// ---- the device

struct write {
  uint8_t* to;
  uint32_t bytes;
  uint8_t data[WRITE];
};

struct link {
  struct write* queue;
  uint32_t head, tail;
  int up, master, enabled;
};

struct dev_ring {
  uint32_t opened, closed, returned, packets, before, in_block, fill;
  int open;
  unsigned link;
};

static struct link links[2];
static struct dev_ring dev[RINGS];
static uint8_t* memory[2];
static long allocated;  // by alloc(), and not given back
static uint64_t bus[2];
static uint32_t control, bad_returns;

static void send(unsigned l, uint8_t* to, const void* from, uint32_t bytes) {
  struct link* link = &links[l];
  struct write* w = &link->queue[link->tail++ % QUEUE];
  w->to = to;
  w->bytes = bytes;
  memcpy(w->data, from, bytes);
}

static void land(unsigned l) {
  struct link* link = &links[l];
  if (!link->up || link->head == link->tail) return;
  struct write* w = &link->queue[link->head++ % QUEUE];
  memcpy(w->to, w->data, w->bytes);
}

static int in_use(unsigned l) { return links[l].up && links[l].master && links[l].enabled; }

static uint8_t* block_at(unsigned r, uint32_t seq) {
  return memory[0] + ((size_t)r * BLOCKS + (seq - 1) % BLOCKS) * BLOCK;
}

static void entry(unsigned r, int closed) {
  struct dev_ring* d = &dev[r];
  const uint32_t words[4] = {d->fill, d->opened | (uint32_t)closed << 31, d->before,
                             d->in_block | d->link << 24};
  send(d->link, memory[1] + ((size_t)r * BLOCKS + (d->opened - 1) % BLOCKS) * 16, words, 16);
}

static void close_block(unsigned r, int tell) {
  if (!dev[r].open) return;
  if (tell) entry(r, 1);
  dev[r].open = 0;
  ++dev[r].closed;
}

static void give_up(unsigned l) {
  links[l].head = links[l].tail;
  for (unsigned r = 0; r < RINGS; ++r) {
    if (dev[r].open && dev[r].link == l) close_block(r, 0);
  }
}

// Packet n of a ring: its number, and bytes that follow from it.
static void capture_one(unsigned r) {
  struct dev_ring* d = &dev[r];
  uint8_t record[WRITE];
  const uint32_t stored = 8 + below(WRITE - 32), size = 8 + ((stored + 7) & ~7u);
  if (!(control & 1) || !(in_use(0) || in_use(1))) return;
  if (d->open && d->fill + size > BLOCK) close_block(r, 1);
  if (!d->open) {
    if (d->opened - d->returned == BLOCKS) return;
    d->link = in_use(0) && in_use(1) ? below(2) : !in_use(0);
    ++d->opened;
    d->before = d->packets;
    d->open = 1;
    d->fill = d->in_block = 0;
  }
  memset(record, (int)(d->packets * 7 + r), sizeof record);
  const uint64_t header = stored | stored << 16 | (uint64_t)r << 40;
  memcpy(record, &header, 8);
  memcpy(record + 8, &d->packets, 4);
  send(d->link, block_at(r, d->opened) + d->fill, record, size);
  d->fill += size;
  ++d->in_block;
  ++d->packets;
  if (below(4) == 0) entry(r, 0);
  if (below(100) == 0) close_block(r, 1);
}

// ---- what the library sees of it

static unsigned functions(void* c) { return (void)c, 4; }
static uint64_t serial(void* c, unsigned f) {
  return (void)c, f == 0 ? 77 : f == 2 ? 5 : 1234;
}  // 1 and 3 are ours

static unsigned late_after;  // so many reads later a packet comes that was under way at the stop
static void late_packet(void) {
  const unsigned r = below(RINGS);
  control |= 1;
  close_block(r, 1);
  capture_one(r);
  if (dev[r].open) entry(r, 0);
  control &= ~1u;
}

static uint32_t read32(void* c, unsigned f, uint32_t at) {
  (void)c;
  const unsigned l = f == 3;
  if ((f != 1 && f != 3) || !links[l].up) return ~0u;
  if (late_after && --late_after == 0) late_packet();
  while (links[l].head != links[l].tail) land(l);  // a completion does not pass writes
  if (at == offsetof(cap_regs_t, magic)) return CAP_REGS__MAGIC__VALUE_reset;
  if (at == offsetof(cap_regs_t, version)) return CAP_REGS__VERSION__VALUE_reset;
  if (at == offsetof(cap_regs_t, links)) return 2;
  if (at == offsetof(cap_regs_t, rings)) return RINGS;
  if (at == offsetof(cap_regs_t, link_index)) return l;
  if (at == offsetof(cap_regs_t, control)) return control;
  if (at == offsetof(cap_regs_t, captured)) {
    uint32_t captured = 0;
    for (unsigned r = 0; r < RINGS; ++r) captured += dev[r].packets;
    return captured;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (at == offsetof(cap_regs_t, link) + i * sizeof(cap_regs__link_t) +
                  offsetof(cap_regs__link_t, status)) {
      return (links[i].up && links[i].master ? CAP_REGS__LINK__STATUS__UP_bm : 0u) |
             (links[i].head == links[i].tail ? CAP_REGS__LINK__STATUS__IDLE_bm : 0u);
    }
  }
  for (unsigned r = 0; r < RINGS; ++r) {
    const uint32_t base = (uint32_t)(offsetof(capture_t, ring) + r * sizeof(ring_regs__stride20_t));
    if (at == base + offsetof(ring_regs__stride20_t, opened)) return dev[r].opened;
    if (at == base + offsetof(ring_regs__stride20_t, closed)) return dev[r].closed;
    if (at == base + offsetof(ring_regs__stride20_t, packets)) return dev[r].packets;
  }
  return 0;
}

static void write32(void* c, unsigned f, uint32_t at, uint32_t value) {
  (void)c;
  if (!links[f == 3].up) return;
  if (at == offsetof(cap_regs_t, control)) control = value;
  for (unsigned i = 0; i < 2; ++i) {
    if (at != offsetof(cap_regs_t, link) + i * sizeof(cap_regs__link_t)) continue;
    if (links[i].enabled && !(value & 1)) give_up(i);
    links[i].enabled = value & 1;
  }
  for (unsigned r = 0; r < RINGS; ++r) {
    const uint32_t base = (uint32_t)(offsetof(capture_t, ring) + r * sizeof(ring_regs__stride20_t));
    if (at != base) continue;
    if (value - dev[r].returned <= dev[r].closed - dev[r].returned) {
      dev[r].returned = value;
    } else {
      ++bad_returns;
    }
  }
}

static void bus_master(void* c, unsigned f, int on) { (void)c, links[f == 3].master = on; }

static void* dma_alloc(void* c, size_t bytes, size_t align, uint64_t* address) {
  static unsigned count;
  (void)c, (void)align;
  memory[count % 2] = (uint8_t*)calloc(1, bytes);
  *address = bus[count % 2] = 0x1000000ull * (count % 2 + 1);
  return memory[count++ % 2];
}
static void* alloc(void* c, size_t bytes) {
  (void)c, ++allocated;
  return calloc(1, bytes);
}
static void release(void* c, void* at) {
  (void)c, allocated -= at != NULL;
  free(at);
}
static void dma_free(void* c, void* at) { (void)c, free(at); }

static const struct emcap_ops machine = {.functions = functions,
                                         .serial = serial,
                                         .read32 = read32,
                                         .write32 = write32,
                                         .bus_master = bus_master,
                                         .alloc = alloc,
                                         .free = release,
                                         .dma_alloc = dma_alloc,
                                         .dma_free = dma_free};

static void link_down(unsigned l) {
  links[l].up = links[l].master = 0;
  // Some of what is under way still arrives.
  links[l].up = 1;
  for (uint32_t n = below(20); n; --n) land(l);
  links[l].up = 0;
  give_up(l);
}

// ---- the test

static void run(uint64_t seed, int faults, unsigned sharing) {
  state = seed * 0x9e3779b97f4a7c15ull + 1;
  memset(dev, 0, sizeof dev);
  bad_returns = 0;
  for (unsigned l = 0; l < 2; ++l) links[l].up = 1, links[l].head = links[l].tail = 0;
  const struct emcap_config config = {RINGS, BLOCK, BLOCKS, 0, 0, 1234};
  struct emcap* device;
  CHECK(emcap_open(&machine, &config, &device) == 0 && emcap_links(device) == 2);
  emcap_start(device, 0);
  struct emcap_consumer* consumer[RINGS][2] = {{NULL}};
  struct emcap_packet held[RINGS][2][64];
  unsigned count[RINGS][2] = {{0}};
  uint32_t seen[RINGS] = {0}, last[RINGS] = {0};
  static uint8_t got[RINGS][1 << 20];
  memset(got, 0, sizeof got);
  for (unsigned r = 0; r < RINGS; ++r) {
    for (unsigned i = 0; i < sharing; ++i) consumer[r][i] = emcap_attach(device, r);
  }
  uint32_t refused = 0;
  const unsigned steps = 60000;
  for (unsigned step = 0; step < 2 * steps; ++step) {
    if (step < steps) capture_one(below(RINGS));
    if (step == steps) {
      emcap_stop(device);
      for (unsigned r = 0; r < RINGS; ++r) {
        if (dev[r].open) entry(r, 0);  // the flush
      }
    }
    if (below(3)) land(0);
    if (below(3)) land(1);
    if (below(2)) land(below(2));
    if (faults && step < steps && below(3000) == 0) {
      const unsigned l = below(2);
      if (links[0].up && links[1].up && !emcap_link_lost(device, !l)) link_down(l);
    }
    if (faults && below(2000) == 0) {
      for (unsigned l = 0; l < 2; ++l) {
        if (!links[l].up) {
          links[l].up = 1;
          if (!emcap_link_lost(device, l)) CHECK(emcap_link_disable(device, l) == 0);
        }
        if (emcap_link_lost(device, l)) CHECK(emcap_link_restore(device, l) == 0);
      }
    }
    if (faults && below(50) == 0) emcap_service(device);
    const unsigned r = below(RINGS), i = below(sharing);
    struct emcap_packet* mine = held[r][i];
    if (below(2) && count[r][i] == 0) {
      count[r][i] = emcap_get_burst(consumer[r][i], mine, 1 + below(64));
      for (unsigned n = 0; n < count[r][i]; ++n) {
        uint32_t number;
        memcpy(&number, mine[n].data, 4);
        int whole = number < dev[r].packets && got[r][number & 0xfffff]++ == 0;
        for (uint32_t b = 4; b < mine[n].stored; ++b)
          whole &= mine[n].data[b] == (uint8_t)(number * 7 + r);
        CHECK(whole);
        CHECK(sharing > 1 || seen[r] == 0 || number > last[r]);
        last[r] = number;
        ++seen[r];
      }
    } else if (count[r][i]) {
      if (count[r][i] > 1 && below(20) == 0) {
        CHECK(emcap_put_burst(consumer[r][i], mine + 1, 1) == EMCAP_REFUSED);
        ++refused;
      }
      CHECK(emcap_put_burst(consumer[r][i], mine, count[r][i]) == 0);
      count[r][i] = 0;
    }
  }
  for (unsigned r = 0; r < RINGS; ++r) {
    for (unsigned i = 0; i < sharing; ++i)
      CHECK(count[r][i] == 0 || emcap_put_burst(consumer[r][i], held[r][i], count[r][i]) == 0);
  }
  CHECK(emcap_drained(device));
  struct emcap_stats stats;
  emcap_get_stats(device, &stats);
  uint64_t packed = 0, delivered = 0;
  for (unsigned r = 0; r < RINGS; ++r) packed += dev[r].packets, delivered += seen[r];
  CHECK(packed > 1000 && stats.packets == delivered);
  CHECK(stats.lost_packets == packed - delivered);
  CHECK(faults ? stats.lost_packets > 0 && stats.link_losses > 0
               : stats.lost_packets == 0 && stats.lost_blocks == 0);
  CHECK(stats.bad_puts == refused && refused > 0 && stats.damaged == 0 && bad_returns == 0);
  CHECK(emcap_waiting(device) == 0);
  for (unsigned r = 0; r < RINGS; ++r) {
    for (unsigned i = 0; i < sharing; ++i) emcap_detach(consumer[r][i]);
  }
  emcap_close(device);
}

// A packet that is still under way when capture is turned off comes between any two reads: it is
// handed out before the device counts as drained.
static void run_late(unsigned after) {
  memset(dev, 0, sizeof dev);
  for (unsigned l = 0; l < 2; ++l) links[l].head = links[l].tail = 0;
  const struct emcap_config config = {RINGS, BLOCK, BLOCKS, 0, 0, 1234};
  struct emcap* device;
  CHECK(emcap_open(&machine, &config, &device) == 0);
  emcap_start(device, 0);
  for (unsigned n = 0; n < 20; ++n) capture_one(below(RINGS));
  emcap_stop(device);
  struct emcap_consumer* consumer[RINGS];
  for (unsigned r = 0; r < RINGS; ++r) {
    if (dev[r].open) entry(r, 0);
    consumer[r] = emcap_attach(device, r);
  }
  unsigned seen = 0, turns = 0;
  late_after = after;
  do {
    for (unsigned l = 0; l < 2; ++l) {
      while (turns == 0 && links[l].head != links[l].tail) land(l);
    }
    for (unsigned r = 0; r < RINGS; ++r) {
      struct emcap_packet packets[64];
      const unsigned count = emcap_get_burst(consumer[r], packets, 64);
      CHECK(emcap_put_burst(consumer[r], packets, count) == 0);
      seen += count;
    }
  } while (!emcap_drained(device) && ++turns < 100);
  uint32_t packed = 0;
  for (unsigned r = 0; r < RINGS; ++r) packed += dev[r].packets;
  struct emcap_stats stats;
  emcap_get_stats(device, &stats);
  CHECK(turns < 100 && stats.lost_packets == 0);
  CHECK(seen == packed && packed == 20 + (late_after == 0));
  late_after = 0;
  for (unsigned r = 0; r < RINGS; ++r) emcap_detach(consumer[r]);
  emcap_close(device);
}

int main(void) {
  for (unsigned l = 0; l < 2; ++l)
    links[l].queue = (struct write*)calloc(QUEUE, sizeof(struct write));
  for (uint64_t seed = 1; seed <= 8; ++seed) run(seed, seed % 2 == 0, 1 + (unsigned)(seed / 2 % 2));
  for (unsigned seed = 1; seed <= 50; ++seed) {
    for (unsigned after = 1; after <= 30; ++after) run_late(after);
  }
  struct emcap_config config = {RINGS, BLOCK, BLOCKS, 0, 0, 4321};
  struct emcap* device;
  CHECK(emcap_open(&machine, &config, &device) == EMCAP_NO_DEVICE);
  config.serial = 0, config.rings = 3;
  CHECK(emcap_open(&machine, &config, &device) == EMCAP_BAD_CONFIG);
  config.rings = 2, config.block_bytes = 5000;
  CHECK(emcap_open(&machine, &config, &device) == EMCAP_BAD_CONFIG);
  for (unsigned l = 0; l < 2; ++l) free(links[l].queue);
  CHECK(allocated == 0);
  printf("%s\n", failed ? "FAIL" : "PASS");
  return failed != 0;
}
