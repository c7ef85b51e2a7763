// SPDX-License-Identifier: Apache-2.0
// Counters, levels and settings.
#include "device.h"

enum group { DEVICE, INTERFACE, PORT };

#define PLACE_DEVICE(name) DEVICE_REG(name)
#define PLACE_INTERFACE(name) INTERFACE_REG(name)
#define PLACE_PORT(name) PORT_REG(name)
#define PLACE(group, name) {#name, PLACE_##group(name), group},
static const struct {
  const char* name;
  uint32_t offset;
  enum group group;
} counters[] = {EMNIC_COUNTERS(PLACE) EMNIC_LEVELS(PLACE)};

const char* emnic_counter_name(enum emnic_counter counter, char* of) {
  if ((unsigned)counter >= EMNIC_LEVELS_END) return NULL;
  if (of) *of = "dip"[counters[counter].group];
  return counters[counter].name;
}

// ---- what goes on over a reset

static size_t tallies_of(const struct emnic_interface* is) {
  return (size_t)EMNIC_TX_QUEUE_COUNTS * is->tx_queues + (size_t)EMNIC_RX_QUEUE_COUNTS * is->rx_queues +
         (size_t)PORT_TALLIES * is->ports;
}

int get_tallies(struct emnic* d) {
  d->tallies = TALLIES;
  for (unsigned i = 0; i < d->interfaces; ++i) d->tallies += tallies_of(&d->interface[i].is);
  d->tally = (struct tally*)own_get(d, d->tallies * sizeof *d->tally);
  if (!d->tally) return EMNIC_NO_MEMORY;
  struct tally* next = d->tally + TALLIES;
  for (unsigned i = 0; i < d->interfaces; ++i) {
    struct interface* at = &d->interface[i];
    at->queue_tally[1] = next;
    at->queue_tally[0] = next + (size_t)EMNIC_TX_QUEUE_COUNTS * at->is.tx_queues;
    next += tallies_of(&at->is);
    at->port_tally = next - (size_t)PORT_TALLIES * at->is.ports;
  }
  return 0;
}

void forget_last_counts(struct emnic* d) {
  for (size_t n = 0; n < d->tallies; ++n) d->tally[n].last = 0;
}

static uint64_t add_up(struct tally* t, uint64_t now) {
  t->sum += now - t->last;
  t->last = now;
  return t->sum;
}

// ---- of the device

uint64_t emnic_get_counter(struct emnic* d, enum emnic_counter counter, unsigned i, unsigned p) {
  if ((unsigned)counter >= EMNIC_LEVELS_END) return 0;
  const enum group group = counters[counter].group;
  if (group == DEVICE) i = 0;
  if (group != PORT) p = 0;
  if (i >= d->interfaces || p >= d->interface[i].is.ports) return 0;
  uint32_t base = 0;
  if (group == INTERFACE) base = d->interface[i].is.registers;
  if (group == PORT) base = port_regs(d, i, p);
  const uint32_t now = reg_read(d, base + counters[counter].offset);
  if (counter >= EMNIC_COUNTERS_END) return now == GONE ? 0 : now;
  struct tally* t = &d->tally[((unsigned)counter * EMNIC_MAX_INTERFACES + i) * EMNIC_MAX_PORTS + p];
  if (now == GONE) return t->sum;
  return add_up(t, t->last + (uint32_t)(now - (uint32_t)t->last));
}

// ---- of queues

static_assert(sizeof(struct emnic_queue_counts) == EMNIC_RX_QUEUE_COUNTS * sizeof(uint64_t),
              "a name for each");
const char* emnic_queue_count_name(unsigned which) {
  static const char* const names[] = {"packets", "bytes", "errors", "drops"};
  return which < EMNIC_RX_QUEUE_COUNTS ? names[which] : NULL;
}

// The counters of a row, in the order of the registers: of their words those that are not 0.
static int read_row(struct emnic* d, uint32_t stat, unsigned row, uint64_t counts[4]) {
  reg_write(d, stat + STAT_REG(select), row);
  const uint32_t nonzero = reg_read(d, stat + STAT_REG(nonzero));
  if (nonzero == GONE) return EMNIC_NO_DEVICE;
  zero(counts, 4 * sizeof *counts);
  for (unsigned word = 0; word < 8; ++word)
    if (nonzero >> word & 1)
      counts[word / 2] |= (uint64_t)reg_read(d, stat + STAT_REG(packets_lo) + 4 * word)
                          << (word % 2 * 32);
  return 0;
}

