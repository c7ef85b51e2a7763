// SPDX-License-Identifier: GPL-2.0-only
/* The network device: up and down, its statistics, what is done when the card has come to grief. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "nic.h"

/* The card's counters have 32 bits, 28 s of the shortest frames; and it may be pulled out. */
#define LOOK_INTERVAL (2 * HZ)

static void nic_free_sent(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->queues; i++) {
		kvfree(nic->tx[i].sent);
		nic->tx[i].sent = NULL;
	}
}

static int nic_allocate_sent(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->queues; i++) {
		struct nic_tx *tx = &nic->tx[i];

		tx->sent = kvcalloc(nic->tx_ring, sizeof(*tx->sent), GFP_KERNEL);
		if (!tx->sent) {
			nic_free_sent(nic);
			return -ENOMEM;
		}
	}
	return 0;
}

static unsigned int nic_strip(netdev_features_t features)
{
	return (features & NETIF_F_HW_VLAN_CTAG_RX ? EMNIC_C_TAG : 0) |
	       (features & NETIF_F_HW_VLAN_STAG_RX ? EMNIC_S_TAG : 0);
}

/* Segments are joined as GRO would; an XDP program is for frames. */
static netdev_features_t nic_fix_features(struct net_device *netdev, netdev_features_t features)
{
	const struct nic *nic = netdev_priv(netdev);

	if (nic->frames_only || !(features & NETIF_F_GRO))
		features &= ~NETIF_F_GRO_HW;
	return features;
}

static int nic_set_features(struct net_device *netdev, netdev_features_t features)
{
	struct nic *nic = netdev_priv(netdev);
	struct nic_sizes sizes = nic_get_sizes(nic);
	int err;

	sizes.joins = features & NETIF_F_GRO_HW;
	if (sizes.joins != nic->joins) {
		err = nic_resize(nic, sizes);
		if (err)
			return err;
		netdev->features ^= NETIF_F_GRO_HW;
	}
	if (!((netdev->features ^ features) & NIC_VLAN_RX) || !netif_running(netdev))
		return 0;
	return nic_status(nic, "VLAN", emnic_set_strip(nic->core, 0, nic_strip(features)));
}

struct nic_sizes nic_get_sizes(const struct nic *nic)
{
	return (struct nic_sizes){ nic->netdev->mtu, nic->tx_ring, nic->rx_ring, nic->queues,
				   nic->joins };
}

/* Of an interface that is down, or stopped. */
static int nic_set_sizes(struct nic *nic, struct nic_sizes sizes)
{
	int err = 0;

	if (sizes.queues != nic->queues)
		err = netif_set_real_num_queues(nic->netdev, sizes.queues, sizes.queues);
	if (err)
		return err;
	nic->netdev->mtu = sizes.mtu;
	nic->tx_ring = sizes.tx_ring;
	nic->rx_ring = sizes.rx_ring;
	nic->queues = sizes.queues;
	nic->joins = sizes.joins;
	return 0;
}

static void nic_find_queues(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->queues; i++) {
		nic->tx[i].queue = emnic_tx_queue(nic->core, 0, i);
		nic->rx[i].queue = emnic_rx_queue(nic->core, 0, i);
		nic->vector[i].events = emnic_event_queue(nic->core, i);
		bitmap_zero(nic->vector[i].pending, 4 * NIC_MOST_VECTORS);
	}
}

int nic_open(struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);
	struct emnic_config config = {
		.tx_queues = nic->queues,
		.rx_queues = nic->queues,
		.tx_ring = nic->tx_ring,
		.rx_ring = nic->rx_ring,
		.coalesce_bytes = nic->joins ? NIC_JOINED : 0,
		.coalesce_clocks = emnic_joined_clocks(nic->core),
		.max_frame = NIC_FRAME(netdev->mtu),
		.segments = NIC_SEGMENTS,
		.doorbell_batch = 1,
		.refill_batch = 32,
		.cpus = nic->queues,
		.interrupts = 1,
		.interrupt_interval = nic->interval,
		.strip = nic_strip(netdev->features),
		.rss_key = nic->rss_key,
	};
	unsigned int i;
	int err;

	err = nic_allocate_sent(nic);
	if (err)
		return err;
	err = nic_rx_create(nic);
	if (err)
		goto free_sent;
	err = nic_status(nic, "open", emnic_start(nic->core, &config));
	if (err)
		goto destroy_rx;
	err = nic_rss_open(nic);
	if (!err)
		err = nic_flows_open(nic);
	if (err)
		goto stop;
	nic_find_queues(nic);
	nic_rx_fill(nic);
	nic_healthy(nic);
	nic->up = true;
	for (i = 0; i < nic->queues; i++) {
		struct nic_vector *vector = &nic->vector[i];

		napi_enable(&vector->napi);
		local_bh_disable();
		napi_schedule(&vector->napi); /* an interrupt may have come already */
		local_bh_enable();
	}
	schedule_delayed_work(&nic->look, LOOK_INTERVAL);
	netif_tx_start_all_queues(netdev);
	netif_carrier_on(
		netdev); /* the card has no register for the link: it is up when the card is */
	return 0;

stop:
	emnic_stop(nic->core);
destroy_rx:
	nic_free_irqs(nic);
	nic_rx_destroy(nic);
free_sent:
	nic_free_sent(nic);
	return err;
}

