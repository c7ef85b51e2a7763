// SPDX-License-Identifier: Apache-2.0
// Transmitting: frames into rings, doorbells, pushes.
#include "device.h"

enum {
  VLAN_TAG = 4,
  ADDRESS_BYTES = 12,  // which a tag stands behind
  TCP_HEADER = 20,     // at least
  LARGEST_MSS = 0x3fff
};

unsigned emnic_tx_room(const struct emnic_tx* tx) {
  if (tx->q.stopped || tx->q.restart.phase != RUNNING) return 0;
  return tx->q.slots - (uint16_t)(tx->q.producer - load16(&tx->q.done));
}

static int refused(const struct emnic_tx* tx, unsigned bytes,
                   const struct emnic_offloads* offloads) {
  const struct emnic_interface* is = &tx->q.device->interface[tx->q.interface].is;
  const unsigned tag = offloads && offloads->tag ? VLAN_TAG : 0, mss = offloads ? offloads->mss : 0;
  if (tx->q.stopped || tx->q.restart.phase != RUNNING) return EMNIC_STOPPED;
  if (mss && (!(is->features & EMNIC_TSO) || tx->q.device->config.tx_stream || mss > LARGEST_MSS ||
              offloads->start > 255))
    return EMNIC_UNSUPPORTED;
  const unsigned frame = mss ? offloads->start + TCP_HEADER + mss : bytes;
  if (bytes == 0 || frame + tag > tx->q.max_frame ||
      frame + tag > tx->q.device->interface[tx->q.interface].max_frame)
    return EMNIC_BAD_FRAME;
  if (mss && (bytes > EMNIC_MAX_PACKET || (tx->q.buffers && bytes > tx->q.buffer_bytes)))
    return EMNIC_BAD_FRAME;
  if (tag && (!(is->features & EMNIC_VLAN) || bytes < ADDRESS_BYTES)) return EMNIC_UNSUPPORTED;
  if (offloads && offloads->checksum && (offloads->start > 255 || offloads->offset > 255))
    return EMNIC_UNSUPPORTED;
  return 0;
}

static void leave(uint8_t* descriptor, const struct emnic_offloads* offloads) {
  uint64_t words[2];
  __builtin_memcpy(words, descriptor, DESC_BYTES);
  if (offloads->checksum) {
    desc_set_csum_enable(words, 1);
    desc_set_csum_start(words, offloads->start);
    desc_set_csum_offset(words, offloads->offset);
  }
  if (offloads->mss) {
    desc_set_cut(words, 1);
    desc_set_csum_start(words, offloads->start);
    desc_set_mss_high(words, offloads->mss >> 8);
    desc_set_csum_offset(words, offloads->mss & 0xff);
  }
  if (offloads->tag) {
    desc_set_vlan(words, 1);
    desc_set_service(words, offloads->tag == EMNIC_S_TAG);
    desc_set_slot(words, offloads->tci);
  }
  __builtin_memcpy(descriptor, words, DESC_BYTES);
}

static uint8_t* descriptors_of(const struct emnic_tx* tx, uint16_t slot) {
  const size_t place = slot & (tx->q.slots - 1);
  return tx->q.ring + (place << tx->q.device->log_block) * DESC_BYTES;
}

static void put_in(struct emnic_tx* tx, uint16_t newest, uint16_t producer, uint32_t bytes) {
  tx->newest = newest;
  tx->q.producer = producer;
  tx->gathered += bytes;
  ++tx->made;
}

// A frame with its head in the ring itself, which crosses neither the ring's end nor a turn's.
static int send_stream(struct emnic_tx* tx, const void* frame, unsigned bytes,
                       const struct emnic_offloads* offloads) {
  const uint32_t longest = TurnGranules, turn = tx->q.slots < longest ? tx->q.slots : longest;
  const uint32_t granules = (DESC_BYTES + bytes + GranuleBytes - 1) / GranuleBytes;
  const uint32_t left = turn - (tx->q.producer & (turn - 1)), skip = granules > left ? left : 0;
  if (skip + granules > emnic_tx_room(tx)) return EMNIC_FULL;
  if (skip != 0) put_descriptor(tx->q.ring, tx->q.producer & (tx->q.slots - 1), 0, 0);
  const uint16_t newest = (uint16_t)(tx->q.producer + skip);
  uint8_t* head = tx->q.ring + (size_t)(newest & (tx->q.slots - 1)) * GranuleBytes;
  put_descriptor(head, 0, 0, bytes);
  __builtin_memcpy(head + DESC_BYTES, frame, bytes);
  if (offloads) leave(head, offloads);
  put_in(tx, newest, (uint16_t)(newest + granules), bytes);
  return 0;
}

int emnic_send(struct emnic_tx* tx, const void* frame, unsigned bytes,
               const struct emnic_offloads* offloads) {
  const unsigned segments = tx->q.device->config.segments;
  const int status = refused(tx, bytes, offloads);
  if (status != 0) return status;
  if (tx->q.device->config.tx_stream) return send_stream(tx, frame, bytes, offloads);
  if (!tx->q.buffers) return EMNIC_UNSUPPORTED;
  if (emnic_tx_room(tx) == 0) return EMNIC_FULL;
  const size_t at = (size_t)(tx->q.producer & (tx->q.slots - 1)) * tx->q.buffer_bytes;
  uint8_t* descriptors = descriptors_of(tx, tx->q.producer);
  const uint32_t share = (bytes + segments - 1) / segments;
  __builtin_memcpy(tx->q.buffers + at, frame, bytes);
  for (uint32_t s = 0, done = 0; s < segments; ++s) {
    const uint32_t length = share < bytes - done ? share : bytes - done;
    put_descriptor(descriptors, s, tx->q.buffers_bus + at + done, length);
    done += length;
  }
  if (offloads) leave(descriptors, offloads);
  put_in(tx, tx->q.producer, (uint16_t)(tx->q.producer + 1), bytes);
  return 0;
}

