// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/nic_rings.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "direct_formats.hpp"
#include "queue_formats.hpp"
#include "systems/nic_core/levels.hpp"

namespace emery::direct_router {

NicRings::NicRings(const RingConfig& config, std::unique_ptr<SwitchSlot> slot,
                   const FunctionConfig& function, const NicTimeouts& timeouts, NicFault* fault)
    : config_(config),
      slot_(std::move(slot)),
      function_(function),
      timeouts_(timeouts),
      fault_(fault),
      machine_(*slot_),
      receive_(config.classes) {
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
  c.dma_timeout = timeouts_.timeout;
  c.dma_overtaken = timeouts_.overtaken;
  expect(emnic_start(core_, &c));
  connect();
  for (Receive& receive : receive_) {
    for (unsigned i = 0; i < config_.slots; ++i) {
      post(receive, pool.back());
      pool.pop_back();
    }
  }
}

void NicRings::connect() {
  emnic_queue_state state;
  for (unsigned k = 0; k < config_.classes; ++k) {
    Receive& receive = receive_[k];
    receive.queue = emnic_rx_queue(core_, 0, k);
    emnic_rx_state(receive.queue, &state);
    receive.completions = emnic_completions(core_, static_cast<unsigned>(state.completions));
  }
  transmit_.queue = emnic_tx_queue(core_, 0, 0);
  emnic_tx_state(transmit_.queue, &state);
  transmit_.completions = emnic_completions(core_, static_cast<unsigned>(state.completions));
}

// ---- frames

void NicRings::post(Receive& receive, std::uint64_t buffer) {
  if (away_ || receive.restarting) return receive.owed.push_back(buffer);
  expect(emnic_rx_post(receive.queue, buffer, static_cast<unsigned>(config_.buffer_bytes)));
  receive.buffers.push_back(buffer);
  emnic_rx_flush(receive.queue);
}

void NicRings::post_owed(Receive& receive) {
  for (const std::uint64_t buffer : std::exchange(receive.owed, {})) post(receive, buffer);
}

std::optional<CardRings::Frame> NicRings::front(unsigned cls) {
  Receive& receive = receive_[cls];
  emnic_completion c;
  while (!away_ && !receive.front && emnic_take(receive.completions, &c, 1) != 0) {
    emnic_taken(receive.completions, 0);
    const std::uint64_t buffer = receive.buffers.front();
    receive.buffers.pop_front();
    if (c.error) {
      ++restarts_.errors;
      post(receive, buffer);
    } else {
      receive.front = Frame{buffer, c.bytes};
      if (fault_) fault_->received(receive.queue);
    }
  }
  return receive.front;
}

void NicRings::pop(unsigned cls, std::uint64_t buffer) {
  receive_[cls].front.reset();
  post(receive_[cls], buffer);
}

void NicRings::put(std::uint64_t buffer, unsigned bytes) {
  const emnic_segment segment{buffer, bytes};
  expect(emnic_post(transmit_.queue, &segment, 1, nullptr));
  transmit_.buffers.push_back(buffer);
  ++transmit_.untold;
  if (fault_) fault_->sent(transmit_.queue, buffer, bytes);
}

void NicRings::tell() {
  transmit_.untold = 0;
  emnic_tx_flush(transmit_.queue, 1, 0);
}

unsigned NicRings::reap(std::vector<std::uint64_t>& pool) {
  unsigned count = 0;
  emnic_completion c;
  for (; !away_ && emnic_take(transmit_.completions, &c, 1) != 0; ++count) {
    emnic_taken(transmit_.completions, 0);
    restarts_.errors += c.error != 0;
    pool.push_back(transmit_.buffers.front());
    transmit_.buffers.pop_front();
  }
  return count;
}

// ---- errors and resets

void NicRings::serve() {
  if (away_) return;
  for (unsigned e = 0; e < emnic_event_queues(core_); ++e) {
    emnic_eq* const events = emnic_event_queue(core_, e);
    emnic_event event;
    bool any = false;
    for (; emnic_next_event(events, &event) != 0; any = true) restart(event);
    if (any) emnic_arm(events);
  }
  if (transmit_.restarting && expect(emnic_tx_restarting(transmit_.queue)) != 0) {
    transmit_.restarting = false;
    ++restarts_.queues;
  }
  for (Receive& receive : receive_) {
    if (!receive.restarting || expect(emnic_rx_restarting(receive.queue)) == 0) continue;
    receive.restarting = false;
    ++restarts_.queues;
    post_owed(receive);
  }
}

// The queue that an event says has stopped. One that is being set up already stays so.
void NicRings::restart(const emnic_event& event) {
  if (event.kind == queue_pkg::EvtTxError && event.source == 0) {
    transmit_.restarting |= emnic_tx_restart(transmit_.queue, 0, 0) == 0;
  } else if (event.kind == queue_pkg::EvtRxError && event.source < config_.classes) {
    Receive& receive = receive_[event.source];
    receive.restarting |= emnic_rx_restart(receive.queue, 0, 0) == 0;
  }
}

void NicRings::forget(std::vector<std::uint64_t>& pool) {
  away_ = true;
  for (Receive& receive : receive_) {
    receive.owed.insert(receive.owed.end(), receive.buffers.begin(), receive.buffers.end());
    receive.buffers.clear();
    receive.restarting = false;
  }
  pool.insert(pool.end(), transmit_.buffers.begin(), transmit_.buffers.end());
  transmit_.buffers.clear();
  transmit_.untold = 0;
  transmit_.restarting = false;
}

void NicRings::reopen() {
  machine_.plug();
  machine_.writes_no_more(true);
  expect(emnic_recover(core_));
  machine_.writes_no_more(false);
  connect();
  away_ = false;
  for (Receive& receive : receive_) post_owed(receive);
}

// ---- the end

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

void NicRings::find_levels(Findings& findings) { nic::find_levels(core_, findings); }

std::size_t NicRings::buffers() const {
  std::size_t sum = transmit_.buffers.size();
  for (const Receive& receive : receive_)
    sum += receive.buffers.size() + receive.owed.size() + receive.front.has_value();
  return sum;
}

void NicRings::check(Findings& findings) const {
  findings.add(machine_.stale_writes(), "writes to memory that was given up");
  findings.add(emnic_foreign(core_), "records of queues that there are not");
}

}  // namespace emery::direct_router
