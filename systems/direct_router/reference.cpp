// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/reference.hpp"

#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery::direct_router {
namespace {

std::vector<std::uint32_t> own(const Tables& tables) {
  std::vector<std::uint32_t> addresses = tables.addresses;
  std::erase(addresses, 0u);
  return addresses;
}

// What is left is for the host to drop, as is a wrong checksum over options.
bool dropped_by_card(const route::Verdict& judged) {
  using route::Reason;
  if (judged.drop == Reason::kChecksum) return !judged.options();
  return judged.drop != Reason::kNone && judged.drop < Reason::kChecksum &&
         judged.drop != Reason::kNotIp;
}

bool within(std::uint32_t address, const Route& prefix) {
  return prefix.length == 0 || (address ^ prefix.prefix) >> (32 - prefix.length) == 0;
}

}  // namespace

Reference::Reference(const ReferenceConfig& config, const Tables& tables,
                     const std::vector<CardRoutes>& cards, bool changes)
    : config_(config),
      classes_(tables.classes),
      cards_(cards),
      judges_({tables.routes,
               config.promiscuous ? route::Judge::Station::kAny : route::Judge::Station::kOwn,
               own(tables)},
              changes) {}

// By the packet as it came. The rule of a port stands in for that of any port.
unsigned Reference::class_of(std::span<const std::uint8_t> ip, const Verdict& verdict) const {
  for (unsigned c = 0; config_.qos && c + 1 < config_.classes; ++c) {
    const ClassRule* rule = nullptr;
    for (const ClassRule& r : classes_) {
      if (r.cls != c || (r.port && (verdict.slow || *r.port != verdict.port))) continue;
      if (!rule || r.port) rule = &r;
    }
    if (rule && (ip[1] & rule->tos_mask) == rule->tos &&
        (ip[9] & rule->protocol_mask) == rule->protocol && within(get32(&ip[12]), rule->source) &&
        within(get32(&ip[16]), rule->destination))
      return c;
  }
  return config_.classes - 1;
}

const char* Reference::counter(route::Reason reason) {
  switch (reason) {
    case route::Reason::kShort:
    case route::Reason::kVersion:
    case route::Reason::kHeader:
    case route::Reason::kLength:
      return "header";
    default:
      return name(reason);
  }
}

Verdict Reference::look(const route::Judge& judge, unsigned port,
                        std::span<const std::uint8_t> frame) const {
  const route::Verdict judged = judge.judge(frame, config_.own_mac[port]);
  Verdict v;
  v.drop = counter(judged.drop);
  v.port = judged.port;
  v.card = config_.fast_path && !judged.options() && v.port != port;
  if (!config_.kernel || dropped_by_card(judged)) return v;
  v.card = v.card && !v.drop && v.port < ports();
  v.drop = nullptr;
  return v;
}

void Reference::rewrite(Verdict& v, unsigned port, std::span<std::uint8_t> frame) const {
  v.cls = class_of(frame.subspan(14), v);
  v.kernel = v.slow && config_.kernel;
  if (v.kernel) {
    if (get16(&frame[12]) != kTypeIp4) v.cls = config_.classes - 1;
    return;
  }
  route::Judge::hop(frame);
  put48(frame.data(), config_.next_hop[v.port]);
  // The host leaves its own address of the port the frame goes out at, a card that of the port it
  // came in at, or, as in the paper, what was there.
  if (v.slow) {
    put48(&frame[6], config_.own_mac[v.port]);
  } else if (config_.rewrite_source) {
    put48(&frame[6], config_.own_mac[port]);
  }
}

Verdict Reference::forward(unsigned port, std::span<std::uint8_t> frame) const {
  Verdict v = look(judges_.judge(), port, frame);
  if (v.drop) return v;
  v.slow = !v.card || cards_[port].find(get32(&frame[30])) != v.port;
  v.cut = v.card && v.slow;
  rewrite(v, port, frame);
  return v;
}

Verdict Reference::forward(unsigned port, std::span<std::uint8_t> frame, bool after,
                           bool by_host) const {
  Verdict v = look(judges_.judge(after), port, frame);
  if (v.drop) return v;
  v.slow = by_host || !v.card;
  rewrite(v, port, frame);
  return v;
}

}  // namespace emery::direct_router
