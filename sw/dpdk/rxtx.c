/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts. The device writes received frames into the very mbufs, and reads those that are sent.
 * A receive ring is always full: what is taken from a slot is replaced at once.
 */
#include <errno.h>

#include <rte_errno.h>
#include <rte_net.h>

#include "joined.h"
#include "net_emery.h"

enum {
  BATCH = 64,
  TCP_CHECKSUM = 16, /* where it is in its header */
  UDP_CHECKSUM = 6
};

#define TX_FLAGS                                                                             \
  (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_VLAN)

static int offer(struct emery_rx *rx, struct rte_mbuf *m) {
  const unsigned int bytes = m->buf_len - RTE_PKTMBUF_HEADROOM;
  m->data_off = RTE_PKTMBUF_HEADROOM;
  const int status = emnic_rx_post(rx->ring, rte_mbuf_data_iova_default(m), RTE_MIN(bytes, 0xffffu));
  if (status != 0) return status;
  rx->q.mbuf[rx->posted++ & rx->q.mask] = m;
  return 0;
}

int emery_rx_fill(struct emery_rx *rx) {
  rx->posted = 0;
  for (unsigned int i = 0; i < rx->q.slots; ++i) {
    struct rte_mbuf *m = rte_pktmbuf_alloc(rx->pool);
    if (!m) return -ENOMEM;
    if (offer(rx, m) != 0) {
      rte_pktmbuf_free(m);
      return -EIO;
    }
  }
  emnic_rx_flush(rx->ring);
  return 0;
}

/* Of a device that will write there no more. */
void emery_forget(struct emery_queue *queue) {
  for (unsigned int i = 0; i < queue->slots; ++i) {
    rte_pktmbuf_free(queue->mbuf[i]);
    queue->mbuf[i] = NULL;
  }
}

/*
 * What the device has stopped stays so until the port is started anew. Takes all events; whoever
 * calls holds `events`.
 */
void emery_look_for_errors(struct emery *emery) {
  struct emnic_event event;
  for (unsigned int n = 0; n < emnic_event_queues(emery->core); ++n) {
    while (emnic_next_event(emnic_event_queue(emery->core, n), &event)) {
      if (event.completions >= 0) continue;
      EMERY_LOG(ERR, "event %u of queue %u: error %u", event.kind, event.source, event.code);
    }
  }
}

static uint32_t packet_type(unsigned int flags) {
  uint32_t type = RTE_PTYPE_L2_ETHER;
  if (flags & EMNIC_IPV4) type |= RTE_PTYPE_L3_IPV4_EXT_UNKNOWN;
  if (flags & EMNIC_IPV6) type |= RTE_PTYPE_L3_IPV6_EXT_UNKNOWN;
  if (flags & EMNIC_TCP) type |= RTE_PTYPE_L4_TCP;
  if (flags & EMNIC_UDP) type |= RTE_PTYPE_L4_UDP;
  return type;
}

static void describe(const struct emery *emery, const struct emnic_completion *c,
                     struct rte_mbuf *m) {
  const uint64_t offloads = emery->dev->data->dev_conf.rxmode.offloads;
  const unsigned int type = c->flags & (EMNIC_IPV4 | EMNIC_IPV6 | EMNIC_TCP | EMNIC_UDP);
  m->port = emery->dev->data->port_id;
  m->pkt_len = m->data_len = (uint16_t)c->bytes;
  m->packet_type = packet_type(type);
  if (c->tag) {
    m->vlan_tci = c->tci;
    m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
  }
  if (type != 0 && offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) {
    m->hash.rss = c->hash;
    m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
  }
  if (!c->segment_bytes && offloads & (RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)) {
    const int good = emnic_checksum_good(rte_pktmbuf_mtod(m, const uint8_t *), c->bytes, c->csum);
    if (good == 1) m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    if (good == 0) m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
  }
}

/* Segments that were joined: as they have been checked, without a checksum of TCP over all. */
static int describe_joined(const struct emnic_completion *c, struct rte_mbuf *m,
                           struct emnic_joined *joined) {
  uint8_t *const frame = rte_pktmbuf_mtod(m, uint8_t *);
  const int status = emnic_find_joined(frame, c, joined);
  if (status != 0) return status;
  emnic_set_joined(frame, c, joined);
  m->tso_segsz = (uint16_t)c->segment_bytes;
  m->ol_flags |= RTE_MBUF_F_RX_LRO | RTE_MBUF_F_RX_L4_CKSUM_NONE;
  return 0;
}

/* What a record says of an mbuf, counted in frames and their bytes. */
static int deliver(struct emery_rx *rx, const struct emnic_completion *c, struct rte_mbuf *m) {
  struct emnic_joined joined = {.frames = 1};
  if (c->segment_bytes && describe_joined(c, m, &joined) != 0) return -1;
  describe(rx->q.emery, c, m);
  rx->q.counts.packets += joined.frames;
  rx->q.counts.bytes += c->bytes + (uint64_t)(joined.frames - 1) * joined.headers;
  return 0;
}

