/* SPDX-License-Identifier: GPL-2.0-only */
/* For the generated header of registers: static_assert. */
#include <linux/build_bug.h>
