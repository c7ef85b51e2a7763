// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/proxy_guests.hpp"

#include <algorithm>
#include <cstdio>

namespace emery {
namespace {

constexpr Time kLook = 200 * kNanosecond;  // between looks at what the guests ask for

}  // namespace

void ProxyGuests::add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                      OnMemory on_memory) {
  const std::string number = std::to_string(guests_.size());
  guests_.push_back(std::unique_ptr<Guest>(
      new Guest{std::move(on_memory), Listener(folder + "/irq" + number), Descriptor(), {}}));
  Guest& guest = *guests_.back();
  for (SlotInterface* host : slots) {
    const std::string path = folder + "/pci" + number + "." + std::to_string(guest.slots.size());
    guest.slots.push_back(std::unique_ptr<Slot>(new Slot{*host, Listener(path), nullptr}));
    host->on_message([&guest](MsixMessage message) { guest.interrupt(message); });
  }
}

std::vector<int> ProxyGuests::Guest::numbers() const {
  std::vector<int> numbers{interrupts ? interrupts.number() : listener.number()};
  for (const auto& slot : slots)
    numbers.push_back(slot->device ? slot->device->number() : slot->listener.number());
  return numbers;
}

void ProxyGuests::Guest::interrupt(MsixMessage message) {
  char line[64];
  const int bytes = std::snprintf(line, sizeof line, "writel 0x%llx 0x%x\n",
                                  static_cast<unsigned long long>(message.addr), message.data);
  send(interrupts, line, static_cast<std::size_t>(bytes));
}

void ProxyGuests::Guest::answer(std::size_t number) {
  if (number == 0) {
    char acknowledged;  // OK, a line each
    if (!interrupts) {
      interrupts = listener.accept();
    } else if (!receive(interrupts, &acknowledged, 1)) {
      ended = true;
    }
    return;
  }
  Slot& slot = *slots[number - 1];
  if (!slot.device) {
    slot.device = std::make_unique<ProxyPci>(
        slot.listener.accept(), slot.host, number == 1 ? on_memory : [](const auto&) {});
  } else {
    ended = !slot.device->serve() || ended;
  }
}

void ProxyGuests::run() {
  const auto ended = [](const auto& guest) { return guest->ended; };
  while (std::none_of(guests_.begin(), guests_.end(), ended)) {
    std::vector<int> all;
    for (const auto& guest : guests_) {
      const std::vector<int> own = guest->numbers();
      all.insert(all.end(), own.begin(), own.end());
    }
    if (still_.quiet()) wait_readable(all);
    bool asked = false;
    for (const auto& guest : guests_) {
      const std::vector<int> own = guest->numbers();
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (guest->ended || !readable(own[i], 0)) continue;
        guest->answer(i);
        asked = asked || i != 0;
      }
    }
    if (asked) still_.moved();
    if (!still_.quiet()) simulation_.run_for(kLook);
  }
}

}  // namespace emery
