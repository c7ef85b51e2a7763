// SPDX-License-Identifier: Apache-2.0
// A host-nic with virtual functions: each function has a driver of its own on its own side of the
// machine, and traffic; the last one's may be hostile. The host's IOMMU says who reaches what.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
#include "systems/host_nic/function_addresses.hpp"
#include "systems/host_nic/function_counts.hpp"
#include "systems/host_nic/hostile_function.hpp"
#include "systems/host_nic/offloads.hpp"
#include "systems/host_nic/port_counts.hpp"
#include "systems/host_nic/record_file.hpp"
#include "systems/host_nic/shared_queues.hpp"

namespace emery::host_nic {

struct FunctionSettings {
  unsigned count;
  bool hostile;
  Time reset_every, reset_at;
  FunctionAddresses addresses;

  explicit FunctionSettings(const Options& options)
      : count(options.get<unsigned>("functions")),
        hostile(options.get<bool>("hostile_function")),
        reset_every(options.us("hostile_reset_us")),
        reset_at(options.us("function_reset_at_us")),
        addresses(options) {}
};

class FunctionsBench final : public Run {
 public:
  explicit FunctionsBench(const Options& options)
      : FunctionsBench(options, FunctionSettings(options)) {}
  void sample(Time now) override;

 private:
  struct Function {
    std::unique_ptr<FunctionHost> host;
    std::unique_ptr<Driver> driver;  // of one that is not hostile
    Source* sends = nullptr;
    int tx_stream = -1;
    std::vector<int> rx_stream;  // of each port
    bool away = false;           // in reset, and until it is open again
    std::uint64_t sent = 0, received = 0, strangers = 0;
    std::unique_ptr<RecordCheck> records;
    std::unique_ptr<SharedQueues> shared;
  };

  FunctionsBench(const Options& options, const FunctionSettings& settings);
  void add_function(const Options& options, unsigned number, const DriverConfig& config);
  void add_traffic(const Options& options);
  void feed(Function& function, Time now);
  void connect_port(unsigned port);
  void took(unsigned number, const Received& received, Time now);
  bool is_hostile(unsigned number) const { return hostile_ && number + 1 == functions_.size(); }
  MacStats stats() const;

  void open() override;
  void at_move() override { host_.count_to_here(); }
  void look() override;
  Function& last_that_behaves() { return functions_[functions_.size() - (hostile_ ? 2 : 1)]; }
  void reset_function();
  std::vector<int> streams_of(const Function& function) const;
  void lose_in_reset();
  void account() override;
  void count_left_on();
  void inspect() override;
  Time busy_until() const override;
  bool at_rest() const override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vhost_nic> model_;
  int core_;
  Workload workload_;
  unsigned clear_ = 0,
           slice_ = 0;  // clocks in which the card clears its queues; receive queues of each
  HostMemory memory_;
  PcieHost host_;
  Iommu iommu_;
  std::vector<Function> functions_;
  std::unique_ptr<HostileFunction> hostile_;
  Time reset_at_;  // of the function that is reset; kNever: it has been, or will not
  const Function* was_reset_ = nullptr;
  std::vector<std::uint64_t> in_reset_;  // frames of its streams that it may have lost
  std::uint64_t lost_ = 0;               // and those that it has
  struct Port {
    std::unique_ptr<MacPort> mac;
    std::unique_ptr<PortCounts> counts;
    Output* output = nullptr;
  };
  std::vector<Port> ports_;
  FunctionAddresses addresses_;
  FunctionCounts counts_;
  Output* host_output_ = nullptr;
  std::optional<RecordFile> record_file_;                  // with captures
  std::uint64_t restart_every_, given_ = 0, arrived_ = 0;  // frames; 0: no restarts
  unsigned counted_;                                       // queues a way that are compared
  std::uint64_t to_hostile_ = 0, of_hostile_ = 0;          // frames that no one answers for
  std::uint32_t outside_ = 0, resets_ = 0;                 // as the card has counted them
  std::uint64_t spoofed_ = 0;                              // frames that it did not send
  std::uint64_t joined_ = 0;                               // segments
  unsigned readdressed_ = 0;
  std::uint32_t left_on_ = 0;  // queues of the hostile function, after it
};

}  // namespace emery::host_nic
