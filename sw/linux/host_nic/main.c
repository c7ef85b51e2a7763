// SPDX-License-Identifier: GPL-2.0-only
/* Linux driver of Emery's host-nic: finding the card, and letting it go. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/module.h>

#include "ids_formats.h"
#include "nic.h"

static unsigned int queues = 4;
module_param(queues, uint, 0444);
MODULE_PARM_DESC(queues, "queues each way, 1 to 16 (default 4)");

/* The station address follows from the card's serial number (EUI-64 of an EUI-48), if it has one.
 */
static void nic_set_address(struct nic *nic)
{
	u64 serial = pci_get_dsn(nic->pdev);
	u8 address[ETH_ALEN] = { serial >> 56, serial >> 48, serial >> 40,
				 serial >> 16, serial >> 8,  serial };

	if (serial && is_valid_ether_addr(address))
		eth_hw_addr_set(nic->netdev, address);
	else
		eth_hw_addr_random(nic->netdev);
}

static void nic_set_up_netdev(struct nic *nic)
{
	struct net_device *netdev = nic->netdev;

	netdev->netdev_ops = &nic_netdev_ops;
	netdev->ethtool_ops = &nic_ethtool_ops;
	netdev->watchdog_timeo = 5 * HZ;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->priv_flags |= IFF_LIVE_ADDR_CHANGE; /* the card looks at no address */
	netdev->max_mtu = nic->is->max_frame - ETH_HLEN - VLAN_HLEN;
	if (nic->is->features & EMNIC_TX_CHECKSUM)
		netdev->hw_features |= NETIF_F_HW_CSUM | NETIF_F_SG;
	if (nic->is->features & EMNIC_RX_CHECKSUM)
		netdev->hw_features |= NETIF_F_RXCSUM;
	if (nic->is->features & EMNIC_RX_HASH)
		netdev->hw_features |= NETIF_F_RXHASH;
	if (nic->is->features & EMNIC_VLAN)
		netdev->hw_features |= NIC_VLAN_TX | NIC_VLAN_RX;
	if (nic->is->features & EMNIC_TSO) {
		netdev->hw_features |= NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN;
		netif_set_tso_max_size(netdev, EMNIC_MAX_PACKET - EMNIC_MAX_HEADERS);
	}
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA | NETIF_F_NTUPLE;
	netdev->vlan_features = netdev->features & ~(NIC_VLAN_TX | NIC_VLAN_RX);
	if (nic->is->features & EMNIC_COALESCE) {
		netdev->hw_features |= NETIF_F_GRO_HW;
		netdev->features |= NETIF_F_GRO_HW;
		nic->joins = true;
	}
	nic_set_address(nic);
	netif_carrier_off(netdev);
}

static int nic_allocate(struct nic *nic)
{
	struct device *dev = &nic->pdev->dev;
	unsigned int i;

	nic->vector = devm_kcalloc(dev, nic->queues, sizeof(*nic->vector), GFP_KERNEL);
	nic->tx = devm_kcalloc(dev, nic->queues, sizeof(*nic->tx), GFP_KERNEL);
	nic->rx = devm_kcalloc(dev, nic->queues, sizeof(*nic->rx), GFP_KERNEL);
	if (!nic->vector || !nic->tx || !nic->rx)
		return -ENOMEM;
	for (i = 0; i < nic->queues; i++) {
		nic->vector[i].nic = nic;
		nic->vector[i].number = i;
		u64_stats_init(&nic->tx[i].counts.sync);
		u64_stats_init(&nic->rx[i].counts.sync);
		netif_napi_add(nic->netdev, &nic->vector[i].napi, nic_poll);
	}
	return 0;
}

static int nic_find_core(struct nic *nic)
{
	struct emnic_ops ops = nic_machine(nic);
	int err = nic_status(nic, "probe", emnic_open(&ops, &nic->core));

	if (err)
		return err;
	nic->is = emnic_get_interface(nic->core, 0);
	if (!nic->is || nic->is->ports == 0) {
		emnic_close(nic->core);
		return -ENODEV;
	}
	return 0;
}

