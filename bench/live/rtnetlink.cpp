// SPDX-License-Identifier: Apache-2.0
#include "bench/live/rtnetlink.hpp"

#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "bench/traffic/network_order.hpp"

namespace emery {
namespace {

using route::KernelRoute, route::KernelTables;

constexpr std::uint32_t kGroups = 1u << (RTNLGRP_LINK - 1) | 1u << (RTNLGRP_NEIGH - 1) |
                                  1u << (RTNLGRP_IPV4_IFADDR - 1) | 1u << (RTNLGRP_IPV4_ROUTE - 1) |
                                  1u << (RTNLGRP_IPV4_RULE - 1) | 1u << (RTNLGRP_IPV4_NETCONF - 1);
constexpr std::uint16_t kRequests[] = {RTM_GETNETCONF, RTM_GETRULE, RTM_GETNEIGH, RTM_GETROUTE};
constexpr unsigned kResolved =
    NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;
constexpr std::uint64_t kGroupBit = 1ull << 40;

// What follows a message's header of its own; null where the message is too short for that.
template <class Header>
const Header* header(const nlmsghdr& message) {
  return message.nlmsg_len < NLMSG_LENGTH(sizeof(Header))
             ? nullptr
             : static_cast<const Header*>(NLMSG_DATA(&message));
}

using Attributes = std::map<unsigned, std::span<const std::uint8_t>>;

template <class Header>
Attributes attributes(const nlmsghdr& message) {
  Attributes found;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&message);
  std::size_t at = NLMSG_ALIGN(NLMSG_LENGTH(sizeof(Header)));
  while (at + sizeof(rtattr) <= message.nlmsg_len) {
    rtattr attribute;
    std::memcpy(&attribute, bytes + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > message.nlmsg_len) break;
    found[attribute.rta_type & NLA_TYPE_MASK] = {bytes + at + RTA_LENGTH(0),
                                                 attribute.rta_len - RTA_LENGTH(0)};
    at += RTA_ALIGN(attribute.rta_len);
  }
  return found;
}

// In the machine's order.
std::uint32_t number(const Attributes& all, unsigned type, std::uint32_t absent = 0) {
  const auto found = all.find(type);
  std::uint32_t value = absent;
  if (found != all.end() && found->second.size() == sizeof value)
    std::memcpy(&value, found->second.data(), sizeof value);
  return value;
}

std::uint32_t address(const Attributes& all, unsigned type) {
  const auto found = all.find(type);
  return found != all.end() && found->second.size() == 4 ? get32(found->second.data()) : 0;
}

// Why the cards cannot have a route.
const char* left_to_host(const rtmsg& route, const Attributes& all) {
  switch (route.rtm_type) {
    case RTN_UNICAST:
      break;
    case RTN_LOCAL:
      return "local";
    case RTN_BROADCAST:
      return "broadcast";
    case RTN_BLACKHOLE:
      return "blackhole";
    case RTN_UNREACHABLE:
      return "unreachable";
    case RTN_PROHIBIT:
      return "prohibit";
    case RTN_THROW:
      return "throw";
    default:
      return "other_type";
  }
  if (all.contains(RTA_MULTIPATH)) return "multipath";
  if (all.contains(RTA_VIA)) return "other_family";
  if (all.contains(RTA_ENCAP)) return "encapsulated";
  if (all.contains(RTA_METRICS)) return "metrics";
  if (route.rtm_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) return "dead";
  return nullptr;
}

void put(std::vector<KernelRoute>& same, const KernelRoute& route, unsigned flags, bool dumped) {
  if (std::ranges::find(same, route) != same.end()) return;
  if ((flags & NLM_F_REPLACE) && !same.empty()) {
    same.front() = route;
  } else {
    same.insert(dumped || (flags & NLM_F_APPEND) ? same.end() : same.begin(), route);
  }
}

}  // namespace

void Rtnetlink::subscribe() {
  sockaddr_nl all{};
  all.nl_family = AF_NETLINK;
  all.nl_groups = kGroups;
  if (::bind(file_, reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0)
    throw std::runtime_error(std::string("rtnetlink: ") + std::strerror(errno));
  ask();
}

void Rtnetlink::ask() {
  if (!complete()) {
    again_ = true;
    return;
  }
  coming_ = {};
  step_ = 0;
  ++dumps_;
  ask_next();
}

void Rtnetlink::ask_next() {
  struct {
    nlmsghdr head;
    rtmsg route;  // as long as the header of any of these requests
  } request{};
  static_assert(sizeof(rtmsg) >= sizeof(ndmsg) && sizeof(rtmsg) >= sizeof(netconfmsg) &&
                sizeof(rtmsg) >= sizeof(fib_rule_hdr));
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = kRequests[step_];
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.head.nlmsg_seq = ++asked_;
  request.route.rtm_family = AF_INET;
  if (::send(file_, &request, sizeof request, 0) < 0)
    throw std::runtime_error(std::string("rtnetlink: ") + std::strerror(errno));
}

void Rtnetlink::read() {
  for (;;) {
    const ssize_t got = ::recv(file_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOBUFS) {
      ++overruns_;
      ask();
      continue;
    }
    if (got <= 0) return;
    auto left = static_cast<int>(got);  // below 0 behind a last message without padding
    const auto* message = reinterpret_cast<const nlmsghdr*>(buffer_.data());
    for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) take(*message);
  }
}

