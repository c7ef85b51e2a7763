/* SPDX-License-Identifier: GPL-2.0-only */
/* For the driver core, which is written against a C compiler's own headers. */
#include <linux/types.h>
#include <linux/limits.h>

#define INT32_MIN  S32_MIN
#define INT32_MAX  S32_MAX
#define UINT32_MAX U32_MAX
