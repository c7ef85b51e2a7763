/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue a frame goes to: the table of the flow hash, its key. */
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>

#include "emnic_errno.h"
#include "net_emery.h"

/* The device always hashes over ports where there are some, and over addresses where not. */
uint64_t emery_rss_types(const struct emery *emery) {
  if (!(emery->is->features & EMNIC_RX_HASH)) return 0;
  return RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
         RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |
         RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |
         RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6;
}

static int put_key(struct emery *emery, const uint8_t *key) {
  uint32_t words[EMNIC_KEY_WORDS];
  memcpy(words, key, sizeof words);
  for (unsigned int i = 0; i < EMNIC_KEY_WORDS; ++i) words[i] = rte_be_to_cpu_32(words[i]);
  const int status = emnic_set_rss_key(emery->core, 0, 0, words);
  if (status != 0) return emnic_errno(status);
  memcpy(emery->key, key, sizeof emery->key);
  return 0;
}

/* Without RSS all frames go to the first queue. */
int emery_rss_start(struct rte_eth_dev *dev) {
  struct emery *emery = dev->data->dev_private;
  const struct rte_eth_conf *conf = &dev->data->dev_conf;
  const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;
  if (!(conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) || rss->rss_hf == 0) {
    for (unsigned int entry = 0; dev->data->nb_rx_queues > 1 && entry < emery->is->rss_entries;
         ++entry)
      emnic_set_rss(emery->core, 0, 0, entry, 0);
    if (dev->data->nb_rx_queues > 1) emnic_read(emery->core, 0); /* it holds for the first frame */
    return 0;
  }
  for (unsigned int i = 0; i < EMNIC_KEY_WORDS && !rss->rss_key; ++i) {
    const uint32_t word = rte_cpu_to_be_32(emnic_rss_key[i]);
    memcpy(emery->key + 4 * i, &word, sizeof word);
  }
  if (!rss->rss_key) return 0;
  if (rss->rss_key_len != 0 && rss->rss_key_len < sizeof emery->key) return -EINVAL;
  return put_key(emery, rss->rss_key);
}

int emery_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table,
                      uint16_t size) {
  struct emery *emery = dev->data->dev_private;
  if (size != emery->is->rss_entries) return -EINVAL;
  if (!dev->data->dev_started) return -EAGAIN;
  for (unsigned int i = 0; i < size; ++i) {
    const struct rte_eth_rss_reta_entry64 *part = &table[i / RTE_ETH_RETA_GROUP_SIZE];
    if (!(part->mask >> i % RTE_ETH_RETA_GROUP_SIZE & 1)) continue;
    if (emnic_set_rss(emery->core, 0, 0, i, part->reta[i % RTE_ETH_RETA_GROUP_SIZE]) != 0)
      return -EINVAL;
  }
  return 0;
}

int emery_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table,
                     uint16_t size) {
  struct emery *emery = dev->data->dev_private;
  if (size != emery->is->rss_entries) return -EINVAL;
  if (emery->link.gone) return -EIO;
  for (unsigned int i = 0; i < size; ++i) {
    struct rte_eth_rss_reta_entry64 *part = &table[i / RTE_ETH_RETA_GROUP_SIZE];
    if (part->mask >> i % RTE_ETH_RETA_GROUP_SIZE & 1)
      part->reta[i % RTE_ETH_RETA_GROUP_SIZE] =
          (uint16_t)emnic_read(emery->core, emery->is->rss + 4 * i);
  }
  return 0;
}

int emery_rss_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf) {
  struct emery *emery = dev->data->dev_private;
  if (conf->rss_hf & ~emery_rss_types(emery)) return -EINVAL;
  if (!conf->rss_key) return 0;
  if (conf->rss_key_len != sizeof emery->key) return -EINVAL;
  if (!dev->data->dev_started) return -EAGAIN;
  return put_key(emery, conf->rss_key);
}

int emery_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf) {
  struct emery *emery = dev->data->dev_private;
  conf->rss_hf = emery_rss_types(emery);
  if (conf->rss_key && conf->rss_key_len >= sizeof emery->key)
    memcpy(conf->rss_key, emery->key, sizeof emery->key);
  conf->rss_key_len = sizeof emery->key;
  return 0;
}
