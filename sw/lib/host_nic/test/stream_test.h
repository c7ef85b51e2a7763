// SPDX-License-Identifier: Apache-2.0
// Tests of transmitting: how often streams ring; packets that the device cuts into frames.
#ifndef STREAM_TEST_H
#define STREAM_TEST_H

void test_stream_doorbells(void);
void test_segments(void);

#endif
