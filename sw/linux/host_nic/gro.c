// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive coalescing (rx-gro-hw): segments of TCP that the card has put under one record become one
 * packet as the stack's own GRO makes it, which can be cut into the same frames again.
 */
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/gro.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "nic.h"

/* Where their headers are; false where they are not what the record says. */
bool nic_find_joined(const u8 *frame, const struct emnic_completion *c, struct nic_joined *joined)
{
	unsigned int at = ETH_HLEN;
	__be16 type = ((const struct ethhdr *)frame)->h_proto;
	const struct tcphdr *tcp;

	while (eth_type_vlan(type) && at + VLAN_HLEN <= c->bytes) {
		type = ((const struct vlan_hdr *)(frame + at))->h_vlan_encapsulated_proto;
		at += VLAN_HLEN;
	}
	joined->network = at;
	joined->v6 = type == htons(ETH_P_IPV6);
	joined->transport = at + (joined->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	if (joined->transport + sizeof(*tcp) > c->bytes)
		return false;
	if (joined->v6) {
		if (((const struct ipv6hdr *)(frame + at))->nexthdr != IPPROTO_TCP)
			return false;
	} else {
		const struct iphdr *ip = (const struct iphdr *)(frame + at);

		if (type != htons(ETH_P_IP) || ip->ihl != 5 || ip->protocol != IPPROTO_TCP)
			return false;
	}
	tcp = (const struct tcphdr *)(frame + joined->transport);
	joined->headers = joined->transport + tcp->doff * 4;
	if (tcp->doff < 5 || joined->headers + c->segment_bytes >= c->bytes)
		return false;
	joined->frames = DIV_ROUND_UP(c->bytes - joined->headers, c->segment_bytes);
	return true;
}

/* The headers are the first frame's as it came; `skb` begins with them. */
void nic_set_joined(struct sk_buff *skb, const struct emnic_completion *c,
		    const struct nic_joined *joined)
{
	unsigned int bytes = skb->len - joined->transport;
	struct tcphdr *tcp;

	skb_set_network_header(skb, joined->network);
	skb_set_transport_header(skb, joined->transport);
	tcp = tcp_hdr(skb);
	if (c->push)
		tcp->psh = 1;
	if (joined->v6) {
		struct ipv6hdr *ip = ipv6_hdr(skb);

		ip->payload_len = htons(bytes);
		tcp->check = ~tcp_v6_check(bytes, &ip->saddr, &ip->daddr, 0);
		skb_shinfo(skb)->gso_type = SKB_GSO_TCPV6;
	} else {
		struct iphdr *ip = ip_hdr(skb);

		ip->tot_len = htons(skb->len - joined->network);
		ip_send_check(ip);
		tcp->check = ~tcp_v4_check(bytes, ip->saddr, ip->daddr, 0);
		skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	}
	skb_shinfo(skb)->gso_size = c->segment_bytes;
	NAPI_GRO_CB(skb)->count = joined->frames;
	tcp_gro_complete(skb);
}
