// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/driver.hpp"

#include <algorithm>
#include <stdexcept>

#include "queue_formats.hpp"
#include "systems/host_nic/offloads.hpp"

namespace emery::host_nic {

namespace {

constexpr unsigned kIdlePackets = 4;  // with more under way a push gains nothing

Received received(const emnic_completion& c) {
  return {{c.data, c.bytes},
          {c.record, queue_pkg::cpl_t::kBytes},
          c.interface,
          c.queue,
          c.timestamp,
          c.hash,
          c.csum,
          c.flags,
          c.tag,
          c.tci,
          c.header_bytes};
}

}  // namespace

Driver::Driver(HostInterface& host, DriverConfig config)
    : machine_(host), config_(config), cpus_(std::max(1u, config.cpus)) {
  machine_.on_interrupt = [this](unsigned vector) {
    ++interrupts_;
    wake(vector);
  };
  machine_.on_rings = [this, &host](emnic_memory what, unsigned first, unsigned count,
                                    std::uint64_t bus, std::size_t stride) {
    watch_rings(host, what, first, count, bus, stride);
  };
}

// The run is over: the device is not spoken to any more.
Driver::~Driver() {
  machine_.unplug();
  emnic_close(core_);
}

void Driver::expect(int status) {
  if (status < 0) throw std::runtime_error(std::string("host-nic driver: ") + emnic_error(status));
}

emnic_queue_state Driver::tx_state(unsigned interface, unsigned queue) const {
  emnic_queue_state state;
  emnic_tx_state(tx(interface, queue), &state);
  return state;
}

emnic_queue_state Driver::rx_state(unsigned interface, unsigned queue) const {
  emnic_queue_state state;
  emnic_rx_state(rx(interface, queue), &state);
  return state;
}

// ---- opening

void Driver::probe() {
  machine_.plug();
  const emnic_ops ops = machine_.ops();
  expect(emnic_open(&ops, &core_));
  for (unsigned i = 0; i < emnic_interfaces(core_); ++i) {
    config_.tx_queues = std::min(config_.tx_queues, interface(i).tx_queues);
    config_.rx_queues = std::min(config_.rx_queues, interface(i).rx_queues);
  }
}

emnic_config Driver::core_config() const {
  emnic_config c{};
  c.tx_queues = config_.tx_queues;
  c.rx_queues = config_.rx_queues;
  c.shared = config_.shared;
  c.functions = config_.functions;
  c.tx_ring = config_.tx_ring;
  c.rx_ring = config_.rx_ring;
  c.tx_stream = config_.tx_stream;
  c.rx_stream = config_.rx_stream;
  c.tx_buffers = c.rx_buffers = true;
  c.header_bytes = config_.header_bytes;
  c.coalesce_bytes = config_.coalesce_bytes;
  c.coalesce_clocks = config_.coalesce_clocks;
  c.max_frame = config_.max_frame;
  c.max_packet = config_.tso_bytes;
  c.segments = config_.segments;
  c.tx_burst = config_.tx_burst;
  c.tx_push = config_.tx_push;
  c.doorbell_batch = config_.doorbell_batch;
  c.refill_batch = config_.refill_batch;
  c.cpus = static_cast<unsigned>(cpus_.size());
  c.interrupts = config_.interrupts;
  c.strip = config_.vlan_tags ? EMNIC_C_TAG | EMNIC_S_TAG : 0;
  c.dma_timeout = config_.dma_timeout_clocks;
  c.dma_overtaken = config_.dma_overtaken_clocks;
  c.cpl_delay = config_.cpl_delay_clocks;
  c.interrupt_interval = config_.interrupt_interval_clocks;
  c.scheduler = config_.scheduling.core();
  return c;
}

void Driver::open() {
  forget_queues();
  const emnic_config config = core_config();
  expect(emnic_start(core_, &config));
}

void Driver::reopen() {
  machine_.plug();
  forget_queues();
  expect(emnic_recover(core_));
}

void Driver::forget_queues() {
  completions_.clear();
  events_.clear();
  touched_.clear();
  pending_events_.clear();
  restarts_.clear();  // what they had asked has been answered, or failed
  std::fill(cpus_.begin(), cpus_.end(), Cpu());
  stream_pending_.assign(std::size_t{emnic_interfaces(core_)} * config_.rx_queues, false);
  touched_already_.assign(std::size_t{emnic_interfaces(core_)} * config_.tx_queues, false);
  tx_outstanding_ = 0;
  load_.reset(touched_already_.size());
  counts_.reset(emnic_interfaces(core_), config_.tx_queues, config_.rx_queues, config_.tx_stream,
                config_.rx_stream);
}

void Driver::watch_rings(HostInterface& host, emnic_memory what, unsigned first, unsigned count,
                         std::uint64_t bus, std::size_t stride) {
  if (what == EMNIC_STREAM_RINGS) {
    host.watch(bus, count * stride, [this, first, bus, stride](std::uint64_t addr, std::uint32_t) {
      schedule_stream(first + static_cast<std::uint32_t>((addr - bus) / stride));
    });
    return;
  }
  const bool completions = what == EMNIC_COMPLETION_RINGS;
  if (completions) {
    completions_.push_back({emnic_completions(core_, first)});
  } else {
    events_.push_back({emnic_event_queue(core_, first)});
  }
  if (config_.interrupts) return;
  host.watch(bus, count * stride, [this, completions, first](std::uint64_t, std::uint32_t) {
    completions ? schedule(first) : wake(first);
  });
}

// ---- transmitting

unsigned Driver::tx_stranded(unsigned i, unsigned port) const {
  unsigned count = 0;
  for (unsigned queue = port; queue < config_.tx_queues; queue += interface(i).ports) {
    if (!tx_stopped(i, queue)) continue;
    const emnic_queue_state state = tx_state(i, queue);
    count += state.made - state.sent;
  }
  return count;
}

bool Driver::transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame,
                      Cut cut) {
  emnic_offloads offloads{};
  const auto tag = config_.vlan_tags ? outer_tag(frame) : std::nullopt;
  if (tag) {
    offloads.tag = tag->kind;
    offloads.tci = tag->tci;
    without_tag(frame, untagged_);
    cut.tcp -= static_cast<unsigned>(frame.size() - untagged_.size());
    frame = untagged_;
  }
  if (cut.mss != 0) {
    offloads.mss = cut.mss;
    offloads.start = cut.tcp;
  }
  const auto left = config_.tx_checksum && cut.mss == 0 ? transport_checksum(frame) : std::nullopt;
  if (left) {
    offloads.checksum = 1;
    offloads.start = left->start;
    offloads.offset = left->offset;
    scratch_.assign(frame.begin(), frame.end());
    std::uint8_t* field = scratch_.data() + left->start + left->offset;
    field[0] = static_cast<std::uint8_t>(left->pseudo >> 8);
    field[1] = static_cast<std::uint8_t>(left->pseudo);
    frame = scratch_;
  }
  const int status =
      emnic_send(tx(interface, queue), frame.data(), static_cast<unsigned>(frame.size()),
                 left || tag || cut.mss ? &offloads : nullptr);
  if (status == EMNIC_FULL || status == EMNIC_STOPPED) return false;
  expect(status);
  counts_.put(interface, queue, frame, cut.mss, cut.tcp);
  load_.put(std::size_t{interface} * config_.tx_queues + queue, frame.size());
  checksums_ += left.has_value();
  tags_ += tag.has_value();
  ++tx_outstanding_;
  if (config_.doorbell_batch == 1) {
    ring_if_due(interface, queue, true);
  } else {
    touch(interface, queue);
  }
  return true;
}

void Driver::touch(unsigned interface, unsigned queue) {
  const std::uint32_t index = interface * config_.tx_queues + queue;
  if (touched_already_[index]) return;
  touched_already_[index] = true;
  touched_.push_back(index);
}

void Driver::ring_if_due(unsigned interface, unsigned queue, bool now) {
  const std::size_t index = std::size_t{interface} * config_.tx_queues + queue;
  const bool loaded = !config_.tx_stream && load_.full();
  const int load = tx_outstanding_ <= kIdlePackets ? EMNIC_IDLE : loaded ? EMNIC_LOADED : 0;
  const int did = emnic_tx_flush(tx(interface, queue), now, load);
  if ((did & EMNIC_RANG) != 0) {
    ++doorbells_;
    load_.rang(index);
    say_rung(interface, queue);
  } else if (loaded) {
    load_.hold(index);
  }
  pushes_ += (did & EMNIC_PUSHED) != 0;
}

void Driver::say_rung(unsigned interface, unsigned queue) const {
  if (on_doorbell) on_doorbell(interface, queue, tx_state(interface, queue).told);
}

void Driver::flush() {
  for (const std::uint32_t index : touched_) {
    touched_already_[index] = false;
    ring_if_due(index / config_.tx_queues, index % config_.tx_queues, false);
  }
  touched_.clear();
  load_.release([this](std::size_t index, bool late) {
    ring_if_due(static_cast<unsigned>(index / config_.tx_queues),
                static_cast<unsigned>(index % config_.tx_queues), late);
  });
}

