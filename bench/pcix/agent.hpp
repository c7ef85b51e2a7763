// SPDX-License-Identifier: Apache-2.0
// A PCI-X agent in C++: master and target, with the timing of rtl/pcix: N words take N + 4 clocks,
// address to turnaround. What it sends and how it answers is up to the class derived from it.
#pragma once

#include <cstdint>

#include "bench/pcix/pcix.hpp"
#include "bench/sim/time.hpp"

namespace emery {

class PcixAgent {
 public:
  virtual ~PcixAgent() = default;
  PcixAgent() = default;
  PcixAgent(const PcixAgent&) = delete;
  PcixAgent& operator=(const PcixAgent&) = delete;

  /// One clock: what was on the wires in it; afterwards `drive` is what it drives in the next one.
  void clock(const PcixWires& wires, bool gnt_n, bool idsel, Time now) {
    now_ = now;
    const auto phase = tracker_.observe(wires);
    drive.ad_oe = drive.master_oe = drive.target_oe = false;
    if (phase == PcixTracker::Phase::kAddress) idsel_ = idsel;
    const bool mine = state_ != Master::kIdle;
    master(wires, gnt_n);
    if (!mine) target(wires, phase);
  }

  PcixDrive drive;

 protected:
  struct Transaction {
    PcixCommand command{};
    std::uint64_t address = 0;
    PcixAttribute attribute;
    unsigned words = 1;
    std::uint8_t cbe_n = 0;  // byte enables of all its data
  };
  enum class Outcome { kDone, kSplit, kRetry, kDisconnected, kTargetAbort, kMasterAbort };

  /// Whether there is something to send now, and what; the same until `finished`.
  virtual bool wants(Transaction& transaction) = 0;
  virtual std::uint64_t word(unsigned index) = 0;
  /// `words` of it were taken.
  virtual void finished(Outcome outcome, unsigned words) = 0;

  /// Somebody else's transaction, after its attribute phase: is it for this agent?
  virtual bool claims(const PcixTracker& transaction, bool idsel) = 0;
  /// How it is answered: kTransfer, kSplitResponse, kRetry, kTargetAbort.
  virtual PcixResponse answer(const PcixTracker& transaction) = 0;
  virtual void received(const PcixTracker& transaction, unsigned index, std::uint64_t data,
                        std::uint8_t cbe_n) = 0;
  virtual void ended(const PcixTracker&) {}

  Time now() const { return now_; }

 private:
  enum class Master { kIdle, kAddress, kAttribute, kResponse, kData, kEnding };
  static constexpr unsigned kAbortClocks = 5;  // DEVSEL# high from c3 to c7

  void master(const PcixWires& wires, bool gnt_n) {
    switch (state_) {
      case Master::kIdle: {
        const bool wanted = wants(current_);
        drive.req_n = !wanted;
        if (!wanted || gnt_n || !wires.idle()) return;
        put(false, true, current_.address, static_cast<std::uint8_t>(current_.command));
        drive.req_n = true;
        state_ = Master::kAddress;
        return;
      }
      case Master::kAddress:
        put(false, true, current_.attribute.bits(), 0xff);
        state_ = Master::kAttribute;
        return;
      case Master::kAttribute:
        index_ = waited_ = 0;
        put_data(false);
        state_ = Master::kResponse;
        return;
      case Master::kResponse:
        put_data(last());
        state_ = Master::kData;
        return;
      case Master::kData:
        data(wires);
        return;
      case Master::kEnding:
        end();
        return;
    }
  }

  bool last() const { return is_read(current_.command) || index_ + 1 == current_.words; }

  void data(const PcixWires& wires) {
    switch (wires.response()) {
      case PcixResponse::kTransfer:
      case PcixResponse::kDisconnectNextAdb:
        if (wires.response() == PcixResponse::kDisconnectNextAdb) cut();
        if (last()) return stop(wires, Outcome::kDone, index_ + 1);
        ++index_;
        waited_ = 0;
        return put_data(last());
      case PcixResponse::kSilent:
        if (++waited_ < kAbortClocks) return put_data(wires.frame_n);
        return stop(wires, Outcome::kMasterAbort, index_);
      case PcixResponse::kWait:
        return put_data(wires.frame_n);
      case PcixResponse::kRetry:
        return stop(wires, Outcome::kRetry, index_);
      case PcixResponse::kSingleDisconnect:
        return stop(wires, Outcome::kDisconnected, index_ + 1);
      case PcixResponse::kTargetAbort:
        return stop(wires, Outcome::kTargetAbort, index_);
      case PcixResponse::kSplitResponse:
        return stop(wires, Outcome::kSplit, 0);
    }
  }

  // The target wants no more than up to the next boundary.
  void cut() {
    const std::uint64_t next = current_.address / 8 + index_ + 1;
    const auto room = static_cast<unsigned>(-next & (kPcixDisconnectBytes / 8 - 1));
    if (room != 0 && index_ + 1 + room < current_.words) current_.words = index_ + 1 + room;
  }

  void stop(const PcixWires& wires, Outcome outcome, unsigned words) {
    outcome_ = outcome;
    taken_ = words;
    if (wires.frame_n) return end();
    // FRAME# rises a clock before IRDY#.
    put_data(true);
    state_ = Master::kEnding;
  }

  void end() {
    state_ = Master::kIdle;
    finished(outcome_, taken_);
    drive.req_n = !wants(current_);
  }

  void put(bool frame_n, bool irdy_n, std::uint64_t ad, std::uint8_t cbe_n) {
    drive.master_oe = true;
    drive.frame_n = frame_n;
    drive.irdy_n = irdy_n;
    drive.ad_oe = true;
    drive.ad = ad;
    drive.cbe_n = cbe_n;
  }

  void put_data(bool frame_n) {
    const bool read = is_read(current_.command);
    put(frame_n, false, read ? 0 : word(index_), current_.cbe_n);
    drive.ad_oe = !read;
  }

  void target(const PcixWires& wires, PcixTracker::Phase phase) {
    using Phase = PcixTracker::Phase;
    if (phase == Phase::kAttribute) {
      claimed_ = claims(tracker_, idsel_);
      if (claimed_) answer_with(PcixResponse::kWait);
    } else if (phase == Phase::kResponse && claimed_) {
      answer_ = answer(tracker_);
      index_in_ = 0;
      answer_with(answer_);
    } else if (phase == Phase::kData && claimed_) {
      if (answer_ == PcixResponse::kTransfer && !wires.irdy_n) {
        received(tracker_, index_in_++, wires.ad, wires.cbe_n);
        if (!wires.frame_n) return answer_with(answer_);
      }
      claimed_ = false;
      ended(tracker_);
    } else if (phase == Phase::kIdle && claimed_) {  // the master is gone
      claimed_ = false;
      ended(tracker_);
    }
  }

  void answer_with(PcixResponse response) {
    drive.target_oe = true;
    drive.devsel_n = static_cast<unsigned>(response) >> 2 & 1;
    drive.stop_n = static_cast<unsigned>(response) >> 1 & 1;
    drive.trdy_n = static_cast<unsigned>(response) & 1;
  }

  Time now_ = 0;
  PcixTracker tracker_;
  bool idsel_ = false;

  Master state_ = Master::kIdle;
  Transaction current_;
  unsigned index_ = 0, waited_ = 0, taken_ = 0;
  Outcome outcome_{};

  bool claimed_ = false;
  PcixResponse answer_{};
  unsigned index_in_ = 0;
};

}  // namespace emery
