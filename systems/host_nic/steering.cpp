// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/steering.hpp"

#include "host_nic.h"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {
namespace {

using FlowRegs = flow_regs__stride1000_t;

}  // namespace

std::array<unsigned, 2> FlowPlaces::places(const Flow& flow) const {
  const auto half = static_cast<unsigned>(entries_.size() / 2);
  return {flow.hash % half, half + (flow.hash >> 16) % half};
}

std::optional<unsigned> FlowPlaces::find(const Flow& flow) const {
  if (entries_.empty() || flow.type == 0) return {};
  for (const unsigned at : places(flow))
    if (entries_[at].flow == flow) return at;
  return {};
}

std::optional<unsigned> FlowPlaces::remove(const Flow& flow) {
  const auto at = find(flow);
  if (at) entries_[*at] = {};
  return at;
}

// Breadth first: the shortest chain of moves to a free place.
std::vector<unsigned> FlowPlaces::place(const Flow& flow, unsigned queue) {
  if (entries_.empty() || flow.type == 0) return {};
  if (const auto at = find(flow)) {
    entries_[*at].queue = queue;
    return {*at};
  }
  struct Step {
    unsigned at;
    int from;  // the step whose flow moves here; -1: the new one
  };
  std::vector<Step> steps;
  std::vector<bool> seen(entries_.size());
  const auto visit = [&](const Flow& which, int from) {
    for (const unsigned at : places(which)) {
      if (!seen[at]) steps.push_back({at, from});
      seen[at] = true;
    }
  };
  visit(flow, -1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (entries_[steps[i].at].flow.type != 0) {
      visit(entries_[steps[i].at].flow, static_cast<int>(i));
      continue;
    }
    std::vector<unsigned> writes;
    for (int step = static_cast<int>(i); step >= 0;) {
      const auto [at, from] = steps[static_cast<std::size_t>(step)];
      entries_[at] =
          from < 0 ? Entry{flow, queue} : entries_[steps[static_cast<std::size_t>(from)].at];
      writes.push_back(at);
      step = from;
    }
    return writes;
  }
  return {};
}

FlowTable& Driver::flow_table(unsigned i, unsigned port) {
  const auto table = std::size_t{i} * interfaces_[i].ports + port;
  while (flows_.size() <= table)
    flows_.emplace_back(read32(flow_registers(i, port) + offsetof(FlowRegs, entries)));
  return flows_[table];
}

std::uint64_t Driver::flow_registers(unsigned i, unsigned port) {
  Interface& interface = interfaces_[i];
  if (interface.flow == 0) {
    interface.flow =
        interface.base + interface_register(i, offsetof(nic_interface_regs_t, flow_offset));
    interface.flow_stride = interface_register(i, offsetof(nic_interface_regs_t, flow_stride));
  }
  return interface.flow + port * interface.flow_stride;
}

void Driver::write_flow(unsigned i, unsigned port, unsigned at) {
  FlowTable& table = flow_table(i, port);
  const FlowPlaces::Entry& entry = table.places.entry(at);
  const std::uint64_t regs = flow_registers(i, port);
  const auto write = [&](unsigned word, std::uint32_t value) {
    if (table.written[word] != value)
      write32(regs + offsetof(FlowRegs, flow) + 4 * word, table.written[word] = value);
  };
  const auto byte = [&](unsigned k) { return std::uint32_t{entry.flow.fields[k]}; };
  for (unsigned k = 0; k < Flow::kFields; k += 4)
    write(k / 4, byte(k) << 24 | byte(k + 1) << 16 | byte(k + 2) << 8 | byte(k + 3));
  const std::uint32_t valid = entry.flow.type != 0 ? FLOW_REGS__ACTION__VALID_bm : 0;
  write(FlowTable::kWords - 1,
        valid | entry.flow.type << FLOW_REGS__ACTION__HASH_TYPE_bp | entry.queue);
  write32(regs + offsetof(FlowRegs, put), at);
}

void Driver::restore_flows(unsigned i) {
  for (unsigned port = 0; port < interfaces_[i].ports; ++port) {
    const auto table = std::size_t{i} * interfaces_[i].ports + port;
    if (table >= flows_.size()) break;
    flows_[table].written = {};
    for (unsigned at = 0; at < flows_[table].places.size(); ++at)
      if (flows_[table].places.entry(at).flow.type != 0) write_flow(i, port, at);
  }
}

unsigned Driver::steer(unsigned i, unsigned port, const Flow& flow, unsigned queue) {
  const auto writes = flow_table(i, port).places.place(flow, queue);
  for (const unsigned at : writes) write_flow(i, port, at);
  return static_cast<unsigned>(writes.size());
}

bool Driver::unsteer(unsigned i, unsigned port, const Flow& flow) {
  const auto at = flow_table(i, port).places.remove(flow);
  if (at) write_flow(i, port, *at);
  return at.has_value();
}

}  // namespace emery::host_nic
