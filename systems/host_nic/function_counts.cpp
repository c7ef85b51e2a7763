// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/function_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "host_nic.h"
#include "systems/host_nic/drops.hpp"

namespace emery::host_nic {

// The driver core knows queues of its own function alone.
int FunctionCounts::read(emnic* physical, unsigned function, bool transmit, unsigned queue,
                         emnic_queue_counts& counts) const {
  const std::size_t at = transmit ? offsetof(host_nic_t, interface[0].tx_stat)
                                  : offsetof(host_nic_t, interface[0].rx_stat);
  const auto get = [&](std::size_t offset) {
    return emnic_read(physical, static_cast<std::uint32_t>(at + offset));
  };
  const auto both = [&](std::size_t low) { return std::uint64_t{get(low + 4)} << 32 | get(low); };
  emnic_write(physical, static_cast<std::uint32_t>(at + offsetof(stat_regs_t, select)),
              function * (transmit ? tx_queues_ : rx_queues_) + queue);
  counts = {};
  if (get(offsetof(stat_regs_t, nonzero)) == 0) return 0;
  counts.packets = both(offsetof(stat_regs_t, packets_lo));
  counts.bytes = both(offsetof(stat_regs_t, bytes_lo));
  counts.errors = both(offsetof(stat_regs_t, errors_lo));
  if (!transmit) counts.drops = both(offsetof(stat_regs_t, drops_lo));
  return 0;
}

std::uint64_t& FunctionCounts::without_slot(emnic* physical, unsigned function, unsigned port) {
  const auto [found, fresh] = without_slot_.try_emplace({function, shared_ ? 0 : port}, 0);
  for (unsigned queue = shared_ ? 0 : port; fresh && queue < rx_queues_;
       queue += shared_ ? 1 : ports_) {
    emnic_queue_counts counts;
    read(physical, function, false, queue, counts);
    found->second += counts.drops;
  }
  return found->second;
}

void FunctionCounts::account(emnic* physical, const Streams& of_function) {
  const auto any_missing = [&](unsigned p) {
    return std::ranges::any_of(of_function,
                               [&](const auto& f) { return score_.missing(f.second[p]) != 0; });
  };
  for (unsigned p = 0; p < ports_; ++p) {
    // What is known of each before what may be anyone's.
    for (const bool known : {true, false}) {
      for (const DropReason& reason : kReceiveDrops) {
        const bool anyones = reason.counter == EMNIC_PORT_rx_fifo_full ||
                             reason.counter == EMNIC_PORT_rx_buffer_full;
        const bool no_slot = reason.counter == EMNIC_PORT_rx_no_descriptor ||
                             reason.counter == EMNIC_PORT_rx_queue_stopped;
        if (known == anyones || (!anyones && !any_missing(p))) continue;
        std::uint64_t left = emnic_get_counter(physical, reason.counter, 0, p);
        for (const auto& [function, streams] : of_function) {
          const int stream = streams[p];
          std::uint64_t lost = std::min(left, score_.missing(stream));
          if (lost == 0) continue;
          if (no_slot) {
            std::uint64_t& most = without_slot(physical, function, p);
            lost = std::min(lost, most);
            most -= lost;
          } else if (!anyones) {
            const auto told = spoilt_.find({stream, reason.name});
            lost = std::min(lost, told == spoilt_.end() ? 0 : told->second);
          }
          if (lost != 0) score_.dropped(stream, reason.name, lost);
          left -= lost;
        }
      }
    }
  }
}

}  // namespace emery::host_nic
