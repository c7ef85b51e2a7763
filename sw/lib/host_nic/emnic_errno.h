// SPDX-License-Identifier: Apache-2.0
// Errors of the core as those of POSIX; include it behind the errno.h of the place.
#ifndef EMNIC_ERRNO_H
#define EMNIC_ERRNO_H

#include "errors.h"

// 0, or a negative errno.
static inline int emnic_errno(int code) {
  switch (code) {
    case EMNIC_OK:
      return 0;
#define EMNIC_ERRNO_CASE(name, value, posix, words) \
  case value:                                       \
    return -(posix);
      EMNIC_ERRORS(EMNIC_ERRNO_CASE)
#undef EMNIC_ERRNO_CASE
    default:
      return -EINVAL;
  }
}

#endif
