// SPDX-License-Identifier: Apache-2.0
// The time in which cores, memories and link are measured: while the load is what was asked for.
#pragma once

#include <cstdint>

#include "bench/dram/ddr.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/json.hpp"
#include "dram_formats.hpp"
#include "systems/core_nic/driver.hpp"
#include "systems/core_nic/observer.hpp"

namespace emery::core_nic {

/// The clocks of cores and frame memory, and what goes with them in numbers.
struct Clocks {
  unsigned core_thirds, mem_mhz, banks;  // core_thirds: in thirds of a megahertz
  int core = 0, mem = 0;

  explicit Clocks(const Options& options)
      : core_thirds(options.get<unsigned>("core_mhz_times_3")),
        mem_mhz(options.get<unsigned>("mem_mhz")),
        banks(options.get<unsigned>("banks")) {}
};

class Measurement {
 public:
  struct Parts {
    Simulation& simulation;
    const Clocks& clocks;
    Driver& driver;
    Observer& observer;
    const Ddr& ddr;
    PcieHost& host;
  };

  explicit Measurement(const Parts& parts) : parts_(parts) {}

  /// A frame has come out.
  void sent() { ++sent_; }
  void received() { ++received_; }

  /// Both read registers, which takes simulated time.
  void begin();
  void end();
  bool begun() const { return from_.time != 0; }
  bool ended() const { return to_.time != 0; }
  /// Frames that came out between the two.
  std::uint64_t frames() const { return to_.sent - from_.sent + to_.received - from_.received; }

  /// Fields of the open object; none when it has not ended.
  void write(JsonWriter& json, Time traffic_start) const;

 private:
  struct Snapshot {
    Time time = 0;
    std::uint32_t scratch = 0, imem = 0;
    std::uint64_t ddr_busy = 0, core_clocks = 0, mem_clocks = 0;
    std::uint64_t sent = 0, received = 0;
  };

  Snapshot snapshot();
  void write_cores(JsonWriter& json, double seconds) const;
  void write_memories(JsonWriter& json, double seconds) const;

  Parts parts_;
  Snapshot from_, to_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace emery::core_nic
