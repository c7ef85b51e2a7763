/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux driver of Emery's capture. A card is one PCI function or two, found by their serial number;
 * a character device for each ring, /dev/emcapN, reads as a capture file.
 *
 * Locks: cap_cards_lock (which cards and rings there are) or a ring's (its reader's place in the
 * file), and inside of either the card's (every call of the library).
 */
#ifndef EMERY_CAP_H
#define EMERY_CAP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "emcap.h"

#define CAP_NAME  "emery_capture"
#define CAP_BURST 64

struct cap_card;

/* One link of a card. */
struct cap_function {
	struct pci_dev *pdev;
	struct cap_card *card;
	void __iomem *bar;
	u64 serial;
	unsigned int posted; /* writes since the last read */
};

struct cap_ring {
	struct cap_card *card;
	unsigned int number;
	int minor;
	struct mutex lock;
	wait_queue_head_t wait;
	atomic_t open;
	struct emcap_consumer *consumer; /* NULL: closed, or the card has been stopped under it */
	/* What the reader was given, the packet that it reads now, and how far it has got. */
	struct emcap_packet burst[CAP_BURST];
	unsigned int count, at, offset;
	unsigned int header; /* bytes of the file's header that it has read */
};

struct cap_allocation {
	void *memory;
	dma_addr_t bus;
	size_t bytes;
};

struct cap_card {
	struct kref ref;
	struct list_head node;
	u64 serial;
	struct mutex lock;
	struct cap_function *function[EMCAP_MAX_LINKS];
	unsigned int functions;
	struct emcap *library; /* while it captures */
	struct cap_allocation allocation[2];
	s64 epoch;			/* ns, of the kernel's time when the card's was zero */
	bool silent;			/* no link answers */
	struct emcap_counters counters; /* of the last capture, or as last read */
	struct emcap_stats stats;
	struct hrtimer timer;
	unsigned int ticks;
	struct work_struct service;
	unsigned int rings;
	struct cap_ring ring[];
};

extern const struct file_operations cap_stream_ops;
extern const struct attribute_group *cap_ring_groups[];

struct cap_ring *cap_find_ring(int minor); /* holds its card; NULL: there is none */
void cap_card_put(struct cap_card *card);

struct emcap_ops cap_machine(struct cap_card *card);
bool cap_answers(struct cap_function *function);

void cap_card_init(struct cap_card *card, unsigned int rings);
void cap_card_end(struct cap_card *card);
int cap_attach(struct cap_ring *ring);
void cap_detach(struct cap_ring *ring);
void cap_stop(struct cap_card *card); /* with its lock; readers find that it has gone */
void cap_look(struct cap_card *card); /* with its lock: `counters` and `stats` as they are now */

#endif
