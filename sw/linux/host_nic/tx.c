// SPDX-License-Identifier: GPL-2.0-only
/* Sending: frames stay where they are, the device fetches them; a completion gives them back. */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>

#include "nic.h"

static void nic_unmap(struct nic *nic, struct nic_sent *sent)
{
	struct device *dev = &nic->pdev->dev;
	unsigned int i;

	for (i = 0; i < sent->count; i++) {
		const struct emnic_segment *s = &sent->segments[i];

		if (i == 0)
			dma_unmap_single(dev, s->bus, s->bytes, DMA_TO_DEVICE);
		else
			dma_unmap_page(dev, s->bus, s->bytes, DMA_TO_DEVICE);
	}
	sent->count = 0;
}

static bool nic_map(struct nic *nic, struct sk_buff *skb, struct nic_sent *sent)
{
	struct device *dev = &nic->pdev->dev;
	unsigned int i;

	for (i = 0; i <= skb_shinfo(skb)->nr_frags; i++) {
		skb_frag_t *frag = &skb_shinfo(skb)->frags[i ? i - 1 : 0];
		unsigned int bytes = i ? skb_frag_size(frag) : skb_headlen(skb);
		dma_addr_t bus;

		bus = i ? skb_frag_dma_map(dev, frag, 0, bytes, DMA_TO_DEVICE)
			: dma_map_single(dev, skb->data, bytes, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, bus)) {
			nic_unmap(nic, sent);
			return false;
		}
		sent->segments[i] = (struct emnic_segment){ .bus = bus, .bytes = bytes };
		sent->count = i + 1;
	}
	return true;
}

/* A checksum that begins too far behind for the descriptor's field is made here. */
static bool nic_leave_checksum(struct sk_buff *skb, struct emnic_offloads *left)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return true;
	if (skb_checksum_start_offset(skb) > 255 || skb->csum_offset > 255)
		return skb_checksum_help(skb) == 0;
	left->checksum = 1;
	left->start = skb_checksum_start_offset(skb);
	left->offset = skb->csum_offset;
	return true;
}

/* Bytes of headers that each segment of a packet has. */
static unsigned int nic_headers(const struct sk_buff *skb)
{
	return skb_transport_offset(skb) + tcp_hdrlen(skb);
}

/* A packet that the card cuts into frames: in its sum of the pseudo header the card wants no length. */
static bool nic_leave_segments(struct sk_buff *skb, struct emnic_offloads *left)
{
	unsigned int bytes;

	if (!skb_is_gso(skb)) /* not all others have a transport header */
		return true;
	bytes = skb->len - skb_transport_offset(skb);
	if (skb_cow_head(skb, 0))
		return false;
	csum_replace_by_diff(&tcp_hdr(skb)->check, (__force __wsum)htonl(bytes));
	left->mss = skb_shinfo(skb)->gso_size;
	left->start = skb_transport_offset(skb);
	return true;
}

/* What the card cannot cut the stack does: headers that it does not look through, more pieces than a slot has. */
netdev_features_t nic_features_check(struct sk_buff *skb, struct net_device *netdev,
				     netdev_features_t features)
{
	if (skb_is_gso(skb) &&
	    (skb_shinfo(skb)->nr_frags >= NIC_SEGMENTS || skb->len > EMNIC_MAX_PACKET ||
	     nic_headers(skb) > EMNIC_MAX_HEADERS))
		features &= ~NETIF_F_GSO_MASK;
	return vlan_features_check(skb, features);
}

static void nic_leave_tag(const struct sk_buff *skb, struct emnic_offloads *left)
{
	if (!skb_vlan_tag_present(skb))
		return;
	left->tag = skb->vlan_proto == htons(ETH_P_8021AD) ? EMNIC_S_TAG : EMNIC_C_TAG;
	left->tci = skb_vlan_tag_get(skb);
}

/* Where the next frame of a queue is noted. */
struct nic_sent *nic_next_sent(struct nic_tx *tx)
{
	struct emnic_queue_state at;

	emnic_tx_state(tx->queue, &at);
	return &tx->sent[at.producer & (at.slots - 1)];
}

void nic_stop_if_full(struct nic_tx *tx, struct netdev_queue *txq)
{
	if (nic_tx_room(tx) != 0)
		return;
	netif_tx_stop_queue(txq);
	smp_mb(); /* a completion in between has seen the queue as it was */
	if (nic_tx_room(tx) != 0)
		netif_tx_start_queue(txq);
}

