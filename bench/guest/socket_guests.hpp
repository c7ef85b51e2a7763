// SPDX-License-Identifier: Apache-2.0
// Guest machines whose devices are the other ends of sockets, each machine a process of its own
// with a time of its own: what is common to the protocols by which they speak to their devices
// (proxy_guests.hpp, vfio_guests.hpp).
//
// Simulated time goes by while anything is under way, and stands still otherwise; so what happens
// is not the same once more, and latencies that a guest sees are none of the card's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/guest/channel.hpp"
#include "bench/guest/guest_machines.hpp"
#include "bench/guest/stillness.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class SocketGuests : public GuestMachines {
 public:
  /// What stands at our end of a socket.
  class Peer {
   public:
    virtual ~Peer() = default;
    virtual int number() const = 0;
    /// Answers what has come; false when the other end has gone. May run the simulation.
    virtual bool serve() = 0;
    /// There is more to answer, whatever the socket says.
    virtual bool behind() const { return false; }
    /// What it asks for is done at a device.
    virtual bool moves() const { return true; }
  };

  /// `activity` as of Stillness.
  SocketGuests(Simulation& simulation, Stillness::Activity activity)
      : simulation_(simulation), still_(simulation, std::move(activity)) {}

  /// Ends the run when this can be read from, or its other end has gone.
  void end_with(Descriptor signal);
  void add(const std::string& folder, const std::vector<SlotInterface*>& slots,
           HostMemory& memory) override;
  void run() override;
  Time calendar(Time simulated) const override { return simulated; }
  Time now() const override { return simulation_.now(); }
  Time skipped() const override { return 0; }

 protected:
  using Meet = std::function<std::unique_ptr<Peer>(Descriptor caller)>;
  /// Whoever calls there is met once.
  void listen(const std::string& path, Meet meet);
  /// What a guest has beside its devices.
  virtual void add_more(const std::string& /*folder*/, const std::string& /*number*/,
                        const std::vector<SlotInterface*>& /*slots*/) {}
  /// The end of a device's socket; `memory` of the first one of a guest is that of all of them.
  virtual std::unique_ptr<Peer> meet(Descriptor caller, SlotInterface& host,
                                     HostMemory* memory) = 0;

 private:
  struct Place {
    std::unique_ptr<Listener> listener;  // until somebody has called
    Meet meet;
    std::unique_ptr<Peer> peer;

    int number() const { return peer ? peer->number() : listener->number(); }
    bool behind() const { return peer && peer->behind(); }
  };

  bool answer(Place& place);

  Simulation& simulation_;
  Stillness still_;
  std::vector<Place> places_;
  unsigned guests_ = 0;
};

}  // namespace emery
