// SPDX-License-Identifier: GPL-2.0-only
/* Which queue a frame goes to: the table of the flow hash and its key, as ethtool -x and -X have
 * them. */
#include <linux/ethtool.h>
#include <asm/unaligned.h>

#include "nic.h"

/* Of IPv4 and IPv6 the hash is over addresses, of TCP and UDP over ports as well. */
static u64 nic_hashed_fields(u32 flow)
{
	switch (flow) {
	case TCP_V4_FLOW:
	case UDP_V4_FLOW:
	case TCP_V6_FLOW:
	case UDP_V6_FLOW:
		return RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3;
	case IPV4_FLOW:
	case IPV6_FLOW:
		return RXH_IP_SRC | RXH_IP_DST;
	default:
		return 0;
	}
}

int nic_get_rxnfc(struct net_device *netdev, struct ethtool_rxnfc *info, u32 *rules)
{
	struct nic *nic = netdev_priv(netdev);

	switch (info->cmd) {
	case ETHTOOL_GRXRINGS:
		info->data = nic->queues;
		return 0;
	case ETHTOOL_GRXFH:
		info->data = nic_hashed_fields(info->flow_type);
		return 0;
	default:
		return nic_get_rules(nic, info, rules);
	}
}

u32 nic_get_rxfh_indir_size(struct net_device *netdev)
{
	const struct nic *nic = netdev_priv(netdev);

	return nic->is->rss_entries;
}

u32 nic_get_rxfh_key_size(struct net_device *netdev)
{
	return sizeof(u32) * EMNIC_KEY_WORDS;
}

int nic_get_rxfh(struct net_device *netdev, u32 *table, u8 *key, u8 *function)
{
	const struct nic *nic = netdev_priv(netdev);
	unsigned int i;

	if (function)
		*function = ETH_RSS_HASH_TOP;
	for (i = 0; table && i < nic->is->rss_entries; i++)
		table[i] = nic->rss_table ? nic->rss_table[i]
					  : emnic_rss_queue(i, 0, nic->is->ports, nic->queues);
	for (i = 0; key && i < EMNIC_KEY_WORDS; i++)
		put_unaligned_be32(nic->rss_key[i], key + 4 * i);
	return 0;
}

static int nic_put_table(struct nic *nic)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nic->is->rss_entries && err == 0; i++)
		err = emnic_set_rss(nic->core, 0, 0, i, nic->rss_table[i]);
	return nic_status(nic, "rss", err);
}

/* What was set while the card was down; the key goes with emnic_start. */
int nic_rss_open(struct nic *nic)
{
	return nic->rss_table ? nic_put_table(nic) : 0;
}

/* Queues are dealt by turns again, with the next start. */
void nic_rss_forget(struct nic *nic)
{
	kvfree(nic->rss_table);
	nic->rss_table = NULL;
}

/* Under the rtnl lock, as open and stop. Of several ports the receive queues are each one's own. */
int nic_set_rxfh(struct net_device *netdev, const u32 *table, const u8 *key, const u8 function)
{
	struct nic *nic = netdev_priv(netdev);
	bool running = netif_running(netdev);
	unsigned int i;
	int err = 0;

	if (function != ETH_RSS_HASH_NO_CHANGE && function != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	if (table && nic->is->ports > 1)
		return -EOPNOTSUPP;
	if (table && !nic->rss_table) {
		nic->rss_table = kvcalloc(nic->is->rss_entries, sizeof(u32), GFP_KERNEL);
		if (!nic->rss_table)
			return -ENOMEM;
	}
	if (table) {
		memcpy(nic->rss_table, table, nic->is->rss_entries * sizeof(u32));
		if (running)
			err = nic_put_table(nic);
	}
	if (key) {
		for (i = 0; i < EMNIC_KEY_WORDS; i++)
			nic->rss_key[i] = get_unaligned_be32(key + 4 * i);
		if (running)
			nic_flows_close(nic);
		for (i = 0; running && i < nic->is->ports && !err; i++)
			err = nic_status(nic, "rss",
					 emnic_set_rss_key(nic->core, 0, i, nic->rss_key));
		if (running && !err)
			err = nic_flows_open(nic);
	}
	return err;
}
