// SPDX-License-Identifier: Apache-2.0
// Which function a received frame is for, and which of its queues: by the receive filter where the
// card has one (function_filter), else as the physical function deals hashes to all queues. Worked
// out from the frame's bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/traffic/traffic.hpp"
#include "sw/lib/host_nic/emnic.h"
#include "sw/lib/host_nic/filter.h"
#include "systems/host_nic/offloads.hpp"

namespace emery::host_nic {

class FunctionAddresses {
 public:
  explicit FunctionAddresses(const Options& options);

  bool on() const { return on_; }
  /// Whether segments that a function receives are joined.
  bool joins(unsigned function) const { return address_[function].coalesce != 0; }
  /// Of frames that a function sends; of those of the wire, to all functions, to groups and to
  /// nobody.
  void address_sent(TrafficConfig& config, unsigned function) const;
  void address_received(TrafficConfig& config) const;

  /// Gives each function its address, by the physical one's driver; `each` receive queues it has
  /// opened.
  void set_up(emnic* physical, unsigned each);
  struct Place {
    unsigned function, queue;
  };
  Place of(std::span<const std::uint8_t> frame, unsigned port) const;

  /// Entries of the filter, as a function's driver reads them, that are not as they were set up.
  unsigned changed(emnic* driver, bool physical, unsigned function) const;

 private:
  unsigned by_filter(std::span<const std::uint8_t> frame) const;

  bool on_;
  unsigned functions_, ports_;
  bool shared_;  // all ports' queues
  unsigned rss_entries_ = 0, each_ = 1;
  std::vector<emnic_address> address_;
  FlowHash hash_;
};

}  // namespace emery::host_nic
