// SPDX-License-Identifier: Apache-2.0
// What the parameters of a run with `ptp` say.
#pragma once

#include <cstdint>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "sw/lib/host_nic/ptp.h"

namespace emery::host_nic {

struct PtpSettings {
  bool on, load;
  std::int64_t master_ppb, switch_ppb, slave_ppb;
  std::uint64_t wander_ppb;
  Time cable, residence, settle, measured;
  unsigned switch_stamp_ns, interval_us, gain;

  explicit PtpSettings(const Options& options)
      : on(options.get<bool>("ptp")),
        load(options.get<bool>("ptp_load")),
        master_ppb(options.get<std::int64_t>("ptp_master_ppb")),
        switch_ppb(options.get<std::int64_t>("ptp_switch_ppb")),
        slave_ppb(options.get<std::int64_t>("ptp_slave_ppb")),
        wander_ppb(options.get<std::uint64_t>("ptp_wander_ppb")),
        cable(options.ns("ptp_cable_ns")),
        residence(options.ns("ptp_residence_ns")),
        settle(options.us("ptp_settle_us")),
        measured(options.us("ptp_us")),
        switch_stamp_ns(options.get<unsigned>("ptp_switch_stamp_ns")),
        interval_us(options.get<unsigned>("ptp_interval_us")),
        gain(options.get<unsigned>("ptp_gain")) {}

  /// Of the end with this number.
  ptp_config port(bool master, std::uint8_t number) const {
    ptp_config c{};
    c.master = master;
    c.station[0] = 2;
    c.station[5] = c.identity[7] = number;
    c.port = 1;
    c.interval_ns = interval_us * 1000;
    c.gain = gain;
    c.step_ns = 1000;
    return c;
  }
};

}  // namespace emery::host_nic
