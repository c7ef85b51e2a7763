// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/tx_sources.hpp"

#include <string>

namespace emery::host_nic {

namespace {

// Frames with the device, for many round trips; streams gather what waits in their rings.
constexpr unsigned kMostOutstanding = 8192, kMostInStreams = 262144;
constexpr std::uint16_t kFirst = 0x1000;

}  // namespace

TxSources::TxSources(const Options& options, unsigned interfaces, Driver& driver, RootComplex& root)
    : driver_(driver),
      root_(root),
      interfaces_(interfaces),
      // Enough for blocks of eight on every queue, twice; of streams for turns of many frames.
      most_outstanding_(options.get<std::string>("tx_mode") == "stream"
                            ? std::clamp(64 * driver.tx_queues(), kMostOutstanding, kMostInStreams)
                            : std::min(16 * driver.tx_queues() + 512, kMostOutstanding)) {
  for (const std::string& rate : list_of(options.get<std::string>("queue_rates")))
    rates_.push_back(std::stod(rate));
}

std::uint32_t TxSources::deal_count() const {
  const Source* sender = interfaces_.front().sender;
  return sender ? sender->plan().deal_count : 1;
}

void TxSources::add(unsigned interface, const TrafficConfig& plan, const Make& make) {
  Interface& to = interfaces_[interface];
  if (by_queue()) {
    for (unsigned q = 0; q < driver_.tx_queues(); ++q)
      to.by_queue.push_back(&make(part(plan, interface, q), false));
  } else {
    to.sender = &make(plan, true);
  }
}

// A queue's share of flows and frames, and so much of the rate as the setting says.
TrafficConfig TxSources::part(TrafficConfig all, unsigned interface, unsigned queue) const {
  const unsigned queues = driver_.tx_queues(), flows = all.flows;
  all.flows = flows / queues + (queue < flows % queues);
  if (all.frames != 0)
    all.frames = std::max<std::uint64_t>(all.frames / queues + (queue < all.frames % queues), 1);
  all.rate *= rates_[queue % rates_.size()];
  all.source = static_cast<std::uint16_t>(kFirst + interface * queues + queue);
  return all;
}

bool TxSources::held_up(Time now) const {
  const auto due = [now](Source* source) { return source && source->due(now) != nullptr; };
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& all) {
    return due(all.sender) || std::any_of(all.by_queue.begin(), all.by_queue.end(), due);
  });
}

}  // namespace emery::host_nic
