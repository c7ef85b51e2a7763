// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/faults.hpp"

#include <algorithm>
#include <iterator>

#include "host_nic_registers.hpp"

namespace emery::host_nic {

namespace {

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
                                  "slow_host",
                                  "lost_rx_descriptor",
                                  "paused_port",
                                  "slow_cpu",
                                  "hostile_registers"};
constexpr unsigned kHostileClocks = 25;  // between two writes

}  // namespace

Faults::Faults(const Options& options, const DriverConfig& driver)
    : plan_(options, driver.dma_timeout_clocks * 4 * kNanosecond),
      tx_ring_(driver.tx_ring),
      rx_ring_(driver.rx_ring),
      max_frame_(driver.max_frame),
      tx_queues_(driver.tx_queues),
      rx_queues_(driver.rx_queues),
      event_queues_(driver.cpus),
      hostile_(
          kHostNicRegisters,
          [this](std::string_view name, const std::uint32_t* index) {
            return may_harm(name, index);
          },
          options.get<std::uint64_t>("seed")),
      steers_(options.get<unsigned>("steered_flows") != 0),
      lasts_(options.get<unsigned>("fault_us") * kMicrosecond),
      restart_every_(options.get<std::uint64_t>("restart_every")) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), plan_.name());
  if (found == std::end(kNames))
    throw OptionError("fault: '" + plan_.name() +
                      "' is of a Linux's slot, not of the bench's driver");
  kind_ = static_cast<Kind>(found - std::begin(kNames));
  pause_ = kind_ == Kind::kSlowHost || kind_ == Kind::kPausedPort || kind_ == Kind::kSlowCpu
               ? lasts_
               : plan_.pause();
}

bool Faults::strikes_received() const { return plan_.of_receive() || kind_ == Kind::kSlowCpu; }

void Faults::transmitted(Driver& driver, RootComplex& root, unsigned queue, Time now) {
  if (restart_every_ && ++sent_ % restart_every_ == 0) driver.restart_tx(0, queue);
  if (strikes_received() || !plan_.strikes()) return;
  queue_ = queue;
  if (kind_ == Kind::kHostileRegisters) return;
  const Driver::TxSlot slot = driver.newest_tx(0, queue);
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
      root.inject(plan_.read(slot.descriptor, 1));
      return;
    case Kind::kSlowHost:
      root.stall(now, now + lasts_);
      return;
    case Kind::kPausedPort:
      on_pause(now + lasts_);
      return;
    default:  // completions
      root.inject(plan_.read(slot.buffer, max_frame_));
  }
}

void Faults::received(Driver& driver, RootComplex& root, unsigned queue, Time now) {
  if (restart_every_ && ++arrived_ % restart_every_ == 0) driver.restart_rx(0, queue);
  if (!(strikes_received() || kind_ == Kind::kSlowHost) || !plan_.strikes()) return;
  queue_ = queue;
  // Far beyond what the device has read already.
  const unsigned ahead = std::min(rx_ring_ / 2, 256u);
  if (kind_ == Kind::kSlowHost) {
    root.stall(now, now + lasts_);
  } else if (kind_ == Kind::kSlowCpu) {
    driver.stop_cpu(0, queue, now + lasts_);
  } else if (kind_ == Kind::kLostRxDescriptor) {
    root.inject(plan_.read(driver.rx_descriptor(0, queue, ahead), 1));
  } else {
    driver.poison_rx_descriptor(0, queue, ahead, 0);
  }
}

void Faults::clock(RootComplex& root) {
  if (plan_.struck() && kind_ == Kind::kHostileRegisters && clocks_++ % kHostileClocks == 0)
    hostile_.write(root);
}

// Not the queues, vectors and ports of interface 0 that carry traffic. Settings that all share are
// fair game: they stay within what is harmless.
bool Faults::may_harm(std::string_view name, const std::uint32_t* index) const {
  const auto is = [&](const char* part) { return name.find(part) != std::string_view::npos; };
  if (is("moderation.") || is("msix.")) return index[0] >= event_queues_;
  if (!is("interface.") || index[0] != 0) return true;
  if (is(".sched.")) return index[2] >= tx_queues_;
  if (is(".txq.") || is(".txcq.")) return index[1] >= tx_queues_;
  if (is(".rxq.") || is(".rxcq.")) return index[1] >= rx_queues_;
  if (is(".eq.")) return index[1] >= event_queues_;
  if (is(".flow.")) return !steers_;  // flows that nobody sends
  return is(".regs.");
}

void Faults::write(JsonWriter& json) const {
  json.begin_object();
  plan_.write(json);
  if (plan_.struck()) json.field("queue", queue_);
  if (kind_ == Kind::kHostileRegisters) hostile_.write(json);
  json.end_object();
}

void set_wire_faults(const Options& options, std::uint32_t max_frame, MacConfig& mac) {
  mac.read_faults(options);
  mac.oversize_bytes = std::max(1519u, max_frame + 1 + kFcsBytes);
}

}  // namespace emery::host_nic
