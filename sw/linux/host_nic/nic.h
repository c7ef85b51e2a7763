/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the driver know of each other. Each interrupt vector has a NAPI context, which
 * serves the completion queues whose events come with it: of transmit queue n and of receive queue
 * n both are vector n's.
 */
#ifndef EMERY_HOST_NIC_H
#define EMERY_HOST_NIC_H

#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/page_pool.h>
#include <net/xdp.h>

#include "emnic.h"
#include "joined.h"

#define NIC_NAME	 "emery_host_nic"
#define NIC_MOST_VECTORS 16
#define NIC_SEGMENTS	 4 /* descriptors of a transmit slot */
#define NIC_DEFAULT_RING 256
#define NIC_LEAST_RING	 32
#define NIC_MOST_RING	 1024
#define NIC_MOST_RULES	 256 /* flows with a queue of their own */
#define NIC_BATCH	 8   /* records taken at once */
#define NIC_HEADROOM	 XDP_PACKET_HEADROOM
#define NIC_FRAME(mtu)	 ((mtu) + ETH_HLEN + VLAN_HLEN)
#define NIC_TAILROOM	 SKB_DATA_ALIGN(sizeof(struct skb_shared_info))
/* Most bytes of TCP segments under one record. */
#define NIC_JOINED (SZ_16K - NIC_HEADROOM - NIC_TAILROOM)

/* Tags that the card puts in, and takes out. */
#define NIC_VLAN_TX (NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX)
#define NIC_VLAN_RX (NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_STAG_RX)

struct nic;

enum nic_way { NIC_TX, NIC_RX };
#define NIC_SILENCE U32_MAX /* in place of an error: nothing was sent for long */

struct nic_counts {
	u64_stats_t packets, bytes, errors, dropped;
	struct u64_stats_sync sync;
};

/* A frame lent to the device, at the place of its slot: the stack's, or of an XDP program. */
struct nic_sent {
	struct sk_buff *skb;
	struct xdp_frame *frame;
	struct emnic_segment segments[NIC_SEGMENTS];
	unsigned int count; /* mapped; 0: its page is mapped as long as it is the pool's */
};

struct nic_tx {
	struct emnic_tx *queue;
	struct nic_sent *sent;
	struct nic_counts counts;
	struct emnic_queue_counts card; /* as they were when looked at last */
	unsigned long segmented;	/* packets that became several frames */
	unsigned long xdp_xmit;		/* frames that others redirected to the device */
	unsigned long xdp_refused;	/* frames of XDP programs that there was no room for */
};

enum nic_xdp {
	NIC_XDP_PASS,
	NIC_XDP_DROP,
	NIC_XDP_TX,
	NIC_XDP_REDIRECT,
	NIC_XDP_ABORTED,
	NIC_XDP_FAILED, /* sent back or redirected, but nobody took it */
	NIC_XDP_END
};

struct nic_rx {
	struct emnic_rx *queue;
	struct page_pool *pool; /* NULL: the interface is down */
	struct page **pages;	/* of each slot */
	unsigned int slots, order;
	struct xdp_rxq_info xdp;
	struct nic_counts counts;
	struct emnic_queue_counts card;
	unsigned long coalesced; /* packets of several frames */
	unsigned long xdp_count[NIC_XDP_END];
};

struct nic_sizes {
	unsigned int mtu, tx_ring, rx_ring, queues;
	bool joins;
};

struct nic_clock {
	struct ptp_clock *ptp; /* NULL: none */
	struct ptp_clock_info info;
	spinlock_t lock;
	u64 seen; /* its time when it was looked at last, ns since its epoch */
	s64 rate; /* that it was set to, in 2^-40 */
	ktime_t paused;
	struct hwtstamp_config config;
};

struct nic_vector {
	struct nic *nic;
	struct napi_struct napi;
	struct emnic_eq *events;
	unsigned int number;
	bool redirected, sent_back; /* by XDP programs in this poll */
	/* Completion queues with something in them, or that have not been armed again. */
	DECLARE_BITMAP(pending, 4 * NIC_MOST_VECTORS);
	char name[32];
};

struct nic {
	struct net_device *netdev;
	struct pci_dev *pdev;
	u8 __iomem *bar;
	struct emnic *core;
	const struct emnic_interface *is;
	unsigned int queues; /* of each way, and vectors: in use */
	unsigned int most_queues;
	unsigned int tx_ring, rx_ring;
	bool joins;	       /* segments of TCP that are received: buffers are for several */
	bool frames_only;      /* an XDP program is there, or about to be */
	unsigned int posted;   /* writes since something came back from the device */
	bool requested;	       /* interrupts */
	bool up;	       /* nic_open has been, and nic_stop has not */
	struct bpf_prog *prog; /* XDP; NULL: none */
	struct nic_vector *vector;
	struct nic_tx *tx;
	struct nic_rx *rx;
	struct nic_clock clock;
	u32 *rss_table; /* NULL: as the core deals the queues */
	u32 rss_key[EMNIC_KEY_WORDS];
	struct nic_rule *rules; /* NULL: none */
	u32 interval;		/* between two interrupts of a vector, at the least: core clocks */
	struct nic_devlink *devlink;
	struct work_struct report;
	u32 error[2];	/* to be reported of each way: queue << 16 | 0x100 | code; 0: none */
	bool broken;	/* since nic_open */
	bool gone;	/* pulled out, for good: nothing is read or written any more */
	bool resetting; /* nor meanwhile */
	struct delayed_work look;
	struct emnic_port_counts port[2]; /* of each way, likewise as looked at last */
	struct ethtool_rmon_hist_range sizes[EMNIC_PORT_SIZES + 1]; /* that it counts; the last 0 */
	u64 device[EMNIC_COUNTERS_END]; /* counters of the device, as they were when looked at last
					 */
};

