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

  /// One more guest, number N, with a device in each of these slots; its sockets are FOLDER/timeN,
  /// and FOLDER/pciN.S of slot S. Its memory is told of.
  void add(const std::string& folder, const std::vector<HostInterface*>& slots,
           std::function<void(const VhostDevice::Region&)> on_memory);
  /// A guest writes registers of a device; set before run().
  VirtioPci::OnRegister on_register;
  /// Waits for them and runs until the first one has ended.
  void run();

  /// The calendar's time at a time of the simulation.
  Time calendar(Time simulated) const { return simulated + skipped_; }
  Time now() const { return calendar(simulation_.now()); }
  /// How much of that the simulation's clocks stood still.
  Time skipped() const { return skipped_ - skipped_before_; }

 private:
  struct Slot {
    HostInterface& host;
    Listener pci;
    std::unique_ptr<VhostDevice> device;  // when the guest has come for it
    std::unique_ptr<VirtioPci> port;

    int number() const { return device ? device->number() : pci.number(); }
    bool news() const { return port && port->news(); }
  };
  struct Guest {
    std::function<void(const VhostDevice::Region&)> on_memory;
    Listener time;
    std::vector<std::unique_ptr<Slot>> slots;
    std::unique_ptr<TimeLink> link;

    bool ended = false;

    bool gone() const { return ended || link->gone(); }
    bool news() const;
    std::vector<int> numbers() const;  // of the slots, then of the time
  };

  void serve(Guest& guest);
  bool answer(Guest& guest, std::size_t number);
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
