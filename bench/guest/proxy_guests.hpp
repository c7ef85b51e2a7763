// SPDX-License-Identifier: Apache-2.0
// Guest machines in QEMU 7.2: each with a socket for its device (ProxyPci) and one for its
// interrupts, QEMU's own test socket (qtest).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/guest/socket_guests.hpp"

namespace emery {

class ProxyGuests : public SocketGuests {
 public:
  using SocketGuests::SocketGuests;

 private:
  // FOLDER/irqN, for qtest.
  void add_more(const std::string& folder, const std::string& number,
                const std::vector<SlotInterface*>& slots) override;
  std::unique_ptr<Peer> meet(Descriptor caller, SlotInterface& host, HostMemory* memory) override;
};

}  // namespace emery
