// SPDX-License-Identifier: Apache-2.0
// Tests of the driver core in files of their own, some with a plain configuration: how often
// streams ring; packets that the device cuts into frames; rate limits; counters of the
// device, of queues and of ports; headers in buffers of their own; several segments under one
// record; what a loaded device is told of; a device that is pulled out.
#ifndef PARTS_TEST_H
#define PARTS_TEST_H

#include "../emnic.h"

void test_stream_doorbells(void);
void test_segments(void);
void test_limits(struct emnic_config c);
void test_shared(struct emnic_config c);
void test_virtual(struct emnic_config c);
void test_counters(struct emnic_config c);
void test_queue_counts(struct emnic_config c);
void test_port_counts(struct emnic_config c);
void test_counts_over_resets(struct emnic_config c);
void test_split(struct emnic_config c);
void test_coalescing(struct emnic_config c);
void test_gathering(struct emnic_config c);
void test_gone(struct emnic_config c);

#endif
