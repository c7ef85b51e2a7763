/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a driver in a process of its own and the simulator of its card say to each other, over a
 * Unix stream socket: messages of one size. The simulator listens and answers; requests without an
 * answer are marked. Simulated time stands still but while the simulator answers, so what happens
 * follows from what the driver asks for, not from when; and but while the driver sleeps: it waits
 * for interrupts and asks for nothing. Then time goes by until one comes.
 */
#ifndef EMERY_SIM_LINK_H
#define EMERY_SIM_LINK_H

#include <stdint.h>

enum { SIM_LINK_VERSION = 2 };

enum sim_op {
  SIM_HELLO = 1,   /* value: SIM_LINK_VERSION; answer: value station address, at bits a second */
  SIM_MEMORY = 2,  /* at: bus address, value: bytes of the file sent with it, whole pages;
                      answer: value 0 when the card cannot reach it there */
  SIM_READ32 = 3,  /* at: offset in BAR 0; answer: value, when the device has answered */
  SIM_WRITE32 = 4, /* at: offset in BAR 0, value; no answer */
  SIM_MASTER = 5,  /* value: the device may read and write memory, or not; answer */
  SIM_PASS = 6,    /* value: ns go by; answer: value enum sim_state, at ns since the reset */
  SIM_POLL = 7,    /* likewise, of a driver in a burst: traffic begins with the first one, and
                      when all is done time stands still */
  SIM_VECTORS = 8, /* value: so many entries of the MSI-X table lead to the driver, 0: none, and no
                      queue has an event descriptor any more; answer: value 0 when there are not */
  SIM_EVENT = 9,   /* at: a queue, value: the vector whose messages are for it, with an event
                      descriptor that is written to then; answer: value 0 when that cannot be */
  SIM_WAIT = 10    /* at: a queue that has an event descriptor; value enum sim_wait; no answer */
};

enum sim_wait {
  SIM_AWAKE = 0, /* no message is written to the descriptor any more */
  SIM_ARMS = 1,  /* the next one is, once */
  SIM_ASLEEP = 2 /* the driver has armed, and may ask for nothing until then */
};

enum sim_state { SIM_RUNS = 0, SIM_ENDS = 1 }; /* ends: nothing more is to be sent */

struct sim_message {
  uint32_t op, reserved;
  uint64_t at, value;
};

#endif
