// SPDX-License-Identifier: Apache-2.0
// A host-nic with virtual functions: each function has a driver of its own on its own side of the
// machine, and traffic; the last one's may be hostile. The host's IOMMU says who reaches what.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "Vhost_nic.h"
#include "bench/pcie/function_host.hpp"
#include "bench/pcie/iommu.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/wire/mac_port.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/host_nic/hostile_function.hpp"
#include "systems/host_nic/offloads.hpp"

namespace emery::host_nic {

struct FunctionSettings {
  unsigned count;
  bool hostile;
  Time reset_every;

  explicit FunctionSettings(const Options& options)
      : count(options.get<unsigned>("functions")),
        hostile(options.get<bool>("hostile_function")),
        reset_every(options.us("hostile_reset_us")) {}
};

class FunctionsBench final : public Run {
 public:
  explicit FunctionsBench(const Options& options);
  void sample(Time now) override;

 private:
  struct Function {
    std::unique_ptr<FunctionHost> host;
    std::unique_ptr<Driver> driver;  // of one that is not hostile
    Source* sends = nullptr;
    int tx_stream = -1, rx_stream = -1;
    std::uint64_t sent = 0, received = 0, strangers = 0;
  };

  void add_function(unsigned number, const DriverConfig& config);
  void add_traffic(const Options& options);
  void feed(Function& function, Time now);
  bool is_hostile(unsigned number) const { return hostile_ && number + 1 == functions_.size(); }
  unsigned function_of(std::span<const std::uint8_t> frame) const;

  void open() override;
  void account() override;
  void count_left_on();
  bool at_rest() const override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vhost_nic> model_;
  int core_;
  Workload workload_;
  unsigned total_rx_queues_, clear_;  // of all; clocks in which the card clears its queues
  HostMemory memory_;
  PcieHost host_;
  PcieHost::Busy before_;  // traffic
  Iommu iommu_;
  std::vector<Function> functions_;
  std::unique_ptr<HostileFunction> hostile_;
  std::unique_ptr<MacPort> port_;
  FlowHash hash_;
  unsigned rss_entries_ = 0, slice_ = 0;
  std::uint64_t to_hostile_ = 0, of_hostile_ = 0;  // frames that no one answers for
  std::uint32_t outside_ = 0, resets_ = 0;         // as the card has counted them
  std::uint32_t left_on_ = 0;                      // queues of the hostile function, after it
};

}  // namespace emery::host_nic
