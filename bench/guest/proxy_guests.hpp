// SPDX-License-Identifier: Apache-2.0
// Guest machines in QEMU: each a process of its own with a socket for its device (ProxyPci) and one
// for its interrupts.
//
// Their time is QEMU's own, not the simulation's. Simulated time goes by while anything is under
// way, and stands still otherwise; so what happens is not the same once more, and latencies that a
// guest sees are none of the card's.
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
#include "bench/guest/proxy_pci.hpp"
#include "bench/guest/stillness.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class ProxyGuests : public GuestMachines {
 public:
  /// `activity` as of Stillness.
  ProxyGuests(Simulation& simulation, Stillness::Activity activity)
      : simulation_(simulation), still_(simulation, std::move(activity)) {}

  /// One more guest; beside its devices' sockets there is FOLDER/irqN, for qtest.
  void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
           OnMemory on_memory) override;
  void run() override;
  Time calendar(Time simulated) const override { return simulated; }
  Time now() const override { return simulation_.now(); }
  Time skipped() const override { return 0; }

 private:
  struct Slot {
    HostInterface& host;
    Listener listener;
    std::unique_ptr<ProxyPci> device;  // when QEMU has come for it
  };
  struct Guest {
    OnMemory on_memory;
    Listener listener;  // of interrupts
    Descriptor interrupts;
    std::vector<std::unique_ptr<Slot>> slots;
    bool ended = false;

    std::vector<int> numbers() const;  // of the interrupts, then of the slots
    void answer(std::size_t number);
    void interrupt(MsixMessage message);
  };

  Simulation& simulation_;
  Stillness still_;
  std::vector<std::unique_ptr<Guest>> guests_;
};

}  // namespace emery
