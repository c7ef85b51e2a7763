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
    out->ipackets += rx->counts.packets;
    out->ibytes += rx->counts.bytes;
    out->ierrors += rx->counts.errors;
    no_mbuf += rx->no_mbuf;
    if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS) continue;
    out->q_ipackets[i] = rx->counts.packets;
    out->q_ibytes[i] = rx->counts.bytes;
    out->q_errors[i] = rx->counts.errors;
  }
  for (unsigned int i = 0; i < dev->data->nb_tx_queues; ++i) {
    const struct emery_tx *tx = dev->data->tx_queues[i];
    if (!tx) continue;
    out->opackets += tx->counts.packets;
    out->obytes += tx->counts.bytes;
    out->oerrors += tx->counts.errors;
    if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS) continue;
    out->q_opackets[i] = tx->counts.packets;
    out->q_obytes[i] = tx->counts.bytes;
  }
  out->rx_nombuf = no_mbuf;
  dev->data->rx_mbuf_alloc_failed = no_mbuf;
  if (emery->link.gone) return 0;
  out->imissed = sum(emery, missed, RTE_DIM(missed));
  out->ierrors += sum(emery, wrong, RTE_DIM(wrong));
  return 0;
}

int emery_stats_reset(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  for (unsigned int i = 0; i < dev->data->nb_rx_queues; ++i) {
    struct emery_rx *rx = dev->data->rx_queues[i];
    if (!rx) continue;
    memset(&rx->counts, 0, sizeof rx->counts);
    rx->no_mbuf = 0;
  }
  for (unsigned int i = 0; i < dev->data->nb_tx_queues; ++i) {
    struct emery_tx *tx = dev->data->tx_queues[i];
    if (tx) memset(&tx->counts, 0, sizeof tx->counts);
  }
  for (unsigned int i = 0; i < EMNIC_COUNTERS_END && !emery->link.gone; ++i)
    emery->before[i] = emnic_get_counter(emery->core, (enum emnic_counter)i, 0, 0);
  return 0;
}

/* ---- every counter of the device, by its name: rx_... and tx_... are the port's */

int emery_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *out,
                           unsigned int most) {
  (void)dev;
  for (unsigned int i = 0; out && i < EMNIC_COUNTERS_END && i < most; ++i) {
    char of = 0;
    const char *name = emnic_counter_name((enum emnic_counter)i, &of);
    const char *owner = of == 'd' ? "device_" : of == 'i' ? "interface_" : "port_";
    snprintf(out[i].name, sizeof out[i].name, "%s%s", owner, name);
  }
  return EMNIC_COUNTERS_END;
}

int emery_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *out, unsigned int most) {
  struct emery *emery = dev->data->dev_private;
  if (!out || most < EMNIC_COUNTERS_END) return EMNIC_COUNTERS_END;
  for (unsigned int i = 0; i < EMNIC_COUNTERS_END; ++i) {
    out[i].id = i;
    out[i].value = emery->link.gone ? 0 : counted(emery, (enum emnic_counter)i);
  }
  return EMNIC_COUNTERS_END;
}