int emnic_post(struct emnic_tx* tx, const struct emnic_segment* segments, unsigned count,
               const struct emnic_offloads* offloads) {
  const unsigned most = tx->q.device->config.segments;
  unsigned bytes = 0;
  if (tx->q.device->config.tx_stream || tx->q.buffers) return EMNIC_UNSUPPORTED;
  if (count == 0 || count > most) return EMNIC_BAD_SEGMENTS;
  for (unsigned s = 0; s < count; ++s) bytes += segments[s].bytes;
  const int status = refused(tx, bytes, offloads);
  if (status != 0) return status;
  if (emnic_tx_room(tx) == 0) return EMNIC_FULL;
  uint8_t* descriptors = descriptors_of(tx, tx->q.producer);
  for (unsigned s = 0; s < count; ++s)
    put_descriptor(descriptors, s, segments[s].bus, segments[s].bytes);
  if (count < most) put_descriptor(descriptors, count, 0, 0);  // which ends it
  if (offloads) leave(descriptors, offloads);
  put_in(tx, tx->q.producer, (uint16_t)(tx->q.producer + 1), bytes);
  return 0;
}

// Writes the descriptor put into the ring last, and with it its frame if that is wanted, short and
// in a buffer of the ring, to the queue's window.
static int push(struct emnic_tx* tx) {
  struct emnic* d = tx->q.device;
  const uint16_t index = (uint16_t)(tx->q.producer - 1);
  uint8_t window[(int)DESC_BYTES + (int)PushBytes];
  uint64_t words[2];
  zero(window, sizeof window);
  __builtin_memcpy(words, descriptors_of(tx, index), DESC_BYTES);
  if (desc_vlan(words) || desc_cut(words)) return 0;  // the tag is where a push has its slot
  const uint32_t bytes = (uint32_t)desc_len(words);
  const int inlined = d->config.tx_push == EMNIC_PUSH_FRAME && tx->q.buffers && bytes <= PushBytes;
  desc_set_slot(words, index);
  desc_set_inlined(words, inlined ? 1 : 0);
  __builtin_memcpy(window, words, DESC_BYTES);
  if (inlined)
    __builtin_memcpy(window + DESC_BYTES,
                     tx->q.buffers + (size_t)(index & (tx->q.slots - 1)) * tx->q.buffer_bytes,
                     bytes);
  const uint32_t whole = (DESC_BYTES + (inlined ? bytes : 0) + 15) / 16 * 16;
  d->ops.write_lines(d->ops.context, tx->window, window, whole);
  return EMNIC_PUSHED;
}

// The doorbells of a busy queue end at multiples of the batch: the device reads descriptors in such blocks, and a part costs it a read.
// A busy device is given whole blocks alone, or many bytes.
static int due(const struct emnic_tx* tx, int now, int busy) {
  const uint32_t batch = tx->q.device->config.doorbell_batch;
  const uint32_t waiting = tx->made - tx->told;
  const uint32_t under_way = tx->told - __atomic_load_n(&tx->sent, __ATOMIC_ACQUIRE);
  if (waiting == 0) return 0;
  if (now || waiting >= batch - tx->told % batch) return 1;
  return busy ? tx->gathered >= GATHERED_BYTES : under_way < batch;
}

// A stream gathers what the device reads at once, or waits until all before is done. With `now` a few doorbells ring for less: as many
// as there is room for their records (most_records).
static int stream_due(struct emnic_tx* tx, int now) {
  if (tx->made == tx->told) return 0;
  if (tx->told == __atomic_load_n(&tx->sent, __ATOMIC_ACQUIRE)) tx->small = 0;
  else if ((uint16_t)(tx->q.producer - tx->q.rung) >= PACKED_GRANULES) return 1;
  else if (!now || tx->small > tx->q.slots / PACKED_GRANULES) return 0;
  ++tx->small;
  return 1;
}

int emnic_tx_flush(struct emnic_tx* tx, int now, int load) {
  struct emnic* d = tx->q.device;
  int did = EMNIC_RANG;
  if (tx->q.restart.phase != RUNNING) return 0;
  if (!(d->config.tx_stream ? stream_due(tx, now) : due(tx, now, load == EMNIC_LOADED))) return 0;
  const int one = (uint16_t)(tx->q.producer - tx->q.rung) == 1 && d->log_block == 0;
  if (d->config.tx_push != EMNIC_PUSH_NONE && d->ops.write_lines && !d->config.tx_stream &&
      load == EMNIC_IDLE && one && tx->q.rung == load16(&tx->q.done)) {
    did |= push(tx);
  }
  tx->q.rung = tx->q.producer;
  tx->told = tx->made;
  tx->gathered = 0;
  reg_write(d, tx->q.regs + QUEUE_REG(producer), tx->q.producer);
  return did;
}

int emnic_tx_stopped(const struct emnic_tx* tx) { return tx->q.stopped; }

void emnic_tx_state(const struct emnic_tx* tx, struct emnic_queue_state* out) {
  queue_state(&tx->q, out);
  out->newest = tx->newest;
  out->made = tx->made;
  out->told = tx->told;
  out->sent = tx->sent;
}
