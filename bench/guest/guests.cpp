// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/guests.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace emery {
namespace {

constexpr Time kLook = kMicrosecond;  // between looks at whether anything moves
constexpr Time kWhileNobodyTypes = 1'000'000 * kMicrosecond;

}  // namespace

void Guests::add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                 HostMemory& memory) {
  const std::string number = std::to_string(guests_.size());
  guests_.push_back(
      std::unique_ptr<Guest>(new Guest{memory, Listener(folder + "/time" + number), {}, nullptr}));
  auto& own = guests_.back()->slots;
  for (SlotInterface* host : slots) {
    const std::string path = folder + "/pci" + number + "." + std::to_string(own.size());
    own.push_back(std::unique_ptr<Slot>(new Slot{*host, Listener(path), nullptr, nullptr}));
  }
}

bool Guests::Guest::news() const {
  return std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return slot->news(); });
}

std::vector<int> Guests::Guest::numbers() const {
  std::vector<int> numbers;
  for (const auto& slot : slots) numbers.push_back(slot->number());
  numbers.push_back(link->number());
  return numbers;
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
    if (terminal_ && terminal_->typed()) {
      terminal_->take();
      wake(*guests_.front());
    }
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
  while (!guest.gone() && !guest.link->waits()) answer(guest, wait_readable(guest.numbers()));
}

// One request, over the socket of that number; false when the guest has ended.
bool Guests::answer(Guest& guest, std::size_t number) {
  if (number == guest.slots.size()) {
    guest.link->serve();
    return !guest.gone();
  }
  still_.moved();
  Slot& slot = *guest.slots[number];
  if (slot.device) {
    guest.ended = !slot.device->serve();
  } else {
    slot.device = std::make_unique<VhostDevice>(slot.pci.accept(), VirtioPci::kQueues);
    if (number == 0) {
      slot.device->on_memory = [&guest](const VhostDevice::Region& region) {
        guest.memory.lend(region.addr, region.bytes, region.at);
      };
    }
    slot.port = std::make_unique<VirtioPci>(*slot.device, slot.host);
    slot.port->on_register = on_register;
  }
  return !guest.gone();
}

bool Guests::news() const {
  return std::any_of(guests_.begin(), guests_.end(), [](const auto& g) { return g->news(); });
}

// To that time, or to the first nanosecond at which there is something to tell a guest.
void Guests::advance(std::uint64_t until_ns) {
  const bool for_good = until_ns >= TimeLink::kNeverNs / kNanosecond;
  const Time until = for_good ? kNever : static_cast<Time>(until_ns) * kNanosecond;
  while (!news() && now() < until && !(terminal_ && terminal_->typed())) {
    if (!still_.quiet()) {
      const Time end = simulation_.now() + (for_good ? kLook : std::min(kLook, until - now()));
      if (!simulation_.run_until([this] { return news(); }, end)) simulation_.run_until(end);
    } else if (terminal_) {
      skipped_ += terminal_->wait(for_good ? kWhileNobodyTypes : until - now());
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
    for (const auto& slot : guest->slots) {
      if (slot->news() && !guest->gone())
        slot->port->deliver(guest->numbers(), [&](std::size_t n) { return answer(*guest, n); });
    }
  }
}

// A guest that waits looks at its terminal when it runs, and it runs when it has asked for that:
// here for an interrupt with nothing in its queue.
void Guests::wake(Guest& guest) {
  if (!guest.gone() && !guest.slots.empty() && guest.slots.front()->port)
    guest.slots.front()->port->wake(guest.numbers(),
                                    [&](std::size_t n) { return answer(guest, n); });
}

}  // namespace emery
