/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive interrupts: an event descriptor a queue, written to by the simulator when the MSI-X
 * message of the queue's vector comes. One for each time a queue is enabled, as the device has it.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "net_emery.h"

int emery_intr_open(struct rte_eth_dev *dev) {
  dev->intr_handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  if (!dev->intr_handle) return -ENOMEM;
  rte_intr_type_set(dev->intr_handle, RTE_INTR_HANDLE_VDEV);
  rte_intr_efd_counter_size_set(dev->intr_handle, sizeof(uint64_t));
  return 0;
}

void emery_intr_close(struct rte_eth_dev *dev) {
  rte_intr_instance_free(dev->intr_handle);
  dev->intr_handle = NULL;
}

/* Event queues are dealt to completion queues by turns. */
static unsigned int vector_of(const struct emery_rx *rx) {
  return rx->q.number % emnic_event_queues(rx->q.emery->core);
}

static int add(struct rte_eth_dev *dev, uint16_t number) {
  struct emery *emery = dev->data->dev_private;
  const int file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (file < 0) return -errno;
  rte_intr_nb_efd_set(dev->intr_handle, number + 1);
  int status = rte_intr_efds_index_set(dev->intr_handle, number, file);
  if (status == 0)
    status = rte_intr_vec_list_index_set(dev->intr_handle, number, RTE_INTR_VEC_RXTX_OFFSET + number);
  if (status != 0) {
    rte_intr_nb_efd_set(dev->intr_handle, number);
    close(file);
    return -rte_errno;
  }
  return emery_link_event(&emery->link, number, vector_of(dev->data->rx_queues[number]), file);
}

/* stop() follows when it fails. */
int emery_intr_start(struct rte_eth_dev *dev) {
  const uint16_t queues = dev->data->nb_rx_queues;
  if (!dev->data->dev_conf.intr_conf.rxq) return 0;
  if (rte_intr_vec_list_alloc(dev->intr_handle, NULL, queues) != 0) return -ENOMEM;
  int status = rte_intr_max_intr_set(dev->intr_handle, queues + RTE_INTR_VEC_RXTX_OFFSET);
  for (uint16_t number = 0; number < queues && status == 0; ++number) status = add(dev, number);
  return status;
}

void emery_intr_stop(struct rte_eth_dev *dev) {
  const int count = rte_intr_nb_efd_get(dev->intr_handle);
  rte_intr_free_epoll_fd(dev->intr_handle);
  for (int i = 0; i < count; ++i) close(rte_intr_efds_index_get(dev->intr_handle, i));
  rte_intr_nb_efd_set(dev->intr_handle, 0);
  rte_intr_vec_list_free(dev->intr_handle);
}

/*
 * The event queue is armed before the completion queue: with a record that nobody has taken that
 * one makes an event at once, and whoever takes it, its interrupt is on the way. An event queue
 * that several have wakes all of them.
 */
int emery_intr_enable(struct rte_eth_dev *dev, uint16_t number) {
  struct emery *emery = dev->data->dev_private;
  const struct emery_rx *rx = dev->data->rx_queues[number];
  if (!emery->link.vectors || !dev->data->dev_started) return -ENOTSUP;
  emery_link_wait(&emery->link, number, SIM_ARMS);
  rte_spinlock_lock(&emery->events);
  emery_look_for_errors(emery);
  emnic_arm(emnic_event_queue(emery->core, vector_of(rx)));
  emnic_taken(rx->q.records, 1);
  rte_spinlock_unlock(&emery->events);
  emery_link_wait(&emery->link, number, SIM_ASLEEP);
  return emery->link.gone ? -EIO : 0;
}

/* An interrupt on its way finds nobody who waits. */
int emery_intr_disable(struct rte_eth_dev *dev, uint16_t number) {
  struct emery *emery = dev->data->dev_private;
  if (!emery->link.vectors || !dev->data->dev_started) return -ENOTSUP;
  emery_link_wait(&emery->link, number, SIM_AWAKE);
  return emery->link.gone ? -EIO : 0;
}
