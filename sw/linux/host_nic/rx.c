// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive rings: pages of a pool, a frame each, with room before it for an XDP program and behind
 * it for what the stack keeps there. A ring is always full: where there is no page to take a
 * frame's place in it, the frame is dropped and its own page stays.
 */
#include <linux/bpf.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "nic.h"
#include "queue_formats.h"

/* A frame alone in a buffer for several is copied: the stack would have to reckon with all of it. */
#define MOST_COPIED 2048

static_assert(NIC_JOINED <= CoalesceMostBytes);

bool nic_fits_page(unsigned int mtu)
{
	return NIC_HEADROOM + NIC_FRAME(mtu) + NIC_TAILROOM <= PAGE_SIZE;
}

static unsigned int nic_buffer_bytes(const struct nic *nic)
{
	unsigned int frame = NIC_FRAME(nic->netdev->mtu);

	return nic->joins ? max_t(unsigned int, frame, NIC_JOINED) : frame;
}

static struct page_pool *nic_make_pool(struct nic *nic, struct nic_rx *rx)
{
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.order = rx->order,
		.pool_size = rx->slots,
		.nid = dev_to_node(&nic->pdev->dev),
		.dev = &nic->pdev->dev,
		.dma_dir = DMA_BIDIRECTIONAL, /* XDP_TX */
		.max_len = nic_buffer_bytes(nic),
		.offset = NIC_HEADROOM,
	};

	return page_pool_create(&params);
}

static int nic_rx_create_one(struct nic *nic, unsigned int number)
{
	struct nic_rx *rx = &nic->rx[number];
	unsigned int slot;
	int err;

	rx->slots = nic->rx_ring;
	rx->order = get_order(NIC_HEADROOM + nic_buffer_bytes(nic) + NIC_TAILROOM);
	rx->pages = kvcalloc(rx->slots, sizeof(*rx->pages), GFP_KERNEL);
	if (!rx->pages)
		return -ENOMEM;
	rx->pool = nic_make_pool(nic, rx);
	if (IS_ERR(rx->pool)) {
		err = PTR_ERR(rx->pool);
		goto free_pages;
	}
	err = xdp_rxq_info_reg(&rx->xdp, nic->netdev, number, nic->vector[number].napi.napi_id);
	if (err)
		goto destroy_pool;
	err = xdp_rxq_info_reg_mem_model(&rx->xdp, MEM_TYPE_PAGE_POOL, rx->pool);
	if (err)
		goto unregister;
	for (slot = 0; slot < rx->slots; slot++) {
		rx->pages[slot] = page_pool_alloc_pages(rx->pool, GFP_KERNEL | __GFP_NOWARN);
		if (!rx->pages[slot]) {
			err = -ENOMEM;
			goto put_pages;
		}
	}
	return 0;

put_pages:
	while (slot-- > 0)
		page_pool_put_full_page(rx->pool, rx->pages[slot], false);
unregister:
	xdp_rxq_info_unreg(&rx->xdp);
destroy_pool:
	page_pool_destroy(rx->pool);
free_pages:
	rx->pool = NULL;
	kvfree(rx->pages);
	return err;
}

static void nic_rx_destroy_first(struct nic *nic, unsigned int count)
{
	while (count-- > 0) {
		struct nic_rx *rx = &nic->rx[count];
		unsigned int slot;

		for (slot = 0; slot < rx->slots; slot++)
			page_pool_put_full_page(rx->pool, rx->pages[slot], false);
		xdp_rxq_info_unreg(&rx->xdp);
		page_pool_destroy(rx->pool);
		rx->pool = NULL;
		kvfree(rx->pages);
	}
}

/* When the device has no more to do with them. */
void nic_rx_destroy(struct nic *nic)
{
	nic_rx_destroy_first(nic, nic->queues);
}

int nic_rx_create(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->queues; i++) {
		int err = nic_rx_create_one(nic, i);

		if (err) {
			nic_rx_destroy_first(nic, i);
			return err;
		}
	}
	return 0;
}

static void nic_offer(struct nic_rx *rx, struct page *page)
{
	emnic_rx_post(rx->queue, page_pool_get_dma_addr(page) + NIC_HEADROOM, rx->pool->p.max_len);
	emnic_rx_flush(rx->queue);
}

/* The rings are there: their pages go into them. */
void nic_rx_fill(struct nic *nic)
{
	unsigned int i, slot;

	for (i = 0; i < nic->queues; i++)
		for (slot = 0; slot < nic->rx[i].slots; slot++)
			nic_offer(&nic->rx[i], nic->rx[i].pages[slot]);
}

static void nic_set_hash(struct sk_buff *skb, const struct emnic_completion *c)
{
	unsigned int type = c->flags & (EMNIC_IPV4 | EMNIC_IPV6 | EMNIC_TCP | EMNIC_UDP);

	if (type == 0 || !(skb->dev->features & NETIF_F_RXHASH))
		return;
	/* Where there is a tag the upper half was not told; whoever scales a hash looks at that. */
	skb_set_hash(skb, c->tag ? c->hash << 16 | c->hash : c->hash,
		     type & (EMNIC_TCP | EMNIC_UDP) ? PKT_HASH_TYPE_L4 : PKT_HASH_TYPE_L3);
}

