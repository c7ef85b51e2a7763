// SPDX-License-Identifier: Apache-2.0
// A host of its own: answers ARP requests for its address and ICMP echo requests (ping), and in
// variant `store` (store.c) requests to a key-value store. Variant `echo`, without a driver and without DMA: for core-nic on a board of its own (boards/).
//
// A frame is answered in the slot that it came into, so a payload is never moved, and sent from
// there. Any core takes the next frame; slots go back to the MAC in order, when what was in them is
// dropped (and counted) or sent. What is never checked is the ICMP checksum: it is changed by what
// the type changes, so an echo of a damaged message is as damaged.
#include "station.h"
#include "store.h"

enum { SLOTS = 32, DROPPED = 1, SENDING = 2 };
enum { ARP_ETHERNET = 0x01000608, ARP_IPV4 = 0x04060008, ARP_REQUEST = 0x0100, ARP_REPLY = 0x0200 };
enum { IPV4_PLAIN = 0x00450008, FRAGMENT = 0xff3f, TTL = 64, ECHO_REQUEST = 0x0008 };
enum { ARP_BYTES = 42, IP_BYTES = 20, ECHO_LEAST = 8, BROADCAST = 0xffff };

static struct mac_ring_command rx_ring[SLOTS] __attribute__((section(".noinit")));
static struct mac_ring_command tx_ring[SLOTS] __attribute__((section(".noinit")));
static shared_t fate[SLOTS];     // of the frame in each slot; 0: somebody has it
static shared_t turn[SLOTS];     // frames to be sent before it is gone, its own counted
static shared_t lock;            // of all that follows
static shared_t taken, freed, sent;
static shared_t ready __attribute__((section(".data"))) = 0;

extern uint32_t bss_begin[], bss_end[];

// The frame goes back to whom it came from.
static void turn_around(shared_t* frame) {
  const uint32_t middle = frame[1], last = frame[2];
  const uint32_t mac_low = config(ConfigMacLow), mac_high = config(ConfigMacHigh);
  frame[0] = join(high(middle), last);
  frame[1] = join(high(last), mac_low);
  frame[2] = join(high(mac_low), mac_high);
}

// What is asked for is the address of this machine. Gives the length of the answer, 0: there is none.
static uint32_t answer_arp(shared_t* frame, uint32_t length) {
  const uint32_t ip = config(ConfigIp);
  const uint32_t oper = frame[5], sender = frame[6], sender_ip = frame[7], last = frame[10];
  if (length < ARP_BYTES || frame[4] != ARP_IPV4 || low(oper) != ARP_REQUEST) return 0;
  if (join(high(frame[9]), last) != ip) return 0;
  const uint32_t mac_low = config(ConfigMacLow), mac_high = config(ConfigMacHigh);
  turn_around(frame);
  frame[5] = join(ARP_REPLY, mac_low);
  frame[6] = join(high(mac_low), mac_high);
  frame[7] = ip;
  frame[8] = join(high(oper), sender);
  frame[9] = join(high(sender), sender_ip);
  frame[10] = join(high(sender_ip), high(last));
  return ARP_BYTES;
}

// The bytes that a whole packet to our address carries, if its header is right; else 0.
static uint32_t ip_payload(shared_t* frame, uint32_t length) {
  const uint32_t service = frame[3], name = frame[4], life = frame[5], from = frame[6];
  const uint32_t middle = frame[7], last = frame[8];
  const uint32_t bytes = swapped(low(name));
  if (bytes < IP_BYTES || IP_AT + bytes > length || (life & FRAGMENT) != 0) return 0;
  if (join(high(middle), last) != config(ConfigIp)) return 0;
  const uint32_t sum = high(service) + halves(name) + halves(life) + halves(from);
  return folded(sum + halves(middle) + low(last)) == 0xffff ? bytes - IP_BYTES : 0;
}

