// SPDX-License-Identifier: Apache-2.0
// The queue of events that software raises: work one step found for the next, and what is to be
// tried again.
#include "nic.h"

static struct Event events[EVENTS] __attribute__((section(".noinit")));
shared_t events_raised, events_taken;  // counted
static lock_t lock;

// There is always room: each event is about another frame that is under way.
void raise_event(const struct Event* event) {
  send_lock(&lock);
  const uint32_t at = events_raised;
  events[at % EVENTS] = *event;
  in_order();
  events_raised = at + 1;
  send_unlock(&lock);
}

bool take_event(struct Event* event) {
  if (!send_try_lock(&lock)) return false;
  const uint32_t at = events_taken;
  const bool got = events_raised != at;
  if (got) {
    *event = events[at % EVENTS];
    in_order();
    events_taken = at + 1;
  }
  send_unlock(&lock);
  return got;
}