// ---- CPUs

void Driver::schedule(std::uint32_t completion_queue) {
  Completions& queue = completions_[completion_queue];
  if (queue.pending) return;
  queue.pending = true;
  cpus_[emnic_cq_cpu(queue.queue)].work.push(completion_queue);
}

void Driver::schedule_stream(std::uint32_t rx_queue) {
  if (stream_pending_[rx_queue]) return;
  stream_pending_[rx_queue] = true;
  cpus_[rx_queue % cpus_.size()].work.push(kStream | rx_queue);
}

// Event queues are looked at when their interrupt comes, or without interrupts when something was
// written to them.
void Driver::wake(std::uint32_t event_queue) {
  if (event_queue >= events_.size() || events_[event_queue].pending) return;
  events_[event_queue].pending = true;
  pending_events_.push_back(event_queue);
}

void Driver::poll(Time now) {
  if (!pending_events_.empty()) {
    for (std::size_t i = 0; i < pending_events_.size(); ++i) serve_events(pending_events_[i], now);
    pending_events_.clear();
  }
  if (!restarts_.empty()) go_on_restarting();
  for (Cpu& cpu : cpus_) {
    while (!cpu.work.empty() && cpu.busy_until <= now) {
      const std::uint32_t queue = cpu.work.front();
      cpu.work.pop();
      ++polls_;
      const unsigned served =
          queue & kStream ? serve_stream(queue & ~kStream, now) : serve(queue, now);
      if (config_.cpu_per_packet != 0) cpu.busy_until = now + served * config_.cpu_per_packet;
    }
  }
  flush();
}

Time Driver::busy_until() const {
  Time last = 0;
  for (const Cpu& cpu : cpus_) last = std::max(last, cpu.busy_until);
  return last;
}

void Driver::stop_cpu(unsigned interface, unsigned rx_queue, Time until) {
  const int completions = rx_state(interface, rx_queue).completions;
  Cpu& cpu =
      cpus_[completions < 0
                ? (interface * config_.rx_queues + rx_queue) % cpus_.size()
                : emnic_cq_cpu(emnic_completions(core_, static_cast<unsigned>(completions)))];
  cpu.busy_until = std::max(cpu.busy_until, until);
}

// ---- what has come

// One record at a time: what a frame leads to is done before the next one is looked at.
unsigned Driver::serve(std::uint32_t completion_queue, Time now) {
  emnic_cq* queue = completions_[completion_queue].queue;
  emnic_completion completion;
  unsigned served = 0;
  bool more = true;
  for (; served < config_.budget; ++served) {
    more = emnic_take(queue, &completion, 1) != 0;
    if (!more) break;
    completion.transmit ? complete_tx(completion, now) : complete_rx(completion, now);
  }
  completions_[completion_queue].pending = false;
  emnic_taken(queue, config_.interrupts && !more);
  if (more) schedule(completion_queue);
  return served;
}

void Driver::complete_tx(const emnic_completion& c, Time now) {
  if (c.waiting != 0) touch(c.interface, c.queue);
  if (!tx_stopped(c.interface, c.queue)) tx_outstanding_ -= c.packets;
  if (c.error) ++tx_errors_;
  load_.sent(std::size_t{c.interface} * config_.tx_queues + c.queue, counts_.sent(c), c.packets);
  if (on_sent_record) on_sent_record(c);
  if (on_sent && (c.packets != 0 || c.error))
    on_sent(c.interface, c.queue, c.error != 0, c.timestamp, now);
}

