// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function-level reset that somebody else wants: a user (sysfs), a monitor. The card forgets all:
 * before it what is lent to the card is taken back, behind it the interface and the clock are as
 * they were, without the packets that were under way. A periodic output has to be asked for anew.
 */
#include <linux/rtnetlink.h>

#include "nic.h"

static void nic_reset_prepare(struct pci_dev *pdev)
{
	struct net_device *netdev = pci_get_drvdata(pdev);
	struct nic *nic = netdev_priv(netdev);

	rtnl_lock();
	netif_device_detach(netdev);
	if (netif_running(netdev))
		nic_stop(netdev);
	nic_look_all(nic); /* behind the reset the card counts from 0 */
	nic_ptp_pause(nic); /* from here on no register is read or written */
	rtnl_unlock();
}

static void nic_reset_done(struct pci_dev *pdev)
{
	struct net_device *netdev = pci_get_drvdata(pdev);
	struct nic *nic = netdev_priv(netdev);

	rtnl_lock();
	nic_ptp_resume(nic);
	emnic_recover(nic->core);
	if (!nic_has_gone(nic)) {
		if (netif_running(netdev) && nic_open(netdev))
			dev_close(netdev);
		netif_device_attach(netdev);
	}
	rtnl_unlock();
}

const struct pci_error_handlers nic_resets = {
	.reset_prepare = nic_reset_prepare,
	.reset_done = nic_reset_done,
};
