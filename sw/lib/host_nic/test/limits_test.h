// SPDX-License-Identifier: Apache-2.0
// Tests of rate limits.
#ifndef LIMITS_TEST_H
#define LIMITS_TEST_H

#include "../emnic.h"

void test_limits(struct emnic_config c);

#endif
