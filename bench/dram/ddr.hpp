// SPDX-License-Identifier: Apache-2.0
// A graphics DDR memory at its pins (rtl/dram/dram_pkg.sv): banks, rows, data, and the times that
// a controller must keep.
//
// One command a clock; the device's clock, a quarter of that, brings four at once (slots, the first
// one first), with the data of four clocks. A read drives its 16 bytes `cas_latency` clocks after
// its command: they are in the slots that the device samples at the end of those four clocks; a
// write takes data and mask `write_latency` clocks after it. All data of a write are there before
// any read the times allow. A command that comes too early, to a bank in the wrong state, or with
// data missing, is counted as a violation (the first is kept in words) and done all the same; so is
// a refresh that is more than eight intervals late. When nothing is read the data pins carry a
// pattern. Bytes lie at their linear address: columns, then banks (exclusive or the row, as
// sdram_ctrl has them), then rows. An approximation in these points: two devices side by side are
// one; a command is a burst of two edges; mode registers, training and power-down are left out;
// there is no limit on four activates in a window; cells never lose their data.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// Pointers into the Verilated model, slot 0 in the low bits. Data: 4 words a slot, first byte in
/// bits 7:0 of word 0; mask bit 1: this byte is not written.
struct DdrPins {
  const std::uint16_t* cmd = nullptr;
  const std::uint16_t* bank = nullptr;
  const std::uint64_t* addr = nullptr;
  const std::uint8_t* dq_valid = nullptr;  // the device drives data in this clock
  const std::uint32_t* dq_out = nullptr;
  const std::uint64_t* dq_mask = nullptr;
  std::uint32_t* dq_in = nullptr;
  unsigned slots = 4;                   // up to 4
  const std::uint8_t* reset = nullptr;  // of the device, where it may come at any time
};

/// As `dram_cmd_e`.
enum class DdrCommand : std::uint8_t {
  kNop,
  kActivate,
  kRead,
  kWrite,
  kPrecharge,
  kPrechargeAll,
  kRefresh
};

/// Times are in clocks; those of a 500 MHz graphics DDR device by default.
struct DdrConfig {
  unsigned banks = 8;
  unsigned rows = 2048;    // a bank
  unsigned columns = 128;  // of 16 bytes a row
  unsigned t_rcd = 7;
  unsigned t_rp = 7;
  unsigned t_ras = 15;
  unsigned t_rrd = 5;
  unsigned t_wr = 7;   // last write data to precharge
  unsigned t_wtr = 4;  // last write data to read command
  unsigned t_rtp = 2;  // read command to precharge
  unsigned cas_latency = 7;
  unsigned write_latency = 3;
  unsigned t_rfc = 36;
  unsigned t_refi = 3900;  // one refresh in so many clocks on average
};

struct DdrStats {
  std::uint64_t clocks = 0;
  std::uint64_t reads = 0, writes = 0;  // words of 16 bytes
  std::uint64_t bytes_written = 0;      // the mask left them
  std::uint64_t bytes_masked = 0;
  std::uint64_t activates = 0, precharges = 0, refreshes = 0;
  std::uint64_t violations = 0;
  std::string first_violation;

  /// Bytes that went over the pins, masked ones too.
  std::uint64_t bytes_moved() const { return 16 * (reads + writes); }
  /// Clocks in which the data pins carried something.
  std::uint64_t busy() const { return reads + writes; }

  void write(JsonWriter& json) const {
    json.begin_object();
    json.field("clocks", clocks).field("busy_clocks", busy());
    json.field("bytes_moved", bytes_moved()).field("bytes_read", 16 * reads);
    json.field("bytes_written", bytes_written).field("bytes_masked", bytes_masked);
    json.field("activates", activates).field("precharges", precharges);
    json.field("refreshes", refreshes).field("violations", violations);
    if (violations != 0) json.field("first_violation", first_violation);
    json.end_object();
  }
};

class Ddr final : public Component {
 public:
  static constexpr unsigned kWord = 16;

