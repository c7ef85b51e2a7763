/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: frames as the driver has passed them on, losses as the device counts them. */
#include <stdio.h>
#include <string.h>

#include "net_emery.h"

static const enum emnic_counter missed[] = {
    EMNIC_PORT_rx_fifo_full, EMNIC_PORT_rx_buffer_full, EMNIC_PORT_rx_hook,
    EMNIC_PORT_rx_no_descriptor, EMNIC_PORT_rx_queue_stopped};
static const enum emnic_counter wrong[] = {
    EMNIC_PORT_rx_bad_fcs, EMNIC_PORT_rx_runt, EMNIC_PORT_rx_oversize,
    EMNIC_PORT_rx_descriptor_error};

static uint64_t counted(struct emery *emery, enum emnic_counter counter) {
  return emnic_get_counter(emery->core, counter, 0, 0) - emery->before[counter];
}

static uint64_t sum(struct emery *emery, const enum emnic_counter *of, unsigned int count) {
  uint64_t total = 0;
  for (unsigned int i = 0; i < count; ++i) total += counted(emery, of[i]);
  return total;
}

int emery_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *out) {
  struct emery *emery = dev->data->dev_private;
  uint64_t no_mbuf = 0;
  for (unsigned int i = 0; i < dev->data->nb_rx_queues; ++i) {
    const struct emery_rx *rx = dev->data->rx_queues[i];
    if (!rx) continue;
    out->ipackets += rx->q.counts.packets;
    out->ibytes += rx->q.counts.bytes;
    out->ierrors += rx->q.counts.errors;
    no_mbuf += rx->no_mbuf;
    if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS) continue;
    out->q_ipackets[i] = rx->q.counts.packets;
    out->q_ibytes[i] = rx->q.counts.bytes;
    out->q_errors[i] = rx->q.counts.errors;
  }
  for (unsigned int i = 0; i < dev->data->nb_tx_queues; ++i) {
    const struct emery_tx *tx = dev->data->tx_queues[i];
    if (!tx) continue;
    out->opackets += tx->q.counts.packets;
    out->obytes += tx->q.counts.bytes;
    out->oerrors += tx->q.counts.errors;
    if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS) continue;
    out->q_opackets[i] = tx->q.counts.packets;
    out->q_obytes[i] = tx->q.counts.bytes;
  }
  out->rx_nombuf = no_mbuf;
  dev->data->rx_mbuf_alloc_failed = no_mbuf;
  if (emery->link.gone) return 0;
  out->imissed = sum(emery, missed, RTE_DIM(missed));
  out->ierrors += sum(emery, wrong, RTE_DIM(wrong));
  return 0;
}

/* ---- what the card has counted of each queue */

static void queue_counted(struct rte_eth_dev *dev, int transmit, unsigned int queue,
                          uint64_t out[EMNIC_RX_QUEUE_COUNTS]) {
  struct emery *emery = dev->data->dev_private;
  struct emnic_queue_counts now = {0};
  uint64_t before[EMNIC_RX_QUEUE_COUNTS] = {0};
  const struct emery_queue *of = emery_queues(dev, transmit)[queue];
  if (of) memcpy(before, &of->before, sizeof before);
  if (!of || emery->link.gone ||
      emnic_get_queue_counts(emery->core, 0, transmit, queue, &now) != 0)
    memcpy(&now, before, sizeof now);
  memcpy(out, &now, sizeof now);
  for (unsigned int i = 0; i < EMNIC_RX_QUEUE_COUNTS; ++i) out[i] -= before[i];
}

/* ---- and of its port */

static const uint64_t *port_counted(struct emery *emery, int transmit, struct emnic_port_counts *now) {
  const struct emnic_port_counts *before = &emery->port_before[transmit];
  *now = *before;
  if (!emery->link.gone) emnic_get_port_counts(emery->core, 0, transmit, 0, now);
  uint64_t *out = &now->packets; /* the first */
  for (unsigned int i = 0; i < EMNIC_PORT_COUNTS_END; ++i) out[i] -= (&before->packets)[i];
  return out;
}

int emery_stats_reset(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  for (unsigned int i = 0; i < EMNIC_COUNTERS_END && !emery->link.gone; ++i)
    emery->before[i] = emnic_get_counter(emery->core, (enum emnic_counter)i, 0, 0);
  for (int transmit = 0; transmit < 2 && !emery->link.gone; ++transmit)
    emnic_get_port_counts(emery->core, 0, transmit, 0, &emery->port_before[transmit]);
  for (unsigned int i = 0; i < dev->data->nb_rx_queues; ++i) {
    struct emery_rx *rx = dev->data->rx_queues[i];
    if (rx) rx->no_mbuf = 0;
  }
  for (int transmit = 0; transmit < 2; ++transmit) {
    for (unsigned int i = 0; i < emery_queue_count(dev, transmit); ++i) {
      struct emery_queue *queue = emery_queues(dev, transmit)[i];
      if (!queue) continue;
      memset(&queue->counts, 0, sizeof queue->counts);
      if (!emery->link.gone)
        emnic_get_queue_counts(emery->core, 0, transmit, i, &queue->before);
    }
  }
  return 0;
}

