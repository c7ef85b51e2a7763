// SPDX-License-Identifier: Apache-2.0
// Guest machines whose PCI devices are in the simulation, whatever they run on (guests.hpp,
// proxy_guests.hpp, vfio_guests.hpp): what a bench needs of them.
#pragma once

#include <string>
#include <vector>

#include "bench/pcie/host_if.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/sim/time.hpp"

namespace emery {

class GuestMachines {
 public:
  virtual ~GuestMachines() = default;
  /// One more guest, number N, with a device in each of these slots; its sockets are in FOLDER,
  /// that of slot S is FOLDER/pciN.S. `memory`, which the slots have in common, becomes its own.
  virtual void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                   HostMemory& memory) = 0;
  /// Waits for them and runs until the first one has ended.
  virtual void run() = 0;
  /// The guests' time at a time of the simulation.
  virtual Time calendar(Time simulated) const = 0;
  virtual Time now() const = 0;
  /// How much of that the simulation's clocks stood still.
  virtual Time skipped() const = 0;
};

}  // namespace emery
