// SPDX-License-Identifier: Apache-2.0
// Receive filter by function (EMNIC_FILTER): each function of a device has a MAC address, perhaps a
// VLAN. The physical function sets them, each function can read its own.
#ifndef EMNIC_FILTER_H
#define EMNIC_FILTER_H

#include "emnic.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EMNIC_MAX_FUNCTIONS = 64, EMNIC_MAC_BYTES = 6 };
struct emnic_address {
  uint8_t mac[EMNIC_MAC_BYTES];
  int valid;      // 0: the function has none, and gets no frame by it
  int check;      // what it sends has this source, or is dropped and counted (PORT_tx_spoofed)
  int has_vlan;   // it gets frames of one VLAN alone: of this ID in the outermost tag
  unsigned vlan;  // 0 ... 4095
  int coalesce;  // its TCP segments are joined, too (emnic_config.coalesce_bytes, of both drivers);
                 // to be taken back before a driver that does not know comes into the function
};

// By the physical function, at any time after emnic_start; function 0 is itself, whose address only
// `check` asks for: it receives all that is no other's, broadcast and multicast among them. Frames
// on their way go by the old entry or by the new one. Kept through emnic_recover. EMNIC_NOT_FOUND:
// no such port or function, or a virtual one asks; EMNIC_BAD_ADDRESS: a group address, or no such
// VLAN; EMNIC_UNSUPPORTED: no filter, or nothing is joined; EMNIC_NO_MEMORY.
int emnic_set_address(struct emnic* device, unsigned interface, unsigned port, unsigned function,
                      const struct emnic_address* address);
// As it is in the device; a virtual function finds its own as function 0. Also EMNIC_NO_DEVICE;
// `out` stays as it is then.
int emnic_get_address(struct emnic* device, unsigned interface, unsigned port, unsigned function,
                      struct emnic_address* out);

#ifdef __cplusplus
}
#endif
#endif
