// SPDX-License-Identifier: Apache-2.0
#include "bench/pcix/host_bridge.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace emery {
namespace {

constexpr std::uint8_t kTag = 0;

std::uint64_t config_address(unsigned device, unsigned reg) {
  return 1ull << (16 + device) | device << 11 | (reg & 0xfc);
}

}  // namespace

void HostBridgeStats::write(JsonWriter& json) const {
  json.begin_object().field("memory_writes", memory_writes);
  json.field("memory_write_bytes", memory_write_bytes).field("memory_reads", memory_reads);
  json.field("memory_read_bytes", memory_read_bytes).field("unmapped_writes", unmapped_writes);
  json.field("unmapped_reads", unmapped_reads).field("mmio_writes", mmio_writes);
  json.field("mmio_reads", mmio_reads).field("retried", retried).field("aborted", aborted);
  json.field("unexpected", unexpected).end_object();
}

void HostBridge::write(std::uint64_t address, std::uint32_t value) {
  requests_.push_back({PcixCommand::kMemWrite, address, value, {}});
}
void HostBridge::read(std::uint64_t address, OnRead on_read) {
  requests_.push_back({PcixCommand::kMemReadDword, address, 0, std::move(on_read)});
}
void HostBridge::config_write(unsigned device, unsigned reg, std::uint32_t value) {
  requests_.push_back({PcixCommand::kConfigWrite, config_address(device, reg), value, {}});
}
void HostBridge::config_read(unsigned device, unsigned reg, OnRead on_read) {
  requests_.push_back(
      {PcixCommand::kConfigRead, config_address(device, reg), 0, std::move(on_read)});
}

bool HostBridge::wants(Transaction& t) {
  // Completions first: they must get through while a request of the CPU is put off.
  if (!chosen_) {
    if (!completions_.empty() && completions_.front().due <= now()) {
      sending_completion_ = chosen_ = true;
    } else if (!requests_.empty() && !waiting_) {
      sending_completion_ = false;
    } else {
      return false;
    }
  }
  t = {};
  if (sending_completion_) {
    Completion& c = completions_.front();
    if (c.done == 0 && !c.error && !memory_.mapped(c.address, c.bytes)) {
      c.error = true;
      ++stats_.unmapped_reads;
    }
    const std::uint64_t from = c.address + c.done;
    t.command = PcixCommand::kSplitCompletion;
    t.address =
        PcixSplitAddress{c.tag, c.requester, static_cast<std::uint8_t>(from >> 3 & 15)}.bits();
    t.attribute = {c.error ? 4 : c.bytes - c.done, c.error, c.tag, config_.id};
    t.words = c.error ? 1 : (static_cast<unsigned>(from % 8) + c.bytes - c.done + 7) / 8;
    return true;
  }
  const Request& r = requests_.front();
  t.command = r.command;
  t.address = r.address;
  t.attribute = {4, false, kTag, config_.id};
  // A configuration write tells the card its own numbers.
  if (r.command == PcixCommand::kConfigWrite)
    t.attribute.id = {config_.id.bus, static_cast<std::uint8_t>(r.address >> 11 & 31), 0};
  // A dword lies in its lane of the 64 bits; configuration is in the lower one.
  const bool high = !is_config(r.command) && (r.address & 4) != 0;
  t.cbe_n = high ? 0x0f : 0xf0;
  return true;
}

std::uint64_t HostBridge::word(unsigned index) {
  if (!sending_completion_) {
    const std::uint64_t value = requests_.front().value;
    return value << 32 | value;
  }
  const Completion& c = completions_.front();
  std::uint64_t data = 0;
  if (!c.error) memory_.read(((c.address + c.done) & ~7ull) + 8ull * index, &data, 8);
  return data;
}

