// SPDX-License-Identifier: Apache-2.0
// Tests of transmit streams: how often they ring.
#ifndef STREAM_TEST_H
#define STREAM_TEST_H

void test_stream_doorbells(void);

#endif
