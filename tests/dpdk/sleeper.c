/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeps until there is something to receive, as l3fwd-power does, on queue 0 of the first port.
 * Words behind EAL's: FRAMES to receive, GAP: polls of queue 1, which is silent, between the last
 * look at queue 0 and the arming of its interrupt. `late`: looks after the gap instead of arming;
 * `off`: arms before the gap and disarms again. Says what it has seen; status 1: a wake-up was lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>

enum { QUEUES = 2, BURST = 32, PATIENCE = 20000 /* ms */ };

static void must(int status, const char *what) {
  if (status >= 0) return;
  printf("%s: %d\n", what, status);
  exit(2);
}

static unsigned int look(uint16_t queue) {
  struct rte_mbuf *frames[BURST];
  const unsigned int found = rte_eth_rx_burst(0, queue, frames, BURST);
  rte_pktmbuf_free_bulk(frames, found);
  return found;
}

static unsigned int look_for_all(uint16_t queue) {
  unsigned int all = 0, found;
  while ((found = look(queue)) != 0) all += found;
  return all;
}

static int woken(int timeout) {
  struct rte_epoll_event event;
  return rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, timeout) == 1;
}

static void start(void) {
  const struct rte_eth_conf conf = {.intr_conf.rxq = 1};
  struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", 8191, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
  if (!pool) must(-1, "no memory");
  must(rte_eth_dev_configure(0, QUEUES, QUEUES, &conf), "configure");
  for (uint16_t q = 0; q < QUEUES; ++q) {
    must(rte_eth_rx_queue_setup(0, q, 512, 0, NULL, pool), "rx_queue_setup");
    must(rte_eth_tx_queue_setup(0, q, 512, 0, NULL), "tx_queue_setup");
  }
  must(rte_eth_dev_start(0), "start");
  must(rte_eth_dev_rx_intr_ctl_q(0, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL), "rx_intr_ctl_q");
}

int main(int argc, char **argv) {
  const int own = rte_eal_init(argc, argv);
  must(own, "EAL");
  if (argc - own < 3) must(-1, "words");
  const unsigned int wanted = (unsigned int)atoi(argv[own + 1]), gap = (unsigned int)atoi(argv[own + 2]);
  const int late = argc - own > 3 && strcmp(argv[own + 3], "late") == 0;
  const int off = argc - own > 3 && strcmp(argv[own + 3], "off") == 0;
  unsigned int frames = 0, wakes = 0, empty = 0;
  start();
  /* Again after a stop: with event descriptors of its own. */
  must(rte_eth_dev_stop(0), "stop");
  must(rte_eth_dev_start(0), "start again");
  must(rte_eth_dev_rx_intr_ctl_q(0, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL), "rx_intr_ctl_q");
  while (frames < wanted) {
    frames += look_for_all(0);
    if (off) {
      must(rte_eth_dev_rx_intr_enable(0, 0), "enable");
      must(rte_eth_dev_rx_intr_disable(0, 0), "disable");
    }
    for (unsigned int i = 0; i < gap; ++i) look(1);
    if (late || off) {
      if (woken(0)) ++wakes;
      frames += look_for_all(0);
      break;
    }
    if (frames >= wanted) break;
    must(rte_eth_dev_rx_intr_enable(0, 0), "enable");
    if (!woken(PATIENCE)) {
      printf("frames %u: no wake-up\n", frames);
      return 1;
    }
    ++wakes;
    must(rte_eth_dev_rx_intr_disable(0, 0), "disable");
    const unsigned int found = look_for_all(0);
    if (found == 0) ++empty;
    frames += found;
  }
  printf("frames %u, woken %u times, %u of them for nothing\n", frames, wakes, empty);
  rte_eth_dev_stop(0);
  rte_eth_dev_close(0);
  return 0;
}
