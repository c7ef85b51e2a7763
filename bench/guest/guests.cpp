// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/guests.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace emery {
namespace {

constexpr Time kLook = kMicrosecond;        // between looks at whether anything moves
constexpr Time kQuiet = 10 * kMicrosecond;  // longer than a device lets anything wait

}  // namespace

void Guests::add(const std::string& folder, HostInterface& host,
                 std::function<void(const VhostDevice::Region&)> on_memory) {
  const std::string number = std::to_string(guests_.size());
  guests_.push_back(std::unique_ptr<Guest>(
      new Guest{host, std::move(on_memory), Listener(folder + "/time" + number),
                Listener(folder + "/pci" + number), nullptr, nullptr, nullptr}));
}

void Guests::run() {
  skipped_before_ = skipped_ = -simulation_.now();
  for (const auto& guest : guests_) {
    guest->link = std::make_unique<TimeLink>(
        guest->time.accept(), [this] { return static_cast<std::uint64_t>(now() / kNanosecond); });
    serve(*guest);
  }
  const auto ended = [](const auto& guest) { return guest->gone(); };
  while (std::none_of(guests_.begin(), guests_.end(), ended)) {
    std::uint64_t next = TimeLink::kNeverNs;
    for (const auto& guest : guests_) next = std::min(next, guest->link->wanted());
    advance(next);
    if (news()) deliver();
    for (const auto& guest : guests_) {
      if (guest->link->wanted() > static_cast<std::uint64_t>(now() / kNanosecond)) continue;
      guest->link->run();
      serve(*guest);
    }
  }
}

// What a guest that runs asks for, until it waits. Its accesses before its time: it has made them
// before.
void Guests::serve(Guest& guest) {
  while (!guest.gone() && !guest.link->waits()) {
    const int pci = guest.device ? guest.device->number() : guest.pci.number();
    if (wait_readable({pci, guest.link->number()}) == 1) {
      guest.link->serve();
    } else if (guest.device) {
      guest.ended = !guest.device->serve();
    } else {
      guest.device = std::make_unique<VhostDevice>(guest.pci.accept(), VirtioPci::kQueues);
      guest.device->on_memory = guest.on_memory;
      guest.port = std::make_unique<VirtioPci>(*guest.device, guest.host);
    }
  }
  moved_ = simulation_.now();
}

bool Guests::news() const {
  return std::any_of(guests_.begin(), guests_.end(), [](const auto& g) { return g->news(); });
}

bool Guests::quiet() {
  const auto found = activity_();
  if (!found || found != seen_) moved_ = simulation_.now();
  seen_ = found;
  return simulation_.now() - moved_ >= kQuiet;
}

// To that time, or to the first nanosecond at which there is something to tell a guest.
void Guests::advance(std::uint64_t until_ns) {
  const bool for_good = until_ns >= TimeLink::kNeverNs / kNanosecond;
  const Time until = for_good ? kNever : static_cast<Time>(until_ns) * kNanosecond;
  while (!news() && now() < until) {
    if (!quiet()) {
      const Time end = simulation_.now() + (for_good ? kLook : std::min(kLook, until - now()));
      if (!simulation_.run_until([this] { return news(); }, end)) simulation_.run_until(end);
    } else if (for_good) {
      throw std::runtime_error("all guests sleep, and nothing is under way that could wake one");
    } else {
      skipped_ += until - now();
    }
  }
  const Time odd = now() % kNanosecond;
  if (odd != 0) simulation_.run_for(kNanosecond - odd);
}

void Guests::deliver() {
  for (const auto& guest : guests_) {
    if (guest->news() && !guest->gone())
      guest->port->deliver(guest->link->number(), [&] {
        guest->link->serve();
        return !guest->gone();
      });
  }
}

}  // namespace emery
