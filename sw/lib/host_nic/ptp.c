// SPDX-License-Identifier: Apache-2.0
// PTP: messages, and the servo of a slave.
#include "ptp.h"

enum {
  HEADER = 14,  // of Ethernet
  TYPE = 14,
  VERSION = 15,
  LENGTH = 16,
  DOMAIN = 18,
  FLAGS = 20,
  CORRECTION = 22,
  IDENTITY = 34,
  SEQUENCE = 44,
  CONTROL = 46,
  INTERVAL = 47,
  STAMP = 48,
  REQUESTER = 58,  // of a Delay_Resp
  WHOLE = 58,      // bytes of a message with a stamp, with the Ethernet header
  WHOLE_RESP = 68,
  SHORTEST = 60,
  TWO_STEP = 0x02,  // first byte of the flags
  SOURCE = 10,      // bytes of a port's identity
  MOST_WAITED = 8,
  AFTER_STEP = 2  // Syncs that may have been stamped before a step
};
static const int64_t LONGEST_INTERVAL = (int64_t)1 << 33, MOST = (int64_t)1 << 30;
static const uint8_t group[6] = {0x01, 0x1b, 0x19, 0, 0, 0};
static const uint64_t TIME_MASK = ((uint64_t)1 << 48) - 1;

static uint64_t get(const uint8_t* at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned b = 0; b < bytes; ++b) value = value << 8 | at[b];
  return value;
}
static void put(uint8_t* at, unsigned bytes, uint64_t value) {
  while (bytes-- != 0) {
    at[bytes] = (uint8_t)value;
    value >>= 8;
  }
}
// Times are compared modulo 2^48.
static int64_t between(uint64_t from, uint64_t to) {
  return (int64_t)((to - from) << 16) / 65536;
}
static uint64_t stamp_at(const uint8_t* at) {
  return get(at, 6) * 1000000000u + get(at + 6, 4);
}

int ptp_is(const uint8_t* frame, unsigned bytes) {
  return bytes >= HEADER && get(frame + 12, 2) == PTP_ETHERTYPE;
}

int ptp_init(struct ptp_port* p, const struct ptp_config* config, const struct ptp_ops* ops) {
  __builtin_memset(p, 0, sizeof *p);
  if (config->port == 0 || config->gain < 2 || config->gain > 6) return -1;
  if (config->master ? config->interval_ns == 0 : config->step_ns == 0 || config->step_ns > MOST)
    return -1;
  p->config = *config;
  p->ops = *ops;
  p->sending = -1;
  return 0;
}

// ---- messages

static int send(struct ptp_port* p, enum ptp_type type, uint16_t sequence, uint64_t stamp,
                const uint8_t* requester) {
  uint8_t frame[PTP_LONGEST];
  const unsigned bytes = type == PTP_DELAY_RESP ? WHOLE_RESP : WHOLE;
  const int event = type == PTP_SYNC || type == PTP_DELAY_REQ;
  static const uint8_t controls[] = {0, 1, 0, 0, 0, 0, 0, 0, 2, 3};
  __builtin_memset(frame, 0, sizeof frame);
  __builtin_memcpy(frame, group, 6);
  __builtin_memcpy(frame + 6, p->config.station, 6);
  put(frame + 12, 2, PTP_ETHERTYPE);
  frame[TYPE] = (uint8_t)type;
  frame[VERSION] = 2;
  put(frame + LENGTH, 2, bytes - HEADER);
  frame[DOMAIN] = p->config.domain;
  if (type == PTP_SYNC) frame[FLAGS] = TWO_STEP;
  __builtin_memcpy(frame + IDENTITY, p->config.identity, 8);
  put(frame + IDENTITY + 8, 2, p->config.port);
  put(frame + SEQUENCE, 2, sequence);
  frame[CONTROL] = controls[type];
  frame[INTERVAL] = 0x7f;
  put(frame + STAMP, 6, stamp / 1000000000u);
  put(frame + STAMP + 6, 4, stamp % 1000000000u);
  if (requester) __builtin_memcpy(frame + REQUESTER, requester, SOURCE);
  if (event) {
    p->sending = (int)type;
    p->sending_sequence = sequence;
  }
  const int status = p->ops.send(p->ops.context, frame, bytes < SHORTEST ? SHORTEST : bytes, event);
  if (status != 0 && event) p->sending = -1;
  return status;
}

