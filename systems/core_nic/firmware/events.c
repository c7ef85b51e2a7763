// SPDX-License-Identifier: Apache-2.0
// The queue of events that software raises: work one step found for the next.
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

// For the same reason its place is not used again before the frames it is about have gone on.
const struct Event* take_event(void) {
  const struct Event* event = 0;
  if (!send_try_lock(&lock)) return event;
  const uint32_t at = events_taken;
  if (events_raised != at) {
    event = &events[at % EVENTS];
    events_taken = at + 1;
  }
  send_unlock(&lock);
  return event;
}