netdev_tx_t nic_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);
	unsigned int number = skb_get_queue_mapping(skb);
	struct netdev_queue *txq = netdev_get_tx_queue(netdev, number);
	struct nic_tx *tx = &nic->tx[number];
	struct emnic_offloads left = {};
	struct nic_sent *sent;
	bool now;

	if (eth_skb_pad(skb))
		return NETDEV_TX_OK;
	if (skb_shinfo(skb)->nr_frags >= NIC_SEGMENTS && skb_linearize(skb))
		goto drop;
	if (!nic_leave_checksum(skb, &left))
		goto drop;
	nic_leave_tag(skb, &left);
	if (nic_tx_room(tx) == 0) {
		nic_stop_if_full(tx, txq);
		return NETDEV_TX_BUSY;
	}
	if (!nic_leave_segments(skb, &left))
		goto drop;
	sent = nic_next_sent(tx);
	if (!nic_map(nic, skb, sent))
		goto drop;
	if ((skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) &&
	    nic->clock.config.tx_type == HWTSTAMP_TX_ON)
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	skb_tx_timestamp(skb);
	if (emnic_post(tx->queue, sent->segments, sent->count, &left)) {
		nic_unmap(nic, sent);
		goto drop;
	}
	sent->skb = skb;
	now = __netdev_tx_sent_queue(txq, skb->len, netdev_xmit_more());
	nic_stop_if_full(tx, txq);
	if (now || nic_tx_room(tx) == 0)
		emnic_tx_flush(tx->queue, 1, 0);
	return NETDEV_TX_OK;

drop:
	nic_count_error(&tx->counts, false);
	dev_kfree_skb_any(skb);
	emnic_tx_flush(tx->queue, 1, 0); /* of those before it, which waited for this one */
	return NETDEV_TX_OK;
}

/* In frames and their bytes, however few the packets were. */
static void nic_count_sent(struct nic_tx *tx, const struct sk_buff *skb)
{
	unsigned int frames = 1, headers = 0;

	if (skb_is_gso(skb)) {
		headers = nic_headers(skb);
		frames = DIV_ROUND_UP(skb->len - headers, skb_shinfo(skb)->gso_size);
		WRITE_ONCE(tx->segmented, tx->segmented + 1);
	}
	nic_count(&tx->counts, frames, skb->len + (frames - 1) * headers);
}

/* The stack's. */
static void nic_skb_done(struct nic *nic, const struct emnic_completion *c, struct sk_buff *skb,
			 struct netdev_queue *txq)
{
	if (!c->error) {
		nic_count_sent(&nic->tx[c->queue], skb);
		if (skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS) {
			struct skb_shared_hwtstamps stamp = nic_stamp(nic, c->timestamp);

			skb_tstamp_tx(skb, &stamp);
		}
	}
	netdev_tx_completed_queue(txq, 1, skb->len);
	napi_consume_skb(skb, 1);
}

static void nic_frame_done(struct nic_tx *tx, const struct emnic_completion *c,
			   struct xdp_frame *frame, bool own)
{
	if (!c->error)
		nic_count(&tx->counts, 1, frame->len);
	if (own) /* of the pool of this vector's receive queue */
		xdp_return_frame_rx_napi(frame);
	else
		xdp_return_frame(frame);
}

void nic_tx_done(struct nic *nic, const struct emnic_completion *c)
{
	struct nic_tx *tx = &nic->tx[c->queue];
	struct netdev_queue *txq = netdev_get_tx_queue(nic->netdev, c->queue);
	struct nic_sent *sent = &tx->sent[c->slot];
	struct sk_buff *skb = sent->skb;
	struct xdp_frame *frame = sent->frame;
	bool own = sent->count == 0;

	if (WARN_ON_ONCE(!skb && !frame))
		return;
	sent->skb = NULL;
	sent->frame = NULL;
	nic_unmap(nic, sent);
	if (c->error)
		nic_count_error(&tx->counts, true);
	if (skb)
		nic_skb_done(nic, c, skb, txq);
	else
		nic_frame_done(tx, c, frame, own);
	smp_mb(); /* as above */
	if (netif_tx_queue_stopped(txq) && nic_tx_room(tx) != 0)
		netif_tx_wake_queue(txq);
}

/* What the device has not sent when it is stopped. */
void nic_tx_forget(struct nic *nic, unsigned int queue)
{
	struct nic_tx *tx = &nic->tx[queue];
	unsigned int i;

	for (i = 0; i < nic->tx_ring; i++) {
		struct nic_sent *sent = &tx->sent[i];

		if (!sent->skb && !sent->frame)
			continue;
		nic_unmap(nic, sent);
		if (sent->skb)
			dev_kfree_skb_any(sent->skb);
		else
			xdp_return_frame(sent->frame);
		sent->skb = NULL;
		sent->frame = NULL;
		nic_count_error(&tx->counts, false);
	}
	netdev_tx_reset_queue(netdev_get_tx_queue(nic->netdev, queue));
}
