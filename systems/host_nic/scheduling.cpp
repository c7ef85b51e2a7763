// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/scheduling.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace emery::host_nic {

namespace {

constexpr std::uint32_t kSlack = 1200;  // ns: what a frame takes besides waiting on the line

// A class for each set of slots that some queue may use.
void deal_classes(const Options& options, Scheduling& scheduling) {
  std::vector<std::set<unsigned>> classes;
  for (const std::string& entry : list_of(options.get<std::string>("queue_slots"))) {
    std::set<unsigned> slots;
    for (const std::string& slot : list_of(entry, '+'))
      slots.insert(static_cast<unsigned>(std::stoul(slot)));
    auto same = std::find(classes.begin(), classes.end(), slots);
    if (same == classes.end()) same = classes.insert(classes.end(), slots);
    const auto number = static_cast<unsigned>(same - classes.begin());
    for (const unsigned slot : slots) scheduling.slots.at(slot).classes |= 1u << number;
    scheduling.shares.push_back(static_cast<std::uint8_t>(number));
  }
}

}  // namespace

std::vector<std::string> list_of(const std::string& text, char between) {
  std::vector<std::string> found;
  for (std::size_t at = 0; !text.empty() && at != std::string::npos;) {
    const std::size_t end = text.find(between, at);
    found.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? end : end + 1;
  }
  return found;
}

Scheduling::Scheduling(const Options& options) {
  own_registers = options.get<std::string>("scheduler") != "rr";
  window = options.get<std::uint32_t>("tx_window_kb") * 1024;
  open_ns = options.get<std::uint32_t>("tdma_open_ns");
  close_ns = options.get<std::uint32_t>("tdma_close_ns");
  if (close_ns == 0) close_ns = window * 8 / options.get<std::uint32_t>("line_gbps") + kSlack;
  const bool both = options.get<std::string>("scheduler") == "pieo";
  for (const char* name : {"queue_priorities", "queue_weights"}) {
    const bool beside = both && std::string_view(name) == "queue_priorities";
    for (const std::string& share : list_of(options.get(name, "")))
      (beside ? priorities : shares).push_back(static_cast<std::uint8_t>(std::stoul(share)));
  }
  for (const std::string& us : list_of(options.get<std::string>("tdma_slots_us")))
    slots.push_back({static_cast<std::uint32_t>(std::lround(std::stod(us) * 1000)), 0});
  const std::uint32_t burst = options.get<std::uint32_t>("queue_burst_kb") * 1024;
  for (const std::string& mbps : list_of(options.get<std::string>("queue_limits_mbps")))
    limits.push_back({static_cast<std::uint64_t>(std::llround(std::stod(mbps) * 1e6)), burst});
  deal_classes(options, *this);
}

emnic_scheduler Scheduling::core() const {
  emnic_scheduler s{};
  s.shares = shares.data();
  s.share_count = static_cast<unsigned>(shares.size());
  s.priorities = priorities.data();
  s.priority_count = static_cast<unsigned>(priorities.size());
  s.own_registers = own_registers;
  s.window = window;
  s.slots = slots.data();
  s.slot_count = static_cast<unsigned>(slots.size());
  s.open_ns = open_ns;
  s.close_ns = close_ns;
  s.limits = limits.data();
  s.limit_count = static_cast<unsigned>(limits.size());
  return s;
}

}  // namespace emery::host_nic
