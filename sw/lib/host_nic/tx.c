// SPDX-License-Identifier: Apache-2.0
// Transmitting: frames into rings, doorbells, pushes.
#include "device.h"

enum {
  VLAN_TAG = 4,
  ADDRESS_BYTES = 12,  // which a tag stands behind
  TCP_HEADER = 20,     // at least
  LARGEST_MSS = 0x3fff
};

unsigned emnic_tx_room(const struct emnic_tx* q) {
  if (q->stopped || q->restart.phase != RUNNING) return 0;
  return q->slots - (uint16_t)(q->producer - load16(&q->done));
}

static int refused(const struct emnic_tx* q, unsigned bytes,
                   const struct emnic_offloads* offloads) {
  const struct emnic_interface* is = &q->device->interface[q->interface].is;
  const unsigned tag = offloads && offloads->tag ? VLAN_TAG : 0, mss = offloads ? offloads->mss : 0;
  if (q->stopped || q->restart.phase != RUNNING) return EMNIC_STOPPED;
  if (mss && (!(is->features & EMNIC_TSO) || q->device->config.tx_stream || mss > LARGEST_MSS ||
              offloads->start > 255))
    return EMNIC_UNSUPPORTED;
  const unsigned frame = mss ? offloads->start + TCP_HEADER + mss : bytes;
  if (bytes == 0 || frame + tag > q->max_frame ||
      frame + tag > q->device->interface[q->interface].max_frame)
    return EMNIC_BAD_FRAME;
  if (mss && (bytes > EMNIC_MAX_PACKET || (q->buffers && bytes > q->buffer_bytes)))
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

static uint8_t* descriptors_of(const struct emnic_tx* q, uint16_t slot) {
  const size_t place = slot & (q->slots - 1);
  return q->ring + (place << q->device->log_block) * DESC_BYTES;
}

static void put_in(struct emnic_tx* q, uint16_t newest, uint16_t producer, uint32_t bytes) {
  q->newest = newest;
  q->producer = producer;
  q->gathered += bytes;
  ++q->made;
}

// A frame with its head in the ring itself, which crosses neither the ring's end nor a turn's.
static int send_stream(struct emnic_tx* q, const void* frame, unsigned bytes,
                       const struct emnic_offloads* offloads) {
  const uint32_t longest = TurnGranules, turn = q->slots < longest ? q->slots : longest;
  const uint32_t granules = (DESC_BYTES + bytes + GranuleBytes - 1) / GranuleBytes;
  const uint32_t left = turn - (q->producer & (turn - 1)), skip = granules > left ? left : 0;
  if (skip + granules > emnic_tx_room(q)) return EMNIC_FULL;
  if (skip != 0) put_descriptor(q->ring, q->producer & (q->slots - 1), 0, 0);
  const uint16_t newest = (uint16_t)(q->producer + skip);
  uint8_t* head = q->ring + (size_t)(newest & (q->slots - 1)) * GranuleBytes;
  put_descriptor(head, 0, 0, bytes);
  __builtin_memcpy(head + DESC_BYTES, frame, bytes);
  if (offloads) leave(head, offloads);
  put_in(q, newest, (uint16_t)(newest + granules), bytes);
  return 0;
}

int emnic_send(struct emnic_tx* q, const void* frame, unsigned bytes,
               const struct emnic_offloads* offloads) {
  const unsigned segments = q->device->config.segments;
  const int status = refused(q, bytes, offloads);
  if (status != 0) return status;
  if (q->device->config.tx_stream) return send_stream(q, frame, bytes, offloads);
  if (!q->buffers) return EMNIC_UNSUPPORTED;
  if (emnic_tx_room(q) == 0) return EMNIC_FULL;
  const size_t at = (size_t)(q->producer & (q->slots - 1)) * q->buffer_bytes;
  uint8_t* descriptors = descriptors_of(q, q->producer);
  const uint32_t share = (bytes + segments - 1) / segments;
  __builtin_memcpy(q->buffers + at, frame, bytes);
  for (uint32_t s = 0, done = 0; s < segments; ++s) {
    const uint32_t length = share < bytes - done ? share : bytes - done;
    put_descriptor(descriptors, s, q->buffers_bus + at + done, length);
    done += length;
  }
  if (offloads) leave(descriptors, offloads);
  put_in(q, q->producer, (uint16_t)(q->producer + 1), bytes);
  return 0;
}

int emnic_post(struct emnic_tx* q, const struct emnic_segment* segments, unsigned count,
               const struct emnic_offloads* offloads) {
  const unsigned most = q->device->config.segments;
  unsigned bytes = 0;
  if (q->device->config.tx_stream || q->buffers) return EMNIC_UNSUPPORTED;
  if (count == 0 || count > most) return EMNIC_BAD_SEGMENTS;
  for (unsigned s = 0; s < count; ++s) bytes += segments[s].bytes;
  const int status = refused(q, bytes, offloads);
  if (status != 0) return status;
  if (emnic_tx_room(q) == 0) return EMNIC_FULL;
  uint8_t* descriptors = descriptors_of(q, q->producer);
  for (unsigned s = 0; s < count; ++s)
    put_descriptor(descriptors, s, segments[s].bus, segments[s].bytes);
  if (count < most) put_descriptor(descriptors, count, 0, 0);  // which ends it
  if (offloads) leave(descriptors, offloads);
  put_in(q, q->producer, (uint16_t)(q->producer + 1), bytes);
  return 0;
}

// Writes the descriptor put into the ring last, and with it its frame if that is wanted, short and
// in a buffer of the ring, to the queue's window.
static int push(struct emnic_tx* q) {
  struct emnic* d = q->device;
  const uint16_t index = (uint16_t)(q->producer - 1);
  uint8_t window[(int)DESC_BYTES + (int)PushBytes];
  uint64_t words[2];
  zero(window, sizeof window);
  __builtin_memcpy(words, descriptors_of(q, index), DESC_BYTES);
  if (desc_vlan(words) || desc_cut(words)) return 0;  // the tag is where a push has its slot
  const uint32_t bytes = (uint32_t)desc_len(words);
  const int inlined = d->config.tx_push == EMNIC_PUSH_FRAME && q->buffers && bytes <= PushBytes;
  desc_set_slot(words, index);
  desc_set_inlined(words, inlined ? 1 : 0);
  __builtin_memcpy(window, words, DESC_BYTES);
  if (inlined)
    __builtin_memcpy(window + DESC_BYTES,
                     q->buffers + (size_t)(index & (q->slots - 1)) * q->buffer_bytes, bytes);
  const uint32_t whole = (DESC_BYTES + (inlined ? bytes : 0) + 15) / 16 * 16;
  d->ops.write_lines(d->ops.context, q->window, window, whole);
  return EMNIC_PUSHED;
}

// The doorbells of a busy queue end at multiples of the batch: the device reads descriptors in such blocks, and a part costs it a read.
// A busy device is given whole blocks alone, or many bytes.
static int due(const struct emnic_tx* q, int now, int busy) {
  const uint32_t batch = q->device->config.doorbell_batch;
  const uint32_t waiting = q->made - q->told;
  const uint32_t under_way = q->told - __atomic_load_n(&q->sent, __ATOMIC_ACQUIRE);
  if (waiting == 0) return 0;
  if (now || waiting >= batch - q->told % batch) return 1;
  return busy ? q->gathered >= GATHERED_BYTES : under_way < batch;
}

// A stream gathers what the device reads at once, or waits until all before is done. With `now` a few doorbells ring for less: as many
// as there is room for their records (most_records).
static int stream_due(struct emnic_tx* q, int now) {
  if (q->made == q->told) return 0;
  if (q->told == __atomic_load_n(&q->sent, __ATOMIC_ACQUIRE)) q->small = 0;
  else if ((uint16_t)(q->producer - q->rung) >= PACKED_GRANULES) return 1;
  else if (!now || q->small > q->slots / PACKED_GRANULES) return 0;
  ++q->small;
  return 1;
}

int emnic_tx_flush(struct emnic_tx* q, int now, int load) {
  struct emnic* d = q->device;
  int did = EMNIC_RANG;
  if (q->restart.phase != RUNNING) return 0;
  if (!(d->config.tx_stream ? stream_due(q, now) : due(q, now, load == EMNIC_LOADED))) return 0;
  const int one = (uint16_t)(q->producer - q->rung) == 1 && d->log_block == 0;
  if (d->config.tx_push != EMNIC_PUSH_NONE && d->ops.write_lines && !d->config.tx_stream &&
      load == EMNIC_IDLE && one && q->rung == load16(&q->done)) {
    did |= push(q);
  }
  q->rung = q->producer;
  q->told = q->made;
  q->gathered = 0;
  reg_write(d, q->regs + QUEUE_REG(producer), q->producer);
  return did;
}

int emnic_tx_stopped(const struct emnic_tx* q) { return q->stopped; }

void emnic_tx_state(const struct emnic_tx* q, struct emnic_queue_state* out) {
  zero(out, sizeof *out);
  out->ring_bus = q->ring_bus;
  out->buffers_bus = q->buffers_bus;
  out->ring = q->ring;
  out->buffers = q->buffers;
  out->completions = q->completions;
  out->doorbell = q->regs + QUEUE_REG(producer);
  out->slots = q->slots;
  out->slot_descriptors = 1u << q->device->log_block;
  out->buffer_bytes = q->buffer_bytes;
  out->producer = q->producer;
  out->rung = q->rung;
  out->done = q->done;
  out->newest = q->newest;
  out->made = q->made;
  out->told = q->told;
  out->sent = q->sent;
  out->stopped = q->stopped;
  out->restarting = q->restart.phase != RUNNING;
}
