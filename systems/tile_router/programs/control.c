/* SPDX-License-Identifier: Apache-2.0 */
/* The control tile: the router as a host (RFC 826, 792, 1812).

   Third stages send it what they drop and what may be answered (Exception): ARP requests, packets to
   an address of the router, those without a route, those whose time to live is over. A third stage
   has leave for one packet at a time, given back (an interrupt to its core) while the queue has room
   for one of each pipeline that has leave: so whatever comes has a place here, and a third stage
   that has no leave counts the packet and goes on. Over time there is leave once in `leave_clocks`:
   a packet costs a third stage as much as two or three that it forwards. The network is looked at between any
   two words of an answer, so that nothing stands in it for long.

   Answers leave as heads like those of third stages, to the output queue or (version V) to the
   linecard. What of an answer does not fit a head is put into a memory of this tile's own, by the
   data cache, and is there when the head leaves: a load from that memory comes back behind it. The
   payload of a packet is read from its packet buffer, into which others write: each line leaves the
   cache before it is read. No answer goes to an output that has said Stop.

   Words are as the network has them: byte 0 of a frame's word is in bits 31:24. */
#include "control.h"

enum { Slots = 8, MostBytes = 1518, MostWords = (MostBytes + 5) / 4 };
struct exception {
  word pipeline, bytes, why, payload, head[HeadWords];
};
static struct exception queue[Slots] __attribute__((section(".noinit")));
static struct {
  word first, count;
  word wants_leave;            /* pipelines */
  word leaves;                 /* how many have it */
  word earned, earning;        /* leaves to give; when the last one was earned */
  word stopped;                /* outputs */
  word identification, reply;
  word tokens, clocks, counted; /* errors that may be sent; clocks since the last one was earned */
} state __attribute__((section(".noinit")));

/* The packet at hand and its answer, by words of their frames (two bytes in front). */
static word in[MostWords + 1] __attribute__((section(".noinit")));
static word out[MostWords + 1] __attribute__((section(".noinit")));

/* ---- what comes */

/* Gives leave to pipelines that wait for it, while there is room and time for what comes of it. */
static void give_leave(void) {
  word now = clock(), every = settings.leave_clocks;
  while (state.earned < Slots && now - state.earning >= every) {
    state.earned++;
    state.earning += every;
  }
  if (state.earned == Slots) state.earning = now;
  for (word p = 0; p < ControlPorts && state.earned; p++) {
    if (!(state.wants_leave >> p & 1) || state.count + state.leaves >= Slots) continue;
    state.wants_leave &= ~(1u << p);
    state.leaves++;
    state.earned--;
    gdn_put(settings.stage3[p]);
  }
}

__attribute__((noinline)) static void receive(void) {
  word header = gdn_take();
  word kind = header_user(header);
  word x = header >> 16 & 15; /* of a pipeline or output */
  if (kind == Stop) {
    state.stopped |= 1u << x;
  } else if (kind == Go) {
    state.stopped &= ~(1u << x);
  } else {
    struct exception* e = &queue[(state.first + state.count) % Slots];
    word what = gdn_take();
    e->pipeline = x;
    e->bytes = what >> 16;
    e->why = what & 0xffff;
    gdn_to(&e->payload);
    for (word i = 0; i < HeadWords; i++) gdn_to(&e->head[i]);
    state.count++;
    state.leaves--;
    state.wants_leave |= 1u << x;
  }
}

static inline void poll(void) {
  if (RARE(gdn_some())) receive();
}

/* ---- memory */

/* The words of the packet behind its head. */
static void fetch(const struct exception* e, word words) {
  word from = (PayloadRegion + e->pipeline) << 28 | e->payload;
  for (word i = HeadWords; i < words; i++, from += 4) {
    if (from % LineBytes == 0) leave_cache(from);
    in[i] = *(const volatile word*)from;
    poll();
  }
}

/* Puts those of the answer into this tile's memory. Gives the address there. */
static word store(word words) {
  word address = state.reply * ReplyBytes;
  word at = (word)ReplyRegion << 28 | address;
  for (word i = HeadWords; i < words; i++, at += 4) {
    *(volatile word*)at = out[i];
    if (at % LineBytes == LineBytes - 4 || i + 1 == words) leave_cache(at);
    poll();
  }
  (void)*(const volatile word*)(at - 4); /* behind what was written */
  leave_cache(at - 4);
  state.reply = (state.reply + 1) % Replies;
  return address;
}

/* ---- answers */

static void unsaid(word why) { control_counters.unanswered[why]++; }

/* Sends what is in `out`, of so many bytes. */
static void send(word port, word bytes, word kind) {
  word words = (bytes + 5) / 4;
  word address = words > HeadWords ? store(words) : 0;
  poll();
  word header = settings.to_output[port];
  if (state.stopped >> header_dest(header) % 16 & 1) {
    unsaid(NotQueue);
    return;
  }
  gdn_put(header);
  gdn_put(settings.from | bytes);
  gdn_put(address);
  for (word i = 0; i < HeadWords; i++) gdn_from(&out[i]);
  control_counters.answered[kind]++;
}