// One event message at a time: a stamp does not say whose it is. One that never comes is given up.
static int may_send(struct ptp_port* p) {
  if (p->sending >= 0 && ++p->waited < MOST_WAITED) return 0;
  p->waited = 0;
  return 1;
}

void ptp_tick(struct ptp_port* p, uint64_t now) {
  if (!p->config.master) return;
  if (!p->due_known) p->due = now;
  p->due_known = 1;
  if ((int64_t)(now - p->due) < 0) return;
  p->due += p->config.interval_ns;
  if ((int64_t)(now - p->due) >= 0) p->due = now + p->config.interval_ns;  // somebody slept
  if (!may_send(p) || send(p, PTP_SYNC, p->sequence, 0, 0) != 0) return;
  ++p->sequence;
  ++p->syncs;
}

// ---- the servo

static void jump(struct ptp_port* p, int64_t offset) {
  if (p->ops.step(p->ops.context, -offset) != 0) return;
  p->have_sync = p->have_request = p->have_delay = 0;
  p->ignore = AFTER_STEP;
  ++p->steps;
}

// In 2^-40; |part| is below 2^30.
static int64_t ratio(int64_t part, int64_t whole) {
  return part * ((int64_t)1 << 32) / whole * 256;
}

// How far we are ahead, an interval of the master after it was found last. The frequency follows from two offsets; from then on a PI
// controller whose gains, 2^-g and 2^-(2g+2), make it settle without ringing.
static void follow(struct ptp_port* p, int64_t offset, int64_t interval) {
  const int64_t size = offset < 0 ? -offset : offset, moved = offset - p->last_offset;
  p->offset = offset;
  p->last_offset = offset;
  if (p->state == PTP_UNKNOWN) {
    p->state = PTP_MEASURED;
    return;
  }
  if (p->state == PTP_MEASURED) {
    if (moved > interval / 8 || moved < -interval / 8 || moved >= MOST || moved <= -MOST) return;  // no clock is: one of them was set
    p->rate -= ratio(moved, interval);
    p->ops.adjust(p->ops.context, p->rate);
    p->state = PTP_FOLLOWING;
    if (size >= p->config.step_ns) jump(p, offset);
    return;
  }
  if (size >= p->config.step_ns) {
    jump(p, offset);
    return;
  }
  const int64_t part = ratio(offset, interval);
  p->rate -= part / ((int64_t)1 << (2 * p->config.gain + 2));
  p->ops.adjust(p->ops.context, p->rate - part / ((int64_t)1 << p->config.gain));
}

static void ask(struct ptp_port* p) {
  if (!may_send(p)) return;
  p->have_t3 = p->have_t4 = 0;
  p->have_request = 1;
  p->request_sequence = p->sequence++;
  if (send(p, PTP_DELAY_REQ, p->request_sequence, 0, 0) != 0) p->have_request = 0;
}

// A Sync with its time of origin.
static void origin_known(struct ptp_port* p, uint64_t t1) {
  const int64_t interval = between(p->t1_followed, t1);
  const int sound = p->have_t1 && interval > 0 && interval < LONGEST_INTERVAL;
  p->have_sync = 0;
  p->have_t1 = 1;
  p->t1_followed = t1;
  p->t2_followed = p->t2;
  ++p->syncs;
  if (p->ignore != 0) {
    --p->ignore;
    return;
  }
  if (!sound) p->state = PTP_UNKNOWN;
  if (p->have_delay) follow(p, between(t1, p->t2) - (p->delay + 128) / 256, interval);
  if (p->ignore == 0) ask(p);
}