void Rtnetlink::take(const nlmsghdr& message) {
  ++messages_;
  const bool answer = !complete() && message.nlmsg_seq == asked_;
  if (answer && (message.nlmsg_flags & NLM_F_DUMP_INTR)) again_ = true;
  switch (message.nlmsg_type) {
    case NLMSG_ERROR:
      if (const auto* error = header<nlmsgerr>(message); error && answer) {
        ++refused_[std::strerror(-error->error)];
        done(false);
      }
      return;
    case NLMSG_DONE:
      if (answer) done(message.nlmsg_flags & NLM_F_DUMP_INTR);
      return;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return take_route(message, message.nlmsg_type == RTM_DELROUTE);
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      return take_neighbour(message, message.nlmsg_type == RTM_DELNEIGH);
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return take_link(message, message.nlmsg_type == RTM_DELLINK);
    case RTM_DELADDR:
      return ask();
    case RTM_NEWRULE:
    case RTM_DELRULE:
      return take_rule(message, message.nlmsg_type == RTM_DELRULE);
    case RTM_NEWNETCONF:
      return take_forwarding(message);
  }
}

// One of the tables has come.
void Rtnetlink::done(bool interrupted) {
  again_ = again_ || interrupted;
  if (++step_ != kSteps) return ask_next();
  if (again_) {
    again_ = false;
    return ask();
  }
  tables_ = std::move(coming_);
  changed_ = true;
}

void Rtnetlink::take_route(const nlmsghdr& message, bool gone) {
  const auto* route = header<rtmsg>(message);
  if (!route || route->rtm_family != AF_INET || (route->rtm_flags & RTM_F_CLONED)) return;
  const Attributes all = attributes<rtmsg>(message);
  const std::uint32_t table = number(all, RTA_TABLE, route->rtm_table);
  if ((table != RT_TABLE_MAIN && table != RT_TABLE_LOCAL) || route->rtm_dst_len > 32) return;
  const KernelTables::Key key{address(all, RTA_DST), route->rtm_dst_len, route->rtm_tos,
                              number(all, RTA_PRIORITY)};
  const KernelRoute found{static_cast<int>(number(all, RTA_OIF)), address(all, RTA_GATEWAY),
                          left_to_host(*route, all)};
  auto& routes = table == RT_TABLE_MAIN ? tables().main : tables().local;
  auto& same = routes[key];
  if (gone) {
    std::erase_if(same, [&](const KernelRoute& r) {
      return r.interface == found.interface && r.gateway == found.gateway;
    });
  } else {
    put(same, found, message.nlmsg_flags, !complete());
  }
  if (same.empty()) routes.erase(key);
  changed_ = changed_ || complete();
}

void Rtnetlink::take_neighbour(const nlmsghdr& message, bool gone) {
  const auto* neighbour = header<ndmsg>(message);
  if (!neighbour || neighbour->ndm_family != AF_INET) return;
  const Attributes all = attributes<ndmsg>(message);
  const auto station = all.find(NDA_LLADDR);
  const std::uint32_t at = address(all, NDA_DST);
  std::uint64_t mac = 0;
  if (station != all.end() && station->second.size() == 6) mac = get48(station->second.data());
  const bool known = !gone && (neighbour->ndm_state & kResolved) && mac != 0 && !(mac & kGroupBit);
  auto& stations = tables().stations;
  const KernelTables::Neighbour key{neighbour->ndm_ifindex, at};
  const auto before = stations.find(key);
  const bool same =
      known ? before != stations.end() && before->second == mac : before == stations.end();
  if (same) return;
  if (known) {
    stations[key] = mac;
  } else {
    stations.erase(before);
  }
  changed_ = changed_ || complete();
}

void Rtnetlink::take_link(const nlmsghdr& message, bool gone) {
  const auto* link = header<ifinfomsg>(message);
  if (!link || link->ifi_family == AF_BRIDGE) return;
  bool& up = up_[link->ifi_index];
  const bool now = !gone && (link->ifi_flags & IFF_UP);
  if (up != now) ask();
  up = now;
}

void Rtnetlink::take_rule(const nlmsghdr& message, bool gone) {
  const auto* rule = header<fib_rule_hdr>(message);
  if (!rule || rule->family != AF_INET) return;
  if (complete()) return ask();
  const Attributes all = attributes<fib_rule_hdr>(message);
  const std::uint32_t at = number(all, FRA_PRIORITY), table = number(all, FRA_TABLE, rule->table);
  const bool usual =
      rule->action == FR_ACT_TO_TBL && rule->src_len == 0 && rule->dst_len == 0 &&
      ((at == 0 && table == RT_TABLE_LOCAL) || (at == 32766 && table == RT_TABLE_MAIN) ||
       (at == 32767 && table == RT_TABLE_DEFAULT));
  if (!usual && !gone) ++coming_.rules;
}

void Rtnetlink::take_forwarding(const nlmsghdr& message) {
  const auto* netconf = header<netconfmsg>(message);
  if (!netconf || netconf->ncm_family != AF_INET) return;
  const Attributes all = attributes<netconfmsg>(message);
  if (!all.contains(NETCONFA_FORWARDING)) return;
  tables().forwards[static_cast<int>(number(all, NETCONFA_IFINDEX))] =
      number(all, NETCONFA_FORWARDING) != 0;
  changed_ = changed_ || complete();
}

void Rtnetlink::write(JsonWriter& json) const {
  json.begin_object().field("messages", messages_).field("overruns", overruns_);
  json.field("dumps", dumps_).object("refused");
  for (const auto& [why, n] : refused_) json.field(why, n);
  json.end_object().end_object();
}

}  // namespace emery
