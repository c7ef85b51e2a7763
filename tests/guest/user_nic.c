// SPDX-License-Identifier: Apache-2.0
// The driver core of host-nic in a process that reaches a card by functions of its own (a client of
// vfio-user, tests/test_linux_vfio_user.py): one queue each way, with interrupts.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emnic.h"

typedef uint32_t read32_t(uint32_t offset);
typedef void write32_t(uint32_t offset, uint32_t value);
typedef uint64_t alloc_t(uint64_t bytes);  // a place in the memory that is shared
typedef void master_t(int on);
typedef int interrupts_t(unsigned vectors);

struct machine {
  read32_t* read32;
  write32_t* write32;
  alloc_t* alloc;
  master_t* master;
  interrupts_t* interrupts;
  uint8_t* memory;  // that the card reaches at `bus`
  uint64_t bus;
};

struct nic {
  struct machine machine;
  struct emnic* device;
};

static uint32_t do_read32(void* of, uint32_t offset) {
  return ((struct machine*)of)->read32(offset);
}
static void do_write32(void* of, uint32_t offset, uint32_t value) {
  ((struct machine*)of)->write32(offset, value);
}
static void* do_alloc(void* of, size_t bytes) { return (void)of, calloc(1, bytes); }
static void do_free(void* of, void* memory) { (void)of, free(memory); }
static void* do_dma_alloc(void* of, size_t bytes, uint64_t* bus) {
  struct machine* m = of;
  const uint64_t at = m->alloc(bytes);
  if (at == UINT64_MAX) return NULL;
  *bus = m->bus + at;
  return memset(m->memory + at, 0, bytes);
}
static void do_dma_free(void* of, void* memory, size_t bytes, uint64_t bus) {
  (void)of, (void)memory, (void)bytes, (void)bus;
}
static void do_master(void* of, int on) { ((struct machine*)of)->master(on); }
static int do_interrupts(void* of, unsigned vectors) {
  return ((struct machine*)of)->interrupts(vectors);
}
static void do_delay(void* of, unsigned us) { (void)of, usleep(us); }

struct nic* nic_open(const struct machine* machine, int* status) {
  struct nic* nic = calloc(1, sizeof *nic);
  nic->machine = *machine;
  const struct emnic_ops ops = {.context = &nic->machine,
                                .read32 = do_read32,
                                .write32 = do_write32,
                                .alloc = do_alloc,
                                .free = do_free,
                                .dma_alloc = do_dma_alloc,
                                .dma_free = do_dma_free,
                                .bus_master = do_master,
                                .interrupts = do_interrupts,
                                .delay_us = do_delay};
  const struct emnic_config config = {.tx_queues = 1,
                                      .rx_queues = 1,
                                      .tx_ring = 64,
                                      .rx_ring = 64,
                                      .tx_buffers = 1,
                                      .rx_buffers = 1,
                                      .max_frame = 1514,
                                      .segments = 1,
                                      .doorbell_batch = 1,
                                      .refill_batch = 8,
                                      .cpus = 1,
                                      .interrupts = 1};
  *status = emnic_open(&ops, &nic->device);
  if (*status == 0) *status = emnic_start(nic->device, &config);
  return nic;
}

int nic_recover(struct nic* nic) { return emnic_recover(nic->device); }
int nic_stop(struct nic* nic) { return emnic_stop(nic->device); }
void nic_close(struct nic* nic) {
  emnic_close(nic->device);
  free(nic);
}
const char* nic_error(int status) { return emnic_error(status); }

int nic_send(struct nic* nic, const void* frame, unsigned bytes) {
  struct emnic_tx* queue = emnic_tx_queue(nic->device, 0, 0);
  const int status = emnic_send(queue, frame, bytes, NULL);
  emnic_tx_flush(queue, 1, 0);
  return status;
}

// What has come, each as two bytes of length and the frame; gives how many bytes, and the frames
// that were sent.
unsigned nic_take(struct nic* nic, uint8_t* out, unsigned room, unsigned* sent) {
  unsigned used = 0;
  for (unsigned v = 0; v < emnic_event_queues(nic->device); ++v) {
    struct emnic_eq* events = emnic_event_queue(nic->device, v);
    struct emnic_event event;
    while (emnic_next_event(events, &event)) {
      if (event.completions < 0) continue;
      struct emnic_cq* queue = emnic_completions(nic->device, (unsigned)event.completions);
      struct emnic_completion c;
      while (used + 2048 < room && emnic_take(queue, &c, 1)) {
        if (c.transmit) {
          *sent += c.packets;
          continue;
        }
        out[used] = (uint8_t)c.bytes;
        out[used + 1] = (uint8_t)(c.bytes >> 8);
        memcpy(out + used + 2, c.data, c.bytes);
        used += c.bytes + 2;
        struct emnic_rx* receive = emnic_rx_queue(nic->device, 0, 0);
        emnic_release(receive, 1);
        emnic_rx_flush(receive);
      }
      emnic_taken(queue, 1);
    }
    emnic_arm(events);
  }
  return used;
}
