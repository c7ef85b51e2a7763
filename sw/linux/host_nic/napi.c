// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts, and what has come: events, then the records of the completion queues they name. */
#include "nic.h"
#include "queue_formats.h"

irqreturn_t nic_interrupt(int irq, void *data)
{
	struct nic_vector *vector = data;

	vector->nic->posted = 0;
	napi_schedule_irqoff(&vector->napi);
	return IRQ_HANDLED;
}

static void nic_take_events(struct nic_vector *vector)
{
	struct nic *nic = vector->nic;
	struct emnic_event event;

	while (emnic_next_event(vector->events, &event)) {
		if (event.completions >= 0) {
			__set_bit(event.completions, vector->pending);
			continue;
		}
		nic_trouble(nic, event.kind == EvtRxError || event.kind == EvtRxCqError ? NIC_RX : NIC_TX,
			    event.source << 16 | 0x100 | event.code);
	}
}

/* Frames received, of `budget`; sets `drained` when the queue has nothing more. */
static int nic_take(struct nic_vector *vector, struct emnic_cq *cq, int budget, bool *drained)
{
	struct emnic_completion c[NIC_BATCH];
	int received = 0;
	unsigned int i, n;

	*drained = false;
	do {
		n = emnic_take(cq, c, clamp(budget - received, 1, NIC_BATCH));
		for (i = 0; i < n; i++) {
			if (c[i].transmit) {
				nic_tx_done(vector->nic, &c[i]);
			} else {
				nic_receive(vector, &c[i]);
				received++;
			}
		}
		*drained = n == 0;
	} while (n > 0 && received < budget);
	return received;
}

/* Of all queues that have something; `budget` when there is more. */
static int nic_serve(struct nic_vector *vector, int budget)
{
	struct emnic *core = vector->nic->core;
	unsigned int number;
	bool drained;
	int done = 0;

	for_each_set_bit(number, vector->pending, 4 * NIC_MOST_VECTORS)
	{
		struct emnic_cq *cq = emnic_completions(core, number);

		if (done >= budget)
			return budget;
		done += nic_take(vector, cq, budget - done, &drained);
		if (!drained)
			return budget;
		__clear_bit(number, vector->pending);
		emnic_taken(cq, 1);
	}
	return done;
}

int nic_poll(struct napi_struct *napi, int budget)
{
	struct nic_vector *vector = container_of(napi, struct nic_vector, napi);
	int done;

	nic_take_events(vector);
	done = nic_serve(vector, budget);
	nic_xdp_flush(vector);
	if (done < budget && napi_complete_done(napi, done))
		emnic_arm(vector->events);
	return done;
}
