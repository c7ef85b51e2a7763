// SPDX-License-Identifier: Apache-2.0
// emcap: packets of a capture device, out of the rings it fills in host memory, one or two PCIe
// endpoints as one handle.
//
// A device with two endpoints appears as two PCI functions with the same serial number; emcap_open
// finds both. Packets are handed out in bursts without copying: get a burst, look at it, put it
// back; a block of the ring goes back to the device when all its packets have been put. A consumer
// belongs to one ring. Several consumers of one ring are handed its blocks in turn. Only data that
// has landed is handed out: the frontier of a ring is walked block by block in the order the device
// opened them, whichever link carries them. When a link is lost, blocks it did not finish end where
// their last progress entry says, the rest is counted as lost, exactly, and capture goes on over
// the other link.
//
// emcap_service does the housekeeping that needs register reads (links, losses): call it now and
// then, from one thread. The calls for one ring must not overlap; different rings are independent.
// Works in C11 and C++. Nothing here depends on an operating system: `emcap_ops` is all it needs,
// from UIO, VFIO or a simulator.
#ifndef EMCAP_H
#define EMCAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EMCAP_MAX_LINKS = 2, EMCAP_MAX_RINGS = 32 };

// What the library needs of the machine. `function` numbers the PCI functions that might be ours.
struct emcap_ops {
  void* context;
  unsigned (*functions)(void* context);
  uint64_t (*serial)(void* context, unsigned function);  // PCIe Device Serial Number; 0: none
  uint32_t (*read32)(void* context, unsigned function,
                     uint32_t offset);  // of BAR 0; all ones when it fails
  void (*write32)(void* context, unsigned function, uint32_t offset, uint32_t value);
  void (*bus_master)(void* context, unsigned function, int on);
  void* (*alloc)(void* context, size_t bytes);  // zeroed; NULL: no memory
  void (*free)(void* context, void* memory);    // or NULL
  void* (*dma_alloc)(void* context, size_t bytes, size_t align,
                     uint64_t* bus_address);  // zeroed; NULL: no memory
  void (*dma_free)(void* context, void* memory);
};

struct emcap_config {
  unsigned rings;  // packets are spread over so many by flow hash; a power of two
  unsigned
      block_bytes;  // a power of two, 4096 ... 1 MB; the longest packet and its header must fit
  unsigned blocks;  // of each ring; a power of two, 2 ... 65536
  unsigned flush_clocks;  // longest time a packet waits for company; 0: as the device has it
  int timestamps;         // records carry the time
  uint64_t serial;        // of the device to open; 0: the first there is
};

struct emcap_packet {
  const uint8_t* data;
  uint32_t stored;   // bytes at `data`
  uint32_t length;   // bytes the packet had
  uint32_t hash;     // 24 bits of its flow hash
  uint32_t block;    // sequence number of its block
  uint64_t time_ns;  // 0 without timestamps
};

struct emcap_stats {
  uint64_t packets, bytes;  // handed out
  uint64_t blocks;          // given back to the device
  uint64_t lost_blocks;     // not carried to their end by a link that was lost
  uint64_t lost_packets;    // captured, but lost with a link
  uint64_t bad_puts;        // packets put that were not the oldest taken: refused
  uint64_t damaged;         // blocks with a record that does not fit: the rest of the block skipped
  uint64_t link_losses;
};

// Counters of the device; reading them takes register reads.
struct emcap_counters {
  uint32_t captured, ring_full, too_long, filtered, bad_returns;
  uint32_t rx_frames, rx_bad_fcs, rx_runt, rx_oversize, rx_fifo_full, rx_buffer_full;
  uint32_t generated;
  uint32_t link_blocks[EMCAP_MAX_LINKS], link_entries[EMCAP_MAX_LINKS];
};

struct emcap;
struct emcap_consumer;

// 0, or a negative number: EMCAP_NO_DEVICE and so on; `emcap_error` says it in words.
enum {
  EMCAP_NO_DEVICE = -1,
  EMCAP_BAD_CONFIG = -2,
  EMCAP_NO_MEMORY = -3,
  EMCAP_REFUSED = -4,
  EMCAP_NO_LINK = -5
};
const char* emcap_error(int code);

int emcap_open(const struct emcap_ops* ops, const struct emcap_config* config, struct emcap** out);
void emcap_close(struct emcap* device);
unsigned emcap_links(const struct emcap* device);
// Capture of packets from the wire, or of generated ones, on and off. Off: what is under way still
// comes. Turning it on again begins with empty rings: packets not put back before are gone.
void emcap_start(struct emcap* device, int generator);
void emcap_stop(struct emcap* device);

struct emcap_consumer* emcap_attach(struct emcap* device, unsigned ring);
void emcap_detach(struct emcap_consumer* consumer);
// Up to `most` packets that have landed; how many. They stay valid until put.
unsigned emcap_get_burst(struct emcap_consumer* consumer, struct emcap_packet* packets,
                         unsigned most);
// Gives packets back: those taken longest ago, in order. Otherwise EMCAP_REFUSED, and none is taken
// back.
int emcap_put_burst(struct emcap_consumer* consumer, const struct emcap_packet* packets,
                    unsigned count);

// Housekeeping: looks at the links, settles what a lost one took with it. 1 when a link was newly
// found lost, else 0.
int emcap_service(struct emcap* device);
// Gives a link up, e.g. one that has been stuck for too long: what is queued for it is lost.
int emcap_link_disable(struct emcap* device, unsigned link);
// A lost link is back (its function answers again and has its BAR): use it. EMCAP_REFUSED while
// that would be too early.
int emcap_link_restore(struct emcap* device, unsigned link);
int emcap_link_lost(const struct emcap* device, unsigned link);

void emcap_get_stats(const struct emcap* device, struct emcap_stats* stats);
void emcap_get_counters(struct emcap* device, struct emcap_counters* counters);
// After emcap_stop: 1 when everything captured has been handed out or counted as lost.
int emcap_drained(struct emcap* device);
// Blocks of a ring that the device has opened and not got back, as far as the host has seen them.
unsigned emcap_fill(const struct emcap* device, unsigned ring);
// Packets in memory that were not handed out, as far as the entries of their blocks tell.
uint64_t emcap_waiting(const struct emcap* device);

// Registers of the device, for settings the library has no call for (generator, filters): byte
// offsets of BAR 0.
uint32_t emcap_read(struct emcap* device, uint32_t offset);
void emcap_write(struct emcap* device, uint32_t offset, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif
