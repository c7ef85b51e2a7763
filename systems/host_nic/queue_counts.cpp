// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/queue_counts.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "queue_formats.hpp"

namespace emery::host_nic {

namespace {

constexpr unsigned kTcpLength = 12;  // byte of a TCP header whose upper half is its length in words

bool any(const emnic_queue_counts& c) { return (c.packets | c.errors | c.drops) != 0; }

void add(emnic_queue_counts& sum, const emnic_queue_counts& c) {
  sum.packets += c.packets;
  sum.bytes += c.bytes;
  sum.errors += c.errors;
  sum.drops += c.drops;
}

}  // namespace

void QueueCounts::reset(unsigned interfaces, unsigned tx_queues, unsigned rx_queues, bool tx_stream,
                        bool rx_stream) {
  ++resets_;
  tx_ = {true, tx_stream, tx_queues};
  rx_ = {false, rx_stream, rx_queues};
  tx_.seen.resize(std::size_t{interfaces} * tx_queues);
  rx_.seen.resize(std::size_t{interfaces} * rx_queues);
  under_way_.assign(tx_.seen.size(), Ring<Packet>());
}

void QueueCounts::put(unsigned interface, unsigned queue, std::span<const std::uint8_t> packet,
                      unsigned mss, unsigned tcp) {
  Packet p{static_cast<std::uint32_t>(packet.size()), 1};
  if (mss != 0) {
    const std::uint32_t headers = tcp + (packet[tcp + kTcpLength] >> 4) * 4u;
    p.frames = (p.bytes - headers + mss - 1) / mss;
    p.bytes += (p.frames - 1) * headers;
  }
  under_way_[at(tx_, interface, queue)].push(p);
}

std::uint64_t QueueCounts::sent(const emnic_completion& c) {
  std::uint64_t bytes = 0;
  emnic_queue_counts& seen = tx_.seen[at(tx_, c.interface, c.queue)];
  Ring<Packet>& under_way = under_way_[at(tx_, c.interface, c.queue)];
  seen.errors += c.error != 0;
  for (unsigned n = 0; n < c.packets && !under_way.empty(); ++n) {
    if (!c.error || tx_.stream) {
      seen.packets += under_way.front().frames;
      seen.bytes += under_way.front().bytes;
    }
    bytes += under_way.front().bytes;
    under_way.pop();
  }
  return bytes;
}

void QueueCounts::received(const emnic_completion& c) {
  emnic_queue_counts& seen = rx_.seen[at(rx_, c.interface, c.queue)];
  if (c.error) {
    ++seen.errors;
    rx_.failed_together |= c.segment_bytes != 0;
  } else {
    ++seen.packets;
    seen.bytes += c.bytes;
  }
}

void QueueCounts::compare(emnic* core, unsigned interfaces, unsigned most) {
  const Read read = [core](unsigned interface, bool transmit, unsigned queue,
                           emnic_queue_counts& counted) {
    return emnic_get_queue_counts(core, interface, transmit, queue, &counted);
  };
  for (unsigned i = 0; i < interfaces && most != 0; ++i) {
    for (Way* way : {&tx_, &rx_}) {
      const auto lost = way->transmit ? EMNIC_INTERFACE_tx_cpl_lost : EMNIC_INTERFACE_rx_cpl_lost;
      if (emnic_get_counter(core, lost, i, 0) != 0) continue;
      const emnic_queue_counts sum = compare(read, *way, i, most);
      // The driver core goes on counting over a reset; opened for the first time is one.
      if (way->queues <= most && resets_ == 1) compare_sums(core, *way, i, sum);
    }
  }
}

void QueueCounts::compare(const Read& read, unsigned most) {
  for (Way* way : {&tx_, &rx_})
    if (most != 0) compare(read, *way, 0, most);
}

QueueCounts& QueueCounts::operator+=(const QueueCounts& others) {
  for (const auto& [way, other] : {std::pair{&tx_, &others.tx_}, {&rx_, &others.rx_}}) {
    way->compared += other->compared;
    add(way->sum, other->sum);
  }
  return *this;
}

std::vector<unsigned> QueueCounts::chosen(const Way& way, unsigned interface, unsigned most) const {
  std::vector<unsigned> busy, queues;
  unsigned idle = way.queues;
  for (unsigned queue = 0; queue < way.queues; ++queue) {
    if (way.queues <= most || any(way.seen[at(way, interface, queue)])) {
      busy.push_back(queue);
    } else {
      idle = queue;
    }
  }
  const std::size_t count = std::min<std::size_t>(most, busy.size());
  for (std::size_t n = 0; n < count; ++n) queues.push_back(busy[n * busy.size() / count]);
  if (idle != way.queues) queues.push_back(idle);
  return queues;
}

emnic_queue_counts QueueCounts::compare(const Read& read, Way& way, unsigned interface,
                                        unsigned most) {
  emnic_queue_counts sum{};
  for (const unsigned queue : chosen(way, interface, most)) {
    add(sum, compare_one(read, way, interface, queue));
    ++way.compared;
  }
  add(way.sum, sum);
  return sum;
}

emnic_queue_counts QueueCounts::compare_one(const Read& read, Way& way, unsigned interface,
                                            unsigned queue) {
  const emnic_queue_counts& seen = way.seen[at(way, interface, queue)];
  emnic_queue_counts counted{};
  const int status = read(interface, way.transmit, queue, counted);
  const auto check = [&](const char* what, std::uint64_t card, std::uint64_t driver) {
    if (status == 0 && card == driver) return;
    findings_.add("interface " + std::to_string(interface) +
                  (way.transmit ? ", transmit" : ", receive") + " queue " + std::to_string(queue) +
                  ": the card counts " +
                  (status == 0 ? std::to_string(card) + " " + what : emnic_error(status)) +
                  ", the driver " + std::to_string(driver));
  };
  check("packets", counted.packets, seen.packets);
  // Of a turn that broke nobody says which of its frames have left.
  if (!way.transmit || !way.stream || seen.errors == 0) check("bytes", counted.bytes, seen.bytes);
  // A receive stream has no records of frames that are not whole; of several under one it is not
  // said how many there are.
  if ((way.transmit || !way.stream) && !way.failed_together)
    check("errors", counted.errors, seen.errors);
  return counted;
}

void QueueCounts::compare_sums(emnic* core, const Way& way, unsigned interface,
                               const emnic_queue_counts& sum) {
  const auto ports = [&](std::initializer_list<emnic_counter> counters) {
    std::uint64_t total = 0;
    for (unsigned p = 0; p < emnic_get_interface(core, interface)->ports; ++p)
      for (const emnic_counter counter : counters)
        total += emnic_get_counter(core, counter, interface, p);
    return total;
  };
  const auto check = [&](const char* what, std::uint64_t queues, std::uint64_t of_ports) {
    if (queues != of_ports)
      findings_.add("interface " + std::to_string(interface) + ": its queues count " +
                    std::to_string(queues) + " " + what + ", its ports " +
                    std::to_string(of_ports));
  };
  if (way.transmit) {
    check("packets not sent", sum.errors, ports({EMNIC_PORT_tx_errors}));
    return;
  }
  check("frames dropped", sum.drops,
        ports({EMNIC_PORT_rx_no_descriptor, EMNIC_PORT_rx_queue_stopped}));
  check("frames that are not whole", sum.errors,
        ports({EMNIC_PORT_rx_descriptor_error, EMNIC_PORT_rx_truncated, EMNIC_PORT_rx_dma_error}));
}

void QueueCounts::write(JsonWriter& json) const {
  for (const Way* way : {&tx_, &rx_}) {
    json.object(way->transmit ? "tx" : "rx")
        .field("compared", way->compared)
        .field("packets", way->sum.packets)
        .field("bytes", way->sum.bytes)
        .field("errors", way->sum.errors);
    if (way == &rx_) json.field("drops", way->sum.drops);
    json.end_object();
  }
}

}  // namespace emery::host_nic
