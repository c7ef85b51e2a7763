// SPDX-License-Identifier: Apache-2.0
// The queue of events that software raises: work one step found for the next, and what is to be
// tried again.
#include "nic.h"

static struct Event events[EVENTS] __attribute__((section(".noinit")));
static shared_t raised, taken;  // events, counted
static lock_t lock;

bool events_waiting(void) { return raised != taken; }

// There is always room: each event is about another frame that is under way.
void raise_event(const struct Event* event) {
  send_lock(&lock);
  const uint32_t at = raised;
  events[at % EVENTS] = *event;
  in_order();
  raised = at + 1;
  send_unlock(&lock);
}

bool take_event(struct Event* event) {
  if (raised == taken || !send_try_lock(&lock)) return false;
  const uint32_t at = taken;
  const bool got = raised != at;
  if (got) {
    *event = events[at % EVENTS];
    in_order();
    taken = at + 1;
  }
  send_unlock(&lock);
  return got;
}
