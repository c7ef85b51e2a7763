// SPDX-License-Identifier: Apache-2.0
// Guest machines whose PCI devices are in the simulation: each is a user-mode Linux in a process of
// its own, with a socket for time (TimeLink) and one for its device (VirtioPci). This is their
// calendar: one guest runs at a time, and none while simulated time goes by.
//
// Approximations: what a guest's CPU does takes no time but where it waits, udelay() or reads a
// clock. While nothing is under way in the simulation, and nothing has been for a while, its clocks
// stand still until a guest does something: the calendar is that much ahead then, and so are the
// guests' clocks of whatever the device counts in its own clock (PTP time).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/time_link.hpp"
#include "bench/guest/vhost_device.hpp"
#include "bench/guest/virtio_pci.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class Guests {
 public:
  /// `activity`: a number that changes when anything moves in the simulation, or an empty one while
  /// something is under way for sure.
  Guests(Simulation& simulation, std::function<std::optional<std::uint64_t>()> activity)
      : simulation_(simulation), activity_(std::move(activity)), skipped_(-simulation.now()) {}

  /// One more guest, whose sockets are FOLDER/timeN and FOLDER/pciN. Its memory is told of.
  void add(const std::string& folder, HostInterface& host,
           std::function<void(const VhostDevice::Region&)> on_memory);
  /// Waits for them and runs until the first one has ended.
  void run();

  /// The calendar's time at a time of the simulation.
  Time calendar(Time simulated) const { return simulated + skipped_; }
  Time now() const { return calendar(simulation_.now()); }
  /// How much of that the simulation's clocks stood still.
  Time skipped() const { return skipped_ - skipped_before_; }

 private:
  struct Guest {
    HostInterface& host;
    std::function<void(const VhostDevice::Region&)> on_memory;
    Listener time, pci;
    std::unique_ptr<TimeLink> link;
    std::unique_ptr<VhostDevice> device;
    std::unique_ptr<VirtioPci> port;

    bool ended = false;

    bool gone() const { return ended || link->gone(); }
    bool news() const { return port && port->news(); }
  };

  void serve(Guest& guest);
  void advance(std::uint64_t until_ns);
  void deliver();
  bool quiet();
  bool news() const;

  Simulation& simulation_;
  std::function<std::optional<std::uint64_t>()> activity_;
  std::vector<std::unique_ptr<Guest>> guests_;
  Time skipped_, skipped_before_ = 0;
  Time moved_ = 0;  // when something did, in the simulation's time
  std::optional<std::uint64_t> seen_;
};

}  // namespace emery
