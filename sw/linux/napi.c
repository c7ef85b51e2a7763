// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts, and what has come: events, then the records of the completion queues they name. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "nic.h"
#include "queue_formats.h"

#define BATCH 8

irqreturn_t nic_interrupt(int irq, void *data)
{
	struct nic_vector *vector = data;

	vector->nic->posted = 0;
	napi_schedule_irqoff(&vector->napi);
	return IRQ_HANDLED;
}

static void nic_take_events(struct nic_vector *vector)
{
	struct nic *nic = vector->nic;
	struct emnic_event event;

	while (emnic_next_event(vector->events, &event)) {
		if (event.completions >= 0) {
			__set_bit(event.completions, vector->pending);
			continue;
		}
		if (net_ratelimit())
			netdev_err(nic->netdev, "event %u of queue %u: error %u\n", event.kind,
				   event.source, event.code);
		schedule_work(&nic->reset);
	}
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

/* Frames are copied out of the ring's own buffers, which go back to the device at once. */
static void nic_receive(struct nic_vector *vector, const struct emnic_completion *c)
{
	struct nic *nic = vector->nic;
	struct nic_rx *rx = &nic->rx[c->queue];
	struct sk_buff *skb = NULL;

	if (!c->error)
		skb = napi_alloc_skb(&vector->napi, c->bytes);
	if (!skb) {
		nic_count_error(&rx->counts, c->error);
	} else {
		skb_put_data(skb, c->data, c->bytes);
		skb->protocol = eth_type_trans(skb, nic->netdev);
		if (c->tag)
			__vlan_hwaccel_put_tag(
				skb, htons(c->tag == EMNIC_S_TAG ? ETH_P_8021AD : ETH_P_8021Q),
				c->tci);
		if (nic->netdev->features & NETIF_F_RXCSUM) {
			skb->csum = csum_unfold((__force __sum16)htons(c->csum));
			skb->ip_summed = CHECKSUM_COMPLETE;
		}
		nic_set_hash(skb, c);
		if (nic->clock.config.rx_filter != HWTSTAMP_FILTER_NONE)
			*skb_hwtstamps(skb) = nic_stamp(nic, c->timestamp);
		skb_record_rx_queue(skb, c->queue);
		nic_count(&rx->counts, 1, c->bytes);
		napi_gro_receive(&vector->napi, skb);
	}
	emnic_release(rx->queue, 1);
	emnic_rx_flush(rx->queue);
}

/* Frames received, of `budget`; sets `drained` when the queue has nothing more. */
static int nic_take(struct nic_vector *vector, struct emnic_cq *cq, int budget, bool *drained)
{
	struct emnic_completion c[BATCH];
	int received = 0;
	unsigned int i, n;

	*drained = false;
	do {
		n = emnic_take(cq, c, clamp(budget - received, 1, BATCH));
		for (i = 0; i < n; i++) {
			if (c[i].transmit) {
				nic_tx_done(vector->nic, &c[i]);
			} else {
				nic_receive(vector, &c[i]);
				received++;
			}
		}
		*drained = n == 0;
	} while (n > 0 && received < budget);
	return received;
}

int nic_poll(struct napi_struct *napi, int budget)
{
	struct nic_vector *vector = container_of(napi, struct nic_vector, napi);
	struct emnic *core = vector->nic->core;
	unsigned int number;
	bool drained;
	int done = 0;

	nic_take_events(vector);
	for_each_set_bit(number, vector->pending, 4 * NIC_MOST_VECTORS)
	{
		struct emnic_cq *cq = emnic_completions(core, number);

		if (done >= budget)
			return budget;
		done += nic_take(vector, cq, budget - done, &drained);
		if (!drained)
			return budget;
		__clear_bit(number, vector->pending);
		emnic_taken(cq, 1);
	}
	if (done < budget && napi_complete_done(napi, done))
		emnic_arm(vector->events);
	return done;
}
