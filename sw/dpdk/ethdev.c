/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poll-mode driver of Emery's host-nic: --vdev net_emery0,socket=PATH[,poll_ns=N][,frame_ns=N]
 * [,mmio_ns=N]. The card is in a simulator of its own behind that socket; time there goes by as the
 * driver works (docs/dpdk.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bus_vdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_kvargs.h>
#include <rte_malloc.h>

#include "emnic_errno.h"
#include "joined.h"
#include "net_emery.h"
#include "queue_formats.h"

RTE_LOG_REGISTER(emery_logtype, pmd.net.emery, NOTICE);

static int failed(const char *what, int status) {
  if (status == 0) return 0;
  EMERY_LOG(ERR, "%s: %s", what, emnic_error(status));
  return emnic_errno(status);
}

static uint32_t longest_frame(const struct rte_eth_dev *dev) {
  return dev->data->mtu + EMERY_OVERHEAD;
}

/* ---- what it is */

static int info(struct rte_eth_dev *dev, struct rte_eth_dev_info *out) {
  const struct emery *emery = dev->data->dev_private;
  const struct rte_eth_desc_lim slots = {
      .nb_max = EMERY_MOST_RING, .nb_min = EMERY_LEAST_RING, .nb_align = EMERY_LEAST_RING};
  const unsigned int features = emery->is->features;
  out->max_rx_queues = (uint16_t)RTE_MIN(emery->is->rx_queues, (unsigned int)EMERY_MOST_QUEUES);
  out->max_tx_queues = (uint16_t)RTE_MIN(emery->is->tx_queues, (unsigned int)EMERY_MOST_QUEUES);
  out->max_mac_addrs = 1;
  out->min_rx_bufsize = 64;
  out->max_rx_pktlen = emery->is->max_frame;
  out->min_mtu = RTE_ETHER_MIN_MTU;
  out->max_mtu = (uint16_t)(emery->is->max_frame - EMERY_OVERHEAD);
  out->rx_desc_lim = out->tx_desc_lim = slots;
  out->tx_desc_lim.nb_seg_max = out->tx_desc_lim.nb_mtu_seg_max = EMERY_SEGMENTS;
  out->speed_capa = RTE_ETH_LINK_SPEED_100G;
  if (features & EMNIC_RX_CHECKSUM)
    out->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
  if (features & EMNIC_RX_HASH) out->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
  /* What a virtual function's port joins, and of how many bytes, is the physical one's to say. */
  if ((features & (EMNIC_COALESCE | EMNIC_VIRTUAL)) == EMNIC_COALESCE) {
    out->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TCP_LRO;
    out->max_lro_pkt_size = CoalesceMostBytes;
  }
  if (features & EMNIC_TX_CHECKSUM)
    out->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
  out->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (features & EMNIC_TSO) out->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_TCP_TSO;
  if (features & EMNIC_VLAN) {
    out->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
    out->tx_offload_capa |= RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
  }
  out->flow_type_rss_offloads = emery_rss_types(emery);
  out->reta_size = (uint16_t)emery->is->rss_entries;
  out->hash_key_size = sizeof emery->key;
  out->default_rxportconf.ring_size = out->default_txportconf.ring_size = 512;
  out->default_rxportconf.burst_size = out->default_txportconf.burst_size = 32;
  return 0;
}

static const uint32_t *packet_types(struct rte_eth_dev *dev) {
  static const uint32_t types[] = {RTE_PTYPE_L2_ETHER, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
                                   RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_TCP,
                                   RTE_PTYPE_L4_UDP, RTE_PTYPE_UNKNOWN};
  (void)dev;
  return types;
}

/* ---- queues */

static int configure(struct rte_eth_dev *dev) {
  if (dev->data->nb_rx_queues != 0 && dev->data->nb_tx_queues != 0) return 0;
  EMERY_LOG(ERR, "there must be receive queues and transmit queues");
  return -EINVAL;
}

static void release(struct rte_eth_dev *dev, int transmit, uint16_t number) {
  struct emery_queue *queue = emery_queues(dev, transmit)[number];
  if (!queue) return;
  emery_forget(queue);
  rte_free(queue->mbuf);
  rte_free(queue);
  emery_queues(dev, transmit)[number] = NULL;
}
static void rx_release(struct rte_eth_dev *dev, uint16_t number) { release(dev, 0, number); }
static void tx_release(struct rte_eth_dev *dev, uint16_t number) { release(dev, 1, number); }

/* A queue of so many bytes, which begins with what both directions have. */
static int setup(struct rte_eth_dev *dev, int transmit, uint16_t number, uint16_t slots,
                 unsigned int socket, size_t bytes) {
  const char *name = transmit ? "emery_tx" : "emery_rx";
  if (!rte_is_power_of_2(slots)) {
    EMERY_LOG(ERR, "%u descriptors: a ring has a power of two", slots);
    return -EINVAL;
  }
  struct emery_queue *queue = rte_zmalloc_socket(name, bytes, RTE_CACHE_LINE_SIZE, (int)socket);
  if (!queue) return -ENOMEM;
  queue->mbuf = rte_zmalloc_socket(name, slots * sizeof *queue->mbuf, 0, (int)socket);
  if (!queue->mbuf) {
    rte_free(queue);
    return -ENOMEM;
  }
  queue->emery = dev->data->dev_private;
  queue->slots = slots;
  queue->mask = (uint16_t)(slots - 1);
  queue->number = number;
  emery_queues(dev, transmit)[number] = queue;
  return 0;
}

static int rx_setup(struct rte_eth_dev *dev, uint16_t number, uint16_t slots, unsigned int socket,
                    const struct rte_eth_rxconf *conf, struct rte_mempool *pool) {
  (void)conf;
  const int status = setup(dev, 0, number, slots, socket, sizeof(struct emery_rx));
  if (status == 0) ((struct emery_rx *)dev->data->rx_queues[number])->pool = pool;
  return status;
}

static int tx_setup(struct rte_eth_dev *dev, uint16_t number, uint16_t slots, unsigned int socket,
                    const struct rte_eth_txconf *conf) {
  (void)conf;
  return setup(dev, 1, number, slots, socket, sizeof(struct emery_tx));
}

static void rx_info(struct rte_eth_dev *dev, uint16_t number, struct rte_eth_rxq_info *out) {
  const struct emery_rx *rx = dev->data->rx_queues[number];
  out->mp = rx->pool;
  out->nb_desc = rx->q.slots;
}

static void tx_info(struct rte_eth_dev *dev, uint16_t number, struct rte_eth_txq_info *out) {
  out->nb_desc = ((const struct emery_queue *)dev->data->tx_queues[number])->slots;
}

/* ---- up and down */

static int check_rings(const struct rte_eth_dev *dev, int transmit, uint16_t *slots) {
  void **const queues = emery_queues(dev, transmit);
  *slots = ((const struct emery_queue *)queues[0])->slots;
  for (unsigned int i = 0; i < emery_queue_count(dev, transmit); ++i) {
    if (((const struct emery_queue *)queues[i])->slots == *slots) continue;
    EMERY_LOG(ERR, "rings of a direction have as many descriptors each");
    return -EINVAL;
  }
  return 0;
}

/* Most bytes of TCP segments in one mbuf; 0: each frame has its own. */
static unsigned int most_joined(const struct rte_eth_dev *dev) {
  const struct rte_eth_rxmode *mode = &dev->data->dev_conf.rxmode;
  return mode->offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO ? mode->max_lro_pkt_size : 0;
}

static int check_room(const struct rte_eth_dev *dev) {
  for (unsigned int i = 0; i < dev->data->nb_rx_queues; ++i) {
    const struct emery_rx *rx = dev->data->rx_queues[i];
    const unsigned int room = rte_pktmbuf_data_room_size(rx->pool) - RTE_PKTMBUF_HEADROOM;
    if (room < longest_frame(dev)) {
      EMERY_LOG(ERR, "MTU %u: mbufs have room for %u bytes, frames have up to %u", dev->data->mtu,
                room, longest_frame(dev));
      return -EINVAL;
    }
    if (room < most_joined(dev)) {
      EMERY_LOG(ERR, "LRO: mbufs have room for %u bytes, joined segments have up to %u", room,
                most_joined(dev));
      return -EINVAL;
    }
  }
  return 0;
}

static void set_link(struct rte_eth_dev *dev, int up) {
  const struct emery *emery = dev->data->dev_private;
  const struct rte_eth_link link = {
      .link_speed = (uint32_t)(emery->link.bits_per_second / 1000000),
      .link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
      .link_autoneg = RTE_ETH_LINK_FIXED,
      .link_status = up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN};
  rte_eth_linkstatus_set(dev, &link);
}

static void set_queue_states(struct rte_eth_dev *dev, uint8_t state) {
  memset(dev->data->rx_queue_state, state, dev->data->nb_rx_queues);
  memset(dev->data->tx_queue_state, state, dev->data->nb_tx_queues);
}

static void forget_mbufs(struct rte_eth_dev *dev) {
  for (int transmit = 0; transmit < 2; ++transmit)
    for (unsigned int i = 0; i < emery_queue_count(dev, transmit); ++i)
      emery_forget(emery_queues(dev, transmit)[i]);
}

static int stop(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  set_link(dev, 0);
  set_queue_states(dev, RTE_ETH_QUEUE_STATE_STOPPED);
  if (rte_log_can_log((uint32_t)emery_logtype, RTE_LOG_DEBUG)) emery_log_counts(dev);
  const int status = emnic_stop(emery->core);
  emery_intr_stop(dev);
  forget_mbufs(dev);
  return emery->link.gone ? 0 : failed("stop", status);
}

static unsigned int strip_of(const struct rte_eth_dev *dev) {
  return dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP ? EMNIC_C_TAG : 0;
}

/* Completion records of queue n are in completion queue n of its direction: polled on their own. */
static int start(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  const unsigned int nb_rx = dev->data->nb_rx_queues, nb_tx = dev->data->nb_tx_queues;
  const int pieces = (dev->data->dev_conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
  const unsigned int joined = most_joined(dev);
  uint16_t rx_slots, tx_slots;
  int status = check_rings(dev, 0, &rx_slots);
  if (status == 0) status = check_rings(dev, 1, &tx_slots);
  if (status == 0) status = check_room(dev);
  if (status != 0) return status;
  const struct emnic_config config = {
      .tx_queues = nb_tx,
      .rx_queues = nb_rx,
      .tx_ring = tx_slots,
      .rx_ring = rx_slots,
      .coalesce_bytes = joined,
      .coalesce_clocks = joined ? emnic_joined_clocks(emery->core) : 0,
      .max_frame = longest_frame(dev),
      .segments = pieces ? EMERY_SEGMENTS : 1,
      .doorbell_batch = 1,
      .refill_batch = 32,
      .cpus = RTE_MAX(nb_rx, nb_tx),
      .strip = strip_of(dev),
  };
  emery->link.interrupts = dev->data->dev_conf.intr_conf.rxq != 0;
  status = failed("start", emnic_start(emery->core, &config));
  if (status != 0) return status;
  struct emnic_queue_state at;
  for (unsigned int i = 0; i < nb_tx; ++i) {
    struct emery_tx *tx = dev->data->tx_queues[i];
    tx->ring = emnic_tx_queue(emery->core, 0, i);
    tx->made = 0;
    emnic_tx_state(tx->ring, &at);
    tx->q.records = emnic_completions(emery->core, (unsigned int)at.completions);
  }
  for (unsigned int i = 0; i < nb_rx && status == 0; ++i) {
    struct emery_rx *rx = dev->data->rx_queues[i];
    rx->ring = emnic_rx_queue(emery->core, 0, i);
    emnic_rx_state(rx->ring, &at);
    rx->q.records = emnic_completions(emery->core, (unsigned int)at.completions);
    status = emery_rx_fill(rx);
  }
  if (status == 0) status = emery_rss_start(dev);
  if (status == 0) status = emery_intr_start(dev);
  if (status == 0 && emery->link.gone) status = -EIO;
  if (status != 0) {
    EMERY_LOG(ERR, "start: %s", strerror(-status));
    stop(dev);
    return status;
  }
  set_queue_states(dev, RTE_ETH_QUEUE_STATE_STARTED);
  set_link(dev, 1);
  return 0;
}

static int link_update(struct rte_eth_dev *dev, int wait) {
  const struct emery *emery = dev->data->dev_private;
  (void)wait;
  set_link(dev, dev->data->dev_started && !emery->link.gone);
  return 0;
}

static int is_removed(struct rte_eth_dev *dev) {
  return ((const struct emery *)dev->data->dev_private)->link.gone;
}

static int close_port(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  if (rte_eal_process_type() != RTE_PROC_PRIMARY) return 0;
  emnic_close(emery->core);
  emery->core = NULL;
  emery_link_close(&emery->link);
  emery_intr_close(dev);
  dev->data->mac_addrs = NULL; /* part of dev_private */
  return 0;
}

/* ---- settings */

static int set_vlan(struct rte_eth_dev *dev, int mask) {
  struct emery *emery = dev->data->dev_private;
  if (!(mask & RTE_ETH_VLAN_STRIP_MASK) || !dev->data->dev_started) return 0;
  return failed("VLAN", emnic_set_strip(emery->core, 0, strip_of(dev)));
}

static int set_mtu(struct rte_eth_dev *dev, uint16_t mtu) {
  (void)mtu; /* within what info() says; told to the device by start() */
  return dev->data->dev_started ? -EBUSY : 0;
}

/* The device passes on all frames, whatever their address. */
static int accept_all(struct rte_eth_dev *dev) {
  (void)dev;
  return 0;
}
static int accept_address(struct rte_eth_dev *dev, struct rte_ether_addr *address) {
  (void)dev;
  (void)address;
  return 0;
}

static const struct eth_dev_ops operations = {
    .dev_configure = configure,
    .dev_start = start,
    .dev_stop = stop,
    .dev_close = close_port,
    .dev_infos_get = info,
    .dev_supported_ptypes_get = packet_types,
    .rx_queue_setup = rx_setup,
    .rx_queue_release = rx_release,
    .tx_queue_setup = tx_setup,
    .tx_queue_release = tx_release,
    .rxq_info_get = rx_info,
    .txq_info_get = tx_info,
    .rx_queue_intr_enable = emery_intr_enable,
    .rx_queue_intr_disable = emery_intr_disable,
    .link_update = link_update,
    .is_removed = is_removed,
    .mtu_set = set_mtu,
    .vlan_offload_set = set_vlan,
    .promiscuous_enable = accept_all,
    .allmulticast_enable = accept_all,
    .mac_addr_set = accept_address,
    .stats_get = emery_stats_get,
    .stats_reset = emery_stats_reset,
    .xstats_get = emery_xstats_get,
    .xstats_reset = emery_stats_reset,
    .xstats_get_names = emery_xstats_get_names,
    .reta_update = emery_reta_update,
    .reta_query = emery_reta_query,
    .rss_hash_update = emery_rss_update,
    .rss_hash_conf_get = emery_rss_get,
};

/* ---- coming and going */

static const char *const arguments[] = {"socket", "poll_ns", "frame_ns", "mmio_ns", NULL};

static int take_text(const char *key, const char *value, void *to) {
  (void)key;
  *(const char **)to = value;
  return 0;
}

static int take_ns(const char *key, const char *value, void *to) {
  char *end;
  const unsigned long ns = value ? strtoul(value, &end, 10) : 0;
  const unsigned long least = strcmp(key, "poll_ns") == 0; /* or time would stand still */
  if (!value || *value < '0' || *value > '9' || *end || ns < least || ns > 10000) {
    EMERY_LOG(ERR, "%s=%s: not a number from %lu to 10000", key, value ? value : "", least);
    return -EINVAL;
  }
  *(uint32_t *)to = (uint32_t)ns;
  return 0;
}

static int find(struct emery *emery) {
  const struct emnic_ops machine = emery_machine(&emery->link);
  int status = failed("probe", emnic_open(&machine, &emery->core));
  if (status != 0) return status;
  emery->is = emnic_get_interface(emery->core, 0);
  if (emery->is && emery->is->ports == 1) return 0;
  EMERY_LOG(ERR, "the driver is for cards with one port");
  return -ENODEV;
}

static int create(struct rte_vdev_device *vdev, const char *path, struct emery_costs costs) {
  struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct emery));
  if (!dev) return -ENOMEM;
  struct emery *emery = dev->data->dev_private;
  emery->dev = dev;
  emery->link.costs = costs;
  rte_spinlock_init(&emery->events);
  int status = emery_link_open(&emery->link, path);
  if (status == 0 && ((status = find(emery)) != 0 || (status = emery_intr_open(dev)) != 0)) {
    emnic_close(emery->core);
    emery_link_close(&emery->link);
  }
  if (status != 0) {
    rte_eth_dev_release_port(dev);
    return status;
  }
  for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; ++i)
    emery->address.addr_bytes[i] = (uint8_t)(emery->link.address >> 8 * (5 - i));
  dev->data->mac_addrs = &emery->address;
  dev->data->promiscuous = dev->data->all_multicast = 1;
  dev->data->dev_flags |= RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
  dev->dev_ops = &operations;
  dev->rx_pkt_burst = emery_rx_burst;
  dev->tx_pkt_burst = emery_tx_burst;
  dev->tx_pkt_prepare = emery_tx_prepare;
  rte_eth_dev_probing_finish(dev);
  return 0;
}

