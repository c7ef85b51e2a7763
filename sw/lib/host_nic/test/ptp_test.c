// SPDX-License-Identifier: Apache-2.0
// The PTP port (ptp.c): two of them over a wire with a delay, clocks of different frequency and
// stamps of whole ns; then frames that are not what they should be.
#include <string.h>

#include "../ptp.h"
#include "fake_nic.h"
#include "ptp_test.h"

enum { WIRE = 64, INTERVAL = 20000, TICK = 100, DELAY = 137 };

// A clock in 2^-28 ns.
struct clock {
  int64_t fine;
  int64_t crystal, rate;  // 2^-40
};
struct end {
  struct ptp_port port;
  struct clock clock;
  // Frames on their way from here, and the stamps that are due.
  struct {
    uint8_t frame[PTP_LONGEST];
    unsigned bytes;
    uint64_t at;
  } wire[WIRE];
  unsigned put, got;
  uint64_t stamp, stamp_at;
  int stamp_due, refuse, lose_stamps;
  unsigned lose;  // one frame in so many
  unsigned events;
};
static struct end end_of[2];
static uint64_t now;
static uint32_t state = 7;
static uint32_t any(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)state * below >> 32);
}

static uint64_t time_of(const struct clock* c) {
  return (uint64_t)(c->fine >> 28) & 0xffffffffffffull;
}
static void advance(struct clock* c, unsigned ns) {
  c->fine += ((((int64_t)1 << 40) + c->crystal + c->rate) * (int64_t)ns) >> 12;
}
static int send(void* context, const uint8_t* frame, unsigned bytes, int event) {
  struct end* e = context;
  if (e->refuse) return -1;
  CHECK(bytes >= 60 && bytes <= PTP_LONGEST && ptp_is(frame, bytes));
  const unsigned at = e->put++ % WIRE;
  memcpy(e->wire[at].frame, frame, bytes);
  e->wire[at].bytes = bytes;
  e->wire[at].at = now + DELAY;
  if (event) {
    CHECK(!e->stamp_due);
    e->stamp = time_of(&e->clock);
    e->stamp_at = now + 50 + any(600);
    e->stamp_due = !e->lose_stamps;
    ++e->events;
  }
  return 0;
}
static int step(void* context, int64_t ns) {
  ((struct end*)context)->clock.fine += (int64_t)ns * (1 << 28);
  return 0;
}
static void adjust(void* context, int64_t rate) { ((struct end*)context)->clock.rate = rate; }

static struct ptp_config config_of(int master) {
  struct ptp_config c;
  memset(&c, 0, sizeof c);
  c.master = master;
  c.station[5] = (uint8_t)(1 + master);
  c.identity[7] = (uint8_t)(1 + master);
  c.port = 1;
  c.interval_ns = INTERVAL;
  c.gain = 3;
  c.step_ns = 1000;
  return c;
}
static void begin(int64_t crystal_ppb, int64_t ahead) {
  memset(end_of, 0, sizeof end_of);
  now = 0;
  for (int n = 0; n < 2; ++n) {
    const struct ptp_config c = config_of(n == 0);
    const struct ptp_ops ops = {&end_of[n], send, step, adjust};
    CHECK(ptp_init(&end_of[n].port, &c, &ops) == 0);
    end_of[n].clock.fine = (int64_t)2000000000ll * (1 << 28);
  }
  end_of[1].clock.crystal = crystal_ppb * 1100;
  end_of[1].clock.fine += (int64_t)ahead * (1 << 28);
}
static void run(uint64_t ns) {
  for (const uint64_t until = now + ns; now < until; now += TICK) {
    for (int n = 0; n < 2; ++n) {
      struct end *e = &end_of[n], *other = &end_of[1 - n];
      while (e->got != e->put && e->wire[e->got % WIRE].at <= now) {
        const unsigned at = e->got++ % WIRE;
        if (e->lose && any(e->lose) == 0) continue;
        // The stamp is of the moment at which it came, within this tick.
        struct clock back = other->clock;
        back.fine -= ((((int64_t)1 << 40) + back.crystal + back.rate) *
                      (int64_t)(now - e->wire[at].at)) >> 12;
        ptp_received(&other->port, e->wire[at].frame, e->wire[at].bytes, time_of(&back));
      }
      if (e->stamp_due && e->stamp_at <= now) {
        e->stamp_due = 0;
        ptp_sent(&e->port, e->stamp);
      }
      ptp_tick(&e->port, now);
    }
    for (int n = 0; n < 2; ++n) advance(&end_of[n].clock, TICK);
  }
}
static int64_t apart(void) {
  return (int64_t)((end_of[1].clock.fine - end_of[0].clock.fine) / (1 << 22));  // ns / 64
}
static void follows(uint64_t ns, int64_t most) {
  for (uint64_t n = 0; n < ns; n += INTERVAL) {
    run(INTERVAL);
    CHECK(apart() <= 64 * most && apart() >= -64 * most);
  }
}

