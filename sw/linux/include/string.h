/* SPDX-License-Identifier: GPL-2.0-only */
/* For what is written against a C compiler's own headers. */
#include <linux/string.h>