static int probe(struct rte_vdev_device *vdev) {
  struct emery_costs costs = {.poll = 50, .frame = 10, .mmio = 2};
  const char *path = NULL;
  if (rte_eal_process_type() != RTE_PROC_PRIMARY) return -ENOTSUP;
  struct rte_kvargs *words = rte_kvargs_parse(rte_vdev_device_args(vdev), arguments);
  if (!words) {
    EMERY_LOG(ERR, "%s: its arguments are socket, poll_ns, frame_ns, mmio_ns",
              rte_vdev_device_name(vdev));
    return -EINVAL;
  }
  int status = rte_kvargs_process(words, "socket", take_text, &path);
  if (status == 0) status = rte_kvargs_process(words, "poll_ns", take_ns, &costs.poll);
  if (status == 0) status = rte_kvargs_process(words, "frame_ns", take_ns, &costs.frame);
  if (status == 0) status = rte_kvargs_process(words, "mmio_ns", take_ns, &costs.mmio);
  if (status == 0 && !path) {
    EMERY_LOG(ERR, "%s: socket=PATH is missing", rte_vdev_device_name(vdev));
    status = -EINVAL;
  }
  if (status == 0) status = create(vdev, path, costs);
  rte_kvargs_free(words);
  return status;
}

static int remove_device(struct rte_vdev_device *vdev) {
  struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
  if (!dev) return 0;
  const int status = close_port(dev);
  rte_eth_dev_release_port(dev);
  return status;
}

static struct rte_vdev_driver driver = {
    .probe = probe,
    .remove = remove_device,
    .drv_flags = RTE_VDEV_DRV_NEED_IOVA_AS_VA,
};
RTE_PMD_REGISTER_VDEV(net_emery, driver);
RTE_PMD_REGISTER_PARAM_STRING(net_emery,
                              "socket=<path> poll_ns=<int> frame_ns=<int> mmio_ns=<int>");
