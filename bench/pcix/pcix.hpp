// SPDX-License-Identifier: Apache-2.0
// PCI-X as rtl/pcix/pcix_pkg.sv has it: the wires of the bus, what one agent drives, the fields of
// address and attribute phases, and a tracker that says which phase a clock is.
#pragma once

#include <cstdint>

#include "bench/sim/time.hpp"

namespace emery {

inline constexpr unsigned kPcixBurstBytes = 4096;      // longest transaction
inline constexpr unsigned kPcixDisconnectBytes = 128;  // it is only cut at such a boundary

enum class PcixCommand : std::uint8_t {
  kMemReadDword = 0x6,
  kMemWrite = 0x7,
  kConfigRead = 0xa,
  kConfigWrite = 0xb,
  kSplitCompletion = 0xc,
  kMemReadBlock = 0xe,
  kMemWriteBlock = 0xf,
};

inline bool is_read(PcixCommand c) {
  return c == PcixCommand::kMemReadDword || c == PcixCommand::kConfigRead ||
         c == PcixCommand::kMemReadBlock;
}
inline bool is_config(PcixCommand c) {
  return c == PcixCommand::kConfigRead || c == PcixCommand::kConfigWrite;
}

inline bool is_memory_write(PcixCommand c) {
  return c == PcixCommand::kMemWrite || c == PcixCommand::kMemWriteBlock;
}

/// {DEVSEL#, STOP#, TRDY#} when the target answers.
enum class PcixResponse : std::uint8_t {
  kDisconnectNextAdb = 0,
  kRetry = 1,
  kTransfer = 2,
  kWait = 3,
  kSingleDisconnect = 4,
  kTargetAbort = 5,
  kSplitResponse = 6,
  kSilent = 7,
};

/// Bus, device and function number in 16 bits.
struct PcixId {
  std::uint8_t bus = 0, device = 0, function = 0;
  std::uint32_t bits() const { return bus << 8 | (device & 31u) << 3 | (function & 7u); }
  static PcixId of(std::uint64_t bits) {
    return {static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits >> 3 & 31),
            static_cast<std::uint8_t>(bits & 7)};
  }
  bool operator==(const PcixId&) const = default;
};

/// AD[34:0] of the attribute phase.
struct PcixAttribute {
  std::uint32_t bytes = 0;  // 1 ... 4096
  bool message = false;
  std::uint8_t tag = 0;
  PcixId id;

  std::uint64_t bits() const {
    return std::uint64_t{bytes & 0xfff} << 23 | std::uint64_t{message} << 22 |
           std::uint64_t{tag & 31u} << 16 | id.bits();
  }
  static PcixAttribute of(std::uint64_t ad) {
    const auto count = static_cast<std::uint32_t>(ad >> 23 & 0xfff);
    return {count ? count : kPcixBurstBytes, (ad >> 22 & 1) != 0,
            static_cast<std::uint8_t>(ad >> 16 & 31), PcixId::of(ad & 0xffff)};
  }
};

/// AD[31:0] of a Split Completion's address phase: whom it is for.
struct PcixSplitAddress {
  std::uint8_t tag = 0;
  PcixId requester;
  std::uint8_t lower_address = 0;  // bits 6:3 of the first byte's

  std::uint64_t bits() const {
    return std::uint64_t{tag & 31u} << 20 | std::uint64_t{requester.bits()} << 4 |
           (lower_address & 15u);
  }
  static PcixSplitAddress of(std::uint64_t ad) {
    return {static_cast<std::uint8_t>(ad >> 20 & 31), PcixId::of(ad >> 4 & 0xffff),
            static_cast<std::uint8_t>(ad & 15)};
  }
};

/// What everybody sees in a clock; undriven control signals are high.
struct PcixWires {
  bool frame_n = true, irdy_n = true, devsel_n = true, trdy_n = true, stop_n = true;
  std::uint64_t ad = 0;
  std::uint8_t cbe_n = 0xff;

  bool idle() const { return frame_n && irdy_n; }
  PcixResponse response() const {
    return static_cast<PcixResponse>(devsel_n << 2 | stop_n << 1 | int{trdy_n});
  }
};

/// What one agent drives; a signal counts only while its enable is set.
struct PcixDrive {
  bool req_n = true;
  bool frame_n = true, irdy_n = true, master_oe = false;
  bool devsel_n = true, trdy_n = true, stop_n = true, target_oe = false;
  std::uint64_t ad = 0;
  std::uint8_t cbe_n = 0xff;
  bool ad_oe = false;
};

/// Follows the bus clock by clock. Clock 0 of a transaction is its address, 1 its attribute, 2 its
/// response phase; data phases follow until FRAME# and IRDY# are both high.
class PcixTracker {
 public:
  enum class Phase { kIdle, kAddress, kAttribute, kResponse, kData };

  Phase observe(const PcixWires& wires) {
    switch (phase_) {
      case Phase::kAddress:
        attribute = PcixAttribute::of(wires.ad);
        return phase_ = Phase::kAttribute;
      case Phase::kAttribute:
        data_clocks = words = 0;
        return phase_ = Phase::kResponse;
      case Phase::kResponse:
      case Phase::kData:
        if (!wires.idle()) {
          ++data_clocks;
          return phase_ = Phase::kData;
        }
        return phase_ = Phase::kIdle;
      case Phase::kIdle:
        if (wires.frame_n) return phase_;
        command = static_cast<PcixCommand>(wires.cbe_n & 15);
        address = wires.ad;
        return phase_ = Phase::kAddress;
    }
    return phase_;
  }
  Phase phase() const { return phase_; }

  PcixCommand command{};
  std::uint64_t address = 0;
  PcixAttribute attribute;
  unsigned data_clocks = 0;  // of this transaction, this clock included
  unsigned words = 0;        // for whoever counts them

 private:
  Phase phase_ = Phase::kIdle;
};

}  // namespace emery
