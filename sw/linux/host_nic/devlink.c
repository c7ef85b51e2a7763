// SPDX-License-Identifier: GPL-2.0-only
/*
 * What devlink tells of the card, and its health: an error that stopped a queue, or silence, is
 * reported for its way, and recovering sets the card up anew. Without devlink's consent
 * (auto_recover false, or within a grace period) the card stays as it is.
 */
#include <linux/rtnetlink.h>
#include <net/devlink.h>

#include "host_nic.h"
#include "nic.h"
#include "queue_formats.h"

struct nic_devlink {
	struct nic *nic;
	struct devlink_health_reporter *reporter[2]; /* of each nic_way; NULL: none */
};

static int nic_info_get(struct devlink *devlink, struct devlink_info_req *req,
			struct netlink_ext_ack *extack)
{
	struct nic_devlink *own = devlink_priv(devlink);
	struct nic *nic = own->nic;
	u32 version = emnic_read(nic->core, offsetof(nic_device_regs_t, version));
	__be64 serial = cpu_to_be64(pci_get_dsn(nic->pdev));
	char text[32];
	int err;

	if (READ_ONCE(nic->gone) || READ_ONCE(nic->resetting))
		return -ENODEV;
	err = devlink_info_driver_name_put(req, NIC_NAME);
	if (!err && serial) {
		snprintf(text, sizeof(text), "%8phD", &serial);
		err = devlink_info_serial_number_put(req, text);
	}
	if (!err) {
		snprintf(text, sizeof(text), "%u", nic->pdev->revision);
		err = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_ASIC_REV,
						     text);
	}
	if (!err) {
		snprintf(text, sizeof(text), "%u.%u", version >> 16, version & 0xffff);
		err = devlink_info_version_fixed_put(req, "registers", text);
	}
	return err;
}

static const struct devlink_ops nic_devlink_ops = {
	.info_get = nic_info_get,
};

/* `error` NULL: the user asks. One of several reports at once has done it for all. */
static int nic_recover(struct devlink_health_reporter *reporter, void *error,
		       struct netlink_ext_ack *extack)
{
	struct nic_devlink *own = devlink_health_reporter_priv(reporter);
	int err = 0;

	rtnl_lock();
	if (!netif_device_present(own->nic->netdev)) /* it has gone, or is being reset */
		err = -ENODEV;
	else if (netif_running(own->nic->netdev) && (!error || READ_ONCE(own->nic->broken)))
		err = nic_again(own->nic);
	rtnl_unlock();
	return err;
}

static int nic_tell_queue(struct devlink_fmsg *fmsg, const struct emnic_queue_state *at,
			  int stopped, unsigned int error)
{
	int err = devlink_fmsg_obj_nest_start(fmsg);

	if (!err)
		err = devlink_fmsg_u32_pair_put(fmsg, "slots", at->slots);
	if (!err)
		err = devlink_fmsg_u32_pair_put(fmsg, "lent", (u16)(at->producer - at->done));
	if (!err)
		err = devlink_fmsg_bool_pair_put(fmsg, "stopped", stopped > 0);
	if (!err)
		err = devlink_fmsg_u32_pair_put(fmsg, "error", error);
	return err ? err : devlink_fmsg_obj_nest_end(fmsg);
}

static int nic_tell_queues(struct devlink_fmsg *fmsg, struct nic *nic, enum nic_way way)
{
	unsigned int i, error;
	int stopped, err;

	err = devlink_fmsg_arr_pair_nest_start(fmsg, "queues");
	for (i = 0; !err && nic->up && i < nic->queues; i++) {
		struct emnic_queue_state at;

		if (way == NIC_TX) {
			emnic_tx_state(nic->tx[i].queue, &at);
			stopped = emnic_tx_status(nic->tx[i].queue, &error);
		} else {
			emnic_rx_state(nic->rx[i].queue, &at);
			stopped = emnic_rx_status(nic->rx[i].queue, &error);
		}
		err = nic_tell_queue(fmsg, &at, stopped, error);
	}
	return err ? err : devlink_fmsg_arr_pair_nest_end(fmsg);
}