/* The ones' complement sum of bytes from a word on, as 16 bits. */
static word sum_of(const word* from, word bytes) {
  word sum = 0;
  for (; bytes >= 4; bytes -= 4) {
    sum = add(sum, *from++);
    poll();
  }
  if (bytes) sum = add(sum, *from & ~(0xffffffffu >> 8 * bytes));
  sum = (sum >> 16) + (sum & 0xffff);
  return (sum >> 16) + (sum & 0xffff);
}

static word owns(word address) {
  word found = 0;
  for (word p = 0; p < ControlPorts; p++)
    if (address && address == settings.address[p]) found = 1;
  return found;
}

/* Ethernet header of an answer at a port. */
static void link_header(word port, word to0, word to1, word type) {
  out[0] = to0 & 0xffff;
  out[1] = to1;
  out[2] = settings.mac[2 * port] << 16 | settings.mac[2 * port + 1] >> 16;
  out[3] = settings.mac[2 * port + 1] << 16 | type;
}

static void arp(const struct exception* e) {
  /* Behind the Ethernet header: type of hardware, of protocol; lengths, operation; its Ethernet
   * and IP address; Ethernet and IP address that is asked for, from the middle of a word on. */
  word port = settings.port_of[e->pipeline];
  word own = settings.address[port];
  word mac0 = in[6] >> 16, mac1 = in[6] << 16 | in[7] >> 16;
  word address = in[7] << 16 | in[8] >> 16, wanted = in[10];
  if (in[4] != 0x00010800 || in[5] >> 16 != 0x0604) return unsaid(NotArpMalformed);
  if ((in[5] & 0xffff) != 1) return unsaid(NotArpNoRequest);
  if (mac0 >> 8 & 1 || !(mac0 | mac1)) return unsaid(NotArpMalformed);
  if (owns(address)) return unsaid(NotArpConflict);
  if (!wanted || wanted != own) return unsaid(NotArpForOthers);
  poll();
  link_header(port, mac0, mac1, EthernetArp);
  word own0 = settings.mac[2 * port], own1 = settings.mac[2 * port + 1];
  out[4] = in[4];
  out[5] = 0x06040002;
  out[6] = own0 << 16 | own1 >> 16;
  out[7] = own1 << 16 | wanted >> 16;
  out[8] = wanted << 16 | mac0;
  out[9] = mac1;
  out[10] = address;
  for (word i = 11; i < HeadWords; i++) out[i] = 0;
  send(port, LeastFrame, SaidArp);
}

/* Finishes and sends a packet of the router to an address, its ICMP message of so many bytes
   already in `out`, but for the checksum. */
static void packet(word port, word to, word source, word tos, word icmp_bytes, word kind) {
  word total = Ip4Bytes + icmp_bytes;
  word words = (EthernetBytes + total + 5) / 4;
  const word* hop = &settings.next_hop[2 * port];
  link_header(port, hop[0], hop[1], EthernetIp4);
  out[IpWord] = 0x45u << 24 | tos << 16 | total;
  out[IpWord + 1] = state.identification++ << 16;
  out[IpWord + 2] = OwnTimeToLive << 24 | ProtocolIcmp << 16;
  out[IpWord + 3] = source ? source : settings.address[port];
  out[IpWord + 4] = to;
  out[IpWord + 2] |= 0xffff ^ sum_of(&out[IpWord], Ip4Bytes);
  word* icmp = &out[IpWord + Ip4Bytes / 4];
  if (icmp_bytes % 4) icmp[icmp_bytes / 4] &= ~(0xffffffffu >> 8 * (icmp_bytes % 4));
  icmp[0] &= 0xffff0000;
  icmp[0] |= 0xffff ^ sum_of(icmp, icmp_bytes);
  for (; words < HeadWords; words++) out[words] = 0;
  word bytes = EthernetBytes + total;
  send(port, bytes < LeastFrame ? LeastFrame : bytes, kind);
}

/* Earns a token each `error_clocks`, `error_burst` of them at most. */
static word within_rate(void) {
  word now = clock(), every = settings.error_clocks, most = settings.error_burst;
  if (every) {
    word passed = now - state.counted;
    word earned = passed / every, clocks = state.clocks + passed % every;
    if (clocks >= every) clocks -= every, earned++;
    word room = most - state.tokens;
    state.clocks = earned < room ? clocks : 0;
    state.tokens = earned < room ? state.tokens + earned : most;
  }
  state.counted = now;
  if (!state.tokens) return 0;
  state.tokens--;
  return 1;
}

/* About the packet in `in`, its length as the header has it. What is quoted of it is a whole number
 * of words further on in the answer. */
