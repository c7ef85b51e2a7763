// SPDX-License-Identifier: Apache-2.0
#include "bench/pcix/bus.hpp"

#include <string>

namespace emery {

void PcixBusStats::write(JsonWriter& json) const {
  json.begin_object().field("clocks", clocks).field("busy_clocks", busy_clocks);
  json.field("words", words).field("writes", writes).field("reads", reads);
  json.field("completions", completions).field("configs", configs);
  json.field("wait_clocks", wait_clocks).field("retries", retries);
  json.field("disconnects", disconnects).field("target_aborts", target_aborts);
  json.field("master_aborts", master_aborts).field("violations", violations);
  if (violations != 0) json.field("first_violation", first_violation);
  json.end_object();
}

int PcixBus::add_card(const PcixPins& pins) {
  Slot slot;
  slot.pins = pins;
  slots_.push_back(slot);
  write_inputs(slots_.size() - 1);
  return static_cast<int>(slots_.size()) - 1;
}

int PcixBus::add_agent(PcixAgent& agent, Level level) {
  Slot slot;
  slot.agent = &agent;
  slot.first_level = level == Level::kFirst;
  slots_.push_back(slot);
  return static_cast<int>(slots_.size()) - 1;
}

PcixDrive PcixBus::read(const PcixPins& p) {
  PcixDrive d;
  d.req_n = *p.req_n;
  d.master_oe = *p.master_oe;
  d.frame_n = *p.frame_n;
  d.irdy_n = *p.irdy_n;
  d.target_oe = *p.target_oe;
  d.devsel_n = *p.devsel_n;
  d.trdy_n = *p.trdy_n;
  d.stop_n = *p.stop_n;
  d.ad_oe = *p.ad_oe;
  d.ad = *p.ad;
  d.cbe_n = *p.cbe_n;
  return d;
}

void PcixBus::sample(Time now) {
  if (reset_) return;
  watch(now);
  granted_before_ = grant_;
  granted_before_to_ = granted_;
  arbitrate();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.agent == nullptr) continue;
    const bool gnt_n = !(granted_before_ && granted_before_to_ == i);
    slot.agent->clock(wires_, gnt_n, i < 16 && (wires_.ad >> (16 + i) & 1), now);
  }
}

void PcixBus::drive() {
  const PcixWires none;
  wires_ = none;
  int masters = 0, targets = 0, data = 0;
  for (Slot& slot : slots_) {
    slot.driven = reset_ || slot.dead ? PcixDrive{}
                  : slot.agent        ? slot.agent->drive
                                      : read(slot.pins);
    const PcixDrive& d = slot.driven;
    if (d.master_oe) {
      ++masters;
      wires_.frame_n = wires_.frame_n && d.frame_n;
      wires_.irdy_n = wires_.irdy_n && d.irdy_n;
    }
    if (d.target_oe) {
      ++targets;
      wires_.devsel_n = wires_.devsel_n && d.devsel_n;
      wires_.trdy_n = wires_.trdy_n && d.trdy_n;
      wires_.stop_n = wires_.stop_n && d.stop_n;
    }
    if (d.ad_oe) {
      ++data;
      wires_.ad = d.ad;
      wires_.cbe_n = d.cbe_n;
    }
  }
  conflict_ = masters > 1   ? "two masters drive FRAME# and IRDY#"
              : targets > 1 ? "two targets answer"
              : data > 1    ? "two agents drive AD"
                            : nullptr;
  for (std::size_t i = 0; i < slots_.size(); ++i) write_inputs(i);
}

void PcixBus::write_inputs(std::size_t i) {
  const Slot& slot = slots_[i];
  if (slot.agent) return;
  const PcixPins& p = slot.pins;
  if (slot.dead) {  // sees a bus where nothing happens
    *p.gnt_n_in = *p.frame_n_in = *p.irdy_n_in = *p.devsel_n_in = *p.trdy_n_in = *p.stop_n_in = 1;
    *p.idsel_in = 0;
    return;
  }
  *p.gnt_n_in = !(grant_ && granted_ == i) || reset_;
  *p.idsel_in = i < 16 && (wires_.ad >> (16 + i) & 1);
  *p.frame_n_in = wires_.frame_n;
  *p.irdy_n_in = wires_.irdy_n;
  *p.devsel_n_in = wires_.devsel_n;
  *p.trdy_n_in = wires_.trdy_n;
  *p.stop_n_in = wires_.stop_n;
  *p.ad_in = wires_.ad;
  *p.cbe_n_in = wires_.cbe_n;
}

