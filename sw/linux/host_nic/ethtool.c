// SPDX-License-Identifier: GPL-2.0-only
/* What ethtool asks and sets. */
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>

#include "clock.h"
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

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	return nic_resize(nic, (struct nic_sizes){ netdev->mtu, tx, rx });
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

/* As looked at under the rtnl lock, which ethtool holds. */
const u64 *nic_counters(struct net_device *netdev)
{
	struct nic *nic = netdev_priv(netdev);

	if (netif_running(netdev))
		nic_look(nic);
	return nic->device;
}

static void nic_get_eth_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	const u64 *device = nic_counters(netdev);

	stats->FramesTransmittedOK = device[EMNIC_PORT_tx_frames];
	stats->FramesReceivedOK = device[EMNIC_PORT_rx_frames];
	stats->FrameCheckSequenceErrors = device[EMNIC_PORT_rx_bad_fcs];
	stats->FrameTooLongErrors = device[EMNIC_PORT_rx_oversize];
	stats->FramesLostDueToIntMACRcvError =
		device[EMNIC_PORT_rx_fifo_full] + device[EMNIC_PORT_rx_buffer_full];
}

static void nic_get_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			       const struct ethtool_rmon_hist_range **ranges)
{
	const u64 *device = nic_counters(netdev);

	stats->undersize_pkts = device[EMNIC_PORT_rx_runt];
	stats->oversize_pkts = device[EMNIC_PORT_rx_oversize];
}

/* Moderation is a vector's, for both ways alike. */
static int nic_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct nic *nic = netdev_priv(netdev);

	coalesce->rx_coalesce_usecs =
		DIV_ROUND_CLOSEST_ULL(nic->interval * 1000ULL, emnic_core_khz(nic->core));
	return 0;
}

static int nic_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct nic *nic = netdev_priv(netdev);
	u64 clocks = DIV_ROUND_CLOSEST_ULL(
		(u64)coalesce->rx_coalesce_usecs * emnic_core_khz(nic->core), 1000);
	unsigned int i;
	int err = 0;

	if (clocks > U32_MAX) {
		NL_SET_ERR_MSG(extack, "longer than the card can wait");
		return -ERANGE;
	}
	nic->interval = clocks;
	for (i = 0; netif_running(netdev) && i < nic->queues && !err; i++)
		err = nic_status(nic, "coalesce",
				 emnic_set_interrupt_interval(nic->core, i, nic->interval));
	return err;
}

static int nic_get_ts_info(struct net_device *netdev, struct ethtool_ts_info *info)
{
	const struct nic *nic = netdev_priv(netdev);

	ethtool_op_get_ts_info(netdev, info);
	info->so_timestamping |= SOF_TIMESTAMPING_TX_SOFTWARE;
	if (!nic->clock.ptp)
		return 0;
	info->so_timestamping |= SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
				 SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(nic->clock.ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

const struct ethtool_ops nic_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_drvinfo = nic_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = nic_get_link_ksettings,
	.get_ringparam = nic_get_ringparam,
	.set_ringparam = nic_set_ringparam,
	.get_channels = nic_get_channels,
	.get_sset_count = nic_get_sset_count,
	.get_strings = nic_get_strings,
	.get_ethtool_stats = nic_get_ethtool_stats,
	.get_eth_mac_stats = nic_get_eth_mac_stats,
	.get_rmon_stats = nic_get_rmon_stats,
	.get_coalesce = nic_get_coalesce,
	.set_coalesce = nic_set_coalesce,
	.get_rxnfc = nic_get_rxnfc,
	.set_rxnfc = nic_set_rxnfc,
	.get_rxfh_indir_size = nic_get_rxfh_indir_size,
	.get_rxfh_key_size = nic_get_rxfh_key_size,
	.get_rxfh = nic_get_rxfh,
	.set_rxfh = nic_set_rxfh,
	.get_ts_info = nic_get_ts_info,
};
