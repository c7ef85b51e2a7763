// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/emcapN: what comes into a ring, from when the device is opened, as a capture file (pcap, in
 * nanoseconds) without an end. A read gives what there is, and waits only when there is nothing.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "cap.h"

struct pcap_header {
	u32 magic;
	u16 major, minor;
	u32 zone, accuracy, snaplen, linktype;
};

struct pcap_record {
	u32 seconds, nanoseconds, stored, length;
};

static const struct pcap_header cap_header = { 0xa1b23c4d, 2, 4, 0, 0, 0x40000, 1 };

static struct pcap_record cap_record(const struct cap_ring *ring)
{
	const struct emcap_packet *packet = &ring->burst[ring->at];
	u32 rest;
	u64 seconds = div_u64_rem(ring->card->epoch + packet->time_ns, NSEC_PER_SEC, &rest);

	return (struct pcap_record){ seconds, rest, packet->stored, packet->length };
}

/* Gives back what has been read, takes what has come: how many packets, or that the card has gone. */
static int cap_fetch(struct cap_ring *ring)
{
	struct cap_card *card = ring->card;
	int status;

	if (ring->at < ring->count)
		return ring->count - ring->at;
	mutex_lock(&card->lock);
	if (!ring->consumer) {
		status = -ENODEV;
	} else if (card->silent) {
		status = -EIO;
	} else {
		emcap_put_burst(ring->consumer, ring->burst, ring->count);
		ring->count = emcap_get_burst(ring->consumer, ring->burst, CAP_BURST);
		ring->at = ring->offset = 0;
		status = ring->count;
	}
	mutex_unlock(&card->lock);
	return status;
}

/* With the ring's lock, which it does not hold while it waits. */
static int cap_wait(struct cap_ring *ring)
{
	struct cap_card *card = ring->card;
	unsigned int ticks = READ_ONCE(card->ticks);
	int status, interrupted;

	while ((status = cap_fetch(ring)) == 0) {
		mutex_unlock(&ring->lock);
		interrupted = wait_event_interruptible(ring->wait,
						       READ_ONCE(card->ticks) != ticks ||
							       !READ_ONCE(ring->consumer));
		mutex_lock(&ring->lock);
		if (interrupted)
			return -ERESTARTSYS;
		ticks = READ_ONCE(card->ticks);
	}
	return status;
}

/* Bytes of a piece from `*from` on, as many as there is room for. */
static size_t cap_give(char __user *to, size_t room, const void *piece, size_t bytes,
		       unsigned int *from)
{
	size_t some = min_t(size_t, room, bytes - *from);

	some -= copy_to_user(to, piece + *from, some);
	*from += some;
	return some;
}

/* Of the packet that is read now: its record's header, then its data. */
static size_t cap_give_packet(struct cap_ring *ring, char __user *to, size_t room)
{
	const struct emcap_packet *packet = &ring->burst[ring->at];
	const struct pcap_record record = cap_record(ring);
	size_t given = 0;
	unsigned int data;

	if (ring->offset < sizeof(record))
		given = cap_give(to, room, &record, sizeof(record), &ring->offset);
	if (ring->offset < sizeof(record))
		return given;
	data = ring->offset - sizeof(record);
	given += cap_give(to + given, room - given, packet->data, packet->stored, &data);
	ring->offset = sizeof(record) + data;
	if (data == packet->stored) {
		ring->at++;
		ring->offset = 0;
	}
	return given;
}

static ssize_t cap_read(struct file *file, char __user *to, size_t room, loff_t *at)
{
	struct cap_ring *ring = file->private_data;
	size_t given = 0, some;
	int status = 0;

	if (mutex_lock_interruptible(&ring->lock))
		return -ERESTARTSYS;
	if (ring->header < sizeof(cap_header))
		given = cap_give(to, room, &cap_header, sizeof(cap_header), &ring->header);
	while (given < room) {
		if (given != 0 || file->f_flags & O_NONBLOCK)
			status = cap_fetch(ring);
		else
			status = cap_wait(ring);
		if (status <= 0)
			break;
		some = cap_give_packet(ring, to + given, room - given);
		if (some == 0) {
			status = -EFAULT;
			break;
		}
		given += some;
	}
	mutex_unlock(&ring->lock);
	if (given != 0 || room == 0)
		return given;
	return status == 0 ? -EAGAIN : status;
}

static __poll_t cap_poll(struct file *file, poll_table *table)
{
	struct cap_ring *ring = file->private_data;
	int status;

	poll_wait(file, &ring->wait, table);
	mutex_lock(&ring->lock);
	status = ring->header < sizeof(cap_header) ? 1 : cap_fetch(ring);
	mutex_unlock(&ring->lock);
	if (status < 0)
		return EPOLLERR | EPOLLHUP;
	return status > 0 ? EPOLLIN | EPOLLRDNORM : 0;
}

static int cap_open(struct inode *inode, struct file *file)
{
	struct cap_ring *ring = cap_find_ring(iminor(inode));
	int err;

	if (!ring)
		return -ENODEV;
	if (atomic_xchg(&ring->open, 1)) {
		err = -EBUSY;
		goto put;
	}
	ring->count = ring->at = ring->offset = ring->header = 0;
	err = cap_attach(ring);
	if (err)
		goto close;
	file->private_data = ring;
	return stream_open(inode, file);

close:
	atomic_set(&ring->open, 0);
put:
	cap_card_put(ring->card);
	return err;
}

static int cap_release(struct inode *inode, struct file *file)
{
	struct cap_ring *ring = file->private_data;

	cap_detach(ring);
	atomic_set(&ring->open, 0);
	cap_card_put(ring->card);
	return 0;
}

const struct file_operations cap_stream_ops = {
	.owner = THIS_MODULE,
	.open = cap_open,
	.release = cap_release,
	.read = cap_read,
	.poll = cap_poll,
	.llseek = no_llseek,
};