  /// Throws std::invalid_argument for a bad configuration.
  Ddr(const DdrConfig& config, const DdrPins& pins) : config_(config), pins_(pins) {
    if (!std::has_single_bit(config.banks) || config.banks > 256 || config.rows == 0 ||
        config.columns == 0)
      throw std::invalid_argument("ddr: banks must be a power of two, rows and columns not 0");
    if (config.cas_latency < 2 || config.write_latency < 1)
      throw std::invalid_argument("ddr: cas_latency is at least 2, write_latency at least 1");
    if (config.t_refi == 0) throw std::invalid_argument("ddr: t_refi must not be 0");
    banks_.resize(config.banks);
    cells_.reset(static_cast<std::uint8_t*>(std::calloc(size(), 1)));
    if (!cells_) throw std::bad_alloc();
  }

  std::size_t size() const {
    return std::size_t{kWord} * config_.columns * config_.banks * config_.rows;
  }
  /// The cells themselves, by linear address, past all pins.
  std::span<std::uint8_t> bytes() { return {cells_.get(), size()}; }
  const DdrStats& stats() const { return stats_; }
  const DdrConfig& config() const { return config_; }

  void sample(Time) override {
    for (unsigned slot = 0; slot < pins_.slots; ++slot) {
      const std::int64_t now = static_cast<std::int64_t>(++stats_.clocks);
      const Slot pins = at(slot);
      if (pins.cmd != DdrCommand::kNop) command(pins, now);
      // Before a write of a slot behind it changes them.
      if (!reads_.empty() && reads_.front().at == now) {
        std::memcpy(read_data_ + slot * kWord, cells_.get() + reads_.front().address, kWord);
        reads_.pop();
        fresh_ |= 1u << slot;
      }
      // Data of a write that a reset has cut off do not come; who knows what the cells have then.
      if (pins_.reset && *pins_.reset) {
        while (!writes_.empty()) writes_.pop();
      } else if (pins.dq_valid || !writes_.empty()) {
        take_data(pins, now);
      }
      if (now > refresh_by_) late_refresh(now);
    }
  }

  void drive() override {
    if ((fresh_ | driven_) == 0) return;
    for (unsigned slot = 0; slot < pins_.slots; ++slot) {
      std::uint8_t* data = reinterpret_cast<std::uint8_t*>(pins_.dq_in) + slot * kWord;
      if (fresh_ >> slot & 1)
        std::memcpy(data, read_data_ + slot * kWord, kWord);
      else if (driven_ >> slot & 1)
        std::memset(data, 0xa5, kWord);
    }
    driven_ = fresh_;
    fresh_ = 0;
  }

