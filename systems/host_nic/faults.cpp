// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/faults.hpp"

#include <algorithm>
#include <iterator>

namespace emery::host_nic {

namespace {

constexpr std::uint64_t kNowhere = 0x5555'0000'0000;  // HostMemory never maps this
constexpr Time kStall = 20 * kMicrosecond;
// In the order of Faults::Kind.
constexpr const char* kNames[] = {"none",
                                  "doorbell",
                                  "null_address",
                                  "wild_address",
                                  "lost_completion",
                                  "late_completion",
                                  "poisoned_completion",
                                  "lost_descriptor",
                                  "rx_null_address",
                                  "slow_host"};

}  // namespace

Faults::Faults(const Options& options, const DriverConfig& driver)
    : name_(options.get<std::string>("fault")),
      frame_(options.get<std::uint64_t>("fault_frame")),
      tx_ring_(driver.tx_ring),
      rx_ring_(driver.rx_ring),
      max_frame_(driver.max_frame),
      timeout_(driver.dma_timeout_clocks * 4 * kNanosecond) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name_);
  if (found == std::end(kNames)) throw OptionError("fault: there is no '" + name_ + "'");
  kind_ = static_cast<Kind>(found - std::begin(kNames));
  const std::string direction = options.get<std::string>("direction");
  if (kind_ == Kind::kRxNullAddress && direction == "tx")
    throw OptionError("fault=" + name_ + ": nothing is received");
  const bool transmit =
      kind_ != Kind::kNone && kind_ != Kind::kRxNullAddress && kind_ != Kind::kSlowHost;
  if (transmit && direction == "rx")
    throw OptionError("fault=" + name_ + ": nothing is transmitted");
  if (kind_ == Kind::kSlowHost) pause_ = kStall;
  if (kind_ == Kind::kLostCompletion || kind_ == Kind::kLostDescriptor) pause_ = timeout_;
  if (kind_ == Kind::kLateCompletion) pause_ = 2 * timeout_;
}

void Faults::strike(unsigned queue) {
  struck_ = true;
  queue_ = queue;
}

void Faults::transmitted(Driver& driver, RootComplex& root, unsigned queue, Time now) {
  if (struck_ || kind_ == Kind::kNone || kind_ == Kind::kRxNullAddress || ++count_ != frame_)
    return;
  strike(queue);
  const Driver::TxSlot slot = driver.newest_tx(0, queue);
  ReadFault fault;
  fault.addr = slot.buffer;
  fault.bytes = max_frame_;
  switch (kind_) {
    case Kind::kDoorbell:
      driver.ring_tx_doorbell(
          0, queue, static_cast<std::uint16_t>(driver.tx_producer(0, queue) + tx_ring_ + 1));
      return;
    case Kind::kNullAddress:
      driver.poison_tx_descriptor(0, queue, 0);
      return;
    case Kind::kWildAddress:
      driver.poison_tx_descriptor(0, queue, kNowhere);
      return;
    case Kind::kLostDescriptor:
      fault.addr = slot.descriptor;
      fault.bytes = 1;
      break;
    case Kind::kLateCompletion:
      fault.kind = ReadFault::Kind::kDelay;
      fault.delay = pause_;
      break;
    case Kind::kPoisonedCompletion:
      fault.kind = ReadFault::Kind::kPoison;
      break;
    case Kind::kSlowHost:
      root.stall(now, now + kStall);
      return;
    default:  // kLostCompletion: as it stands
      break;
  }
  root.inject(fault);
}

void Faults::received(Driver& driver, RootComplex& root, unsigned queue, Time now) {
  if (struck_ || (kind_ != Kind::kRxNullAddress && kind_ != Kind::kSlowHost) || ++count_ != frame_)
    return;
  strike(queue);
  if (kind_ == Kind::kSlowHost) {
    root.stall(now, now + kStall);
  } else {
    // Far beyond what the device has read already.
    driver.poison_rx_descriptor(0, queue, std::min(rx_ring_ / 2, 256u), 0);
  }
}

void Faults::write(JsonWriter& json) const {
  json.begin_object().field("kind", name_).field("struck", struck_);
  if (struck_) json.field("frame", frame_).field("queue", queue_);
  json.end_object();
}

void set_wire_faults(const Options& options, std::uint32_t max_frame, MacConfig& mac) {
  mac.read_faults(options);
  if (max_frame < sizeof Frame::data) {
    mac.oversize_bytes = std::max(1519u, max_frame + 1 + kFcsBytes);
  } else if (mac.oversize.rate > 0) {
    throw OptionError(
        "oversize_every: the bench's wire carries no frames longer than this MTU allows");
  }
}

}  // namespace emery::host_nic
