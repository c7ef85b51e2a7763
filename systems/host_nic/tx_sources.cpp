// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/queue_sources.hpp"

#include <algorithm>
#include <string>

namespace emery::host_nic {

namespace {

constexpr unsigned kAtOnce = 8;  // queues a clock, and frames of each
constexpr std::uint16_t kFirst = 0x1000;

}  // namespace

QueueSources::QueueSources(const Options& options) {
  for (const std::string& rate : list_of(options.get("queue_rates", "")))
    rates_.push_back(std::stod(rate));
}

TrafficConfig QueueSources::plan(TrafficConfig all, unsigned interface, unsigned queue,
                                 unsigned queues) const {
  const unsigned flows = all.flows;
  all.flows = flows / queues + (queue < flows % queues);
  if (all.frames != 0)
    all.frames = std::max<std::uint64_t>(all.frames / queues + (queue < all.frames % queues), 1);
  all.rate *= rates_[queue % rates_.size()];
  all.source = static_cast<std::uint16_t>(kFirst + interface * queues + queue);
  return all;
}

void QueueSources::add(unsigned interface, Source& source) {
  if (interface >= interfaces_.size()) interfaces_.resize(interface + 1);
  interfaces_[interface].sources.push_back(&source);
}

void QueueSources::feed(unsigned interface, Time now, const Offer& offer) {
  if (interface >= interfaces_.size()) return;
  Interface& all = interfaces_[interface];
  const std::size_t count = all.sources.size();
  for (std::size_t n = 0; n < std::min<std::size_t>(count, kAtOnce); ++n) {
    const std::size_t queue = all.next;
    all.next = queue + 1 == count ? 0 : queue + 1;
    Source& source = *all.sources[queue];
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const Frame* frame = source.due(now);
      if (!frame || !offer(static_cast<unsigned>(queue), *frame)) break;
      source.pop();
    }
  }
}

bool QueueSources::held_up(Time now) const {
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& all) {
    return std::any_of(all.sources.begin(), all.sources.end(),
                       [&](Source* source) { return source->due(now) != nullptr; });
  });
}

}  // namespace emery::host_nic
