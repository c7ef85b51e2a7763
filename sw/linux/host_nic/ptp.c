// SPDX-License-Identifier: GPL-2.0-only
/* The card's clock as a PTP hardware clock, and the stamps of frames in its time. */
#include <linux/net_tstamp.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "nic.h"

#define CARD_TIME    GENMASK_ULL(47, 0) /* the card counts ns modulo 2^48: 78 hours */
#define MOST_PPB     100000000
#define LOOK_AT_TIME (60 * HZ) /* a stamp is told from the others within nine minutes */

static struct nic *nic_of(struct ptp_clock_info *info)
{
	return container_of(info, struct nic, clock.info);
}

static int nic_clock_status(const struct nic *nic)
{
	return READ_ONCE(nic->gone) ? -ENODEV : 0;
}

/* Under the lock, as all that reads or moves the clock. */
static u64 nic_time(struct nic *nic)
{
	u64 now;

	if (nic->resetting)
		return nic->clock.seen;
	now = emnic_clock_read(nic->core, NULL);
	nic->clock.seen += (now - nic->clock.seen) & CARD_TIME;
	return nic->clock.seen;
}

static void nic_set_time(struct nic *nic, u64 ns)
{
	emnic_clock_set(nic->core, ns & CARD_TIME);
	nic->clock.seen = ns;
}

static int nic_gettime(struct ptp_clock_info *info, struct timespec64 *ts,
		       struct ptp_system_timestamp *system)
{
	struct nic *nic = nic_of(info);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&nic->clock.lock, flags);
	ptp_read_system_prets(system);
	now = nic_time(nic);
	ptp_read_system_postts(system);
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	*ts = ns_to_timespec64(now);
	return nic_clock_status(nic);
}

static int nic_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	struct nic *nic = nic_of(info);
	unsigned long flags;

	spin_lock_irqsave(&nic->clock.lock, flags);
	nic_set_time(nic, timespec64_to_ns(ts));
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	return nic_clock_status(nic);
}

/* What is too far for one step is set anew, and late by what a read and a write of a register take.
 */
static int nic_adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct nic *nic = nic_of(info);
	unsigned long flags;

	spin_lock_irqsave(&nic->clock.lock, flags);
	if (emnic_clock_step(nic->core, delta))
		nic_set_time(nic, nic_time(nic) + delta);
	else
		nic->clock.seen += delta;
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	return nic_clock_status(nic);
}

/* From 2^-16 ppm to 2^-40: times 2^24 / 10^6. */
static int nic_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct nic *nic = nic_of(info);
	unsigned long flags;

	spin_lock_irqsave(&nic->clock.lock, flags);
	nic->clock.rate = div_s64((s64)scaled_ppm << 18, 15625);
	if (!nic->resetting)
		emnic_clock_adjust(nic->core, nic->clock.rate);
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	return nic_clock_status(nic);
}

/* The square wave that the card puts out. */
static int nic_output(struct ptp_clock_info *info, struct ptp_clock_request *request, int on)
{
	struct nic *nic = nic_of(info);
	const struct ptp_perout_request *out = &request->perout;
	u64 start = (u64)out->start.sec * NSEC_PER_SEC + out->start.nsec;
	u64 half = ((u64)out->period.sec * NSEC_PER_SEC + out->period.nsec) / 2;
	unsigned long flags;

	if (request->type != PTP_CLK_REQ_PEROUT || out->flags || out->index)
		return -EOPNOTSUPP;
	if (on && (half == 0 || half > U32_MAX))
		return -ERANGE;
	spin_lock_irqsave(&nic->clock.lock, flags);
	emnic_clock_output(nic->core, start & CARD_TIME, on ? half : 0);
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	return nic_clock_status(nic);
}

static long nic_look_at_time(struct ptp_clock_info *info)
{
	struct timespec64 unused;

	nic_gettime(info, &unused, NULL);
	return LOOK_AT_TIME;
}

/* A card whose frames have no stamps gets no clock; nor does a kernel without PTP. */
int nic_ptp_start(struct nic *nic)
{
	struct nic_clock *clock = &nic->clock;

	spin_lock_init(&clock->lock);
	if (!(nic->is->features & EMNIC_TIMESTAMPS))
		return 0;
	clock->info = (struct ptp_clock_info){
		.owner = THIS_MODULE,
		.name = NIC_NAME,
		.max_adj = MOST_PPB,
		.n_per_out = 1,
		.adjfine = nic_adjfine,
		.adjtime = nic_adjtime,
		.gettimex64 = nic_gettime,
		.settime64 = nic_settime,
		.enable = nic_output,
		.do_aux_work = nic_look_at_time,
	};
	nic_set_time(nic, ktime_get_real_ns());
	clock->ptp = ptp_clock_register(&clock->info, &nic->pdev->dev);
	if (IS_ERR(clock->ptp)) {
		int err = PTR_ERR(clock->ptp);

		clock->ptp = NULL;
		return err;
	}
	if (clock->ptp)
		ptp_schedule_worker(clock->ptp, LOOK_AT_TIME);
	return 0;
}

void nic_ptp_stop(struct nic *nic)
{
	if (nic->clock.ptp)
		ptp_clock_unregister(nic->clock.ptp);
	nic->clock.ptp = NULL;
}

/* The card is about to forget its clock. What is set meanwhile holds from nic_ptp_resume on. */
void nic_ptp_pause(struct nic *nic)
{
	unsigned long flags;

	spin_lock_irqsave(&nic->clock.lock, flags);
	nic_time(nic);
	nic->clock.paused = ktime_get();
	WRITE_ONCE(nic->resetting, true);
	spin_unlock_irqrestore(&nic->clock.lock, flags);
}

/* It goes on by what has gone by on the kernel's. */
void nic_ptp_resume(struct nic *nic)
{
	unsigned long flags;

	spin_lock_irqsave(&nic->clock.lock, flags);
	WRITE_ONCE(nic->resetting, false);
	nic_set_time(nic, nic->clock.seen + ktime_to_ns(ktime_sub(ktime_get(), nic->clock.paused)));
	emnic_clock_adjust(nic->core, nic->clock.rate);
	spin_unlock_irqrestore(&nic->clock.lock, flags);
}

struct skb_shared_hwtstamps nic_stamp(struct nic *nic, u64 stamp)
{
	unsigned long flags;
	u64 near;

	spin_lock_irqsave(&nic->clock.lock, flags);
	near = nic->clock.seen;
	spin_unlock_irqrestore(&nic->clock.lock, flags);
	return (struct skb_shared_hwtstamps){ .hwtstamp =
						      ns_to_ktime(emnic_stamp_near(near, stamp)) };
}

static int nic_set_stamps(struct nic *nic, struct hwtstamp_config *config)
{
	if (config->flags || !nic->clock.ptp)
		return -EINVAL;
	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	nic->clock.config = *config;
	return 0;
}

int nic_ioctl(struct net_device *netdev, struct ifreq *request, int command)
{
	struct nic *nic = netdev_priv(netdev);
	struct hwtstamp_config config = nic->clock.config;
	int err = 0;

	switch (command) {
	case SIOCSHWTSTAMP:
		if (copy_from_user(&config, request->ifr_data, sizeof(config)))
			return -EFAULT;
		err = nic_set_stamps(nic, &config);
		break;
	case SIOCGHWTSTAMP:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!err && copy_to_user(request->ifr_data, &config, sizeof(config)))
		err = -EFAULT;
	return err;
}
