/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef EMERY_POSTED_H
#define EMERY_POSTED_H

/*
 * The PCI bridge of a user-mode Linux 6.1 (virt-pci.c) loses writes when more than 128 of them come
 * without a read or an interrupt. To read now and then costs nothing elsewhere: so many in a row
 * are only written when the device is set up.
 */
#define MOST_POSTED 64

#endif
