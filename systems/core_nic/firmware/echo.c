// SPDX-License-Identifier: Apache-2.0
// A host of its own: answers ARP requests for its address and ICMP echo requests (ping). Variant
// `echo`, without a driver and without DMA: for core-nic on a board of its own (boards/).
//
// A frame is answered in the slot that it came into, so a payload is never moved, and sent from
// there. Any core takes the next frame; slots go back to the MAC in order, when what was in them is
// dropped (and counted) or sent. What is never checked is the ICMP checksum: it is changed by what
// the type changes, so an echo of a damaged message is as damaged.
#include "echo_formats.h"
#include "hw.h"

enum { SLOTS = 32, SLOT = 2048, DROPPED = 1, SENDING = 2 };
// Words of the header as a core loads them: two bytes of the wire are a half, the first one low.
enum { ARP_ETHERNET = 0x01000608, ARP_IPV4 = 0x04060008, ARP_REQUEST = 0x0100, ARP_REPLY = 0x0200 };
enum { IPV4_PLAIN = 0x00450008, FRAGMENT = 0xff3f, TTL = 64, ICMP = 1, ECHO_REQUEST = 0x0008 };
enum { ARP_BYTES = 42, IP_AT = 14, ECHO_LEAST = 28, BROADCAST = 0xffff };

static struct mac_ring_command rx_ring[SLOTS] __attribute__((section(".noinit")));
static struct mac_ring_command tx_ring[SLOTS] __attribute__((section(".noinit")));
static shared_t fate[SLOTS];     // of the frame in each slot; 0: somebody has it
static shared_t turn[SLOTS];     // frames to be sent before it is gone, its own counted
static shared_t lock;            // of all that follows
static shared_t taken, freed, sent;
static shared_t ready __attribute__((section(".data"))) = 0;

extern uint32_t bss_begin[], bss_end[];

static void lock_take(void) {
  while (atomic_swap(&lock, 1) != 0) pause_core();
}
static void lock_leave(void) {
  in_order();
  lock = 0;
}

static uint32_t config(uint32_t word) { return DEVICE(Config + 4 * word); }
static uint32_t low(uint32_t word) { return word & 0xffff; }
static uint32_t high(uint32_t word) { return word >> 16; }
static uint32_t join(uint32_t first, uint32_t second) { return low(first) | second << 16; }
static uint32_t halves(uint32_t word) { return low(word) + high(word); }
static uint32_t folded(uint32_t sum) {
  sum = halves(sum);
  return low(halves(sum));
}
static uint32_t swapped(uint32_t half) { return (half >> 8 & 0xff) | (half & 0xff) << 8; }

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

static uint32_t answer_echo(shared_t* frame, uint32_t length) {
  const uint32_t ip = config(ConfigIp);
  const uint32_t service = frame[3], name = frame[4], life = frame[5], from = frame[6];
  const uint32_t middle = frame[7], type = frame[8], check = frame[9];
  const uint32_t bytes = swapped(low(name));
  if (bytes < ECHO_LEAST || IP_AT + bytes > length) return 0;
  if ((life & FRAGMENT) != 0 || life >> 24 != ICMP || high(type) != ECHO_REQUEST) return 0;
  if (join(high(middle), type) != ip) return 0;
  const uint32_t others = high(service) + halves(name) + halves(middle) + low(type) + high(from);
  if (folded(others + halves(life) + low(from)) != 0xffff) return 0;
  const uint32_t new_life = (life & 0xff00ffff) | TTL << 16;
  const uint32_t sum = ~folded(others + halves(new_life));
  turn_around(frame);
  frame[5] = new_life;
  frame[6] = join(sum, ip);
  frame[7] = join(high(ip), high(from));
  frame[8] = low(middle);  // type and code of the answer are 0
  frame[9] = join(~folded(low(~check) + low(~ECHO_REQUEST)), high(check));
  return IP_AT + bytes;
}

static uint32_t answer(shared_t* frame, uint32_t length) {
  const uint32_t to = frame[0], to_last = low(frame[1]), type = frame[3];
  const bool ours = to == config(ConfigMacLow) && to_last == config(ConfigMacHigh);
  const bool everyone = to == 0xffffffff && to_last == BROADCAST;
  if (type == ARP_ETHERNET && (ours || everyone)) return answer_arp(frame, length);
  if ((type & 0x00ffffff) == IPV4_PLAIN && ours) return answer_echo(frame, length);
  return 0;
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
  lock_take();
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
  lock_leave();
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
    lock_take();
    give_back();
    const uint32_t frame = taken;
    const bool there = DEVICE(MacRx + Produced) != frame;
    if (there) {
      fate[frame % SLOTS] = 0;
      taken = frame + 1;
    }
    lock_leave();
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
