// SPDX-License-Identifier: Apache-2.0
#include "bench/run/pcie_host.hpp"

#include <utility>

namespace emery {

void PcieHost::check_rules(Findings& findings) const {
  findings.add(endpoint->stats().fc_violations, "TLPs sent without credit");
  findings.add(endpoint->stats().tx_malformed, "malformed TLPs sent");
  findings.add(root.stats().protocol_errors,
               "PCIe protocol errors: " + root.stats().first_protocol_error);
}

void PcieHost::check(Findings& findings) const {
  check_rules(findings);
  check_open(findings);
}

bool PcieHost::at_rest() const {
  Findings open;
  check_open(open);
  return open.lines().empty();
}

void PcieHost::check_credits(const PcieLink& link, Findings& findings) {
  static constexpr const char* kClasses[] = {"posted", "non-posted", "completion"};
  for (int c = 0; c < kFcClasses; ++c) {
    for (const auto& [direction, name] : {std::pair{&link.up, "up"}, std::pair{&link.down, "down"}})
      findings.add(direction->credits_out(c),
                   std::string(kClasses[c]) + " PCIe credits not back, " + name);
  }
  findings.add(link.up.in_flight() + link.down.in_flight(), "PCIe packets still under way");
}

void PcieHost::check_open(Findings& findings) const {
  if (link.lost()) return;  // credits and tags start afresh with the link
  check_credits(link, findings);
  findings.add(endpoint->held() + root.cpu_waits(), "PCIe packets still under way");
  findings.add(root.reads_open(), "reads still open in the root complex");
  findings.add(root.tags_in_use(), "PCIe tags not back");
  findings.add(endpoint->reads_open() - root.stats().unanswered, "reads of the device unanswered");
}

PcieHost::Done PcieHost::done() const {
  const Time now = simulation_.now();
  const auto step = static_cast<double>(simulation_.period(clock_));
  return {.at = now,
          .up = link.up.busy_time(now),
          .down = link.down.busy_time(now),
          .rq = static_cast<Time>(endpoint->stats().rq_beats * step),
          .payload_up = link.up.stats().payload_bytes,
          .payload_down = link.down.stats().payload_bytes};
}

void PcieHost::write_busy(JsonWriter& json) const {
  const auto share = [&](Time time) { return static_cast<double>(time) / 1e12 / seconds(); };
  json.field("pcie_up_busy", share(to_.up - from_.up))
      .field("pcie_down_busy", share(to_.down - from_.down));
  if (to_.rq != 0) json.field("rq_busy", share(to_.rq - from_.rq));
}

void PcieHost::write_payload(JsonWriter& json) const {
  const auto gbps = [&](std::uint64_t n) { return 8e-9 * static_cast<double>(n) / seconds(); };
  json.field("tlp_payload_up_gbps", gbps(to_.payload_up - from_.payload_up))
      .field("tlp_payload_down_gbps", gbps(to_.payload_down - from_.payload_down));
}

void PcieHost::write(JsonWriter& json, const std::string& prefix) const {
  json.key(prefix + "up");
  link.up.stats().write(json);
  json.key(prefix + "down");
  link.down.stats().write(json);
  json.key("endpoint");
  endpoint->stats().write(json);
  json.key("root_complex");
  root.stats().write(json);
}

}  // namespace emery
