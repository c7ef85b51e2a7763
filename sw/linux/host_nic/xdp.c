// SPDX-License-Identifier: GPL-2.0-only
/*
 * XDP: a program sees each frame in the page it came in. Frames that it sends, and those of other
 * devices, go by the queues of the stack and under their locks.
 */
#include <linux/bpf.h>
#include <linux/bpf_trace.h>
#include <linux/filter.h>

#include "nic.h"

static void nic_note(unsigned long *count)
{
	WRITE_ONCE(*count, *count + 1);
}

/* Whether it is with the device; the caller holds the queue's lock. */
static bool nic_post_frame(struct nic *nic, struct nic_tx *tx, struct xdp_frame *frame,
			   struct emnic_segment segment, bool mapped)
{
	struct nic_sent *sent = nic_next_sent(tx);

	if (nic_tx_room(tx) == 0 || emnic_post(tx->queue, &segment, 1, NULL))
		return false;
	sent->frame = frame;
	if (mapped) {
		sent->segments[0] = segment;
		sent->count = 1;
	}
	return true;
}

/* Back to where it came from, in the page it came in, which the device can read already. */
static bool nic_send_back(struct nic_vector *vector, struct xdp_buff *xdp)
{
	struct nic *nic = vector->nic;
	struct nic_tx *tx = &nic->tx[vector->number];
	struct netdev_queue *txq = netdev_get_tx_queue(nic->netdev, vector->number);
	struct xdp_frame *frame = xdp_convert_buff_to_frame(xdp);
	struct page *page = virt_to_head_page(xdp->data);
	struct emnic_segment segment;
	bool sent;

	if (!frame)
		return false;
	segment.bus = page_pool_get_dma_addr(page) + (frame->data - page_address(page));
	segment.bytes = frame->len;
	dma_sync_single_for_device(&nic->pdev->dev, segment.bus, segment.bytes, DMA_BIDIRECTIONAL);
	__netif_tx_lock(txq, smp_processor_id());
	sent = nic_post_frame(nic, tx, frame, segment, false);
	if (sent)
		txq_trans_cond_update(txq);
	else
		nic_note(&tx->xdp_refused);
	nic_stop_if_full(tx, txq);
	__netif_tx_unlock(txq);
	vector->sent_back = true;
	return sent;
}

/* Whether the stack is to have the frame; if not it is taken care of. */
bool nic_xdp_passes(struct nic_vector *vector, struct nic_rx *rx, struct bpf_prog *prog,
		    struct xdp_buff *xdp)
{
	struct net_device *netdev = vector->nic->netdev;
	struct page *page = virt_to_head_page(xdp->data);
	u32 verdict = bpf_prog_run_xdp(prog, xdp);

	switch (verdict) {
	case XDP_PASS:
		nic_note(&rx->xdp_count[NIC_XDP_PASS]);
		return true;
	case XDP_TX:
		if (nic_send_back(vector, xdp)) {
			nic_note(&rx->xdp_count[NIC_XDP_TX]);
			return false;
		}
		nic_note(&rx->xdp_count[NIC_XDP_FAILED]);
		trace_xdp_exception(netdev, prog, verdict);
		break;
	case XDP_REDIRECT:
		if (xdp_do_redirect(netdev, xdp, prog) == 0) {
			nic_note(&rx->xdp_count[NIC_XDP_REDIRECT]);
			vector->redirected = true;
			return false;
		}
		nic_note(&rx->xdp_count[NIC_XDP_FAILED]);
		break; /* it has been traced */
	default:
		bpf_warn_invalid_xdp_action(netdev, prog, verdict);
		fallthrough;
	case XDP_ABORTED:
		nic_note(&rx->xdp_count[NIC_XDP_ABORTED]);
		trace_xdp_exception(netdev, prog, verdict);
		break;
	case XDP_DROP:
		nic_note(&rx->xdp_count[NIC_XDP_DROP]);
		break;
	}
	page_pool_recycle_direct(rx->pool, page);
	return false;
}

/* Once a poll: what the programs have sent sets out. */
void nic_xdp_flush(struct nic_vector *vector)
{
	struct nic *nic = vector->nic;
	struct netdev_queue *txq = netdev_get_tx_queue(nic->netdev, vector->number);

	if (vector->redirected)
		xdp_do_flush();
	if (vector->sent_back) {
		__netif_tx_lock(txq, smp_processor_id());
		emnic_tx_flush(nic->tx[vector->number].queue, 1, 0);
		__netif_tx_unlock(txq);
	}
	vector->redirected = vector->sent_back = false;
}

static bool nic_send_frame(struct nic *nic, struct nic_tx *tx, struct xdp_frame *frame)
{
	struct device *dev = &nic->pdev->dev;
	struct emnic_segment segment = { .bytes = frame->len };
	dma_addr_t bus;

	if (xdp_frame_has_frags(frame))
		return false;
	bus = dma_map_single(dev, frame->data, frame->len, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, bus))
		return false;
	segment.bus = bus;
	if (nic_post_frame(nic, tx, frame, segment, true))
		return true;
	dma_unmap_single(dev, bus, frame->len, DMA_TO_DEVICE);
	return false;
}

/* Frames that others redirect to this device: how many it has taken. */
int nic_xdp_xmit(struct net_device *netdev, int count, struct xdp_frame **frames, u32 flags)
{
	struct nic *nic = netdev_priv(netdev);
	unsigned int number = smp_processor_id() % nic->queues;
	struct nic_tx *tx = &nic->tx[number];
	struct netdev_queue *txq = netdev_get_tx_queue(netdev, number);
	int done = 0;

	if (flags & ~XDP_XMIT_FLAGS_MASK)
		return -EINVAL;
	__netif_tx_lock(txq, smp_processor_id());
	/* nic_stop says so before it takes the lock; there may be fewer queues since. */
	if (!netif_carrier_ok(netdev) || number >= nic->queues) {
		__netif_tx_unlock(txq);
		return -ENETDOWN;
	}
	while (done < count && nic_send_frame(nic, tx, frames[done]))
		done++;
	WRITE_ONCE(tx->xdp_xmit, tx->xdp_xmit + done);
	WRITE_ONCE(tx->xdp_refused, tx->xdp_refused + count - done);
	if (done)
		txq_trans_cond_update(txq);
	nic_stop_if_full(tx, txq);
	if (flags & XDP_XMIT_FLUSH)
		emnic_tx_flush(tx->queue, 1, 0);
	__netif_tx_unlock(txq);
	return done;
}

int nic_bpf(struct net_device *netdev, struct netdev_bpf *bpf)
{
	struct nic *nic = netdev_priv(netdev);
	struct bpf_prog *before;

	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	if (bpf->prog && !nic_fits_page(netdev->mtu)) {
		NL_SET_ERR_MSG(bpf->extack, "XDP needs frames that fit into a page: smaller MTU");
		return -EOPNOTSUPP;
	}
	nic->frames_only = bpf->prog;
	if (bpf->prog)
		netdev_update_features(netdev);
	if (bpf->prog && nic->joins) {
		nic->frames_only = false;
		NL_SET_ERR_MSG(bpf->extack, "no memory for rings without rx-gro-hw");
		return -ENOMEM;
	}
	before = xchg(&nic->prog, bpf->prog);
	if (before)
		bpf_prog_put(before); /* freed when no poll can be running it */
	if (!bpf->prog)
		netdev_update_features(netdev);
	return 0;
}
