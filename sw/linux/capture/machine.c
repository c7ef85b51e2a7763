// SPDX-License-Identifier: GPL-2.0-only
/* The machine as the capture library sees it (emcap.h), on the kernel. */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "cap.h"
#include "capture.h"
#include "posted.h"

static unsigned int cap_functions(void *context)
{
	const struct cap_card *card = context;

	return card->functions;
}

static u64 cap_serial(void *context, unsigned int number)
{
	const struct cap_card *card = context;

	return card->function[number]->serial;
}

static u32 cap_read32(void *context, unsigned int number, u32 offset)
{
	struct cap_card *card = context;
	struct cap_function *function = card->function[number];

	function->posted = 0;
	return readl(function->bar + offset);
}

static void cap_write32(void *context, unsigned int number, u32 offset, u32 value)
{
	struct cap_card *card = context;
	struct cap_function *function = card->function[number];

	writel(value, function->bar + offset);
	if (++function->posted >= MOST_POSTED)
		cap_read32(context, number, 0);
}

bool cap_answers(struct cap_function *function)
{
	return readl(function->bar) == CAP_REGS__MAGIC__VALUE_reset;
}

static void cap_bus_master(void *context, unsigned int number, int on)
{
	struct cap_card *card = context;

	if (on)
		pci_set_master(card->function[number]->pdev);
	else
		pci_clear_master(card->function[number]->pdev);
}

static void *cap_alloc(void *context, size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

static void cap_free(void *context, void *memory)
{
	kvfree(memory);
}

/* By the first function; what stands between another one and memory has been seen to in cap_join. */
static void *cap_dma_alloc(void *context, size_t bytes, size_t align, u64 *bus)
{
	struct cap_card *card = context;
	struct device *dev = &card->function[0]->pdev->dev;
	struct cap_allocation *a = card->allocation;

	if (a->memory)
		a++;
	a->bytes = PAGE_ALIGN(bytes);
	a->memory = dma_alloc_coherent(dev, a->bytes, &a->bus, GFP_KERNEL | __GFP_NOWARN);
	*bus = a->bus;
	return a->memory;
}

static void cap_dma_free(void *context, void *memory)
{
	struct cap_card *card = context;
	struct cap_allocation *a = card->allocation;

	if (a->memory != memory)
		a++;
	dma_free_coherent(&card->function[0]->pdev->dev, a->bytes, a->memory, a->bus);
	a->memory = NULL;
}

struct emcap_ops cap_machine(struct cap_card *card)
{
	return (struct emcap_ops){
		.context = card,
		.functions = cap_functions,
		.serial = cap_serial,
		.read32 = cap_read32,
		.write32 = cap_write32,
		.bus_master = cap_bus_master,
		.alloc = cap_alloc,
		.free = cap_free,
		.dma_alloc = cap_dma_alloc,
		.dma_free = cap_dma_free,
	};
}
