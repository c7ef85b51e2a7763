// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/nic_rings.hpp"

#include <stdexcept>
#include <string>

#include "direct_formats.hpp"

namespace emery::direct_router {

NicRings::NicRings(const RingConfig& config, std::unique_ptr<SwitchSlot> slot,
                   const FunctionConfig& function)
    : config_(config),
      slot_(std::move(slot)),
      function_(function),
      machine_(*slot_),
      receive_(config.classes),
      buffers_(config.slots) {
  machine_.on_interrupt = [](unsigned) {};
  machine_.on_rings = [](emnic_memory, unsigned, unsigned, std::uint64_t, std::size_t) {};
}

// The run is over: the device is not spoken to any more.
NicRings::~NicRings() {
  machine_.unplug();
  emnic_close(core_);
}

int NicRings::expect(int status) {
  if (status < 0)
    throw std::runtime_error(std::string("the NIC beside a card: ") + emnic_error(status));
  return status;
}

void NicRings::start(std::uint64_t bar, std::vector<std::uint64_t>& pool) {
  slot_->found(bar + direct_pkg::HostBase, function_, direct_pkg::HostBase);
  machine_.plug();
  const emnic_ops ops = machine_.ops();
  expect(emnic_open(&ops, &core_));
  emnic_config c{};
  c.tx_queues = 1;
  c.rx_queues = config_.classes;
  c.tx_ring = c.rx_ring = config_.slots;
  c.max_frame = config_.max_frame;
  c.segments = 1;
  c.doorbell_batch = 1;
  c.refill_batch = config_.refill;
  c.cpus = config_.classes;  // a completion queue a class
  // A port that takes nothing for a while is no fault: the longest that the NIC waits.
  c.dma_timeout = 250'000'000;
  c.dma_overtaken = 65'535;
  expect(emnic_start(core_, &c));
  for (unsigned k = 0; k < config_.classes; ++k) {
    Receive& receive = receive_[k];
    receive.queue = emnic_rx_queue(core_, 0, k);
    emnic_queue_state state;
    emnic_rx_state(receive.queue, &state);
    receive.completions = emnic_completions(core_, static_cast<unsigned>(state.completions));
    receive.buffers.resize(config_.slots);
    for (unsigned i = 0; i < config_.slots; ++i) {
      post(receive, pool.back());
      pool.pop_back();
    }
  }
  transmit_ = emnic_tx_queue(core_, 0, 0);
  emnic_queue_state state;
  emnic_tx_state(transmit_, &state);
  transmitted_ = emnic_completions(core_, static_cast<unsigned>(state.completions));
}

void NicRings::post(Receive& receive, std::uint64_t buffer) {
  receive.buffers[receive.next++ % config_.slots] = buffer;
  expect(emnic_rx_post(receive.queue, buffer, static_cast<unsigned>(config_.buffer_bytes)));
  emnic_rx_flush(receive.queue);
}

std::optional<CardRings::Frame> NicRings::front(unsigned cls) {
  Receive& receive = receive_[cls];
  emnic_completion c;
  while (!receive.front && emnic_take(receive.completions, &c, 1) != 0) {
    emnic_taken(receive.completions, 0);
    const std::uint64_t buffer = receive.buffers[c.slot % config_.slots];
    if (c.error) {
      ++errors_;
      post(receive, buffer);
    } else {
      receive.front = Frame{buffer, c.bytes};
    }
  }
  return receive.front;
}

void NicRings::pop(unsigned cls, std::uint64_t buffer) {
  receive_[cls].front.reset();
  post(receive_[cls], buffer);
}

void NicRings::put(std::uint64_t buffer, unsigned bytes) {
  emnic_queue_state state;
  emnic_tx_state(transmit_, &state);
  buffers_[state.producer % config_.slots] = buffer;
  const emnic_segment segment{buffer, bytes};
  expect(emnic_post(transmit_, &segment, 1, nullptr));
  ++put_;
}

void NicRings::tell() {
  told_ = put_;
  emnic_tx_flush(transmit_, 1, 0);
}

unsigned NicRings::reap(std::vector<std::uint64_t>& pool) {
  unsigned count = 0;
  emnic_completion c;
  for (; emnic_take(transmitted_, &c, 1) != 0; ++count) {
    emnic_taken(transmitted_, 0);
    errors_ += c.error != 0;
    pool.push_back(buffers_[c.slot % config_.slots]);
  }
  sent_ += count;
  return count;
}

std::vector<CardRings::Lost> NicRings::lost() {
  const auto count = [&](emnic_counter counter) { return emnic_get_counter(core_, counter, 0, 0); };
  return {
      {"no_descriptor", false, count(EMNIC_PORT_rx_no_descriptor)},
      {"host_fifo_full", false, count(EMNIC_PORT_rx_fifo_full)},
      {"host_buffer_full", false, count(EMNIC_PORT_rx_buffer_full)},
      {"host_queue_stopped", false, count(EMNIC_PORT_rx_queue_stopped)},
      {"host_descriptor_error", false, count(EMNIC_PORT_rx_descriptor_error)},
      {"host_dma_error", false, count(EMNIC_PORT_rx_dma_error)},
      {"nic_tx_errors", true, count(EMNIC_PORT_tx_errors)},
  };
}

void NicRings::check(Findings& findings) const {
  findings.add(machine_.stale_writes(), "writes to memory that was given up");
  findings.add(emnic_foreign(core_), "records of queues that there are not");
}

}  // namespace emery::direct_router
