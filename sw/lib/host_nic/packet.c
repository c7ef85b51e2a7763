// SPDX-License-Identifier: Apache-2.0
// What the headers of received packets say: whether a checksum is right, what was joined (joined.h).
#include "joined.h"

#include "emnic.h"

enum { ETH = 14, IP4 = 20, IP6 = 40, TCP = 6, UDP = 17 };
// Of a header of TCP.
enum { TCP_LEAST = 20, TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_SUM = 16, TCP_PUSH = 8 };

static uint32_t word_at(const uint8_t* bytes, unsigned at) {
  return (uint32_t)bytes[at] << 8 | bytes[at + 1];
}
// Behind the type of a VLAN tag.
static int has_tag(const uint8_t* frame, unsigned at) {
  return word_at(frame, at - 2) == 0x8100 || word_at(frame, at - 2) == 0x88a8;
}
// An odd last byte is a word's high half.
static uint32_t sum_of(const uint8_t* bytes, unsigned from, unsigned to) {
  uint32_t sum = 0;
  for (; from + 1 < to; from += 2) sum += word_at(bytes, from);
  if (from < to) sum += (uint32_t)bytes[from] << 8;
  return sum % 0xffff;
}

// What the device has summed is from byte 14 on; what is in front of the transport header and
// behind its data is taken off again, and the pseudo header added.
int emnic_checksum_good(const uint8_t* frame, unsigned bytes, uint16_t csum) {
  unsigned ip = ETH;
  while (ip + IP4 <= bytes && ip < ETH + 8 && has_tag(frame, ip)) ip += 4;
  if (ip + IP4 > bytes) return EMNIC_NOT_FOUND;
  unsigned start, end, protocol;
  uint32_t pseudo;
  if (word_at(frame, ip - 2) == 0x0800 && frame[ip] == 0x45 &&
      (word_at(frame, ip + 6) & 0x3fff) == 0) {
    start = ip + IP4;
    end = ip + word_at(frame, ip + 2);
    protocol = frame[ip + 9];
    pseudo = sum_of(frame, ip + 12, ip + 20);
  } else if (word_at(frame, ip - 2) == 0x86dd && frame[ip] >> 4 == 6 && ip + IP6 <= bytes) {
    start = ip + IP6;
    end = start + word_at(frame, ip + 4);
    protocol = frame[ip + 6];
    pseudo = sum_of(frame, ip + 8, ip + IP6);
  } else {
    return EMNIC_NOT_FOUND;
  }
  if ((protocol != TCP && protocol != UDP) || end > bytes ||
      end < start + (protocol == TCP ? 20u : 8u))
    return EMNIC_NOT_FOUND;
  if (protocol == UDP && start + 8 <= bytes && word_at(frame, start + 6) == 0)
    return EMNIC_NOT_FOUND;  // its sender made none
  // Padding begins at an odd byte where the data ends at one: its words are those of the frame.
  uint32_t padding = 0;
  for (unsigned at = end; at < bytes; ++at)
    padding += (uint32_t)frame[at] << ((at - ETH) % 2 ? 0 : 8);
  const uint32_t total = csum % 0xffffu + pseudo + protocol + (end - start) + 2u * 0xffff -
                         sum_of(frame, ETH, start) - padding % 0xffff;
  return total % 0xffff == 0;
}

static void put_word(uint8_t* bytes, unsigned at, uint32_t word) {
  bytes[at] = (uint8_t)(word >> 8);
  bytes[at + 1] = (uint8_t)word;
}

int emnic_find_joined(const uint8_t* frame, const struct emnic_completion* c,
                      struct emnic_joined* out) {
  unsigned ip = ETH;
  while (ip + IP4 <= c->bytes && ip < ETH + 8 && has_tag(frame, ip)) ip += 4;
  if (ip + IP6 > c->bytes) return EMNIC_BAD_FRAME;
  out->network = ip;
  out->v6 = word_at(frame, ip - 2) == 0x86dd;
  out->transport = ip + (out->v6 ? IP6 : IP4);
  if (out->v6 ? frame[ip + 6] != TCP
              : word_at(frame, ip - 2) != 0x0800 || frame[ip] != 0x45 || frame[ip + 9] != TCP)
    return EMNIC_BAD_FRAME;
  if (out->transport + TCP_LEAST > c->bytes) return EMNIC_BAD_FRAME;
  const unsigned tcp = frame[out->transport + TCP_OFFSET] / 16u * 4;
  out->headers = out->transport + tcp;
  if (tcp < TCP_LEAST || c->segment_bytes == 0 || out->headers + c->segment_bytes >= c->bytes)
    return EMNIC_BAD_FRAME;
  out->frames = (c->bytes - out->headers + c->segment_bytes - 1) / c->segment_bytes;
  return 0;
}

void emnic_set_joined(uint8_t* frame, const struct emnic_completion* c,
                      const struct emnic_joined* joined) {
  uint8_t* const ip = frame + joined->network;
  uint8_t* const tcp = frame + joined->transport;
  const unsigned bytes = c->bytes - joined->transport;
  if (c->push) tcp[TCP_FLAGS] |= TCP_PUSH;
  if (joined->v6) {
    put_word(ip, 4, bytes);
  } else {
    put_word(ip, 2, bytes + IP4);
    put_word(ip, 10, 0);
    put_word(ip, 10, 0xffff - sum_of(ip, 0, IP4));
  }
  const uint32_t addresses = joined->v6 ? sum_of(ip, 8, IP6) : sum_of(ip, 12, IP4);
  put_word(tcp, TCP_SUM, (addresses + TCP + bytes) % 0xffff);
}
