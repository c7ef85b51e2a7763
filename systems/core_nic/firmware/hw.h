// SPDX-License-Identifier: Apache-2.0
// What the firmware sees of the hardware: device registers, commands of the assists, the two
// special instructions.
//
// Offsets are those of rtl/assist/device_pkg.sv (a test compares them), commands those of
// rtl/assist/assist_pkg.sv.
#ifndef EMERY_FIRMWARE_HW_H
#define EMERY_FIRMWARE_HW_H

#include <stdbool.h>
#include <stdint.h>

// Others (cores, assists, the host) write what is declared so.
typedef volatile uint32_t shared_t;

#define DEVICE(offset) (*(shared_t*)(0x20000000u + (offset)))
#define FRAME_MEMORY 0x40000000u

enum {
  // The machine.
  CORES = 0x000,
  CLOCK = 0x004,
  WATCHDOG_LIMIT = 0x008,
  WATCHDOG_KICK = 0x00c,
  PRINT = 0x010,
  EXIT = 0x014,
  // Assists that take commands: base + register.
  DMA_READ = 0x040,
  DMA_WRITE = 0x060,
  MAC_TX = 0x080,
  RING_BASE = 0x000,
  RING_LOG = 0x004,
  PRODUCER = 0x008,
  PROGRESS = 0x00c,
  // MAC receive: base + register; ring base and log as above.
  MAC_RX = 0x0a0,
  PRODUCED = 0x008,
  FREED = 0x00c,
  SLOT_BASE = 0x010,
  ENABLE = 0x014,
  // What the driver wrote.
  SEND_PRODUCER = 0x0c0,
  RECEIVE_PRODUCER = 0x0c4,
  CONFIG = 0x180,
  // The event register, and the counts it compares those of the hardware with.
  EVENT = 0x100,
  SEEN = 0x104,
  INTERRUPT = 0x140,
};

// Bits of the event register; `SEEN + 4 * bit` is the count that has been dealt with.
enum { KIND_DMA_READ, KIND_DMA_WRITE, KIND_MAC_TX, KIND_MAC_RX, KIND_SEND_BDS, KIND_RECEIVE_BDS };

// Words of the configuration, agreed with the driver: CONFIG + 4 * word.
enum {
  CONFIG_SEND_RING = 0,     // host address, low and high word, of the send buffer descriptors
  CONFIG_RECEIVE_RING = 2,  // of the receive buffer descriptors
  CONFIG_RETURN_RING = 4,   // of the descriptors given back
  CONFIG_STATUS = 6,        // of the status block
  CONFIG_LOGS = 8,          // log2 of the entries of the rings, a byte each, 5 or more
  CONFIG_SLOTS_LOG = 9,     // log2 of receive slots in the frame memory: 1 ... 8, else 8
  CONFIG_WATCHDOG = 10,     // clocks; 0: off
  CONFIG_FLAGS = 11,        // bit 0: no interrupts
};

// A buffer descriptor, in host memory and here. What the host gets back for a received frame looks
// the same.
struct Bd {
  uint32_t address_low;
  uint32_t address_high;
  uint32_t info;  // [15:0] length, [16] last of the frame
  uint32_t cookie;
};
#define BD_LENGTH 0xffffu
#define BD_LAST 0x10000u

// A command of a DMA assist. The hardware looks at bits 16:0 of `info` only; the rest is a note to
// ourselves.
struct DmaCommand {
  uint32_t host_low;
  uint32_t host_high;
  uint32_t local;
  uint32_t info;  // [15:0] length, [16] interrupt; [31] completes the frame that [30:17] says
};
#define DMA_INTERRUPT 0x10000u
#define DMA_NOTE(frame) (0x80000000u | (frame) << 17)
#define DMA_NOTE_FRAME(info) ((info) >> 17 & 0x3fffu)

// A command of the MAC transmit assist, a descriptor of the MAC receive assist.
struct MacCommand {
  uint32_t address;
  uint32_t info;  // [15:0] length without FCS; transmit ignores the rest
};

// Keeps the compiler from moving memory accesses across. The core itself makes its accesses in
// order.
static inline void in_order(void) { __asm__ volatile("" ::: "memory"); }

// Sets bit `index` of an array of bits, atomically with all other accesses to it.
static inline void set_bit(shared_t* bits, uint32_t index) {
  __asm__ volatile(".insn r 0x0b, 0, 0, x0, %0, %1" ::"r"(bits), "r"(index) : "memory");
}

// Clears the consecutive bits that are set from `index` on, up to the end of its word at most.
// Gives how many they were.
static inline uint32_t update_bits(shared_t* bits, uint32_t index) {
  uint32_t count;
  __asm__ volatile(".insn r 0x0b, 1, 0, %0, %1, %2"
                   : "=r"(count)
                   : "r"(bits), "r"(index)
                   : "memory");
  return count;
}

static inline uint32_t atomic_swap(shared_t* word, uint32_t value) {
  uint32_t old;
  __asm__ volatile("amoswap.w %0, %1, (%2)" : "=r"(old) : "r"(value), "r"(word) : "memory");
  return old;
}

static inline uint32_t atomic_add(shared_t* word, uint32_t value) {
  uint32_t old;
  __asm__ volatile("amoadd.w %0, %1, (%2)" : "=r"(old) : "r"(value), "r"(word) : "memory");
  return old;
}

static inline void atomic_or(shared_t* word, uint32_t value) {
  __asm__ volatile("amoor.w x0, %0, (%1)" ::"r"(value), "r"(word) : "memory");
}

// Some 34 clocks that touch no memory, so that who waits is in nobody's way.
static inline void pause_core(void) {
  uint32_t unused;
  __asm__ volatile("divu %0, %1, %1" : "=r"(unused) : "r"(1));
}

#endif
