// SPDX-License-Identifier: Apache-2.0
// A host-nic in C for the tests of its driver core: registers, rings and records as
// rtl/queue/queue_pkg.sv and host_nic.rdl have them, at once and without RTL. It checks what a
// device takes for granted: bases and sizes set before a queue is enabled, zeros in what is offered
// of a stream, no access to memory that was given back.
#ifndef FAKE_NIC_H
#define FAKE_NIC_H

#include <stdint.h>

#include "../emnic.h"
#include "host_nic.h"

enum { FAKE_QUEUES = 8, FAKE_PORTS = 2, FAKE_EQS = 4, FAKE_FLOWS = 16, FAKE_WRITES = 8192 };

struct fake_queue {
  uint16_t taken, done;
  int armed;
};

struct fake_flow {
  struct emnic_flow flow;
  unsigned queue;
};

struct fake_nic {
  host_nic_t* bar;
  unsigned interfaces;
  struct fake_queue txq[2][FAKE_QUEUES], rxq[2][FAKE_QUEUES], txcq[2][FAKE_QUEUES],
      rxcq[2][FAKE_QUEUES], eq[2][FAKE_EQS];
  struct emnic_queue_counts counts[2][2][FAKE_QUEUES];          // transmit, interface
  struct emnic_queue_counts port_counts[2][2][FAKE_PORTS][64];  // likewise; rows: two counters
  struct fake_flow flow[2][FAKE_PORTS][FAKE_FLOWS];
  int hold;                 // takes transmit slots and does not finish them
  int later;                // reads that may wait are answered by fake_answer
  unsigned reads, gone_at;  // number of the read from which on the device has gone; 0: never
  uint64_t interrupts;
  // The frame sent last.
  uint8_t sent[16384];
  unsigned sent_bytes, sent_queue, sent_interface, csum_start, csum_offset, csum_enable, tag, tci;
  unsigned cut, mss;
  unsigned header_words;   // that it finds in the next frames that it receives
  unsigned segment_bytes;  // of the segments that these are; 0: one frame
  int push;
  uint64_t frames;
  uint64_t pushes, push_bytes;
  uint8_t pushed[256];
  // Register writes since the log was emptied, as many as it holds.
  struct {
    uint32_t offset, value;
  } log[FAKE_WRITES];
  unsigned writes;
  // The machine's side.
  unsigned dma_blocks, own_blocks, allocations, fail_at;  // fail_at: number of the one that fails
  unsigned given_up, told;
  int mastering, vectors;
  uint64_t waited_us;
  void (*done)(void* of, uint32_t value);
  void* of;
  uint32_t asked;
};

void fake_power_on(struct fake_nic* nic, unsigned interfaces);
// As fake_power_on, but what the machine has counted and lent stays.
void fake_reset(struct fake_nic* nic);
void fake_power_off(struct fake_nic* nic);
struct emnic_ops fake_ops(struct fake_nic* nic);
// One interface that has these features, powered on and opened; and the end of both.
struct emnic* fake_open(struct fake_nic* nic, unsigned features);
void fake_close(struct fake_nic* nic, struct emnic* device);
// A frame from the wire for this queue; 0 when there was no room.
int fake_receive(struct fake_nic* nic, unsigned interface, unsigned queue, const uint8_t* frame,
                 unsigned bytes);
// Tells which rows of a port's counters are not 0.
void fake_port_rows(struct fake_nic* nic, unsigned interface, int transmit, unsigned port);
// Goes on with what was held.
void fake_go_on(struct fake_nic* nic);
// Answers the read that waits.
void fake_answer(struct fake_nic* nic);
// Stops a queue for an error.
void fake_stop(struct fake_nic* nic, unsigned interface, int transmit, unsigned queue,
               unsigned code);

#define CHECK(what)                                      \
  do {                                                   \
    if (!(what)) fake_failed(__FILE__, __LINE__, #what); \
  } while (0)
void fake_failed(const char* file, int line, const char* what);

#endif