void PcixBus::watch(Time now) {
  using Phase = PcixTracker::Phase;
  ++stats_.clocks;
  if (conflict_) violation(conflict_, now);
  const Phase before = tracker_.phase(), phase = tracker_.observe(wires_);
  // The turnaround is counted with the transaction it ends.
  const bool turnaround = phase == Phase::kIdle && before != Phase::kIdle;
  if (phase != Phase::kIdle || turnaround) {
    ++stats_.busy_clocks;
    if (phase == Phase::kAddress) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].driven.master_oe) master_ = i;
      }
      moved_on_ = false;
      if (!granted_before_ || granted_before_to_ != master_)
        violation("a transaction without GNT#", now);
      if (is_config(tracker_.command)) {
        ++stats_.configs;
      } else if (tracker_.command == PcixCommand::kSplitCompletion) {
        ++stats_.completions;
      } else {
        ++(is_read(tracker_.command) ? stats_.reads : stats_.writes);
      }
    }
    ++slots_[master_].busy;
  }
  if (phase == Phase::kIdle && !wires_.irdy_n) violation("IRDY# without FRAME#", now);
  if (phase != Phase::kIdle && slots_[master_].dead) return;  // its lines float
  if (phase == Phase::kResponse && wires_.irdy_n) violation("a master's wait state", now);
  if (phase != Phase::kData) return;

  const PcixResponse response = wires_.response();
  if (wires_.irdy_n) violation("a master's wait state", now);
  const bool moved = response == PcixResponse::kTransfer ||
                     response == PcixResponse::kDisconnectNextAdb ||
                     response == PcixResponse::kSingleDisconnect;
  if (moved && !is_read(tracker_.command)) {
    ++stats_.words;
    ++slots_[master_].words;
    ++tracker_.words;
    const std::uint64_t first = is_memory_write(tracker_.command) ? tracker_.address % 8 : 0;
    if (tracker_.words > (first + tracker_.attribute.bytes + 7) / 8)
      violation("more data than the byte count", now);
    if (on_write_ && is_memory_write(tracker_.command)) on_write_(tracker_.address, wires_.ad, now);
  }
  switch (response) {
    case PcixResponse::kRetry:
      ++stats_.retries;
      break;
    case PcixResponse::kTargetAbort:
      ++stats_.target_aborts;
      break;
    case PcixResponse::kSingleDisconnect:
      ++stats_.disconnects;
      break;
    case PcixResponse::kWait:
      ++stats_.wait_clocks;
      break;
    case PcixResponse::kSilent:
      // After an answer it is an end, not a wait.
      if (tracker_.data_clocks == tracker_.words + 1) ++stats_.wait_clocks;
      if (tracker_.data_clocks == 5) ++stats_.master_aborts;
      break;
    default:
      break;
  }
}

bool PcixBus::asks(std::size_t slot) const {
  return !slots_[slot].driven.req_n && !slots_[slot].ungranted && !slots_[slot].dead;
}

bool PcixBus::grant(std::size_t slot) {
  if (!asks(slot)) return false;
  granted_ = slot;
  grant_ = true;
  moved_on_ = true;
  return true;
}

bool PcixBus::grant_first_level() {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].first_level && grant(i)) return true;
  return false;
}

void PcixBus::arbitrate() {
  const bool starting = tracker_.phase() != PcixTracker::Phase::kIdle && !moved_on_;
  if (grant_ && !starting && asks(granted_)) return;
  if (!slots_[granted_].first_level && grant_first_level()) return;
  for (std::size_t n = 1; n <= slots_.size(); ++n) {
    const std::size_t i = (last_in_round_ + n) % slots_.size();
    if (slots_[i].first_level || !grant(i)) continue;
    last_in_round_ = i;
    return;
  }
  if (grant_first_level()) return;
  if (grant_ && (slots_[granted_].ungranted || slots_[granted_].dead)) grant_ = false;
}

void PcixBus::violation(const std::string& what, Time now) {
  if (stats_.violations++ == 0) {
    stats_.first_violation = what + " at " + std::to_string(now) + " ps";
  }
}

}  // namespace emery
