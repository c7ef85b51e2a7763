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

void PcieHost::write_busy(JsonWriter& json, const Busy& from, const Busy& to, double seconds) {
  const auto share = [&](Time time) { return static_cast<double>(time) / 1e12 / seconds; };
  json.field("pcie_up_busy", share(to.up - from.up))
      .field("pcie_down_busy", share(to.down - from.down));
  if (to.rq != 0) json.field("rq_busy", share(to.rq - from.rq));
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
