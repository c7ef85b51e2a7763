// SPDX-License-Identifier: GPL-2.0-only
/* The machine as the driver core sees it (emnic.h), on the kernel. */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "emnic_errno.h"
#include "nic.h"
#include "posted.h"

/* Of a card that is not there any more every register reads as all ones; some do at other times. */
static void nic_find_gone(struct nic *nic)
{
	if (readl(nic->bar) != U32_MAX)
		return;
	WRITE_ONCE(nic->gone, true);
	schedule_work(&nic->report);
}

static u32 nic_read32(void *context, u32 offset)
{
	struct nic *nic = context;
	u32 value;

	if (READ_ONCE(nic->gone) || READ_ONCE(nic->resetting))
		return U32_MAX;
	nic->posted = 0;
	value = readl(nic->bar + offset);
	if (value == U32_MAX)
		nic_find_gone(nic);
	return value;
}

bool nic_has_gone(struct nic *nic)
{
	nic_read32(nic, 0);
	return READ_ONCE(nic->gone);
}

static void nic_write32(void *context, u32 offset, u32 value)
{
	struct nic *nic = context;

	if (READ_ONCE(nic->gone) || READ_ONCE(nic->resetting))
		return;
	writel(value, nic->bar + offset);
	if (++nic->posted >= MOST_POSTED)
		nic_read32(nic, 0);
}

static void *nic_alloc(void *context, size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

static void nic_free(void *context, void *memory)
{
	kvfree(memory);
}

static void *nic_dma_alloc(void *context, size_t bytes, u64 *bus)
{
	struct nic *nic = context;
	dma_addr_t addr;
	void *memory = dma_alloc_coherent(&nic->pdev->dev, PAGE_ALIGN(bytes), &addr, GFP_KERNEL);

	*bus = addr;
	return memory;
}

static void nic_dma_free(void *context, void *memory, size_t bytes, u64 bus)
{
	struct nic *nic = context;

	dma_free_coherent(&nic->pdev->dev, PAGE_ALIGN(bytes), memory, bus);
}

static void nic_dma_barrier(void *context)
{
	dma_rmb();
}

static void nic_bus_master(void *context, int on)
{
	struct nic *nic = context;

	if (on)
		pci_set_master(nic->pdev);
	else
		pci_clear_master(nic->pdev);
}

static void nic_free_first_irqs(struct nic *nic, unsigned int count)
{
	while (count-- > 0)
		free_irq(pci_irq_vector(nic->pdev, count), &nic->vector[count]);
}

/* If there are any: the core lets go of them only of a card that answers. */
void nic_free_irqs(struct nic *nic)
{
	if (nic->requested)
		nic_free_first_irqs(nic, nic->queues);
	nic->requested = false;
}

/* One vector a CPU queue, however many the device has. */
static int nic_interrupts(void *context, unsigned int vectors)
{
	struct nic *nic = context;
	unsigned int i;
	int err;

	if (vectors == 0) {
		nic_free_irqs(nic);
		return 0;
	}
	for (i = 0; i < nic->queues; i++) {
		struct nic_vector *vector = &nic->vector[i];

		snprintf(vector->name, sizeof(vector->name), "%s-%u", nic->netdev->name, i);
		err = request_irq(pci_irq_vector(nic->pdev, i), nic_interrupt, 0, vector->name,
				  vector);
		if (err) {
			nic_free_first_irqs(nic, i);
			return err;
		}
	}
	nic->requested = true;
	return 0;
}

static void nic_delay_us(void *context, unsigned int us)
{
	usleep_range(us, us + us / 4 + 1);
}

struct emnic_ops nic_machine(struct nic *nic)
{
	return (struct emnic_ops){
		.context = nic,
		.read32 = nic_read32,
		.write32 = nic_write32,
		.alloc = nic_alloc,
		.free = nic_free,
		.dma_alloc = nic_dma_alloc,
		.dma_free = nic_dma_free,
		.dma_barrier = nic_dma_barrier,
		.bus_master = nic_bus_master,
		.interrupts = nic_interrupts,
		.delay_us = nic_delay_us,
	};
}

/* An error of the core as the kernel has it, told once; that the card has gone is told elsewhere. */
int nic_status(struct nic *nic, const char *what, int status)
{
	if (status >= 0)
		return 0;
	if (!READ_ONCE(nic->gone))
		dev_err(&nic->pdev->dev, "%s: %s\n", what, emnic_error(status));
	return emnic_errno(status);
}
