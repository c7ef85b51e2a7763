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
#include "bench/guest/guest_machines.hpp"
#include "bench/guest/stillness.hpp"
#include "bench/guest/terminal.hpp"
#include "bench/guest/time_link.hpp"
#include "bench/guest/vhost_device.hpp"
#include "bench/guest/virtio_pci.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class Guests : public GuestMachines {
 public:
  /// `activity` as of Stillness.
  Guests(Simulation& simulation, Stillness::Activity activity)
      : simulation_(simulation),
        still_(simulation, std::move(activity)),
        skipped_(-simulation.now()) {}

  /// One more guest; beside its devices' sockets there is FOLDER/timeN.
  void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
           HostMemory& memory) override;
  /// Somebody types at a terminal of the first guest. `told` as of Terminal.
  void with_terminal(Descriptor told) { terminal_.emplace(std::move(told)); }
  /// A guest writes registers of a device; set before run().
  VirtioPci::OnRegister on_register;
  void run() override;
  Time calendar(Time simulated) const override { return simulated + skipped_; }
  Time now() const override { return calendar(simulation_.now()); }
  Time skipped() const override { return skipped_ - skipped_before_; }

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
    HostMemory& memory;
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
  void wake(Guest& guest);
  bool news() const;

  Simulation& simulation_;
  Stillness still_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::optional<Terminal> terminal_;
  Time skipped_, skipped_before_ = 0;
};

}  // namespace emery
