// SPDX-License-Identifier: GPL-2.0-only
/* Linux driver of Emery's capture: finding cards by their PCI functions, and letting them go. */
#include <linux/cdev.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cap.h"
#include "capture.h"
#include "ids_formats.h"

static unsigned int rings = 1;
module_param(rings, uint, 0444);
MODULE_PARM_DESC(rings, "rings that a card's packets are spread over by flow: a power of two, 1 to 32 (default 1)");

#define CAP_MINORS 256

static struct class *cap_class;
static dev_t cap_numbers;
static struct cdev cap_cdev;
static DEFINE_MUTEX(cap_cards_lock);
static LIST_HEAD(cap_cards);
static DEFINE_IDR(cap_rings);

static void cap_card_release(struct kref *ref)
{
	cap_card_end(container_of(ref, struct cap_card, ref));
}

void cap_card_put(struct cap_card *card)
{
	kref_put(&card->ref, cap_card_release);
}

struct cap_ring *cap_find_ring(int minor)
{
	struct cap_ring *ring;

	mutex_lock(&cap_cards_lock);
	ring = idr_find(&cap_rings, minor);
	if (ring)
		kref_get(&ring->card->ref);
	mutex_unlock(&cap_cards_lock);
	return ring;
}

static void cap_remove_rings(struct cap_card *card, unsigned int count)
{
	while (count-- > 0) {
		device_destroy(cap_class, MKDEV(MAJOR(cap_numbers), card->ring[count].minor));
		idr_remove(&cap_rings, card->ring[count].minor);
	}
}

static int cap_make_rings(struct cap_card *card, struct device *parent)
{
	unsigned int i;

	for (i = 0; i < card->rings; i++) {
		struct cap_ring *ring = &card->ring[i];
		int minor = idr_alloc(&cap_rings, ring, 0, CAP_MINORS, GFP_KERNEL);
		struct device *dev;

		if (minor < 0) {
			cap_remove_rings(card, i);
			return minor;
		}
		ring->minor = minor;
		dev = device_create_with_groups(cap_class, parent, MKDEV(MAJOR(cap_numbers), minor),
						ring, cap_ring_groups, "emcap%d", minor);
		if (IS_ERR(dev)) {
			idr_remove(&cap_rings, minor);
			cap_remove_rings(card, i);
			return PTR_ERR(dev);
		}
	}
	return 0;
}

static struct cap_card *cap_new_card(struct cap_function *function)
{
	unsigned int count = clamp(rings, 1U, (unsigned int)EMCAP_MAX_RINGS);
	struct cap_card *card;
	int err;

	count = min(rounddown_pow_of_two(count),
		    (unsigned int)readl(function->bar + offsetof(cap_regs_t, rings)));
	if (count == 0)
		return ERR_PTR(-ENODEV);
	card = kzalloc(struct_size(card, ring, count), GFP_KERNEL);
	if (!card)
		return ERR_PTR(-ENOMEM);
	cap_card_init(card, count);
	card->serial = function->serial;
	/* No parent: the rings are the card's, whichever of its functions goes. */
	err = cap_make_rings(card, NULL);
	if (err) {
		cap_card_put(card);
		return ERR_PTR(err);
	}
	list_add_tail(&card->node, &cap_cards);
	return card;
}

/* Puts a function to those of its card; captures begun before go on without it. */
static int cap_join(struct cap_function *function)
{
	struct cap_card *card = NULL, *other;

	list_for_each_entry(other, &cap_cards, node)
		if (function->serial != 0 && other->serial == function->serial)
			card = other;
	if (!card)
		card = cap_new_card(function);
	if (IS_ERR(card))
		return PTR_ERR(card);
	if (card->functions == EMCAP_MAX_LINKS) {
		dev_err(&function->pdev->dev, "probe: a card of that serial number has its links\n");
		return -EBUSY;
	}
	/* Both write into the same rings, at the same addresses. */
	if (card->functions != 0 && device_iommu_mapped(&function->pdev->dev)) {
		dev_err(&function->pdev->dev, "probe: a second link cannot be behind an IOMMU\n");
		return -EOPNOTSUPP;
	}
	mutex_lock(&card->lock);
	if (card->library)
		dev_info(&function->pdev->dev, "used from the next capture on\n");
	function->card = card;
	card->function[card->functions++] = function;
	mutex_unlock(&card->lock);
	return 0;
}

