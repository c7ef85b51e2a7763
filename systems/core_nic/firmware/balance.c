// SPDX-License-Identifier: Apache-2.0
// A balancer: received frames are dealt to the host's queues by flow, so that each flow stays in
// one queue and queues get alike. Variant `balance`, otherwise as `rmw`; an example of firmware
// that keeps state of flows and prints.
//
// A hash of addresses and ports picks one of 64 buckets; a bucket goes to the queue that has had
// the fewest frames when its first frame comes, and stays there.
#include "balance.h"

#include "print.h"

enum { BUCKETS = 64, QUEUES = 16, IPV4 = 0x0008, TCP = 6, UDP = 17 };

static shared_t owner[BUCKETS];  // its queue + 1; 0: none yet
static shared_t frames[QUEUES];
static lock_t lock;

// Words of the header where the frame lies, in the frame memory, each of which takes a while.
static uint32_t bucket_of(const shared_t* words, uint32_t length) {
  const uint32_t type = words[3];  // EtherType, version and length of the header, service
  if (length < 42 || (type & 0xffff) != IPV4 || (type >> 16 & 0xff) != 0x45) return 0;
  const uint32_t place = words[5];  // fragment, time to live, protocol
  const uint32_t protocol = place >> 24, fragment = place & 0xff3f;
  const uint32_t last = words[8];  // half of the destination, source port
  uint32_t hash = (words[6] >> 16) ^ words[7] ^ last << 16;
  if (fragment == 0 && (protocol == TCP || protocol == UDP)) hash ^= last >> 16 ^ words[9] << 16;
  return hash * 0x9e3779b1u >> 26;
}

// Whoever meets a bucket first finds it a queue; the others find that done.
static __attribute__((noinline)) uint32_t assign(uint32_t bucket, uint32_t queues) {
  receive_lock(&lock);
  const bool first = owner[bucket] == 0;
  uint32_t least = 0;
  for (uint32_t queue = 1; queue < queues; queue++)
    if (frames[queue] < frames[least]) least = queue;
  if (first) owner[bucket] = least + 1;
  receive_unlock(&lock);
  if (first) emery_printf("bucket %u to queue %u\n", bucket, least);
  return owner[bucket];
}

uint32_t receive_queue(uint32_t slot, uint32_t length) {
  uint32_t queues = DEVICE(Config + 4 * ConfigQueues);
  if (queues <= 1) return 0;
  if (queues > QUEUES) queues = QUEUES;
  const uint32_t bucket = bucket_of((const shared_t*)slot, length);
  const uint32_t found = owner[bucket];
  const uint32_t queue = (found != 0 ? found : assign(bucket, queues)) - 1;
  atomic_add(&frames[queue], 1);
  return BD_INFO_QUEUE(queue);
}