static struct sk_buff *nic_build_skb(const struct xdp_buff *xdp)
{
	unsigned int meta = xdp->data - xdp->data_meta;
	struct sk_buff *skb = napi_build_skb(xdp->data_hard_start, xdp->frame_sz);

	if (!skb)
		return NULL;
	skb_mark_for_recycle(skb);
	skb_reserve(skb, xdp->data - xdp->data_hard_start);
	skb_put(skb, xdp->data_end - xdp->data);
	if (meta)
		skb_metadata_set(skb, meta);
	return skb;
}

/* To the stack, with what the record says. */
static void nic_pass_on(struct nic_vector *vector, const struct emnic_completion *c,
			struct sk_buff *skb)
{
	struct nic *nic = vector->nic;

	skb->protocol = eth_type_trans(skb, nic->netdev);
	if (c->tag)
		__vlan_hwaccel_put_tag(
			skb, htons(c->tag == EMNIC_S_TAG ? ETH_P_8021AD : ETH_P_8021Q), c->tci);
	nic_set_hash(skb, c);
	if (nic->clock.config.rx_filter != HWTSTAMP_FILTER_NONE)
		*skb_hwtstamps(skb) = nic_stamp(nic, c->timestamp);
	skb_record_rx_queue(skb, c->queue);
	napi_gro_receive(&vector->napi, skb);
}

static void nic_set_sum(struct sk_buff *skb, const struct net_device *netdev,
			const struct emnic_completion *c)
{
	if (!(netdev->features & NETIF_F_RXCSUM))
		return;
	skb->csum = csum_unfold((__force __sum16)htons(c->csum));
	skb->ip_summed = CHECKSUM_COMPLETE;
}

static void nic_sync_for_cpu(struct nic *nic, const struct emnic_completion *c, struct page *page)
{
	dma_sync_single_range_for_cpu(&nic->pdev->dev, page_pool_get_dma_addr(page), NIC_HEADROOM,
				      c->bytes, DMA_BIDIRECTIONAL);
}

/* What is in this page, which is the ring's no more. */
static void nic_deliver(struct nic_vector *vector, const struct emnic_completion *c,
			struct page *page)
{
	struct nic *nic = vector->nic;
	struct nic_rx *rx = &nic->rx[c->queue];
	struct bpf_prog *prog = READ_ONCE(nic->prog);
	struct emnic_joined joined = { .frames = 1 };
	struct xdp_buff xdp;
	struct sk_buff *skb;

	nic_sync_for_cpu(nic, c, page);
	xdp_init_buff(&xdp, PAGE_SIZE << rx->order, &rx->xdp);
	xdp_prepare_buff(&xdp, page_address(page), NIC_HEADROOM, c->bytes, true);
	if (c->segment_bytes && emnic_find_joined(xdp.data, c, &joined)) {
		page_pool_recycle_direct(rx->pool, page);
		nic_count_error(&rx->counts, true);
		return;
	}
	/* In frames and their bytes, however few the packets are. */
	nic_count(&rx->counts, joined.frames, c->bytes + (joined.frames - 1) * joined.headers);
	if (prog && !nic_xdp_passes(vector, rx, prog, &xdp))
		return;
	skb = nic_build_skb(&xdp);
	if (!skb) {
		page_pool_recycle_direct(rx->pool, page);
		nic_count_error(&rx->counts, false);
		return;
	}
	if (c->segment_bytes) {
		nic_set_joined(skb, c, &joined);
		WRITE_ONCE(rx->coalesced, rx->coalesced + 1);
	} else if (!prog) { /* a program may have changed what the sum is of */
		nic_set_sum(skb, nic->netdev, c);
	}
	nic_pass_on(vector, c, skb);
}

/* A copy of what is in this page, which stays the ring's. */
static void nic_deliver_copy(struct nic_vector *vector, const struct emnic_completion *c,
			     struct page *page)
{
	struct nic *nic = vector->nic;
	struct nic_rx *rx = &nic->rx[c->queue];
	struct sk_buff *skb = napi_alloc_skb(&vector->napi, c->bytes);

	if (!skb) {
		nic_count_error(&rx->counts, false);
		return;
	}
	nic_sync_for_cpu(nic, c, page);
	skb_put_data(skb, page_address(page) + NIC_HEADROOM, c->bytes);
	dma_sync_single_range_for_device(&nic->pdev->dev, page_pool_get_dma_addr(page),
					 NIC_HEADROOM, c->bytes, DMA_BIDIRECTIONAL);
	nic_count(&rx->counts, 1, c->bytes);
	nic_set_sum(skb, nic->netdev, c);
	nic_pass_on(vector, c, skb);
}

void nic_receive(struct nic_vector *vector, const struct emnic_completion *c)
{
	struct nic *nic = vector->nic;
	struct nic_rx *rx = &nic->rx[c->queue];
	struct page *page = rx->pages[c->slot], *next = NULL;

	if (c->error) {
		nic_count_error(&rx->counts, true);
	} else if (nic->joins && !c->segment_bytes && c->bytes <= MOST_COPIED) {
		nic_deliver_copy(vector, c, page);
	} else {
		next = page_pool_dev_alloc_pages(rx->pool);
		if (next) {
			rx->pages[c->slot] = next;
			nic_deliver(vector, c, page);
		} else {
			nic_count_error(&rx->counts, false);
		}
	}
	nic_offer(rx, rx->pages[c->slot]);
}
