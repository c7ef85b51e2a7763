// SPDX-License-Identifier: Apache-2.0
// A filter: UDP datagrams to one port, that the driver has set, are not for the host. Variant
// `filter`, otherwise as `rmw`; an example of firmware that drops frames.
#include "filter.h"

enum { IPV4 = 0x0008, UDP = 17 };  // EtherType as it lies in a little-endian word

static uint32_t swapped(uint32_t half) { return (half >> 8 | half << 8) & 0xffff; }

// What the host sees of it: the device counts, as it does the frames that it dropped itself.
static __attribute__((noinline)) void count_dropped(void) { DEVICE(RxDropped) = 1; }

// Reads the headers where the frame lies, in the frame memory: three words that take a while. Of a
// datagram in fragments it knows the first only.
bool receive_wanted(uint32_t slot, uint32_t length) {
  const shared_t* words = (const shared_t*)slot;
  const uint32_t port = DEVICE(Config + 4 * ConfigDropPort);
  if (port == 0) return true;
  const uint32_t type = words[3];  // EtherType, version and length of the header, service
  if ((type & 0xffff) != IPV4 || (type >> 20 & 15) != 4) return true;
  const uint32_t header_words = type >> 16 & 15;
  if (header_words < 5 || 14 + 4 * header_words + 8 > length) return true;
  const uint32_t protocol = words[5];  // fragment, time to live, protocol
  if (protocol >> 24 != UDP || (protocol & 0xff1f) != 0) return true;
  if (swapped(words[4 + header_words] & 0xffff) != port) return true;
  count_dropped();
  return false;
}