void Driver::join(emnic_completion& c) {
  std::uint8_t* at =
      rx_state(c.interface, c.queue).headers + std::size_t{c.slot} * config_.header_bytes;
  const auto only = [](std::uint8_t x) { return x == 0; };
  beyond_headers_ += !std::all_of(at + c.header_bytes, at + config_.header_bytes, only);
  ++(c.header_bytes ? split_ : not_split_);
  if (c.header_bytes) {
    joined_.assign(at, at + c.header_bytes);
    joined_.insert(joined_.end(), c.data, c.data + c.bytes - c.header_bytes);
    c.data = joined_.data();
  }
  std::fill(at, at + config_.header_bytes, std::uint8_t{0});
}

void Driver::complete_rx(const emnic_completion& completion, Time now) {
  emnic_completion c = completion;
  if (c.headers && !c.error) join(c);
  rx_errors_ += c.error != 0;
  aggregates_.each_frame(c, [&](const emnic_completion& frame) {
    counts_.received(frame);
    if (frame.error || !on_receive) return;
    stripped_ += frame.tag != 0;
    on_receive(received(frame), now);
  });
  emnic_rx* queue = rx(c.interface, c.queue);
  emnic_release(queue, 1);
  doorbells_ += emnic_rx_flush(queue) != 0;
}

unsigned Driver::serve_stream(std::uint32_t index, Time now) {
  emnic_rx* queue = rx(index / config_.rx_queues, index % config_.rx_queues);
  stream_pending_[index] = false;
  emnic_completion c;
  unsigned served = 0;
  for (; served < config_.budget && emnic_take_stream(queue, &c, 1) != 0; ++served) {
    counts_.received(c);
    stripped_ += c.tag != 0;
    if (on_receive) on_receive(received(c), now);
    emnic_release(queue, 1);
  }
  doorbells_ += emnic_rx_flush(queue) != 0;
  if (served == config_.budget) schedule_stream(index);
  return served;
}

// Events name the completion queue that has something, or the queue that failed.
void Driver::serve_events(std::uint32_t index, Time now) {
  Events& events = events_[index];
  emnic_event event;
  events.pending = false;
  while (emnic_next_event(events.queue, &event)) {
    if (event.completions >= 0) schedule(static_cast<std::uint32_t>(event.completions));
    if (event.kind == queue_pkg::EvtTxCpl || event.kind == queue_pkg::EvtRxCpl) continue;
    errors_.push_back({event.interface, event.kind, event.source, event.code, now});
    tx_outstanding_ -= event.stranded;
    if (event.kind == queue_pkg::EvtTxError && event.source < config_.tx_queues)
      load_.stopped(std::size_t{event.interface} * config_.tx_queues + event.source);
    if (config_.recover) recover(event.interface, event.kind, event.source);
  }
  emnic_arm(events.queue);
}

// ---- restarts

void Driver::restart_tx(unsigned interface, unsigned queue) {
  if (emnic_tx_restart(tx(interface, queue), 0, 0) == 0)
    restarts_.push_back({true, interface, queue});
}

void Driver::restart_rx(unsigned interface, unsigned queue) {
  if (emnic_rx_restart(rx(interface, queue), 0, 0) == 0)
    restarts_.push_back({false, interface, queue});
}

void Driver::recover(unsigned interface, unsigned kind, unsigned queue) {
  if (kind == queue_pkg::EvtTxError && queue < config_.tx_queues) restart_tx(interface, queue);
  if (kind == queue_pkg::EvtRxError && queue < config_.rx_queues) restart_rx(interface, queue);
}

void Driver::go_on_restarting() {
  const auto finished = [this](const Restart& r) {
    const bool stopped = r.transmit && tx_stopped(r.interface, r.queue);
    const int status = r.transmit ? emnic_tx_restarting(tx(r.interface, r.queue))
                                  : emnic_rx_restarting(rx(r.interface, r.queue));
    if (status == EMNIC_NO_DEVICE) return true;
    expect(status);
    if (status == 0) return false;
    if (r.transmit) {
      load_.rang(std::size_t{r.interface} * config_.tx_queues + r.queue);
      say_rung(r.interface, r.queue);
    }
    if (stopped) tx_outstanding_ += tx_state(r.interface, r.queue).producer;  // all that is in it
    ++restarted_;
    return true;
  };
  restarts_.erase(std::remove_if(restarts_.begin(), restarts_.end(), finished), restarts_.end());
}

}  // namespace emery::host_nic
