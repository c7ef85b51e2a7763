// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/socket_guests.hpp"

#include <algorithm>

namespace emery {
namespace {

constexpr Time kLook = 200 * kNanosecond;  // between looks at what the guests ask for

class End final : public SocketGuests::Peer {
 public:
  explicit End(Descriptor signal) : signal_(std::move(signal)) {}
  int number() const override { return signal_.number(); }
  bool serve() override { return false; }

 private:
  Descriptor signal_;
};

}  // namespace

void SocketGuests::end_with(Descriptor signal) {
  places_.push_back({nullptr, {}, std::make_unique<End>(std::move(signal))});
}

void SocketGuests::add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                       HostMemory& memory) {
  const std::string number = std::to_string(guests_++);
  add_more(folder, number, slots);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SlotInterface& host = *slots[i];
    HostMemory* own = i == 0 ? &memory : nullptr;
    const auto met = [this, &host, own](Descriptor caller) {
      return meet(std::move(caller), host, own);
    };
    listen(folder + "/pci" + number + "." + std::to_string(i), met);
  }
}

void SocketGuests::listen(const std::string& path, Meet meet) {
  places_.push_back({std::make_unique<Listener>(path), std::move(meet), nullptr});
}

// False when it has gone.
bool SocketGuests::answer(Place& place) {
  if (!place.peer) {
    place.peer = place.meet(place.listener->accept());
    place.listener.reset();
    still_.moved();
    return true;
  }
  const bool there = place.peer->serve();
  if (place.peer->moves()) still_.moved();
  return there;
}

void SocketGuests::run() {
  for (bool ended = false; !ended;) {
    std::vector<int> numbers;
    for (const Place& place : places_) numbers.push_back(place.number());
    const bool behind = std::any_of(places_.begin(), places_.end(),
                                    [](const Place& place) { return place.behind(); });
    if (!behind && still_.quiet()) wait_readable(numbers);
    for (Place& place : places_) {
      if (place.behind() || readable(place.number(), 0)) ended = !answer(place) || ended;
    }
    if (!ended && !still_.quiet()) simulation_.run_for(kLook);
  }
}

}  // namespace emery
