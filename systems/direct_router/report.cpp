// SPDX-License-Identifier: Apache-2.0
// What a run's result says of the machine, and what does not add up there.
#include <algorithm>
#include <string>
#include <utility>

#include "systems/direct_router/bench.hpp"

namespace emery::direct_router {

void Bench::check(Findings& findings) const {
  findings.add(accounts_.findings().lines());
  reset_.check(findings);
  machine_->check(findings);
  host_->check(findings);
  for (unsigned c = 0; c < scenario_.cards; ++c) {
    if (faults_.lost(c)) continue;
    const MacStats& mac = port_[c].mac->stats();
    mac.check(findings);
    findings.add(mac.tx_aborted, "frames aborted on the wire");
    findings.add(accounts_.counter(c, "tx_overflow"), "frames too many for an output FIFO");
    findings.add(accounts_.counter(c, "bad_writes"), "writes that a card could not take");
    if (const TableMemory* table = std::as_const(*machine_).table(c)) {
      findings.add(accounts_.counter(c, "lpm_lost"), "entries too many for a card's memory");
      findings.add(table->outside(), "accesses beyond a card's memory");
    }
  }
}

void Bench::report(JsonWriter& json) const {
  const Time end = traffic_end_ == 0 ? simulation_.now() : traffic_end_;
  const double seconds = static_cast<double>(std::max<Time>(end - traffic_start(), 1)) / 1e12;
  machine_->write_summary(json);
  json.field("cpu_busy", static_cast<double>(host_busy_) / 1e12 / seconds)
      .field("jain", accounts_.jain());
  const auto packets = static_cast<double>(accounts_.sum("packets")),
             bursts = static_cast<double>(accounts_.sum("bursts"));
  json.field("packets_per_burst", bursts > 0 ? packets / bursts : 0.0);
  accounts_.write_classes(json, seconds);
  machine_->write_details(json);
  json.key("host");
  host_->write_json(json);
  if (updates_) {
    json.object("updates");
    updates_->write(json);
    unsettled_->write(json);
    json.end_object();
  }
  if (control_plane_) {
    json.object("control_plane");
    control_plane_->write(json);
    unsettled_->write(json);
    json.end_object();
  }
  json.key("resets");
  reset_.write(json, machine_->slow_path());
  if (hostile_) {
    json.object("fault");
    hostile_->write(json);
    json.end_object();
  }
  json.array("cards");
  for (unsigned c = 0; c < scenario_.cards; ++c) {
    json.begin_object()
        .field("trie_nodes", card_routes_[c].nodes())
        .field("trie_needed", card_routes_[c].needed())
        .field("trie_cut", card_routes_[c].cut());
    if (const TableMemory* table = std::as_const(*machine_).table(c)) {
      json.key("table");
      table->write(json);
    }
    accounts_.write_card(json, c);
    json.key("mac");
    port_[c].mac->stats().write(json);
    json.end_object();
  }
  json.end_array();
  report_notes(json);
}

void Bench::report_notes(JsonWriter& json) const {
  json.array("notes");
  std::size_t needed = 0;
  for (const CardRoutes& card : card_routes_) needed = std::max(needed, card.needed());
  if (needed > host_->trie_nodes()) {
    json.value("the routes need " + std::to_string(needed) + " nodes, the cards have " +
               std::to_string(host_->trie_nodes()) + " (lpm_nodes, fib_nodes): " +
               std::to_string(cut_frames_) + " frames went through the host for it");
  }
  json.end_array();
}

}  // namespace emery::direct_router
