// SPDX-License-Identifier: Apache-2.0
// What the functions of the driver core give when they do not do it.
#ifndef EMNIC_ERRORS_H
#define EMNIC_ERRORS_H

// Name, code, errno of POSIX (emnic_errno.h), what it means.
#define EMNIC_ERRORS(X)                                                                          \
  X(NO_DEVICE, -1, ENODEV, "no host-nic behind BAR 0")                                           \
  X(BAD_VERSION, -2, ENODEV, "register map of another version")                                  \
  X(NO_MEMORY, -3, ENOMEM, "no memory")                                                          \
  X(NO_INTERRUPTS, -4, EIO, "no interrupts for the device's vectors")                            \
  X(BAD_RING, -5, EINVAL, "a ring is not a power of two from 8 to 32768")                        \
  X(BAD_SEGMENTS, -6, EINVAL, "segments must be 1, 2, 4 or 8, of a stream 1")                    \
  X(BAD_QUEUES, -7, EINVAL, "queues that there are not, or that ports cannot share evenly")      \
  X(BAD_FRAME, -8, EINVAL, "frames longer than the device's buffers are made for, or too short") \
  X(SHORT_RING, -9, EINVAL, "a stream's ring has fewer granules than the longest frame takes")   \
  X(MANY_SLOTS, -10, EINVAL, "more ring slots than completion queues hold")                      \
  X(FULL, -11, ENOBUFS, "the ring is full")                                                      \
  X(STOPPED, -12, EINVAL, "the queue is out of use")                                             \
  X(BUSY, -13, EBUSY, "not while it is in use")                                                  \
  X(NO_ROOM, -14, ENOSPC, "no place for the flow in the table")                                  \
  X(NOT_FOUND, -15, ENOENT, "no such thing")                                                     \
  X(UNSUPPORTED, -16, EOPNOTSUPP, "what the device or this mode does not have")                  \
  X(TIMEOUT, -17, ETIMEDOUT, "the device did not come to rest")                                  \
  X(BAD_BURST, -18, EINVAL, "a queue's burst has 2^20 bytes or more")                            \
  X(BAD_ADDRESS, -19, EINVAL, "a group address, or a VLAN above 4095")
#define EMNIC_ERROR_ENUM(name, value, posix, words) EMNIC_##name = (value),
enum { EMNIC_ERRORS(EMNIC_ERROR_ENUM) EMNIC_OK = 0 };
#undef EMNIC_ERROR_ENUM

#endif