uint16_t emery_rx_burst(void *queue, struct rte_mbuf **out, uint16_t most) {
  struct emery_rx *rx = queue;
  struct emery *emery = rx->q.emery;
  struct emnic_completion c[BATCH];
  uint16_t received = 0;
  if (emery->link.gone) return 0;
  emery_link_poll(&emery->link);
  if (rx->q.number == 0 && rte_spinlock_trylock(&emery->events)) {
    emery_look_for_errors(emery);
    rte_spinlock_unlock(&emery->events);
  }
  const unsigned int n = emnic_take(rx->q.records, c, RTE_MIN(most, (uint16_t)BATCH));
  for (unsigned int i = 0; i < n; ++i) {
    struct rte_mbuf *m = rx->q.mbuf[c[i].slot];
    struct rte_mbuf *next = c[i].error ? NULL : rte_pktmbuf_alloc(rx->pool);
    if (!next) {
      if (c[i].error) ++rx->q.counts.errors;
      else ++rx->no_mbuf;
      next = m;
    } else if (deliver(rx, &c[i], m) == 0) {
      out[received++] = m;
    } else {
      ++rx->q.counts.errors;
      rte_pktmbuf_free(m);
    }
    offer(rx, next);
  }
  emery_owe(&emery->link, n * emery->link.costs.frame);
  emnic_taken(rx->q.records, 0);
  emnic_rx_flush(rx->ring);
  return received;
}

/* ---- sending */

static void reap(struct emery_tx *tx) {
  struct emnic_completion c[BATCH];
  unsigned int n;
  do {
    n = emnic_take(tx->q.records, c, BATCH);
    for (unsigned int i = 0; i < n; ++i) {
      if (c[i].error) ++tx->q.counts.errors;
      rte_pktmbuf_free(tx->q.mbuf[c[i].slot]);
      tx->q.mbuf[c[i].slot] = NULL;
    }
  } while (n == BATCH);
  emnic_taken(tx->q.records, 0);
}

static int post(struct emery_tx *tx, const struct rte_mbuf *m) {
  struct emnic_segment segments[EMERY_SEGMENTS];
  struct emnic_offloads left = {.start = m->l2_len + m->l3_len};
  unsigned int count = 0;
  if (m->nb_segs > EMERY_SEGMENTS) return EMNIC_BAD_SEGMENTS;
  for (const struct rte_mbuf *s = m; s; s = s->next)
    segments[count++] = (struct emnic_segment){rte_mbuf_data_iova(s), s->data_len};
  if ((m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_TCP_CKSUM) left.offset = TCP_CHECKSUM;
  if ((m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM) left.offset = UDP_CHECKSUM;
  left.checksum = left.offset != 0;
  if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) left.mss = m->tso_segsz;
  if (m->ol_flags & RTE_MBUF_F_TX_VLAN) {
    left.tag = EMNIC_C_TAG;
    left.tci = m->vlan_tci;
  }
  return emnic_post(tx->ring, segments, count, &left);
}

/* In frames and their bytes. */
static void count_sent(struct emery_counts *counts, const struct rte_mbuf *m) {
  uint32_t frames = 1, headers = 0;
  if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
    headers = (uint32_t)(m->l2_len + m->l3_len + m->l4_len);
    frames = (m->pkt_len - headers + m->tso_segsz - 1) / m->tso_segsz;
  }
  counts->packets += frames;
  counts->bytes += m->pkt_len + (uint64_t)(frames - 1) * headers;
}

uint16_t emery_tx_burst(void *queue, struct rte_mbuf **frames, uint16_t count) {
  struct emery_tx *tx = queue;
  struct emery_link *link = &tx->q.emery->link;
  uint16_t done = 0;
  if (link->gone) return 0;
  emery_link_poll(link);
  if (link->ends) return 0;
  reap(tx);
  for (; done < count; ++done) {
    struct rte_mbuf *m = frames[done];
    const int status = post(tx, m);
    if (status == EMNIC_FULL || status == EMNIC_STOPPED) break;
    if (status != 0) { /* what can never be sent */
      ++tx->q.counts.errors;
      rte_pktmbuf_free(m);
      continue;
    }
    tx->q.mbuf[tx->made++ & tx->q.mask] = m;
    count_sent(&tx->q.counts, m);
  }
  emery_owe(link, done * link->costs.frame);
  emnic_tx_flush(tx->ring, 1, 0);
  return done;
}

/* The header checksum of IPv4 the device makes of segments only. */
static uint64_t tx_flags(const struct rte_mbuf *m) {
  const uint64_t segments = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM;
  return TX_FLAGS | (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG ? segments : 0);
}

/* Whether the device can cut it. */
static int cuts(const struct emery *emery, const struct rte_mbuf *m) {
  const uint32_t headers = (uint32_t)(m->l2_len + m->l3_len + m->l4_len);
  return (emery->is->features & EMNIC_TSO) && m->tso_segsz != 0 && headers <= EMNIC_MAX_HEADERS &&
         m->pkt_len > headers && m->pkt_len <= EMNIC_MAX_PACKET;
}

uint16_t emery_tx_prepare(void *queue, struct rte_mbuf **frames, uint16_t count) {
  const struct emery_tx *tx = queue;
  for (uint16_t i = 0; i < count; ++i) {
    struct rte_mbuf *m = frames[i];
    int status = 0;
    if (m->nb_segs > EMERY_SEGMENTS) status = -EINVAL;
    else if (m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK & ~tx_flags(m)) status = -ENOTSUP;
    else if ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) && !cuts(tx->q.emery, m)) status = -EINVAL;
    else status = rte_net_intel_cksum_prepare(m); /* the pseudo header's sum, for the device */
    if (status != 0) {
      rte_errno = -status;
      return i;
    }
  }
  return count;
}
