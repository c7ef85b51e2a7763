// SPDX-License-Identifier: Apache-2.0
// What the firmware sees of the hardware: device registers and commands of the assists, as the
// packages of the RTL have them, and the two special instructions.
#ifndef EMERY_FIRMWARE_HW_H
#define EMERY_FIRMWARE_HW_H

#include <stdbool.h>
#include <stdint.h>

#include "assist_formats.h"
#include "core_formats.h"
#include "device_formats.h"
#include "mailbox_formats.h"

// Others (cores, assists, the host) write what is declared so.
typedef volatile uint32_t shared_t;

#define DEVICE(offset) (*(shared_t*)(DeviceBase + (offset)))

// What the firmware notes in a command for DMA write that completes a frame.
#define DMA_NOTE(frame) DMA_INFO_NOTE(1u << 14 | (frame))
#define DMA_NOTE_FRAME(info) (dma_info_note(info) & 0x3fffu)

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

// Sleeps until a core is to look for work, as the hardware has it: something has come (one of its
// counts has moved) since one was last woken for it, or a core has asked for it (DEVICE(Wake)).
static inline void wait_for_work(void) { __asm__ volatile("wfi" ::: "memory"); }

// Some 34 clocks that touch no memory, so that who waits is in nobody's way.
static inline void pause_core(void) {
  uint32_t unused;
  __asm__ volatile("divu %0, %1, %1" : "=r"(unused) : "r"(1));
}

#endif
