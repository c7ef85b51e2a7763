// SPDX-License-Identifier: Apache-2.0
// What happens before the first frame. The chip comes from reset: all counts of the hardware are 0.
#include "nic.h"

static shared_t boot_taken __attribute__((section(".data"))) = 0;
static shared_t boot_done __attribute__((section(".data"))) = 0;

extern uint32_t bss_begin[], bss_end[];

static uint32_t config(uint32_t word) { return DEVICE(Config + 4 * word); }

static void set_up_ring(uint32_t assist, const void* ring, uint32_t places) {
  DEVICE(assist + RingBase) = (uint32_t)ring;
  DEVICE(assist + RingLog) = (uint32_t)__builtin_ctz(places);
}

static void boot(void) {
  for (uint32_t* word = bss_begin; word != bss_end; word++) *word = 0;

  const uint32_t logs = config(ConfigLogs);
  send.fetch.host_low = config(ConfigSendRing);
  send.fetch.host_high = config(ConfigSendRing + 1);
  send.fetch.host_mask = (1u << (logs & 31)) - 1;
  receive.fetch.host_low = config(ConfigReceiveRing);
  receive.fetch.host_high = config(ConfigReceiveRing + 1);
  receive.fetch.host_mask = (1u << (logs >> 8 & 31)) - 1;
  receive.return_low = config(ConfigReturnRing);
  receive.return_high = config(ConfigReturnRing + 1);
  receive.return_mask = (1u << (logs >> 16 & 31)) - 1;
  receive.status_low = config(ConfigStatus);
  receive.status_high = config(ConfigStatus + 1);
  receive.interrupt = config(ConfigFlags) & 1 ? 0 : DMA_INFO_IRQ(1);

  set_up_ring(DmaRead, read_ring, READ_RING);
  set_up_ring(DmaWrite, write_ring, WRITE_RING);
  set_up_ring(MacTx, tx_ring, SEND_BDS);
  const uint32_t asked = config(ConfigSlotsLog);
  const uint32_t slots = asked >= 1 && asked <= 8 ? 1u << asked : RECEIVE_SLOTS;
  receive.slots_mask = slots - 1;
  set_up_ring(MacRx, rx_ring, slots);
  DEVICE(MacRx + SlotBase) = RECEIVE_SLOT_BASE;
  DEVICE(MacRx + Enable) = 1;
  DEVICE(WatchdogLimit) = config(ConfigWatchdog);
  DEVICE(WakeGap) = LONG_REST / 4;
  DEVICE(Print) = 'R';  // ready: the driver waits for it
}

// Every core comes here from start.S. Whichever is first sets everything up.
void core_main(void) {
  if (atomic_swap(&boot_taken, 1) == 0) {
    boot();
    in_order();
    boot_done = 1;
  }
  while (!boot_done) pause_core();
  run_core();
}