static void test_it_follows(void) {
  static const int64_t crystal[] = {0, 50000, -50000, 100000, -3};
  static const int64_t ahead[] = {0, 400, -123456789, 1000000000, -999};
  for (unsigned n = 0; n < 5; ++n) {
    begin(crystal[n], ahead[n]);
    run(3000000);
    const struct ptp_port* slave = &end_of[1].port;
    CHECK(slave->state == PTP_FOLLOWING && slave->exchanges > 50 && slave->bad == 0);
    CHECK(slave->steps <= 2);
    follows(3000000, 2);
    // The crystal gets warm; the master is set.
    end_of[1].clock.crystal += 200 * 1100;
    run(1500000);
    follows(1000000, 2);
    end_of[0].clock.fine += (int64_t)70000 * (1 << 28);
    run(1500000);
    follows(1000000, 2);
    CHECK(slave->steps >= 1);
  }
}

static void test_losses(void) {
  begin(20000, 5000);
  end_of[0].lose = end_of[1].lose = 5;
  run(6000000);
  follows(3000000, 6);
  end_of[0].lose = end_of[1].lose = 0;
  // Stamps that never come are given up, and it goes on.
  end_of[0].lose_stamps = end_of[1].lose_stamps = 1;
  run(300000);
  end_of[0].lose_stamps = end_of[1].lose_stamps = 0;
  end_of[0].refuse = 1;
  run(300000);
  end_of[0].refuse = 0;
  run(1500000);
  follows(1000000, 2);
  // A delay that was measured while the clock was moved.
  end_of[1].port.delay = -616701 * 256;
  run(1500000);
  follows(1000000, 2);
  // A message that was not sent.
  begin(0, 0);
  ptp_tick(&end_of[0].port, 0);
  CHECK(end_of[0].port.sending == PTP_SYNC);
  ptp_unsent(&end_of[0].port);
  CHECK(end_of[0].port.sending == -1 && end_of[0].put == 1);
}

// Anything at all does not disturb a slave; what is nearly right is counted.
static void test_hostile_frames(void) {
  begin(10000, 0);
  run(3000000);
  struct ptp_port* slave = &end_of[1].port;
  uint8_t good[PTP_LONGEST], frame[PTP_LONGEST];
  const unsigned newest = (end_of[0].put - 1) % WIRE;
  const unsigned bytes = end_of[0].wire[newest].bytes;
  memcpy(good, end_of[0].wire[newest].frame, sizeof good);
  memcpy(frame, good, sizeof frame);
  for (unsigned n = 0; n < bytes; ++n) CHECK(ptp_received(slave, good, n, 0) == 0);
  CHECK(slave->bad > 0);
  frame[12] = 8;
  CHECK(!ptp_is(frame, bytes) && ptp_received(slave, frame, bytes, 0) == 0);
  for (unsigned n = 0; n < 20000; ++n) {
    memcpy(frame, good, sizeof frame);
    for (unsigned b = 14; b < 48; ++b)
      if (any(4) == 0) frame[b] = (uint8_t)any(256);
    frame[34] = 0xee;  // another clock
    ptp_received(slave, frame, 60 + any(9), any(1u << 30));
    if (n % 100 == 0) run(TICK);
  }
  follows(1000000, 3);
  struct ptp_config c = config_of(0);
  const struct ptp_ops ops = {&end_of[1], send, step, adjust};
  struct ptp_port other;
  c.gain = 7;
  CHECK(ptp_init(&other, &c, &ops) < 0);
  c = config_of(0);
  c.port = 0;
  CHECK(ptp_init(&other, &c, &ops) < 0);
  c = config_of(1);
  c.interval_ns = 0;
  CHECK(ptp_init(&other, &c, &ops) < 0);
}

void test_ptp(void) {
  test_it_follows();
  test_losses();
  test_hostile_frames();
}
