// SPDX-License-Identifier: Apache-2.0
// Tests of the PTP port.
#ifndef PTP_TEST_H
#define PTP_TEST_H

void test_ptp(void);

#endif
