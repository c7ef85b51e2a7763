// SPDX-License-Identifier: Apache-2.0
// core-nic as gdb sees it: its cores, by the instructions they have retired; instruction memory,
// scratchpad and frame memory. Device registers cannot be read without their noticing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "Vcore_nic.h"
#include "bench/core/iss.hpp"
#include "bench/debug/debugger.hpp"
#include "bench/debug/target.hpp"
#include "bench/sim/options.hpp"
#include "systems/core_nic/image.hpp"
#include "systems/core_nic/scratchpad.hpp"

namespace emery::core_nic {

class Debug final : public DebugTarget {
 public:
  using Models = std::vector<InstructionModel>;

  Debug(Debugger& debugger, const Vcore_nic& model, const Image& image, const Models& models,
        std::span<const std::uint8_t> frames, const Options& options);

  void halt(Time now) { debugger_.halt(now); }
  /// A core has retired an instruction, and its model has followed it.
  void retired(unsigned core, const Retired& r) {
    if (debugger_.watches()) debugger_.stub().retired(core, r.pc_wdata, access(r));
  }
  /// A clock of the cores has passed.
  void clock(Time now);

  // ---- DebugTarget

  unsigned cores() const override { return static_cast<unsigned>(models_.size()); }
  std::string state(unsigned core) const override;
  std::optional<std::uint32_t> reg(unsigned core, unsigned number) const override;
  bool read(std::uint32_t address, std::span<std::uint8_t> bytes) const override;
  bool write(std::uint32_t address, std::span<const std::uint8_t> bytes) override;
  std::string cycles() const override;

 private:
  static DebugAccess access(const Retired& r);
  unsigned trap(unsigned core) const;
  std::optional<std::uint8_t> byte(std::uint32_t address) const;

  Debugger& debugger_;
  const Vcore_nic& model_;
  const Image& image_;
  const Models& models_;
  std::span<const std::uint8_t> frames_;
  Scratchpad scratchpad_;
  std::vector<bool> trapped_;  // those that gdb has been told of
  Time now_ = 0;
  std::uint64_t clocks_ = 0;
};

}  // namespace emery::core_nic