static int nic_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			struct netlink_ext_ack *extack)
{
	struct nic_devlink *own = devlink_health_reporter_priv(reporter);
	int err;

	rtnl_lock();
	err = nic_tell_queues(fmsg, own->nic, reporter == own->reporter[NIC_TX] ? NIC_TX : NIC_RX);
	rtnl_unlock();
	return err;
}

static const struct devlink_health_reporter_ops nic_reporters[] = {
	[NIC_TX] = { .name = "tx", .recover = nic_recover, .diagnose = nic_diagnose },
	[NIC_RX] = { .name = "rx", .recover = nic_recover, .diagnose = nic_diagnose },
};

/* Where nothing sleeps: that something is wrong. */
void nic_trouble(struct nic *nic, enum nic_way way, u32 error)
{
	WRITE_ONCE(nic->broken, true);
	WRITE_ONCE(nic->error[way], error);
	schedule_work(&nic->report);
}

/* What is lent to the card comes back when the interface is taken down. */
static void nic_detach(struct nic *nic)
{
	rtnl_lock();
	if (netif_device_present(nic->netdev)) {
		netdev_err(nic->netdev, "the card has gone\n");
		netif_device_detach(nic->netdev);
		netif_carrier_off(nic->netdev);
	}
	rtnl_unlock();
}

void nic_report_work(struct work_struct *work)
{
	struct nic *nic = container_of(work, struct nic, report);
	enum nic_way way;
	char text[48];

	if (nic_has_gone(nic)) {
		nic_detach(nic);
		return;
	}
	for (way = NIC_TX; way <= NIC_RX; way++) {
		u32 error = xchg(&nic->error[way], 0);

		if (error == 0)
			continue;
		if (error == NIC_SILENCE)
			snprintf(text, sizeof(text), "nothing sent for long");
		else
			snprintf(text, sizeof(text), "queue %u: error %u", error >> 16,
				 error & 0xff);
		netdev_warn(nic->netdev, "%s: %s\n", nic_reporters[way].name, text);
		devlink_health_report(nic->devlink->reporter[way], text, &error);
	}
}

/* All is as it was at first. */
void nic_healthy(struct nic *nic)
{
	enum nic_way way;

	WRITE_ONCE(nic->broken, false);
	for (way = NIC_TX; way <= NIC_RX; way++)
		devlink_health_reporter_state_update(nic->devlink->reporter[way],
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

static void nic_destroy_reporters(struct nic_devlink *own, unsigned int count)
{
	while (count-- > 0)
		devlink_health_reporter_destroy(own->reporter[count]);
}

int nic_devlink_start(struct nic *nic)
{
	struct devlink *devlink =
		devlink_alloc(&nic_devlink_ops, sizeof(struct nic_devlink), &nic->pdev->dev);
	struct nic_devlink *own;
	enum nic_way way;

	if (!devlink)
		return -ENOMEM;
	own = devlink_priv(devlink);
	own->nic = nic;
	for (way = NIC_TX; way <= NIC_RX; way++) {
		own->reporter[way] =
			devlink_health_reporter_create(devlink, &nic_reporters[way], 0, own);
		if (IS_ERR(own->reporter[way])) {
			int err = PTR_ERR(own->reporter[way]);

			nic_destroy_reporters(own, way);
			devlink_free(devlink);
			return err;
		}
	}
	nic->devlink = own;
	devlink_register(devlink);
	return 0;
}

/* When there is no network device any more that could report. */
void nic_devlink_stop(struct nic *nic)
{
	struct devlink *devlink = priv_to_devlink(nic->devlink);

	devlink_unregister(devlink);
	nic_destroy_reporters(nic->devlink, 2);
	devlink_free(devlink);
}
