// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/function_addresses.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "systems/host_nic/scheduling.hpp"

namespace emery::host_nic {

namespace {

constexpr std::uint64_t kFirst = 0x02'00'5e'10'00'00;  // locally administered
constexpr std::uint64_t kBroadcast = 0xff'ff'ff'ff'ff'ff, kGroup = 0x33'33'00'00'00'01,
                        kNobody = kFirst + 0xff00;

std::uint64_t mac_of(unsigned function) { return kFirst + function; }

}  // namespace

FunctionAddresses::FunctionAddresses(const Options& options)
    : on_(options.get<bool>("function_filter")),
      functions_(options.get<unsigned>("functions")),
      ports_(options.get<unsigned>("ports")),
      shared_(options.get<bool>("shared_queues")),
      address_(functions_) {
  const bool coalescing = options.get<bool>("receive_coalescing");
  const auto joins = list_of(options.get<std::string>("coalescing_functions"));
  const std::vector<std::string> vlans = list_of(options.get<std::string>("function_vlans"));
  for (unsigned n = 0; n < functions_; ++n) {
    emnic_address& a = address_[n];
    for (unsigned b = 0; b < EMNIC_MAC_BYTES; ++b)
      a.mac[b] = static_cast<std::uint8_t>(mac_of(n) >> 8 * (EMNIC_MAC_BYTES - 1 - b));
    a.valid = a.check = true;
    a.coalesce = coalescing && (n == 0 || joins.empty() || joins[n % joins.size()] == "1");
    if (!vlans.empty()) a.vlan = static_cast<unsigned>(std::stoul(vlans[n % vlans.size()]));
    a.has_vlan = a.vlan != 0;
  }
}

void FunctionAddresses::address_sent(TrafficConfig& config, unsigned function) const {
  if (on_) config.src_mac = mac_of(function);
}

// Of each eight frames of a function one is for everybody, for a group or for nobody.
void FunctionAddresses::address_received(TrafficConfig& config) const {
  if (!on_) return;
  for (unsigned n = 0; n < functions_; ++n)
    for (unsigned times = 0; times < 7; ++times) config.dst_macs.push_back(mac_of(n));
  const std::uint64_t others[] = {kBroadcast, kGroup, kNobody};
  for (unsigned n = 0; n < functions_; ++n) config.dst_macs.push_back(others[n % 3]);
  for (const emnic_address& a : address_)
    if (a.has_vlan) config.vlan_ids.push_back(static_cast<std::uint16_t>(a.vlan));
}

void FunctionAddresses::set_up(emnic* physical, unsigned each) {
  each_ = each;
  rss_entries_ = emnic_get_interface(physical, 0)->rss_entries;
  for (unsigned p = 0; on_ && p < ports_; ++p) {
    for (unsigned n = 0; n < functions_; ++n) {
      const int status = emnic_set_address(physical, 0, p, n, &address_[n]);
      if (status != 0) throw std::runtime_error(std::string("host-nic: ") + emnic_error(status));
    }
  }
  // A read returns when the writes before it have arrived.
  if (changed(physical, true, 0) != 0)
    throw std::runtime_error("host-nic: the filter reads otherwise");
}

unsigned FunctionAddresses::by_filter(std::span<const std::uint8_t> frame) const {
  const std::optional<Tag> tag = outer_tag(frame);
  for (unsigned n = 1; n < functions_; ++n) {
    const emnic_address& a = address_[n];
    if (std::memcmp(frame.data(), a.mac, EMNIC_MAC_BYTES) != 0) continue;
    if (!a.has_vlan || (tag && (tag->tci & 0xfffu) == a.vlan)) return n;
  }
  return 0;
}

FunctionAddresses::Place FunctionAddresses::of(std::span<const std::uint8_t> frame,
                                               unsigned port) const {
  const FlowHash::Value value = hash_.of(frame);
  const unsigned entry = value.type ? value.hash % rss_entries_ : 0;
  const unsigned ports = shared_ ? 1 : ports_;
  if (shared_) port = 0;
  if (on_) return {by_filter(frame), emnic_rss_queue(entry, port, ports, each_)};
  const unsigned nth = emnic_rss_queue(entry, port, ports, each_ * functions_);
  return {nth / each_, nth % each_};
}

unsigned FunctionAddresses::changed(emnic* driver, bool physical, unsigned function) const {
  unsigned found = 0;
  for (unsigned p = 0; on_ && p < ports_; ++p) {
    for (unsigned n = 0; n < (physical ? functions_ : 1); ++n) {
      const emnic_address& want = address_[physical ? n : function];
      emnic_address is{};
      found += emnic_get_address(driver, 0, p, n, &is) != 0 ||
               std::memcmp(is.mac, want.mac, EMNIC_MAC_BYTES) != 0 || is.valid != want.valid ||
               is.check != want.check || is.coalesce != want.coalesce ||
               is.has_vlan != want.has_vlan || is.vlan != want.vlan;
    }
  }
  return found;
}

}  // namespace emery::host_nic
