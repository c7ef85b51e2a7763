// SPDX-License-Identifier: Apache-2.0
// Guest machines in QEMU 7.2: each with a socket for its device (ProxyPci) and one for its
// interrupts, QEMU's own test socket (qtest).
#pragma once

#include <string>
#include <vector>

#include "bench/guest/socket_guests.hpp"

namespace emery {

class ProxyGuests : public SocketGuests {
 public:
  using SocketGuests::SocketGuests;

  /// One more guest; beside its devices' sockets there is FOLDER/irqN, for qtest.
  void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
           HostMemory& memory) override;

 private:
  unsigned guests_ = 0;
};

}  // namespace emery