/* ---- every counter of the device, by its name: rx_... and tx_... are the port's; then the queues' */

enum { OF_CARD = EMNIC_COUNTERS_END + 2 * EMNIC_PORT_COUNTS_END };

static unsigned int xstats(const struct rte_eth_dev *dev) {
  return OF_CARD + EMNIC_TX_QUEUE_COUNTS * dev->data->nb_tx_queues + EMNIC_RX_QUEUE_COUNTS * dev->data->nb_rx_queues;
}

static unsigned int queue_xstat_names(struct rte_eth_xstat_name *out, unsigned int at,
                                      int transmit, unsigned int queues) {
  for (unsigned int i = 0; i < queues; ++i)
    for (unsigned int k = 0; k < (transmit ? EMNIC_TX_QUEUE_COUNTS : EMNIC_RX_QUEUE_COUNTS); ++k)
      snprintf(out[at++].name, sizeof out->name, "card_%s_q%u_%s", transmit ? "tx" : "rx", i,
               emnic_queue_count_name(k));
  return at;
}

int emery_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *out,
                           unsigned int most) {
  if (!out || most < xstats(dev)) return (int)xstats(dev);
  for (unsigned int i = 0; i < EMNIC_COUNTERS_END; ++i) {
    char of = 0;
    const char *name = emnic_counter_name((enum emnic_counter)i, &of);
    const char *owner = of == 'd' ? "device_" : of == 'i' ? "interface_" : "port_";
    snprintf(out[i].name, sizeof out[i].name, "%s%s", owner, name);
  }
  for (unsigned int i = 0; i < 2 * EMNIC_PORT_COUNTS_END; ++i)
    snprintf(out[EMNIC_COUNTERS_END + i].name, sizeof out->name, "%s_%s_phy", i % 2 ? "tx" : "rx",
             emnic_port_count_name(i / 2));
  const unsigned int at = queue_xstat_names(out, OF_CARD, 1, dev->data->nb_tx_queues);
  return (int)queue_xstat_names(out, at, 0, dev->data->nb_rx_queues);
}

void emery_log_counts(struct rte_eth_dev *dev) {
  uint64_t counts[EMNIC_RX_QUEUE_COUNTS];
  struct emnic_port_counts now;
  for (int transmit = 0; transmit < 2; ++transmit) {
    const uint64_t *port = port_counted(dev->data->dev_private, transmit, &now);
    for (unsigned int i = 0; i < EMNIC_PORT_COUNTS_END; ++i)
      EMERY_LOG(DEBUG, "%s_%s_phy: %lu", transmit ? "tx" : "rx", emnic_port_count_name(i), port[i]);
    const unsigned int queues = emery_queue_count(dev, transmit);
    for (unsigned int i = 0; i < queues; ++i) {
      queue_counted(dev, transmit, i, counts);
      for (unsigned int k = 0; k < (transmit ? EMNIC_TX_QUEUE_COUNTS : EMNIC_RX_QUEUE_COUNTS); ++k)
        EMERY_LOG(DEBUG, "card_%s_q%u_%s: %lu", transmit ? "tx" : "rx", i, emnic_queue_count_name(k),
                  counts[k]);
    }
  }
}

static unsigned int queue_xstats(struct rte_eth_dev *dev, struct rte_eth_xstat *out,
                                 unsigned int at, int transmit, unsigned int queues) {
  uint64_t counts[EMNIC_RX_QUEUE_COUNTS];
  for (unsigned int i = 0; i < queues; ++i) {
    queue_counted(dev, transmit, i, counts);
    for (unsigned int k = 0; k < (transmit ? EMNIC_TX_QUEUE_COUNTS : EMNIC_RX_QUEUE_COUNTS); ++k) out[at++].value = counts[k];
  }
  return at;
}

int emery_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *out, unsigned int most) {
  struct emery *emery = dev->data->dev_private;
  if (!out || most < xstats(dev)) return (int)xstats(dev);
  for (unsigned int i = 0; i < EMNIC_COUNTERS_END; ++i)
    out[i].value = emery->link.gone ? 0 : counted(emery, (enum emnic_counter)i);
  for (int transmit = 0; transmit < 2; ++transmit) {
    struct emnic_port_counts now;
    const uint64_t *port = port_counted(emery, transmit, &now);
    for (unsigned int i = 0; i < EMNIC_PORT_COUNTS_END; ++i)
      out[EMNIC_COUNTERS_END + 2 * i + (unsigned int)transmit].value = port[i];
  }
  unsigned int at = queue_xstats(dev, out, OF_CARD, 1, dev->data->nb_tx_queues);
  at = queue_xstats(dev, out, at, 0, dev->data->nb_rx_queues);
  for (unsigned int i = 0; i < at; ++i) out[i].id = i;
  return (int)at;
}
