// SPDX-License-Identifier: Apache-2.0
#include "bench/run/pcie_host.hpp"

namespace emery {

void PcieHost::check(Findings& findings) const {
  findings.add(endpoint->stats().fc_violations, "TLPs sent without credit");
  findings.add(endpoint->stats().tx_malformed, "malformed TLPs sent");
  findings.add(root.stats().protocol_errors,
               "PCIe protocol errors: " + root.stats().first_protocol_error);
}

void PcieHost::write_busy(JsonWriter& json, const Busy& from, const Busy& to, double seconds) {
  const auto share = [&](Time time) { return static_cast<double>(time) / 1e12 / seconds; };
  json.field("pcie_up_busy", share(to.up - from.up))
      .field("pcie_down_busy", share(to.down - from.down));
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
