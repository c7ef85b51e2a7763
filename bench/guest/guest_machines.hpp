// SPDX-License-Identifier: Apache-2.0
// Guest machines whose PCI devices are in the simulation, whatever they run on (guests.hpp,
// proxy_guests.hpp): what a bench needs of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/guest/vhost_device.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/sim/time.hpp"

namespace emery {

class GuestMachines {
 public:
  using OnMemory = std::function<void(const VhostDevice::Region&)>;

  virtual ~GuestMachines() = default;
  /// One more guest, number N, with a device in each of these slots; its sockets are in FOLDER,
  /// that of slot S is FOLDER/pciN.S. Its memory is told of.
  virtual void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                   OnMemory on_memory) = 0;
  /// Waits for them and runs until the first one has ended.
  virtual void run() = 0;
  /// The guests' time at a time of the simulation.
  virtual Time calendar(Time simulated) const = 0;
  virtual Time now() const = 0;
  /// How much of that the simulation's clocks stood still.
  virtual Time skipped() const = 0;
};

}  // namespace emery