/* What is captured ends, as its memory may be the function's; a reader finds that the card has gone. */
static void cap_leave(struct cap_function *function)
{
	struct cap_card *card = function->card;
	unsigned int i;

	mutex_lock(&card->lock);
	cap_stop(card);
	for (i = 0; card->function[i] != function; i++)
		;
	card->functions--;
	for (; i < card->functions; i++)
		card->function[i] = card->function[i + 1];
	card->function[i] = NULL;
	mutex_unlock(&card->lock);
	if (card->functions == 0) {
		list_del(&card->node);
		cap_remove_rings(card, card->rings);
		cap_card_put(card);
	}
}

static int cap_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct cap_function *function;
	int err;

	function = devm_kzalloc(&pdev->dev, sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	function->pdev = pdev;
	function->serial = pci_get_dsn(pdev);
	pci_set_drvdata(pdev, function);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pcim_iomap_regions(pdev, BIT(0), CAP_NAME);
	if (err)
		return err;
	function->bar = pcim_iomap_table(pdev)[0];
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	if (!cap_answers(function)) {
		dev_err(&pdev->dev, "probe: not a capture card of Emery's\n");
		return -ENODEV;
	}
	mutex_lock(&cap_cards_lock);
	err = cap_join(function);
	mutex_unlock(&cap_cards_lock);
	if (!err)
		dev_info(&pdev->dev, "capture, link %u of %u, /dev/emcap%d\n",
			 readl(function->bar + offsetof(cap_regs_t, link_index)),
			 readl(function->bar + offsetof(cap_regs_t, links)),
			 function->card->ring[0].minor);
	return err;
}

static void cap_remove(struct pci_dev *pdev)
{
	mutex_lock(&cap_cards_lock);
	cap_leave(pci_get_drvdata(pdev));
	mutex_unlock(&cap_cards_lock);
}

static const struct pci_device_id cap_ids[] = {
	{ PCI_DEVICE(IdVendor, IdCapture) },
	{ PCI_DEVICE(IdVendor, IdCapture + 1) }, /* the second link */
	{}
};
MODULE_DEVICE_TABLE(pci, cap_ids);

static struct pci_driver cap_driver = {
	.name = CAP_NAME,
	.id_table = cap_ids,
	.probe = cap_probe,
	.remove = cap_remove,
};

static int __init cap_init(void)
{
	int err = alloc_chrdev_region(&cap_numbers, 0, CAP_MINORS, CAP_NAME);

	if (err)
		return err;
	cap_class = class_create(THIS_MODULE, CAP_NAME);
	if (IS_ERR(cap_class)) {
		err = PTR_ERR(cap_class);
		goto free_numbers;
	}
	cdev_init(&cap_cdev, &cap_stream_ops);
	cap_cdev.owner = THIS_MODULE;
	err = cdev_add(&cap_cdev, cap_numbers, CAP_MINORS);
	if (err)
		goto destroy_class;
	err = pci_register_driver(&cap_driver);
	if (err)
		goto del_cdev;
	return 0;

del_cdev:
	cdev_del(&cap_cdev);
destroy_class:
	class_destroy(cap_class);
free_numbers:
	unregister_chrdev_region(cap_numbers, CAP_MINORS);
	return err;
}

static void __exit cap_exit(void)
{
	pci_unregister_driver(&cap_driver);
	cdev_del(&cap_cdev);
	class_destroy(cap_class);
	unregister_chrdev_region(cap_numbers, CAP_MINORS);
	idr_destroy(&cap_rings);
}

module_init(cap_init);
module_exit(cap_exit);

MODULE_DESCRIPTION("Emery capture");
MODULE_LICENSE("GPL");
