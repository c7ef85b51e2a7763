// SPDX-License-Identifier: Apache-2.0
// The driver model at the end of a run, and its raw access for tests of the device.
#include <cstring>

#include "queue_formats.hpp"
#include "systems/host_nic/driver.hpp"
#include "systems/nic_core/levels.hpp"

namespace emery::host_nic {

namespace {

constexpr unsigned kDescriptorBytes = queue_pkg::desc_t::kBytes;

const char* kind_name(unsigned kind) {
  switch (kind) {
    case queue_pkg::EvtTxCpl:
      return "tx_completion";
    case queue_pkg::EvtRxCpl:
      return "rx_completion";
    case queue_pkg::EvtTxError:
      return "tx_queue";
    case queue_pkg::EvtRxError:
      return "rx_queue";
    case queue_pkg::EvtTxCqError:
      return "tx_completion_queue";
    case queue_pkg::EvtRxCqError:
      return "rx_completion_queue";
    default:
      return "unknown";
  }
}

}  // namespace

// ---- registers

void Driver::find_levels(Findings& findings) { nic::find_levels(core_, findings); }

std::uint64_t Driver::settings_refused() {
  std::uint64_t sum = emnic_get_counter(core_, EMNIC_DEVICE_settings_refused, 0, 0);
  for (unsigned i = 0; i < emnic_interfaces(core_); ++i) {
    sum += emnic_get_counter(core_, EMNIC_INTERFACE_settings_refused, i, 0);
    for (unsigned p = 0; p < interface(i).ports; ++p)
      sum += emnic_get_counter(core_, EMNIC_PORT_settings_refused, i, p);
  }
  return sum;
}

std::string Driver::stopped_for() const {
  for (const DeviceError& error : errors_) {
    const bool transmit = error.kind == queue_pkg::EvtTxError;
    if (config_.recover || (!transmit && error.kind != queue_pkg::EvtRxError)) continue;
    return std::string("the device stopped ") + (transmit ? "transmit" : "receive") + " queue " +
           std::to_string(error.queue) + " for an error (" +
           std::string(queue_pkg::error_name(error.code)) +
           "); with recover=true the driver sets it up anew";
  }
  return "";
}

void Driver::read_error_registers() {
  last_errors_.resize(emnic_interfaces(core_));
  for (unsigned i = 0; i < last_errors_.size(); ++i)
    emnic_get_last_error(core_, i, &last_errors_[i]);
  for (DeviceError& error : errors_) {
    const bool transmit = error.kind == queue_pkg::EvtTxError;
    if (!transmit && error.kind != queue_pkg::EvtRxError) continue;
    if (error.queue >= (transmit ? config_.tx_queues : config_.rx_queues)) continue;
    error.stopped =
        (transmit ? emnic_tx_status(tx(error.interface, error.queue), &error.register_code)
                  : emnic_rx_status(rx(error.interface, error.queue), &error.register_code)) > 0;
  }
}

void Driver::take_last_records(unsigned interfaces) {
  emnic_completion c;
  for (const Completions& queue : completions_)
    while (emnic_take(queue.queue, &c, 1) != 0) {
      if (c.transmit) {
        counts_.sent(c);
      } else {
        aggregates_.each_frame(c, [&](const emnic_completion& frame) { counts_.received(frame); });
      }
    }
  for (unsigned i = 0; config_.rx_stream && i < interfaces; ++i)
    for (unsigned queue = 0; queue < config_.rx_queues; ++queue)
      while (emnic_take_stream(rx(i, queue), &c, 1) != 0) counts_.received(c);
}

void Driver::compare_counts(unsigned interfaces) {
  take_last_records(interfaces);
  counts_.compare(core_, interfaces, config_.counted_queues);
}

void Driver::compare_counts(const QueueCounts::Read& read, unsigned most) {
  take_last_records(1);
  counts_.compare(read, most);
}

// ---- raw access

Driver::TxSlot Driver::newest_tx(unsigned interface, unsigned queue) const {
  const emnic_queue_state state = tx_state(interface, queue);
  const std::uint64_t slot = state.newest & (state.slots - 1);
  const std::uint64_t descriptor =
      state.ring_bus + slot * state.slot_descriptors * kDescriptorBytes;
  return {config_.tx_stream ? descriptor + kDescriptorBytes
                            : state.buffers_bus + slot * state.buffer_bytes,
          descriptor};
}

void Driver::poison_tx_descriptor(unsigned interface, unsigned queue, std::uint64_t addr) {
  const emnic_queue_state state = tx_state(interface, queue);
  const std::size_t slot = (state.producer - 1u) & (state.slots - 1);
  std::memcpy(state.ring + slot * state.slot_descriptors * kDescriptorBytes, &addr, sizeof addr);
}

void Driver::ring_tx_doorbell(unsigned interface, unsigned queue, std::uint16_t producer) {
  emnic_write(core_, tx_state(interface, queue).doorbell, producer);
}

std::uint16_t Driver::tx_producer(unsigned interface, unsigned queue) const {
  return tx_state(interface, queue).producer;
}

void Driver::poison_rx_descriptor(unsigned interface, unsigned queue, unsigned ahead,
                                  std::uint64_t addr) {
  const emnic_queue_state state = rx_state(interface, queue);
  const std::size_t slot = (state.done - 1u + ahead) & (state.slots - 1);
  queue_pkg::desc_t{}
      .set_addr(addr)
      .set_len(state.buffer_bytes)
      .write(state.ring + ((slot + 1) * state.slot_descriptors - 1) * kDescriptorBytes);
}

std::uint64_t Driver::rx_descriptor(unsigned interface, unsigned queue, unsigned ahead) const {
  const emnic_queue_state state = rx_state(interface, queue);
  const std::uint64_t slot = (state.done - 1u + ahead) & (state.slots - 1);
  return state.ring_bus + slot * state.slot_descriptors * kDescriptorBytes;
}

// ---- result

void Driver::check(Findings& findings) const {
  findings.add(beyond_headers_, "buffers for headers with something else in them");
  findings.add(stale_writes(), "writes to memory of rings that were given up");
  findings.add(counts_.findings().lines());
}

void Driver::write_counts(JsonWriter& json) const {
  json.object("queue_counters");
  counts_.write(json);
  json.end_object();
}

void Driver::write_errors(JsonWriter& json) const {
  json.key("device_errors").begin_array();
  for (const DeviceError& error : errors_) {
    json.begin_object()
        .field("interface", error.interface)
        .field("kind", kind_name(error.kind))
        .field("queue", error.queue)
        .field("code", queue_pkg::error_name(error.code))
        .field("at_us", static_cast<double>(error.when) / kMicrosecond)
        .field("queue_stopped", error.stopped)
        .field("queue_code", queue_pkg::error_name(error.register_code))
        .end_object();
  }
  json.end_array();
  json.key("error_registers").begin_array();
  for (const emnic_last_error& last : last_errors_) {
    json.begin_object().field("errors", last.errors);
    if (last.errors != 0) {
      json.field("last_kind", kind_name(last.kind))
          .field("last_queue", last.queue)
          .field("last_code", queue_pkg::error_name(last.code));
    }
    json.end_object();
  }
  json.end_array();
}

void Driver::write(JsonWriter& json) const {
  json.begin_object()
      .field("doorbells", doorbells_)
      .field("checksums", checksums_)
      .field("tags_left", tags_)
      .field("tags_taken", stripped_)
      .field("headers_split", split_)
      .field("headers_not_split", not_split_)
      .field("aggregates", aggregates_.taken())
      .field("aggregate_frames", aggregates_.frames())
      .field("pushes", pushes_)
      .field("interrupts", interrupts_)
      .field("polls", polls_)
      .field("tx_errors", tx_errors_)
      .field("rx_errors", rx_errors_)
      .field("device_errors", errors_.size())
      .field("foreign", emnic_foreign(core_))
      .field("restarts", restarted_)
      .field("stale_writes", stale_writes())
      .end_object();
}

}  // namespace emery::host_nic