uint32_t answer_ip(shared_t* frame, uint32_t payload, uint32_t first) {
  const uint32_t ip = config(ConfigIp), from = frame[6], middle = frame[7];
  const uint32_t name = join(swapped(IP_BYTES + payload), high(frame[4]));
  const uint32_t life = (frame[5] & 0xff00ffff) | TTL << 16;
  const uint32_t sum = high(frame[3]) + halves(name) + halves(life) + halves(ip);
  turn_around(frame);
  frame[4] = name;
  frame[5] = life;
  frame[6] = join(~folded(sum + high(from) + low(middle)), ip);
  frame[7] = join(high(ip), high(from));
  frame[8] = join(middle, first);
  return IP_AT + IP_BYTES + payload;
}

static uint32_t answer_echo(shared_t* frame, uint32_t payload) {
  const uint32_t check = frame[9];
  if (payload < ECHO_LEAST || high(frame[8]) != ECHO_REQUEST) return 0;
  // Type and code of the answer are 0.
  frame[9] = join(~folded(low(~check) + low(~ECHO_REQUEST)), high(check));
  return answer_ip(frame, payload, 0);
}

static uint32_t answer(shared_t* frame, uint32_t length) {
  const uint32_t to = frame[0], to_last = low(frame[1]), type = frame[3];
  const bool ours = to == config(ConfigMacLow) && to_last == config(ConfigMacHigh);
  const bool everyone = to == 0xffffffff && to_last == BROADCAST;
  if (type == ARP_ETHERNET && (ours || everyone)) return answer_arp(frame, length);
  if ((type & 0x00ffffff) != IPV4_PLAIN || !ours) return 0;
  const uint32_t payload = ip_payload(frame, length), protocol = frame[5] >> 24;
  if (payload == 0) return 0;
  return protocol == ICMP ? answer_echo(frame, payload)
         : protocol == UDP ? answer_udp(frame, payload)
                           : 0;
}

// The oldest slots, as far as they are done with. With the lock.
static void give_back(void) {
  const uint32_t gone = DEVICE(MacTx + Progress);
  uint32_t at = freed;
  while (at != taken) {
    const uint32_t slot = at % SLOTS;
    if (fate[slot] == 0 || (fate[slot] == SENDING && (int32_t)(gone - turn[slot]) < 0)) break;
    at++;
  }
  if (at == freed) return;
  freed = at;
  DEVICE(MacRx + Freed) = at;
}

// Sends the answer out of the slot; without one the frame is dropped.
static void finish(uint32_t slot, uint32_t address, uint32_t length) {
  take_lock(&lock);
  if (length != 0) {
    tx_ring[sent % SLOTS].address = address;
    tx_ring[sent % SLOTS].info = length;
    turn[slot] = ++sent;
    fate[slot] = SENDING;
    in_order();
    DEVICE(MacTx + Producer) = sent;
  } else {
    fate[slot] = DROPPED;
    DEVICE(RxDropped) = 1;
  }
  give_back();
  leave_lock(&lock);
}

static void set_up(void) {
  for (uint32_t* word = bss_begin; word != bss_end; word++) *word = 0;
  DEVICE(MacTx + RingBase) = (uint32_t)tx_ring;
  DEVICE(MacTx + RingLog) = (uint32_t)__builtin_ctz(SLOTS);
  DEVICE(MacRx + RingBase) = (uint32_t)rx_ring;
  DEVICE(MacRx + RingLog) = (uint32_t)__builtin_ctz(SLOTS);
  DEVICE(MacRx + SlotBase) = FrameBase;
  DEVICE(MacRx + Enable) = 1;
}

// Every core comes here from start.S.
void core_main(void) {
  uint32_t hart;
  __asm__("csrr %0, mhartid" : "=r"(hart));
  if (hart == 0) {
    set_up();
    in_order();
    ready = 1;
  }
  while (!ready) pause_core();
  for (;;) {
    take_lock(&lock);
    give_back();
    const uint32_t frame = taken;
    const bool there = DEVICE(MacRx + Produced) != frame;
    if (there) {
      fate[frame % SLOTS] = 0;
      taken = frame + 1;
    }
    leave_lock(&lock);
    if (!there) {
      wait_for_work();
      continue;
    }
    const uint32_t slot = frame % SLOTS;
    shared_t* words = (shared_t*)rx_ring[slot].address;
    const uint32_t length = answer(words, mac_info_len(rx_ring[slot].info));
    (void)words[0];  // what was stored is in the frame memory when a load is answered
    finish(slot, (uint32_t)words, length);
  }
}