// The mean of the way there, of the newest Sync, and back, of this request; smoothed over eight. One
// that is far from the others begins anew, for either may be of a clock that was moved between.
static void answered(struct ptp_port* p) {
  if (!p->have_request || !p->have_t3 || !p->have_t4) return;
  const int64_t there = between(p->t1_followed, p->t2_followed), back = between(p->t3, p->t4);
  const int64_t delay = (there + back) * 128;  // the half, in 2^-8 ns
  const int64_t apart = delay - p->delay, far = (int64_t)p->config.step_ns * 128;
  p->have_request = 0;
  ++p->exchanges;
  if (!p->have_delay || apart > far || apart < -far)
    p->delay = delay;
  else
    p->delay += apart / 8;
  p->have_delay = delay > -far;
}

void ptp_sent(struct ptp_port* p, uint64_t stamp) {
  const int type = p->sending;
  p->sending = -1;
  if (type == PTP_SYNC) send(p, PTP_FOLLOW_UP, p->sending_sequence, stamp & TIME_MASK, 0);
  if (type != PTP_DELAY_REQ || p->request_sequence != p->sending_sequence) return;
  p->t3 = stamp;
  p->have_t3 = 1;
  answered(p);
}

void ptp_unsent(struct ptp_port* p) { p->sending = -1; }

// ---- what comes

static int from_master(struct ptp_port* p, const uint8_t* frame) {
  if (!p->master_known) {
    __builtin_memcpy(p->master_identity, frame + IDENTITY, SOURCE);
    p->master_known = 1;
  }
  return __builtin_memcmp(p->master_identity, frame + IDENTITY, SOURCE) == 0;
}

static int take(struct ptp_port* p, const uint8_t* frame, unsigned type, uint64_t stamp) {
  const uint16_t sequence = (uint16_t)get(frame + SEQUENCE, 2);
  const int64_t correction = (int64_t)get(frame + CORRECTION, 8);
  if (p->config.master)
    return type == PTP_DELAY_REQ &&
           send(p, PTP_DELAY_RESP, sequence, stamp & TIME_MASK, frame + IDENTITY) == 0;
  if (type == PTP_DELAY_REQ || !from_master(p, frame)) return 0;
  if (get(frame + STAMP + 6, 4) >= 1000000000u) {
    ++p->bad;
    return 0;
  }
  const uint64_t origin = stamp_at(frame + STAMP);
  switch (type) {
    case PTP_SYNC:
      p->t2 = stamp;
      p->sync_sequence = sequence;
      p->sync_correction = correction;
      p->have_sync = 1;
      if (!(frame[FLAGS] & TWO_STEP)) origin_known(p, origin + (uint64_t)(correction / 65536));
      return 1;
    case PTP_FOLLOW_UP:
      if (!p->have_sync || sequence != p->sync_sequence) return 0;
      origin_known(p, origin + (uint64_t)((p->sync_correction + correction) / 65536));
      return 1;
    default:
      if (__builtin_memcmp(frame + REQUESTER, p->config.identity, 8) != 0 ||
          get(frame + REQUESTER + 8, 2) != p->config.port)
        return 0;
      if (!p->have_request || p->have_t4 || sequence != p->request_sequence) return 0;
      p->t4 = origin - (uint64_t)(correction / 65536);
      p->have_t4 = 1;
      answered(p);
      return 1;
  }
}

int ptp_received(struct ptp_port* p, const uint8_t* frame, unsigned bytes, uint64_t stamp) {
  if (!ptp_is(frame, bytes)) return 0;
  if (bytes < WHOLE || (frame[VERSION] & 0xf) != 2) {
    ++p->bad;
    return 0;
  }
  const unsigned type = frame[TYPE] & 0xf;
  const unsigned length = (unsigned)get(frame + LENGTH, 2) + HEADER;
  if (frame[DOMAIN] != p->config.domain || frame[TYPE] >> 4 != 0) return 0;
  if (type != PTP_SYNC && type != PTP_DELAY_REQ && type != PTP_FOLLOW_UP && type != PTP_DELAY_RESP)
    return 0;
  if (length > bytes || length < (type == PTP_DELAY_RESP ? (unsigned)WHOLE_RESP : (unsigned)WHOLE)) {
    ++p->bad;
    return 0;
  }
  return take(p, frame, type, stamp);
}