static void error(const struct exception* e, word type_code, word pointer, word kind) {
  word header = in[IpWord] >> 24 & 15, total = in[IpWord] & 0xffff;
  word source = in[IpWord + 3];
  if (in[0] & GroupBit) return unsaid(NotGroup);
  if (in[IpWord + 1] & 0x1fff) return unsaid(NotLaterFragment);
  if (owns(source)) return unsaid(NotOwnSource);
  if ((in[IpWord + 2] >> 16 & 0xff) == ProtocolIcmp) {
    if (total <= 4 * header) return unsaid(NotAboutError);
    fetch(e, IpWord + header + 1); /* it may be behind the head */
    word type = in[IpWord + header] >> 24;
    if (type >= 32 || !(1u << type & QueryTypes)) return unsaid(NotAboutError);
  }
  poll();
  word port = lookup(source);
  poll();
  if (port >= ControlPorts) return unsaid(NotNoWayBack);
  if (!within_rate()) return unsaid(NotRate);
  word quote = total < MostQuoted ? total : MostQuoted;
  word words = (quote + 3) / 4;
  fetch(e, IpWord + words);
  word* icmp = &out[IpWord + Ip4Bytes / 4];
  icmp[0] = type_code << 16;
  icmp[1] = pointer << 24;
  for (word i = 0; i < words; i++) {
    icmp[2 + i] = in[IpWord + i];
    poll();
  }
  packet(port, source, 0, NetworkControl, IcmpHeader + quote, kind);
}

static word byte_of_ip(word at) { return in[IpWord + at / 4] >> (24 - 8 * (at % 4)) & 0xff; }

/* Where options make no sense, or lead on from here (RFC 791): where, and LeadsOn; 0 when neither. */
enum { LeadsOn = 0x100 };
static word option_trouble(word header) {
  for (word at = Ip4Bytes; at < header;) {
    word kind = byte_of_ip(at);
    if (kind == 0) return 0;
    if (kind == 1) {
      at++;
      continue;
    }
    if (at + 1 >= header) return at;
    word length = byte_of_ip(at + 1);
    if (length < 2 || at + length > header) return at + 1;
    if (kind == LooseRoute || kind == StrictRoute) {
      if (length < 3 || byte_of_ip(at + 2) < 4) return at + 2;
      if (byte_of_ip(at + 2) <= length) return LeadsOn | at;
    }
    at += length;
  }
  return 0;
}

/* To an address of the router. */
static void local(const struct exception* e) {
  word header = (in[IpWord] >> 24 & 15) * 4, total = in[IpWord] & 0xffff;
  word protocol = in[IpWord + 2] >> 16 & 0xff;
  if (in[IpWord + 1] & 0x3fff) return unsaid(NotFragment);
  word trouble = option_trouble(header);
  if (trouble & LeadsOn) return error(e, IcmpSourceRoute, 0, SaidSourceRouteFailed);
  if (trouble) return error(e, IcmpProblem, trouble, SaidParameterProblem);
  if (protocol == ProtocolUdp) return error(e, IcmpPort, 0, SaidPortUnreachable);
  if (protocol != ProtocolIcmp) return error(e, IcmpProtocol, 0, SaidProtocolUnreachable);
  word bytes = total - header;
  if (bytes < IcmpHeader) return unsaid(NotIcmpShort);
  fetch(e, (EthernetBytes + total + 5) / 4);
  const word* icmp = &in[IpWord + header / 4];
  if (sum_of(icmp, bytes) != 0xffff) return unsaid(NotIcmpChecksum);
  if (icmp[0] >> 24 != IcmpEcho) return unsaid(NotIcmpNoEcho);
  word asker = in[IpWord + 3];
  if (owns(asker)) return unsaid(NotOwnSource);
  word port = lookup(asker);
  poll();
  if (port >= ControlPorts) return unsaid(NotNoWayBack);
  word* reply = &out[IpWord + Ip4Bytes / 4];
  reply[0] = icmp[0] & 0x00ffffff; /* type 0 */
  for (word i = 1; i < (bytes + 3) / 4; i++) {
    reply[i] = icmp[i];
    poll();
  }
  packet(port, asker, in[IpWord + 4], in[IpWord] >> 16 & 0xff, bytes, SaidEcho);
}

__attribute__((noreturn)) void main(void) {
  state.first = state.count = state.stopped = state.leaves = 0;
  state.identification = state.reply = state.clocks = 0;
  state.wants_leave = 0;
  state.tokens = settings.error_burst;
  state.earned = Slots;
  state.counted = state.earning = clock();
  for (word p = 0; p < ControlPorts; p++)
    if (settings.stage3[p]) state.wants_leave |= 1u << p;
  for (;;) {
    give_leave();
    poll();
    if (state.count == 0) continue;
    struct exception* e = &queue[state.first];
    for (word i = 0; i < HeadWords; i++) in[i] = e->head[i];
    if (e->why == DropNotIp)
      arp(e);
    else if (e->why == DropTtl)
      error(e, IcmpExpired, 0, SaidTimeExceeded);
    else if (e->why == DropNoRoute)
      error(e, IcmpNetwork, 0, SaidNoRoute);
    else
      local(e);
    state.first = (state.first + 1) % Slots;
    state.count--;
  }
}
