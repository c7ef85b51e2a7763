/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the protocols that the control tile speaks (RFC 791, 792, 826, 950, 1256, 1812). */
#pragma once
#include "lookup.h"

enum {
  EthernetIp4 = 0x0800,
  EthernetArp = 0x0806,
  LeastFrame = 60,
  IpWord = 4, /* of a frame */
  Ip4Bytes = 20,
  IcmpHeader = 8,
  MostQuoted = 576 - Ip4Bytes - IcmpHeader,
  ProtocolIcmp = 1,
  ProtocolUdp = 17,
  OwnTimeToLive = 64,
  NetworkControl = 0xc0, /* type of service: precedence 6 */
  LooseRoute = 131,
  StrictRoute = 137,
  IcmpEcho = 8,
  IcmpNetwork = 3 << 8, /* type and code */
  IcmpProtocol = 3 << 8 | 2,
  IcmpPort = 3 << 8 | 3,
  IcmpSourceRoute = 3 << 8 | 5,
  IcmpExpired = 11 << 8,
  IcmpProblem = 12 << 8,
  /* Messages that ask; an error may be about them. */
  QueryTypes = 1 << 0 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 16 |
      1 << 17 | 1 << 18,
};

/* They lie where other tiles have theirs (link.ld). */
#define settings (*(const struct control_config*)&config)
#define control_counters (*(volatile struct control_counters*)&counters)

/* Clocks since reset. */
static inline word clock(void) {
  word now;
  __asm__ volatile("csrr %0, 0xb00" : "=r"(now));
  return now;
}
