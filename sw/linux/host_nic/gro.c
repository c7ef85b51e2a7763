// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive coalescing (rx-gro-hw): segments of TCP that the card has put under one record become one
 * packet as the stack's own GRO makes it, which can be cut into the same frames again.
 */
#include <net/gro.h>
#include <net/tcp.h>

#include "nic.h"

/* The headers are the first frame's as it came; `skb` begins with them. */
void nic_set_joined(struct sk_buff *skb, const struct emnic_completion *c,
		    const struct emnic_joined *joined)
{
	emnic_set_joined(skb->data, c, joined);
	skb_set_network_header(skb, joined->network);
	skb_set_transport_header(skb, joined->transport);
	skb_shinfo(skb)->gso_type = joined->v6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	skb_shinfo(skb)->gso_size = c->segment_bytes;
	NAPI_GRO_CB(skb)->count = joined->frames;
	tcp_gro_complete(skb);
}