int emnic_get_queue_counts(struct emnic* d, unsigned i, int transmit, unsigned queue,
                           struct emnic_queue_counts* out) {
  if (i >= d->interfaces) return EMNIC_NOT_FOUND;
  struct interface* at = &d->interface[i];
  if (queue >= (transmit ? at->is.tx_queues : at->is.rx_queues)) return EMNIC_NOT_FOUND;
  uint32_t* stat = transmit ? &at->tx_stat : &at->rx_stat;
  if (*stat == 0) {
    const uint32_t offset =
        interface_read(d, i, transmit ? INTERFACE_REG(tx_stat_offset) : INTERFACE_REG(rx_stat_offset));
    if (offset == GONE) return EMNIC_NO_DEVICE;
    if (offset == 0) return EMNIC_UNSUPPORTED;
    *stat = at->is.registers + offset;
  }
  uint64_t counts[4];
  const int status = read_row(d, *stat, queue, counts);
  if (status != 0) return status;
  const unsigned each = transmit ? EMNIC_TX_QUEUE_COUNTS : EMNIC_RX_QUEUE_COUNTS;
  struct tally* t = at->queue_tally[transmit != 0] + (size_t)each * queue;
  for (unsigned n = 0; n < each; ++n) counts[n] = add_up(&t[n], counts[n]);
  *out = (struct emnic_queue_counts){counts[0], counts[1], counts[2], counts[3]};
  return 0;
}

// ---- ports

#define PORT_COUNT_NAME(field, name) name,
static const char* const port_count_names[] = {EMNIC_PORT_COUNTS(PORT_COUNT_NAME)};
static_assert(sizeof(struct emnic_port_counts) ==
                  sizeof port_count_names / sizeof *port_count_names * sizeof(uint64_t),
              "a name for each");
const char* emnic_port_count_name(unsigned which) {
  return which < EMNIC_PORT_COUNTS_END ? port_count_names[which] : NULL;
}

static const uint16_t size_from[EMNIC_PORT_SIZES] = {64, 65, 128, 256, 512, 1024, 1519};
unsigned emnic_port_size_from(unsigned which) {
  return which < EMNIC_PORT_SIZES ? size_from[which] : 0;
}

// Bad ones below 64 bytes have the place 0, as have those lost for the first reason.
static void add_row(struct emnic_port_counts* c, unsigned row, const uint64_t counts[4]) {
  const unsigned place = row % 8;
  const uint64_t frames = counts[0];
  switch (row / 8) {
    case ClassLost:
      if (place == LostCrossing) c->lost_crossing = frames;
      if (place == LostBuffer) c->lost_buffer = frames;
      if (place == LostHook) c->lost_hook = frames;
      return;
    case ClassLength:
      *(place == 0 ? &c->undersize : &c->oversize) += frames;
      c->bad_bytes += counts[1];
      return;
    case ClassFcs:
      *(place == 0 ? &c->fragments : &c->crc_errors) += frames;
      c->bad_bytes += counts[1];
      break;
    default:
      c->packets += frames;
      c->bytes += counts[1];
      break;
  }
  if (row / 8 == ClassMulticast) c->multicast += frames;
  if (row / 8 == ClassBroadcast) c->broadcast += frames;
  if (row / 8 == ClassPause) c->pause += frames;
  if (row / 8 == ClassPfc) c->pfc += frames;
  if (place != 0) (&c->size_64)[place - 1] += frames;
}

int emnic_get_port_counts(struct emnic* d, unsigned i, int transmit, unsigned p,
                          struct emnic_port_counts* out) {
  if (i >= d->interfaces || p >= d->interface[i].is.ports) return EMNIC_NOT_FOUND;
  const uint32_t offset = interface_read(
      d, i, transmit ? INTERFACE_REG(port_tx_stat_offset) : INTERFACE_REG(port_rx_stat_offset));
  const uint32_t stride = interface_read(d, i, INTERFACE_REG(port_stat_stride));
  if (stride == GONE) return EMNIC_NO_DEVICE;
  if (offset == 0) return EMNIC_UNSUPPORTED;
  const uint32_t stat = d->interface[i].is.registers + offset + p * stride;
  const uint32_t low = reg_read(d, stat + STAT_REG(busy_lo));
  const uint32_t high = reg_read(d, stat + STAT_REG(busy_hi));
  struct emnic_port_counts sums;
  zero(&sums, sizeof sums);
  for (unsigned row = 0; row < 64; ++row) {
    uint64_t counts[4];
    if (!((row < 32 ? low : high) >> row % 32 & 1)) continue;
    const int status = read_row(d, stat, row, counts);
    if (status != 0) return status;
    add_row(&sums, row, counts);
  }
  struct tally* t = d->interface[i].port_tally +
                    (size_t)(2 * p + (transmit != 0)) * EMNIC_PORT_COUNTS_END;
  uint64_t* counts = &sums.packets;  // the first
  for (unsigned n = 0; n < EMNIC_PORT_COUNTS_END; ++n) counts[n] = add_up(&t[n], counts[n]);
  *out = sums;
  return 0;
}

int emnic_set_interrupt_interval(struct emnic* d, unsigned vector, unsigned clocks) {
  if (vector >= d->vectors) return EMNIC_NOT_FOUND;
  d->interval[vector] = clocks;
  const uint32_t moderation = reg_read(d, DEVICE_REG(moderation_offset));
  if (moderation == GONE) return EMNIC_NO_DEVICE;
  reg_write(d, moderation + 4 * vector, clocks);
  return 0;
}

int emnic_set_completion_delay(struct emnic* d, unsigned i, unsigned clocks) {
  if (i >= d->interfaces) return EMNIC_NOT_FOUND;
  d->interface[i].cpl_delay = clocks;
  reg_write(d, d->interface[i].is.registers + INTERFACE_REG(cpl_delay), clocks);
  return 0;
}