 private:
  static constexpr std::int64_t kLongAgo = -1'000'000;
  struct Bank {
    bool open = false;
    std::uint32_t row = 0;
    std::int64_t activated = kLongAgo, precharged = kLongAgo, read = kLongAgo, written = kLongAgo;
  };
  /// What the pins say in one clock of the memory.
  struct Slot {
    DdrCommand cmd;
    unsigned bank, addr;
    bool dq_valid;
    const std::uint32_t* dq;
    std::uint16_t dq_mask;
  };
  Slot at(unsigned slot) const {
    return {static_cast<DdrCommand>(*pins_.cmd >> 3 * slot & 7),
            *pins_.bank >> 3 * slot & 7u,
            static_cast<unsigned>(*pins_.addr >> 14 * slot & 0x3fff),
            (*pins_.dq_valid >> slot & 1) != 0,
            pins_.dq_out + slot * kWord / sizeof(std::uint32_t),
            static_cast<std::uint16_t>(*pins_.dq_mask >> 16 * slot)};
  }
  struct Move {
    std::int64_t at = 0;
    std::size_t address = 0;
  };
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };

  void violation(std::string_view what, std::int64_t now) {
    if (stats_.violations++ == 0)
      stats_.first_violation = std::string(what) + " in clock " + std::to_string(now);
  }
  void require(bool kept, std::string_view what, std::int64_t now) {
    if (!kept) violation(what, now);
  }

  void command(const Slot& pins, std::int64_t now) {
    const DdrCommand cmd = pins.cmd;
    require(now - refreshed_ >= config_.t_rfc, "tRFC: command during a refresh", now);
    if (cmd == DdrCommand::kPrechargeAll) {
      for (Bank& bank : banks_) close(bank, now);
      ++stats_.precharges;
      return;
    }
    if (cmd == DdrCommand::kRefresh) return refresh(now);
    if (pins.bank >= config_.banks) return violation("no such bank", now);
    Bank& bank = banks_[pins.bank];
    switch (cmd) {
      case DdrCommand::kActivate:
        return activate(pins, bank, now);
      case DdrCommand::kRead:
      case DdrCommand::kWrite:
        return column(pins, bank, cmd == DdrCommand::kWrite, now);
      case DdrCommand::kPrecharge:
        require(bank.open, "precharge of a closed bank", now);
        close(bank, now);
        ++stats_.precharges;
        return;
      default:
        violation("no such command", now);
    }
  }

  void activate(const Slot& pins, Bank& bank, std::int64_t now) {
    require(!bank.open, "activate of an open bank", now);
    require(now - bank.precharged >= config_.t_rp, "tRP: activate too early", now);
    require(now - activated_ >= config_.t_rrd, "tRRD: activate too early", now);
    require(pins.addr < config_.rows, "no such row", now);
    bank.open = true;
    bank.row = pins.addr % config_.rows;
    bank.activated = activated_ = now;
    ++stats_.activates;
  }

  void column(const Slot& pins, Bank& bank, bool write, std::int64_t now) {
    require(bank.open, "read or write of a closed bank", now);
    require(now - bank.activated >= config_.t_rcd, "tRCD: read or write too early", now);
    require(pins.addr < config_.columns, "no such column", now);
    const std::size_t index = static_cast<std::size_t>(&bank - banks_.data());
    const std::size_t address =
        kWord * ((std::size_t{bank.row} * config_.banks + (index ^ bank.row % config_.banks)) *
                     config_.columns +
                 pins.addr % config_.columns);
    if (write) {
      const std::int64_t at = now + config_.write_latency;
      // The pins change hands with a clock between.
      require(at - (read_ + config_.cas_latency) >= 2, "write too early after a read", now);
      writes_.push({at, address});
      bank.written = written_ = now;
      ++stats_.writes;
    } else {
      require(now - written_ >= config_.write_latency + 1 + config_.t_wtr,
              "tWTR: read too early after a write", now);
      reads_.push({now + config_.cas_latency, address});
      bank.read = read_ = now;
      ++stats_.reads;
    }
  }

  void close(Bank& bank, std::int64_t now) {
    if (bank.open) {
      require(now - bank.activated >= config_.t_ras, "tRAS: precharge too early", now);
      require(now - bank.read >= config_.t_rtp, "tRTP: precharge too early", now);
      require(now - bank.written >= config_.write_latency + 1 + config_.t_wr,
              "tWR: precharge too early", now);
    }
    bank.open = false;
    bank.precharged = now;
  }

  void refresh(std::int64_t now) {
    for (const Bank& bank : banks_) {
      require(!bank.open, "refresh with an open bank", now);
      require(now - bank.precharged >= config_.t_rp, "tRP: refresh too early", now);
    }
    refreshed_ = now;
    ++stats_.refreshes;
    refresh_by_ += config_.t_refi;
  }

  void late_refresh(std::int64_t now) {
    violation("tREFI: refresh more than eight intervals late", now);
    refresh_by_ += config_.t_refi;
  }

  void take_data(const Slot& pins, std::int64_t now) {
    const bool due = !writes_.empty() && writes_.front().at == now;
    require(due == pins.dq_valid, due ? "write data missing" : "data for no write", now);
    if (!due) return;
    std::uint8_t* cell = cells_.get() + writes_.front().address;
    writes_.pop();
    const std::uint16_t mask = pins.dq_mask;
    if (mask == 0) {
      std::memcpy(cell, pins.dq, kWord);
      stats_.bytes_written += kWord;
      return;
    }
    std::uint8_t data[kWord];
    std::memcpy(data, pins.dq, kWord);
    for (unsigned i = 0; i < kWord; ++i) {
      if (mask >> i & 1) {
        ++stats_.bytes_masked;
      } else {
        cell[i] = data[i];
        ++stats_.bytes_written;
      }
    }
  }

  DdrConfig config_;
  DdrPins pins_;
  DdrStats stats_;
  std::unique_ptr<std::uint8_t[], Free> cells_;
  std::vector<Bank> banks_;
  Ring<Move> reads_, writes_;  // on their way, in time order
  std::int64_t activated_ = kLongAgo, read_ = kLongAgo, written_ = kLongAgo, refreshed_ = kLongAgo;
  std::int64_t refresh_by_ = 9 * static_cast<std::int64_t>(config_.t_refi);
  std::uint8_t read_data_[4 * kWord];
  unsigned fresh_ = 0, driven_ = 0;  // a bit a slot: has come, is at the pins
};

}  // namespace emery
