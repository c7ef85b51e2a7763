// SPDX-License-Identifier: GPL-2.0-only
/* A card while it captures: begun by the first reader, looked after, ended by the last. */
#include <linux/module.h>
#include <linux/slab.h>

#include "cap.h"
#include "capture.h"

/* The rings are one piece of memory, and without a pool for those 4 MB are the most there is. */
#define USUAL_BYTES (2U << 20)
#define SERVICE_NS NSEC_PER_MSEC

static unsigned int block_kb = 32;
module_param(block_kb, uint, 0444);
MODULE_PARM_DESC(block_kb, "kB in a block of a ring: a power of two, 4 to 1024 (default 32)");

static unsigned int blocks;
module_param(blocks, uint, 0444);
MODULE_PARM_DESC(blocks, "blocks in a ring: a power of two, 2 to 65536 (0, the default: 2 MB of all rings)");

static unsigned int poll_us = 50;
module_param(poll_us, uint, 0444);
MODULE_PARM_DESC(poll_us, "how often readers that wait look for packets, 1 to 10000 us (default 50)");

static u64 cap_poll_ns(void)
{
	return clamp(poll_us, 1U, 10000U) * NSEC_PER_USEC;
}

/* The card interrupts nobody: its readers look, and once a millisecond the library does. */
static enum hrtimer_restart cap_tick(struct hrtimer *timer)
{
	struct cap_card *card = container_of(timer, struct cap_card, timer);
	unsigned int i;

	WRITE_ONCE(card->ticks, card->ticks + 1);
	if (card->ticks % max(SERVICE_NS / (unsigned long)cap_poll_ns(), 1UL) == 0)
		schedule_work(&card->service);
	for (i = 0; i < card->rings; i++)
		wake_up_interruptible(&card->ring[i].wait);
	hrtimer_forward_now(timer, ns_to_ktime(cap_poll_ns()));
	return HRTIMER_RESTART;
}

static void cap_service(struct work_struct *work)
{
	struct cap_card *card = container_of(work, struct cap_card, service);
	unsigned int i;
	bool any = false;

	mutex_lock(&card->lock);
	if (card->library) {
		emcap_service(card->library);
		for (i = 0; i < card->functions; i++)
			any |= cap_answers(card->function[i]);
		for (i = 0; any && i < emcap_links(card->library); i++)
			if (emcap_link_lost(card->library, i))
				emcap_link_restore(card->library, i);
		card->silent = !any;
	}
	mutex_unlock(&card->lock);
}

void cap_card_init(struct cap_card *card, unsigned int rings)
{
	unsigned int i;

	kref_init(&card->ref);
	mutex_init(&card->lock);
	hrtimer_init(&card->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	card->timer.function = cap_tick;
	INIT_WORK(&card->service, cap_service);
	card->rings = rings;
	for (i = 0; i < rings; i++) {
		card->ring[i].card = card;
		card->ring[i].number = i;
		mutex_init(&card->ring[i].lock);
		init_waitqueue_head(&card->ring[i].wait);
	}
}

/* Nobody has it any more. */
void cap_card_end(struct cap_card *card)
{
	cancel_work_sync(&card->service);
	kfree(card);
}

void cap_look(struct cap_card *card)
{
	if (!card->library || card->silent)
		return;
	emcap_get_counters(card->library, &card->counters);
	emcap_get_stats(card->library, &card->stats);
}

static int cap_start(struct cap_card *card)
{
	const unsigned int block_bytes = clamp(block_kb, 1U, 1U << 20) << 10;
	const struct emcap_config config = {
		.rings = card->rings,
		.block_bytes = block_bytes,
		.blocks = blocks ?: max(USUAL_BYTES / block_bytes / card->rings, 2U),
		.timestamps = 1,
	};
	const struct emcap_ops ops = cap_machine(card);
	u64 lo, hi;
	int status;

	if (card->functions == 0)
		return -ENODEV;
	status = emcap_open(&ops, &config, &card->library);
	if (status != 0) {
		dev_err(&card->function[0]->pdev->dev, "open: %s\n", emcap_error(status));
		return status == EMCAP_NO_MEMORY  ? -ENOMEM
		       : status == EMCAP_NO_DEVICE ? -ENODEV
						   : -EINVAL;
	}
	lo = emcap_read(card->library, offsetof(cap_regs_t, time_lo));
	hi = emcap_read(card->library, offsetof(cap_regs_t, time_hi));
	card->epoch = ktime_get_real_ns() - (hi << 32 | lo);
	card->silent = false;
	emcap_start(card->library, 0);
	hrtimer_start(&card->timer, ns_to_ktime(cap_poll_ns()), HRTIMER_MODE_REL);
	return 0;
}

/* The rings' memory goes with it, and what readers have not been given. */
void cap_stop(struct cap_card *card)
{
	unsigned int i;

	if (!card->library)
		return;
	hrtimer_cancel(&card->timer);
	emcap_stop(card->library);
	cap_look(card);
	for (i = 0; i < card->rings; i++) {
		emcap_detach(card->ring[i].consumer);
		card->ring[i].consumer = NULL;
		card->ring[i].count = card->ring[i].at = 0;
	}
	emcap_close(card->library);
	card->library = NULL;
	for (i = 0; i < card->rings; i++)
		wake_up_interruptible(&card->ring[i].wait);
}

/* Makes a ring's reader a consumer of it. */
int cap_attach(struct cap_ring *ring)
{
	struct cap_card *card = ring->card;
	int err = 0;

	mutex_lock(&card->lock);
	if (!card->library)
		err = cap_start(card);
	if (!err) {
		ring->consumer = emcap_attach(card->library, ring->number);
		err = ring->consumer ? 0 : -ENOMEM;
	}
	mutex_unlock(&card->lock);
	return err;
}

void cap_detach(struct cap_ring *ring)
{
	struct cap_card *card = ring->card;
	unsigned int i, others = 0;

	mutex_lock(&card->lock);
	for (i = 0; i < card->rings; i++)
		others += card->ring[i].consumer && &card->ring[i] != ring;
	if (others == 0)
		cap_stop(card);
	emcap_detach(ring->consumer);
	ring->consumer = NULL;
	mutex_unlock(&card->lock);
}