int nic_stop(struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);
	unsigned int i;

	if (!nic->up) /* it could not be set up anew */
		return 0;
	nic->up = false;
	netif_carrier_off(netdev);
	netif_tx_disable(netdev);
	cancel_delayed_work_sync(&nic->look);
	for (i = 0; i < nic->queues; i++)
		napi_disable(&nic->vector[i].napi);
	nic_look_all(nic);
	nic_flows_close(nic);
	nic_status(nic, "stop", emnic_stop(nic->core));
	nic_free_irqs(nic);
	for (i = 0; i < nic->queues; i++)
		nic_tx_forget(nic, i);
	nic_rx_destroy(nic);
	nic_free_sent(nic);
	return 0;
}

/* Everything anew: after an error that stopped a queue, or when nothing has been sent for long. */
int nic_again(struct nic *nic)
{
	int err;

	netdev_warn(nic->netdev, "set up anew\n");
	nic_stop(nic->netdev);
	err = nic_open(nic->netdev);
	if (err)
		dev_close(nic->netdev);
	return err;
}

static void nic_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	nic_trouble(netdev_priv(netdev), NIC_TX, NIC_SILENCE);
}

/* With other sizes; where there is no memory for them with those before. */
int nic_resize(struct nic *nic, struct nic_sizes sizes)
{
	struct net_device *netdev = nic->netdev;
	struct nic_sizes before = nic_get_sizes(nic);
	/* Of a card that is being reset that comes later. */
	bool now = netif_running(netdev) && netif_device_present(netdev);
	int err;

	if (now)
		nic_stop(netdev);
	err = nic_set_sizes(nic, sizes);
	if (!now)
		return err;
	if (!err)
		err = nic_open(netdev);
	if (!err)
		return 0;
	if (nic_set_sizes(nic, before) || nic_open(netdev))
		dev_close(netdev);
	return err;
}

static int nic_change_mtu(struct net_device *netdev, int mtu)
{
	struct nic *nic = netdev_priv(netdev);
	struct nic_sizes sizes = nic_get_sizes(nic);

	if (nic->prog && !nic_fits_page(mtu)) {
		netdev_warn(netdev, "an XDP program needs frames that fit into a page\n");
		return -EINVAL;
	}
	sizes.mtu = mtu;
	return nic_resize(nic, sizes);
}

/* Of the calls of the core for the whole device: under the rtnl lock, or where nobody else is. */
void nic_look(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < EMNIC_COUNTERS_END; i++) {
		u64 now = emnic_get_counter(nic->core, i, 0, 0);

		if (READ_ONCE(nic->gone))
			return;
		nic->device[i] = now;
	}
}

void nic_look_port(struct nic *nic, enum nic_way way)
{
	if (!READ_ONCE(nic->gone))
		emnic_get_port_counts(nic->core, 0, way == NIC_TX, 0, &nic->port[way]);
}

/* At those of 64 bits too, which nobody need look at in time. */
void nic_look_all(struct nic *nic)
{
	unsigned int i;

	nic_look(nic);
	nic_look_port(nic, NIC_TX);
	nic_look_port(nic, NIC_RX);
	for (i = 0; i < nic->queues && !READ_ONCE(nic->gone); i++) {
		emnic_get_queue_counts(nic->core, 0, 1, i, &nic->tx[i].card);
		emnic_get_queue_counts(nic->core, 0, 0, i, &nic->rx[i].card);
	}
}

void nic_look_work(struct work_struct *work)
{
	struct nic *nic = container_of(to_delayed_work(work), struct nic, look);

	/* Whoever stops the card holds the lock and waits for this to end. */
	if (rtnl_trylock()) {
		if (netif_running(nic->netdev))
			nic_look(nic);
		rtnl_unlock();
	}
	schedule_delayed_work(&nic->look, LOOK_INTERVAL);
}

static void nic_read(const struct nic_counts *counts, u64 *packets, u64 *bytes, u64 *errors,
		     u64 *dropped)
{
	u64 p, b, e, d;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&counts->sync);
		p = u64_stats_read(&counts->packets);
		b = u64_stats_read(&counts->bytes);
		e = u64_stats_read(&counts->errors);
		d = u64_stats_read(&counts->dropped);
	} while (u64_stats_fetch_retry(&counts->sync, start));
	*packets += p;
	*bytes += b;
	*errors += e;
	*dropped += d;
}

static void nic_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *s)
{
	const struct nic *nic = netdev_priv(netdev);
	const u64 *device = nic->device;
	unsigned int i;

	for (i = 0; i < nic->most_queues; i++) {
		nic_read(&nic->tx[i].counts, &s->tx_packets, &s->tx_bytes, &s->tx_errors,
			 &s->tx_dropped);
		nic_read(&nic->rx[i].counts, &s->rx_packets, &s->rx_bytes, &s->rx_errors,
			 &s->rx_dropped);
	}
	s->rx_crc_errors = device[EMNIC_PORT_rx_bad_fcs];
	s->rx_length_errors = device[EMNIC_PORT_rx_runt] + device[EMNIC_PORT_rx_oversize];
	s->rx_missed_errors = device[EMNIC_PORT_rx_fifo_full] + device[EMNIC_PORT_rx_buffer_full] +
			      device[EMNIC_PORT_rx_no_descriptor];
	s->rx_errors += s->rx_crc_errors + s->rx_length_errors;
}

const struct net_device_ops nic_netdev_ops = {
	.ndo_open = nic_open,
	.ndo_stop = nic_stop,
	.ndo_start_xmit = nic_start_xmit,
	.ndo_features_check = nic_features_check,
	.ndo_tx_timeout = nic_tx_timeout,
	.ndo_change_mtu = nic_change_mtu,
	.ndo_fix_features = nic_fix_features,
	.ndo_set_features = nic_set_features,
	.ndo_get_stats64 = nic_get_stats64,
	.ndo_bpf = nic_bpf,
	.ndo_xdp_xmit = nic_xdp_xmit,
	.ndo_eth_ioctl = nic_ioctl,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};
