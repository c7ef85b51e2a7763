/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the poll-mode driver know of each other. */
#ifndef NET_EMERY_H
#define NET_EMERY_H

#include <ethdev_driver.h>
#include <rte_spinlock.h>

#include "emnic.h"
#include "sim_link.h"

#define EMERY_NAME net_emery
enum {
  EMERY_MOST_QUEUES = 64,
  EMERY_SEGMENTS = 4, /* descriptors of a transmit slot, when frames may be in pieces */
  EMERY_LEAST_RING = 32,
  EMERY_MOST_RING = 4096,
  EMERY_OVERHEAD = RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN /* of a frame over the MTU, without FCS */
};

extern int emery_logtype;
#define EMERY_LOG(level, ...)             \
  rte_log(RTE_LOG_##level, emery_logtype, \
          "net_emery: " RTE_FMT(RTE_FMT_HEAD(__VA_ARGS__, ) "\n", RTE_FMT_TAIL(__VA_ARGS__, )))

/* What the CPU is taken to need, in simulated ns (device arguments). */
struct emery_costs {
  uint32_t poll, frame, mmio;
};

/* The simulator behind its socket. */
struct emery_link {
  int socket;
  int gone;           /* it has ended, or does not make sense */
  int ends;           /* the run is over: nothing more is taken to be sent */
  int interrupts;     /* wanted with the next start */
  int vectors;        /* lead here */
  uint64_t owed, now; /* ns */
  uint64_t address, bits_per_second;
  struct emery_costs costs;
  rte_spinlock_t lock; /* a request and its answer */
};

struct emery_counts {
  uint64_t packets, bytes, errors;
};

/* What both directions have: first in each, so that `dev->data` points to it. */
struct emery_queue {
  struct emery* emery;
  struct emnic_cq* records;
  struct rte_mbuf** mbuf; /* by slot */
  uint16_t slots, mask, number;
  struct emery_counts counts;
  struct emnic_queue_counts before; /* the card's, at the last reset of statistics */
};

struct emery_rx {
  struct emery_queue q;
  struct emnic_rx* ring;
  struct rte_mempool* pool;
  uint16_t posted; /* the slot offered next */
  uint64_t no_mbuf;
};

struct emery_tx {
  struct emery_queue q;
  struct emnic_tx* ring;
  uint16_t made, free_at; /* made: slot filled next */
};

static inline void** emery_queues(const struct rte_eth_dev* dev, int transmit) {
  return transmit ? dev->data->tx_queues : dev->data->rx_queues;
}
static inline unsigned int emery_queue_count(const struct rte_eth_dev* dev, int transmit) {
  return transmit ? dev->data->nb_tx_queues : dev->data->nb_rx_queues;
}

struct emery {
  struct rte_eth_dev* dev;
  struct emery_link link;
  struct emnic* core;
  rte_spinlock_t events; /* event queues: any core looks for errors, and arms */
  const struct emnic_interface* is;
  struct rte_ether_addr address;
  uint8_t key[4 * EMNIC_KEY_WORDS];
  uint64_t before[EMNIC_COUNTERS_END];     /* counters at the last reset of statistics */
  struct emnic_port_counts port_before[2]; /* receive, transmit */
};

/* link.c */
int emery_link_open(struct emery_link* link, const char* path);
void emery_link_close(struct emery_link* link);
void emery_link_poll(struct emery_link* link);
static inline void emery_owe(struct emery_link* link, uint32_t ns) { link->owed += ns; }
/* Lets what is owed go by, before the device hears of what was done in that time. */
void emery_link_settle(struct emery_link* link);
struct emnic_ops emery_machine(struct emery_link* link);
int emery_link_event(struct emery_link* link, uint16_t queue, unsigned int vector, int file);
void emery_link_wait(struct emery_link* link, uint16_t queue, enum sim_wait how);

/* intr.c: receive interrupts */
int emery_intr_open(struct rte_eth_dev* dev);
int emery_intr_start(struct rte_eth_dev* dev);
void emery_intr_stop(struct rte_eth_dev* dev);
void emery_intr_close(struct rte_eth_dev* dev);
int emery_intr_enable(struct rte_eth_dev* dev, uint16_t number);
int emery_intr_disable(struct rte_eth_dev* dev, uint16_t number);

/* rxtx.c */
uint16_t emery_rx_burst(void* queue, struct rte_mbuf** out, uint16_t most);
uint16_t emery_tx_burst(void* queue, struct rte_mbuf** frames, uint16_t count);
uint16_t emery_tx_prepare(void* queue, struct rte_mbuf** frames, uint16_t count);
int emery_rx_fill(struct emery_rx* rx);
void emery_look_for_errors(struct emery* emery);
void emery_forget(struct emery_queue* queue);

/* stats.c */
int emery_stats_get(struct rte_eth_dev* dev, struct rte_eth_stats* out);
int emery_stats_reset(struct rte_eth_dev* dev);
void emery_log_counts(struct rte_eth_dev* dev);
int emery_xstats_get(struct rte_eth_dev* dev, struct rte_eth_xstat* out, unsigned int most);
int emery_xstats_get_names(struct rte_eth_dev* dev, struct rte_eth_xstat_name* out,
                           unsigned int most);

/* rss.c */
uint64_t emery_rss_types(const struct emery* emery);
int emery_rss_start(struct rte_eth_dev* dev);
int emery_reta_update(struct rte_eth_dev* dev, struct rte_eth_rss_reta_entry64* table,
                      uint16_t size);
int emery_reta_query(struct rte_eth_dev* dev, struct rte_eth_rss_reta_entry64* table,
                     uint16_t size);
int emery_rss_update(struct rte_eth_dev* dev, struct rte_eth_rss_conf* conf);
int emery_rss_get(struct rte_eth_dev* dev, struct rte_eth_rss_conf* conf);

#endif