static int nic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned int wanted = clamp(queues, 1U, (unsigned int)NIC_MOST_VECTORS);
	struct net_device *netdev;
	struct nic *nic;
	int err;

	netdev = alloc_etherdev_mqs(sizeof(*nic), wanted, wanted);
	if (!netdev)
		return -ENOMEM;
	SET_NETDEV_DEV(netdev, &pdev->dev);
	pci_set_drvdata(pdev, netdev);
	nic = netdev_priv(netdev);
	nic->netdev = netdev;
	nic->pdev = pdev;
	nic->tx_ring = NIC_DEFAULT_RING;
	nic->rx_ring = NIC_DEFAULT_RING;
	INIT_WORK(&nic->report, nic_report_work);
	INIT_DELAYED_WORK(&nic->look, nic_look_work);

	err = pci_enable_device_mem(pdev);
	if (err)
		goto free_netdev;
	err = pci_request_mem_regions(pdev, NIC_NAME);
	if (err)
		goto disable;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto release;
	nic->bar = pci_ioremap_bar(pdev, 0);
	if (!nic->bar) {
		err = -ENOMEM;
		goto release;
	}
	err = pci_alloc_irq_vectors(pdev, 1, wanted, PCI_IRQ_MSIX);
	if (err < 0) {
		dev_err(&pdev->dev, "probe: no MSI-X vectors (%d)\n", err);
		goto unmap;
	}
	nic->queues = err;
	err = nic_find_core(nic);
	if (err)
		goto free_vectors;
	nic->queues = min3(nic->queues, nic->is->tx_queues, nic->is->rx_queues);
	nic->queues = min3(nic->queues, nic->is->event_queues, emnic_vectors(nic->core));
	/* Receive queues are dealt to the ports: as many to each. */
	nic->queues = max(rounddown(nic->queues, nic->is->ports), nic->is->ports);
	nic->most_queues = nic->queues;
	err = nic_allocate(nic);
	if (err)
		goto close;
	nic_set_up_netdev(nic);
	memcpy(nic->rss_key, emnic_rss_key, sizeof(nic->rss_key));
	err = nic_ptp_start(nic);
	if (err)
		goto close;
	err = nic_devlink_start(nic);
	if (err)
		goto stop_ptp;
	err = netif_set_real_num_queues(netdev, nic->queues, nic->queues);
	if (!err)
		err = register_netdev(netdev);
	if (err)
		goto stop_devlink;
	netdev_info(netdev, "host-nic, %u of %u queues each way, %pM\n", nic->queues,
		    nic->is->tx_queues, netdev->dev_addr);
	return 0;

stop_devlink:
	nic_devlink_stop(nic);
stop_ptp:
	nic_ptp_stop(nic);
close:
	emnic_close(nic->core);
free_vectors:
	cancel_work_sync(&nic->report);
	pci_free_irq_vectors(pdev);
unmap:
	iounmap(nic->bar);
release:
	pci_release_mem_regions(pdev);
disable:
	pci_disable_device(pdev);
free_netdev:
	free_netdev(netdev);
	return err;
}

static void nic_remove(struct pci_dev *pdev)
{
	struct net_device *netdev = pci_get_drvdata(pdev);
	struct nic *nic = netdev_priv(netdev);

	unregister_netdev(netdev);
	cancel_work_sync(&nic->report);
	nic_devlink_stop(nic);
	nic_ptp_stop(nic);
	cancel_work_sync(&nic->report); /* a last look at the clock may have found it gone */
	kvfree(nic->rss_table);
	kvfree(nic->rules);
	emnic_close(nic->core);
	pci_free_irq_vectors(pdev);
	iounmap(nic->bar);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
	free_netdev(netdev);
}

static const struct pci_device_id nic_ids[] = {
	{ PCI_DEVICE(IdVendor, IdHostNic) },
	{}
};
MODULE_DEVICE_TABLE(pci, nic_ids);

static struct pci_driver nic_driver = {
	.name = NIC_NAME,
	.id_table = nic_ids,
	.probe = nic_probe,
	.remove = nic_remove,
	.err_handler = &nic_resets,
};
module_pci_driver(nic_driver);

MODULE_DESCRIPTION("Emery host-nic");
MODULE_LICENSE("GPL");
