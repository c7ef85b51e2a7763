// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics by name (ethtool -S): counters of the device, those it has of its port and of each
 * queue, of the pools of pages, and of XDP by queue.
 */
#include <linux/ethtool.h>

#include "nic.h"

static const char *const nic_xdp_names[] = { "pass",	 "drop",    "tx",
					     "redirect", "aborted", "failed" };

static_assert(ARRAY_SIZE(nic_xdp_names) == NIC_XDP_END);

int nic_get_sset_count(struct net_device *netdev, int set)
{
	const struct nic *nic = netdev_priv(netdev);

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return EMNIC_COUNTERS_END + 2 * EMNIC_PORT_COUNTS_END + 2 + page_pool_ethtool_stats_get_count() +
	       nic->most_queues * (EMNIC_TX_QUEUE_COUNTS + EMNIC_RX_QUEUE_COUNTS + NIC_XDP_END + 2);
}

void nic_get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	const struct nic *nic = netdev_priv(netdev);
	unsigned int i, k;
	char of;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < EMNIC_COUNTERS_END; i++) {
		const char *name = emnic_counter_name(i, &of);

		ethtool_sprintf(&data, "%s%s",
				of == 'd'   ? "device_"
				: of == 'i' ? "interface_"
					    : "",
				name);
	}
	for (i = 0; i < EMNIC_PORT_COUNTS_END; i++) {
		ethtool_sprintf(&data, "tx_%s_phy", emnic_port_count_name(i));
		ethtool_sprintf(&data, "rx_%s_phy", emnic_port_count_name(i));
	}
	ethtool_sprintf(&data, "tx_segmented");
	ethtool_sprintf(&data, "rx_coalesced");
	data = page_pool_ethtool_stats_get_strings(data);
	for (i = 0; i < nic->most_queues; i++) {
		for (k = 0; k < NIC_XDP_END; k++)
			ethtool_sprintf(&data, "rx%u_xdp_%s", i, nic_xdp_names[k]);
		ethtool_sprintf(&data, "tx%u_xdp_xmit", i);
		ethtool_sprintf(&data, "tx%u_xdp_refused", i);
	}
	for (i = 0; i < nic->most_queues; i++) {
		for (k = 0; k < EMNIC_TX_QUEUE_COUNTS; k++)
			ethtool_sprintf(&data, "tx%u_card_%s", i, emnic_queue_count_name(k));
		for (k = 0; k < EMNIC_RX_QUEUE_COUNTS; k++)
			ethtool_sprintf(&data, "rx%u_card_%s", i, emnic_queue_count_name(k));
	}
}

/* Of the pools since the interface is up. */
static u64 *nic_get_pool_stats(const struct nic *nic, u64 *data)
{
#ifdef CONFIG_PAGE_POOL_STATS
	struct page_pool_stats stats = {};
	unsigned int i;

	for (i = 0; i < nic->queues; i++)
		if (nic->rx[i].pool)
			page_pool_get_stats(nic->rx[i].pool, &stats);
	data = page_pool_ethtool_stats_get(data, &stats);
#endif
	return data;
}

void nic_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	struct nic *nic = netdev_priv(netdev);
	const u64 *tx = &nic->port[NIC_TX].packets; /* the first */
	const u64 *rx = &nic->port[NIC_RX].packets;
	unsigned int i, k;

	if (netif_running(netdev))
		nic_look_all(nic);
	memcpy(data, nic->device, EMNIC_COUNTERS_END * sizeof(*data));
	data += EMNIC_COUNTERS_END;
	for (i = 0; i < EMNIC_PORT_COUNTS_END; i++) {
		*data++ = tx[i];
		*data++ = rx[i];
	}
	data[0] = 0; /* packets that became several frames */
	data[1] = 0; /* that several became */
	for (i = 0; i < nic->most_queues; i++) {
		data[0] += READ_ONCE(nic->tx[i].segmented);
		data[1] += READ_ONCE(nic->rx[i].coalesced);
	}
	data = nic_get_pool_stats(nic, data + 2);
	for (i = 0; i < nic->most_queues; i++) {
		for (k = 0; k < NIC_XDP_END; k++)
			*data++ = READ_ONCE(nic->rx[i].xdp_count[k]);
		*data++ = READ_ONCE(nic->tx[i].xdp_xmit);
		*data++ = READ_ONCE(nic->tx[i].xdp_refused);
	}
	for (i = 0; i < nic->most_queues; i++) {
		memcpy(data, &nic->tx[i].card, EMNIC_TX_QUEUE_COUNTS * sizeof(*data));
		data += EMNIC_TX_QUEUE_COUNTS;
		memcpy(data, &nic->rx[i].card, EMNIC_RX_QUEUE_COUNTS * sizeof(*data));
		data += EMNIC_RX_QUEUE_COUNTS;
	}
}