/* machine.c: what the driver core needs of a machine. */
struct emnic_ops nic_machine(struct nic *nic);
void nic_free_irqs(struct nic *nic);
bool nic_has_gone(struct nic *nic);
int nic_status(struct nic *nic, const char *what, int status);

/* netdev.c */
extern const struct net_device_ops nic_netdev_ops;
int nic_open(struct net_device *netdev);
int nic_stop(struct net_device *netdev);
int nic_again(struct nic *nic);
struct nic_sizes nic_get_sizes(const struct nic *nic);
int nic_resize(struct nic *nic, struct nic_sizes sizes);
void nic_look_work(struct work_struct *work);
void nic_look(struct nic *nic);
void nic_look_port(struct nic *nic, enum nic_way way);
void nic_look_all(struct nic *nic);

/* devlink.c */
int nic_devlink_start(struct nic *nic);
void nic_devlink_stop(struct nic *nic);
void nic_trouble(struct nic *nic, enum nic_way way, u32 error);
void nic_report_work(struct work_struct *work);
void nic_healthy(struct nic *nic);

/* reset.c */
extern const struct pci_error_handlers nic_resets;

/* napi.c */
irqreturn_t nic_interrupt(int irq, void *data);
int nic_poll(struct napi_struct *napi, int budget);

/* rx.c */
bool nic_fits_page(unsigned int mtu);
int nic_rx_create(struct nic *nic);
void nic_rx_fill(struct nic *nic);
void nic_rx_destroy(struct nic *nic);
void nic_receive(struct nic_vector *vector, const struct emnic_completion *completion);

/* gro.c */
void nic_set_joined(struct sk_buff *skb, const struct emnic_completion *completion,
		    const struct emnic_joined *joined);

/* xdp.c */
bool nic_xdp_passes(struct nic_vector *vector, struct nic_rx *rx, struct bpf_prog *prog,
		    struct xdp_buff *xdp);
void nic_xdp_flush(struct nic_vector *vector);
int nic_xdp_xmit(struct net_device *netdev, int count, struct xdp_frame **frames, u32 flags);
int nic_bpf(struct net_device *netdev, struct netdev_bpf *bpf);

/* tx.c */
netdev_tx_t nic_start_xmit(struct sk_buff *skb, struct net_device *netdev);
netdev_features_t nic_features_check(struct sk_buff *skb, struct net_device *netdev,
				     netdev_features_t features);
void nic_tx_done(struct nic *nic, const struct emnic_completion *completion);
void nic_tx_forget(struct nic *nic, unsigned int queue);
struct nic_sent *nic_next_sent(struct nic_tx *tx);
void nic_stop_if_full(struct nic_tx *tx, struct netdev_queue *txq);

/*
 * Slots of a queue that are free. Those of records just taken (emnic_take) may not have been looked
 * at by the CPU that took them.
 */
static inline unsigned int nic_tx_room(const struct nic_tx *tx)
{
	unsigned int room = emnic_tx_room(tx->queue);

	return room > NIC_BATCH ? room - NIC_BATCH : 0;
}

/* ptp.c */
int nic_ptp_start(struct nic *nic);
void nic_ptp_stop(struct nic *nic);
void nic_ptp_pause(struct nic *nic);
void nic_ptp_resume(struct nic *nic);
struct skb_shared_hwtstamps nic_stamp(struct nic *nic, u64 stamp);
int nic_ioctl(struct net_device *netdev, struct ifreq *request, int command);

/* rss.c */
int nic_get_rxnfc(struct net_device *netdev, struct ethtool_rxnfc *info, u32 *rules);
u32 nic_get_rxfh_indir_size(struct net_device *netdev);
u32 nic_get_rxfh_key_size(struct net_device *netdev);
int nic_get_rxfh(struct net_device *netdev, u32 *table, u8 *key, u8 *function);
int nic_set_rxfh(struct net_device *netdev, const u32 *table, const u8 *key, const u8 function);
int nic_rss_open(struct nic *nic);
void nic_rss_forget(struct nic *nic);

/* flows.c */
int nic_flows_open(struct nic *nic);
void nic_flows_close(struct nic *nic);
int nic_set_rxnfc(struct net_device *netdev, struct ethtool_rxnfc *info);
bool nic_rules_need(const struct nic *nic, unsigned int queue);
int nic_get_rules(struct nic *nic, struct ethtool_rxnfc *info, u32 *locations);

/* ethtool.c */
extern const struct ethtool_ops nic_ethtool_ops;
const struct emnic_port_counts *nic_port_counts(struct net_device *netdev, enum nic_way way);

/* stats.c */
int nic_get_sset_count(struct net_device *netdev, int set);
void nic_get_strings(struct net_device *netdev, u32 set, u8 *data);
void nic_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data);

static inline void nic_count(struct nic_counts *counts, u64 packets, u64 bytes)
{
	u64_stats_update_begin(&counts->sync);
	u64_stats_add(&counts->packets, packets);
	u64_stats_add(&counts->bytes, bytes);
	u64_stats_update_end(&counts->sync);
}

static inline void nic_count_error(struct nic_counts *counts, bool error)
{
	u64_stats_update_begin(&counts->sync);
	u64_stats_inc(error ? &counts->errors : &counts->dropped);
	u64_stats_update_end(&counts->sync);
}

#endif
