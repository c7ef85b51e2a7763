// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/steered_flows.hpp"

#include <algorithm>
#include <set>

namespace emery::host_nic {

namespace {

constexpr std::uint64_t kPatience = 64;  // frames for each flow that is to be found

}  // namespace

void SteeredFlows::steer(Driver& driver, RecordCheck& records, const Ports& ports,
                         const TrafficPlans& plans, Time now) {
  const unsigned each = ports.of_interface();
  for (unsigned p = 0; ports.receive() && wanted_ != 0 && p < ports.size(); ++p)
    if (const auto plan = plans.received(p)) steer(driver, records, p / each, p % each, *plan, now);
}

void SteeredFlows::steer(Driver& driver, RecordCheck& records, unsigned interface, unsigned port,
                         const TrafficConfig& traffic, Time now) {
  const unsigned ports = driver.interface(interface).ports;
  const auto queue_of = [&](unsigned n) { return (n * ports + port) % driver.rx_queues(); };
  const FlowHash hash;
  std::set<Flow> seen;
  Source preview(traffic, nullptr, [](const Source&) {});
  preview.start(now);
  Frame frame;
  unsigned steered = 0;
  bool remove = false;
  for (std::uint64_t i = 0; steered < wanted_ && i < kPatience * wanted_; ++i) {
    if (!preview.next(frame)) break;
    const Flow flow = hash.flow(frame.bytes());
    if (flow.type == 0 || !seen.insert(flow).second) continue;
    const unsigned queue = queue_of(steered);
    const bool change = steered % 2 != 0;
    emnic_flow wanted{};
    std::ranges::copy(flow.fields, wanted.fields);
    wanted.type = flow.type;
    const int writes =
        emnic_steer(driver.core(), interface, port, &wanted, queue_of(steered + change));
    if (writes < 0) {
      ++no_room_;
      continue;
    }
    moved_ += static_cast<unsigned>(writes - 1);
    if (remove) {
      emnic_unsteer(driver.core(), interface, port, &wanted);
      ++removed_;
      remove = false;
      continue;
    }
    if (change) changed_ += emnic_steer(driver.core(), interface, port, &wanted, queue) == 1;
    records.steered(interface, port, flow, queue);
    ++flows_;
    remove = ++steered % 8 == 0;
  }
  emnic_read(driver.core(), 0);  // a read returns when all writes before it have arrived
}

void SteeredFlows::write(JsonWriter& json) const {
  json.begin_object()
      .field("flows", flows_)
      .field("moved", moved_)
      .field("changed", changed_)
      .field("removed", removed_)
      .field("no_room", no_room_)
      .end_object();
}

}  // namespace emery::host_nic
