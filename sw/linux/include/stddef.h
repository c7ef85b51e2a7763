/* SPDX-License-Identifier: GPL-2.0-only */
/* For the driver core, which is written against a C compiler's own headers. */
#include <linux/stddef.h>
