// SPDX-License-Identifier: GPL-2.0-only
/* Flows that go to a queue of their own, by exact match: ethtool -n and -N. */
#include <linux/ethtool.h>
#include <linux/slab.h>

#include "nic.h"

struct nic_rule {
	bool used;
	u32 queue;
	struct ethtool_rx_flow_spec spec;
	struct emnic_flow flow;
};

/* What the rule is over: both addresses and both ports, and nothing else. */
static int nic_flow(const struct ethtool_rx_flow_spec *spec, struct emnic_flow *flow)
{
	const struct ethtool_tcpip4_spec *v4 = &spec->h_u.tcp_ip4_spec,
					 *m4 = &spec->m_u.tcp_ip4_spec;
	const struct ethtool_tcpip6_spec *v6 = &spec->h_u.tcp_ip6_spec,
					 *m6 = &spec->m_u.tcp_ip6_spec;

	memset(flow, 0, sizeof(*flow));
	switch (spec->flow_type) {
	case TCP_V4_FLOW:
	case UDP_V4_FLOW:
		if (m4->tos || (m4->ip4src & m4->ip4dst) != htonl(U32_MAX) ||
		    (m4->psrc & m4->pdst) != htons(U16_MAX))
			return -EOPNOTSUPP;
		flow->type = EMNIC_IPV4;
		memcpy(flow->fields, &v4->ip4src, 4);
		memcpy(flow->fields + 4, &v4->ip4dst, 4);
		memcpy(flow->fields + 8, &v4->psrc, 2);
		memcpy(flow->fields + 10, &v4->pdst, 2);
		break;
	case TCP_V6_FLOW:
	case UDP_V6_FLOW:
		if (m6->tclass || memchr_inv(m6->ip6src, 0xff, sizeof(m6->ip6src)) ||
		    memchr_inv(m6->ip6dst, 0xff, sizeof(m6->ip6dst)) ||
		    (m6->psrc & m6->pdst) != htons(U16_MAX))
			return -EOPNOTSUPP;
		flow->type = EMNIC_IPV6;
		memcpy(flow->fields, v6->ip6src, 16);
		memcpy(flow->fields + 16, v6->ip6dst, 16);
		memcpy(flow->fields + 32, &v6->psrc, 2);
		memcpy(flow->fields + 34, &v6->pdst, 2);
		break;
	default: /* and those with VLAN tags or addresses of Ethernet (FLOW_EXT, FLOW_MAC_EXT) */
		return -EOPNOTSUPP;
	}
	flow->type |= spec->flow_type == TCP_V4_FLOW || spec->flow_type == TCP_V6_FLOW ? EMNIC_TCP
										       : EMNIC_UDP;
	return 0;
}

static int nic_steer(struct nic *nic, const struct nic_rule *rule)
{
	return nic_status(nic, "flow", emnic_steer(nic->core, 0, 0, &rule->flow, rule->queue));
}

/* The card loses its flows when it is stopped, and has other places for them with another key. */
int nic_flows_open(struct nic *nic)
{
	unsigned int i;
	int err = 0;

	for (i = 0; nic->rules && i < NIC_MOST_RULES && !err; i++)
		if (nic->rules[i].used)
			err = nic_steer(nic, &nic->rules[i]);
	return err;
}

void nic_flows_close(struct nic *nic)
{
	unsigned int i;

	for (i = 0; nic->rules && i < NIC_MOST_RULES; i++)
		if (nic->rules[i].used)
			emnic_unsteer(nic->core, 0, 0, &nic->rules[i].flow);
}

static int nic_insert(struct nic *nic, struct ethtool_rx_flow_spec *spec)
{
	struct nic_rule rule = { .used = true, .queue = spec->ring_cookie, .spec = *spec };
	bool running = netif_running(nic->netdev);
	struct nic_rule *at;
	unsigned int i;
	int err = nic_flow(spec, &rule.flow);

	if (err)
		return err;
	if (spec->location >= NIC_MOST_RULES || spec->ring_cookie >= nic->queues)
		return -EINVAL;
	if (nic->is->ports > 1)
		return -EOPNOTSUPP;
	if (!nic->rules)
		nic->rules = kvcalloc(NIC_MOST_RULES, sizeof(*nic->rules), GFP_KERNEL);
	if (!nic->rules)
		return -ENOMEM;
	for (i = 0; i < NIC_MOST_RULES; i++)
		if (nic->rules[i].used && i != spec->location &&
		    !memcmp(&nic->rules[i].flow, &rule.flow, sizeof(rule.flow)))
			return -EEXIST;
	at = &nic->rules[spec->location];
	if (running && at->used)
		emnic_unsteer(nic->core, 0, 0, &at->flow);
	at->used = false;
	if (running)
		err = nic_steer(nic, &rule);
	if (!err)
		*at = rule;
	return err;
}

/* Whether a flow goes to this queue or to one behind it. */
bool nic_rules_need(const struct nic *nic, unsigned int queue)
{
	unsigned int i;

	for (i = 0; nic->rules && i < NIC_MOST_RULES; i++)
		if (nic->rules[i].used && nic->rules[i].queue >= queue)
			return true;
	return false;
}

static struct nic_rule *nic_find(struct nic *nic, u32 location)
{
	if (!nic->rules || location >= NIC_MOST_RULES || !nic->rules[location].used)
		return NULL;
	return &nic->rules[location];
}

/* Under the rtnl lock, as open and stop. */
int nic_set_rxnfc(struct net_device *netdev, struct ethtool_rxnfc *info)
{
	struct nic *nic = netdev_priv(netdev);
	struct nic_rule *rule;

	switch (info->cmd) {
	case ETHTOOL_SRXCLSRLINS:
		return nic_insert(nic, &info->fs);
	case ETHTOOL_SRXCLSRLDEL:
		rule = nic_find(nic, info->fs.location);
		if (!rule)
			return -ENOENT;
		if (netif_running(netdev))
			emnic_unsteer(nic->core, 0, 0, &rule->flow);
		rule->used = false;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int nic_list(struct nic *nic, struct ethtool_rxnfc *info, u32 *locations)
{
	unsigned int i, n = 0;

	for (i = 0; nic->rules && i < NIC_MOST_RULES; i++) {
		if (!nic->rules[i].used)
			continue;
		if (locations && n == info->rule_cnt)
			return -EMSGSIZE;
		if (locations)
			locations[n] = i;
		n++;
	}
	info->rule_cnt = n;
	info->data = NIC_MOST_RULES;
	return 0;
}

int nic_get_rules(struct nic *nic, struct ethtool_rxnfc *info, u32 *locations)
{
	const struct nic_rule *rule;

	switch (info->cmd) {
	case ETHTOOL_GRXCLSRLCNT:
		return nic_list(nic, info, NULL);
	case ETHTOOL_GRXCLSRLALL:
		return nic_list(nic, info, locations);
	case ETHTOOL_GRXCLSRULE:
		rule = nic_find(nic, info->fs.location);
		if (!rule)
			return -ENOENT;
		info->fs = rule->spec;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}
