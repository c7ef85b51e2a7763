// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/emery_capture/emcapN: which ring it is, of which card, and in statistics/ what the card
 * and the library count, of the capture that runs or of the last one.
 */
#include <linux/sysfs.h>

#include "cap.h"

static struct cap_ring *cap_ring_of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t ring_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", cap_ring_of(dev)->number);
}
static DEVICE_ATTR_RO(ring);

static ssize_t serial_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%016llx\n", cap_ring_of(dev)->card->serial);
}
static DEVICE_ATTR_RO(serial);

/* Links of the card that packets come over. */
static ssize_t links_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct cap_card *card = cap_ring_of(dev)->card;
	unsigned int i, links = 0;

	mutex_lock(&card->lock);
	for (i = 0; card->library && i < emcap_links(card->library); i++)
		links += !emcap_link_lost(card->library, i);
	if (!card->library)
		links = card->functions;
	mutex_unlock(&card->lock);
	return sysfs_emit(buf, "%u\n", links);
}
static DEVICE_ATTR_RO(links);

static struct attribute *cap_ring_attrs[] = {
	&dev_attr_ring.attr,
	&dev_attr_serial.attr,
	&dev_attr_links.attr,
	NULL,
};

static const struct attribute_group cap_ring_group = { .attrs = cap_ring_attrs };

#define COUNT(from, name)                                                                         \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                         \
		struct cap_card *card = cap_ring_of(dev)->card;                                   \
		u64 value;                                                                        \
                                                                                                  \
		mutex_lock(&card->lock);                                                          \
		cap_look(card);                                                                   \
		value = card->from.name;                                                          \
		mutex_unlock(&card->lock);                                                        \
		return sysfs_emit(buf, "%llu\n", value);                                          \
	}                                                                                         \
	static DEVICE_ATTR_RO(name);

#define COUNTS(X)             \
	X(counters, rx_frames) \
	X(counters, rx_bad_fcs) \
	X(counters, rx_runt) \
	X(counters, rx_oversize) \
	X(counters, rx_fifo_full) \
	X(counters, rx_buffer_full) \
	X(counters, filtered) \
	X(counters, too_long) \
	X(counters, ring_full) \
	X(counters, captured) \
	X(counters, bad_returns) \
	X(stats, packets) \
	X(stats, bytes) \
	X(stats, blocks) \
	X(stats, bad_puts) \
	X(stats, lost_packets) \
	X(stats, damaged) \
	X(stats, link_losses)

COUNTS(COUNT)

#define ATTRIBUTE(from, name) &dev_attr_##name.attr,
static struct attribute *cap_count_attrs[] = { COUNTS(ATTRIBUTE) NULL };

static const struct attribute_group cap_count_group = { .name = "statistics",
							.attrs = cap_count_attrs };

const struct attribute_group *cap_ring_groups[] = { &cap_ring_group, &cap_count_group, NULL };