void HostBridge::finished(Outcome outcome, unsigned words) {
  chosen_ = false;
  if (outcome == Outcome::kRetry) ++stats_.retried;
  if (outcome == Outcome::kMasterAbort || outcome == Outcome::kTargetAbort) ++stats_.aborted;
  const bool again = outcome == Outcome::kRetry;
  if (sending_completion_) {
    Completion& c = completions_.front();
    if (again) return;
    c.done += words * 8 - (c.address + c.done) % 8;
    const bool cut = outcome == Outcome::kDone || outcome == Outcome::kDisconnected;
    if (c.error || c.done >= c.bytes || !cut) completions_.pop();
    return;
  }
  if (again) return;
  Request& r = requests_.front();
  if (outcome == Outcome::kSplit) {
    waiting_ = true;
    return;
  }
  if (is_read(r.command)) return answered(~0u, false);
  ++stats_.mmio_writes;
  requests_.pop_front();
}

void HostBridge::answered(std::uint32_t value, bool ok) {
  ++stats_.mmio_reads;
  waiting_ = false;
  const OnRead on_read = std::move(requests_.front().on_read);
  requests_.pop_front();
  if (on_read) on_read(value, ok);
}

bool HostBridge::claims(const PcixTracker& t, bool) {
  if (is_config(t.command)) return false;
  if (t.command == PcixCommand::kSplitCompletion)
    return PcixSplitAddress::of(t.address).requester == config_.id;
  // The rest of the address space belongs to the cards.
  return t.address >= HostMemory::kHighBase ||
         (t.address >= HostMemory::kLowBase && t.address < HostMemory::kLowEnd);
}

PcixResponse HostBridge::answer(const PcixTracker& t) {
  if (!is_read(t.command)) {
    if (t.command != PcixCommand::kSplitCompletion) ++stats_.memory_writes;
    return PcixResponse::kTransfer;
  }
  ++stats_.memory_reads;
  const std::uint32_t bytes = t.command == PcixCommand::kMemReadDword ? 4 : t.attribute.bytes;
  stats_.memory_read_bytes += bytes;
  completions_.push(
      {now() + config_.read_latency, t.address, bytes, 0, t.attribute.id, t.attribute.tag, false});
  return PcixResponse::kSplitResponse;
}

void HostBridge::received(const PcixTracker& t, unsigned index, std::uint64_t data,
                          std::uint8_t cbe_n) {
  if (t.command == PcixCommand::kSplitCompletion) {
    if (!waiting_ || index != 0) {
      ++stats_.unexpected;
      return;
    }
    const bool high = !is_config(requests_.front().command) && (requests_.front().address & 4) != 0;
    return answered(
        t.attribute.message ? ~0u : static_cast<std::uint32_t>(high ? data >> 32 : data),
        !t.attribute.message);
  }
  // Block writes carry all bytes of their count; others those that are enabled.
  const std::uint64_t address = (t.address & ~7ull) + 8ull * index;
  std::uint8_t enabled = t.command == PcixCommand::kMemWriteBlock
                             ? std::uint8_t{0xff}
                             : static_cast<std::uint8_t>(~cbe_n);
  if (t.command == PcixCommand::kMemWriteBlock) {
    const std::uint64_t end = t.address + t.attribute.bytes;
    if (index == 0) enabled &= static_cast<std::uint8_t>(0xff << (t.address & 7));
    if (address + 8 > end) enabled &= static_cast<std::uint8_t>(0xff >> (address + 8 - end));
  }
  stats_.memory_write_bytes += static_cast<unsigned>(std::popcount(enabled));
  bool ok = true;
  if (enabled == 0xff) {
    ok = memory_.write(address, &data, 8);
  } else {
    for (unsigned b = 0; b < 8; ++b) {
      const auto byte = static_cast<std::uint8_t>(data >> (8 * b));
      if (enabled >> b & 1) ok = memory_.write(address + b, &byte, 1) && ok;
    }
  }
  if (!ok) {
    ++stats_.unmapped_writes;
    return;
  }
  memory_.notify(address, 8);
}

}  // namespace emery
