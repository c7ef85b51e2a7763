// SPDX-License-Identifier: GPL-2.0-only
/* What ethtool asks and sets. */
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "nic.h"

static void nic_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	const struct nic *nic = netdev_priv(netdev);

	strscpy(info->driver, NIC_NAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(nic->pdev), sizeof(info->bus_info));
}

static void nic_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			      struct kernel_ethtool_ringparam *kernel,
			      struct netlink_ext_ack *extack)
{
	const struct nic *nic = netdev_priv(netdev);

	ring->rx_max_pending = NIC_MOST_RING;
	ring->tx_max_pending = NIC_MOST_RING;
	ring->rx_pending = nic->rx_ring;
	ring->tx_pending = nic->tx_ring;
}

static int nic_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			     struct kernel_ethtool_ringparam *kernel,
			     struct netlink_ext_ack *extack)
{
	struct nic *nic = netdev_priv(netdev);
	unsigned int tx =
		roundup_pow_of_two(clamp_t(u32, ring->tx_pending, NIC_LEAST_RING, NIC_MOST_RING));
	unsigned int rx =
		roundup_pow_of_two(clamp_t(u32, ring->rx_pending, NIC_LEAST_RING, NIC_MOST_RING));
	bool running = netif_running(netdev);

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	if (running)
		netdev->netdev_ops->ndo_stop(netdev);
	nic->tx_ring = tx;
	nic->rx_ring = rx;
	return running ? netdev->netdev_ops->ndo_open(netdev) : 0;
}

static void nic_get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	const struct nic *nic = netdev_priv(netdev);

	channels->max_combined = nic->queues;
	channels->combined_count = nic->queues;
}

/* The card has no register for the line's rate: 100G is what it is made for. */
static int nic_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *link)
{
	ethtool_link_ksettings_zero_link_mode(link, supported);
	link->base.speed = SPEED_100000;
	link->base.duplex = DUPLEX_FULL;
	link->base.port = PORT_FIBRE;
	link->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static int nic_get_sset_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? EMNIC_COUNTERS_END : -EOPNOTSUPP;
}

static void nic_get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	unsigned int i;
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
}

static void nic_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	struct nic *nic = netdev_priv(netdev);

	if (netif_running(netdev))
		nic_look(nic);
	memcpy(data, nic->device, sizeof(nic->device));
}

const struct ethtool_ops nic_ethtool_ops = {
	.get_drvinfo = nic_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = nic_get_link_ksettings,
	.get_ringparam = nic_get_ringparam,
	.set_ringparam = nic_set_ringparam,
	.get_channels = nic_get_channels,
	.get_sset_count = nic_get_sset_count,
	.get_strings = nic_get_strings,
	.get_ethtool_stats = nic_get_ethtool_stats,
};
