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

	struct nic_sizes sizes = nic_get_sizes(nic);

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	sizes.tx_ring = tx;
	sizes.rx_ring = rx;
	return nic_resize(nic, sizes);
}

static void nic_get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	const struct nic *nic = netdev_priv(netdev);

	channels->max_combined = nic->most_queues;
	channels->combined_count = nic->queues;
}

/* Whoever has set the table of the flow hash has it kept, and fewer queues than are in it refused:
 * ethtool sees to that. */
static int nic_set_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct nic *nic = netdev_priv(netdev);
	struct nic_sizes sizes = nic_get_sizes(nic);

	sizes.queues = channels->combined_count;
	if (sizes.queues == 0 || sizes.queues % nic->is->ports != 0)
		return -EINVAL;
	if (nic_rules_need(nic, sizes.queues))
		return -EBUSY;
	if (!netif_is_rxfh_configured(netdev))
		nic_rss_forget(nic);
	return nic_resize(nic, sizes);
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
const struct emnic_port_counts *nic_port_counts(struct net_device *netdev, enum nic_way way)
{
	struct nic *nic = netdev_priv(netdev);

	if (netif_running(netdev))
		nic_look_port(nic, way);
	return &nic->port[way];
}

/* 802.3 counts octets of data and padding: without addresses, type and FCS. */
static u64 nic_octets(const struct emnic_port_counts *port)
{
	return port->bytes - port->packets * (ETH_HLEN + ETH_FCS_LEN);
}

static void nic_get_eth_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	const struct emnic_port_counts *tx = nic_port_counts(netdev, NIC_TX);
	const struct emnic_port_counts *rx = nic_port_counts(netdev, NIC_RX);

	stats->FramesTransmittedOK = tx->packets;
	stats->FramesReceivedOK = rx->packets;
	stats->OctetsTransmittedOK = nic_octets(tx);
	stats->OctetsReceivedOK = nic_octets(rx);
	stats->MulticastFramesXmittedOK = tx->multicast + tx->pause + tx->pfc;
	stats->MulticastFramesReceivedOK = rx->multicast + rx->pause + rx->pfc;
	stats->BroadcastFramesXmittedOK = tx->broadcast;
	stats->BroadcastFramesReceivedOK = rx->broadcast;
	stats->FrameCheckSequenceErrors = rx->crc_errors;
	stats->FrameTooLongErrors = rx->oversize;
	stats->FramesLostDueToIntMACXmitError = tx->crc_errors;
	stats->FramesLostDueToIntMACRcvError = rx->lost_crossing + rx->lost_buffer;
}

static void nic_get_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			       const struct ethtool_rmon_hist_range **ranges)
{
	struct nic *nic = netdev_priv(netdev);
	const struct emnic_port_counts *tx = nic_port_counts(netdev, NIC_TX);
	const struct emnic_port_counts *rx = nic_port_counts(netdev, NIC_RX);
	unsigned int i;

	stats->undersize_pkts = rx->undersize;
	stats->oversize_pkts = rx->oversize;
	stats->fragments = rx->fragments;
	for (i = 0; i < EMNIC_PORT_SIZES; i++) {
		stats->hist[i] = (&rx->size_64)[i];
		stats->hist_tx[i] = (&tx->size_64)[i];
		nic->sizes[i].low = emnic_port_size_from(i);
		nic->sizes[i].high = i + 1 < EMNIC_PORT_SIZES ? emnic_port_size_from(i + 1) - 1 :
								nic->is->max_frame + ETH_FCS_LEN;
	}
	*ranges = nic->sizes;
}

/* The card itself neither obeys nor sends such frames: its MAC may, which is outside. */
static void nic_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	pause->autoneg = AUTONEG_DISABLE;
}

/* Those that the MAC has left in the traffic. */
static void nic_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *stats)
{
	stats->tx_pause_frames = nic_port_counts(netdev, NIC_TX)->pause;
	stats->rx_pause_frames = nic_port_counts(netdev, NIC_RX)->pause;
}

/* Moderation is a vector's, for both ways alike. */
static int nic_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct nic *nic = netdev_priv(netdev);

	coalesce->rx_coalesce_usecs =
		DIV_ROUND_CLOSEST_ULL(nic->interval * 1000ULL, emnic_core_khz(nic->core));
	return READ_ONCE(nic->gone) ? -ENODEV : 0;
}

static int nic_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct nic *nic = netdev_priv(netdev);
	u64 clocks = DIV_ROUND_CLOSEST_ULL(
		(u64)coalesce->rx_coalesce_usecs * emnic_core_khz(nic->core), 1000);
	unsigned int i;
	int err = 0;

	if (READ_ONCE(nic->gone))
		return -ENODEV;
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
	.set_channels = nic_set_channels,
	.get_sset_count = nic_get_sset_count,
	.get_strings = nic_get_strings,
	.get_ethtool_stats = nic_get_ethtool_stats,
	.get_eth_mac_stats = nic_get_eth_mac_stats,
	.get_rmon_stats = nic_get_rmon_stats,
	.get_pauseparam = nic_get_pauseparam,
	.get_pause_stats = nic_get_pause_stats,
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
