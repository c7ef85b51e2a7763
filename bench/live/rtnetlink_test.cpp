// SPDX-License-Identifier: Apache-2.0
// Test of what is made of a kernel's messages: another socket stands for the kernel, hears what is
// asked for and answers. (What a real one says: tests/test_control_plane.py.)
#include "bench/live/rtnetlink.hpp"

#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/stats/check.hpp"
#include "bench/traffic/network_order.hpp"

namespace emery {
namespace {

Checks checks;

constexpr int kInterface = 3;
constexpr std::uint32_t kPrefix = 0xc000'0200, kGateway = 0x0a00'0002;  // 192.0.2.0, 10.0.0.2

// A message that is being made.
class Message {
 public:
  template <class Header>
  Message(std::uint16_t type, const Header& header, std::uint16_t flags = 0)
      : bytes_(NLMSG_LENGTH(sizeof header)) {
    head_.nlmsg_type = type;
    head_.nlmsg_flags = flags;
    std::memcpy(bytes_.data() + NLMSG_HDRLEN, &header, sizeof header);
  }
  Message& add(std::uint16_t type, const std::vector<std::uint8_t>& value) {
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
    const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(value.size())), type};
    const auto* at = reinterpret_cast<const std::uint8_t*>(&attribute);
    bytes_.insert(bytes_.end(), at, at + sizeof attribute);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  Message& address(std::uint16_t type, std::uint32_t value) {
    std::vector<std::uint8_t> bytes(4);
    put32(bytes.data(), value);
    return add(type, bytes);
  }
  Message& number(std::uint16_t type, std::uint32_t value) {
    std::vector<std::uint8_t> bytes(4);
    std::memcpy(bytes.data(), &value, 4);
    return add(type, bytes);
  }
  /// Of an answer to a request; `cut` bytes are missing at the end, and said so.
  std::vector<std::uint8_t> made(std::uint32_t sequence, std::size_t cut = 0) {
    std::vector<std::uint8_t> all = bytes_;
    all.resize(all.size() - cut);
    head_.nlmsg_len = static_cast<std::uint32_t>(all.size());
    head_.nlmsg_seq = sequence;
    std::memcpy(all.data(), &head_, sizeof head_);
    return all;
  }

 private:
  nlmsghdr head_{};
  std::vector<std::uint8_t> bytes_;
};

struct Kernel {
  int bench = -1, side = -1;
  Rtnetlink* hears = nullptr;
  std::uint32_t sequence = 0;

  Kernel() {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, both) != 0) std::abort();
    bench = both[0];
    side = both[1];
  }
  ~Kernel() {
    ::close(bench);
    ::close(side);
  }
  /// The type of what was asked for; 0: nothing.
  unsigned asked() {
    nlmsghdr request[4];
    if (::recv(side, request, sizeof request, 0) < static_cast<ssize_t>(sizeof(nlmsghdr))) return 0;
    sequence = request[0].nlmsg_seq;
    return request[0].nlmsg_type;
  }
  void say(Message message, std::uint32_t to = 0, std::size_t cut = 0) {
    const auto bytes = message.made(to, cut);
    if (::send(side, bytes.data(), bytes.size(), 0) < 0) std::abort();
    hears->read();
  }
  void done(std::uint16_t flags = 0) { say(Message(NLMSG_DONE, int{0}, flags), sequence); }
  /// Answers all that is asked for, with nothing in it.
  void nothing() {
    while (asked() != 0) done();
  }
};

Message route(std::uint16_t type, std::uint32_t prefix, std::uint8_t kind = RTN_UNICAST,
              std::uint16_t flags = 0, std::uint8_t table = RT_TABLE_MAIN) {
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = 24;
  header.rtm_table = table;
  header.rtm_type = kind;
  Message message(type, header, flags);
  message.address(RTA_DST, prefix);
  if (kind == RTN_UNICAST) message.number(RTA_OIF, kInterface);
  return message;
}

Message neighbour(std::uint16_t type, unsigned state, std::vector<std::uint8_t> mac) {
  ndmsg header{};
  header.ndm_family = AF_INET;
  header.ndm_ifindex = kInterface;
  header.ndm_state = static_cast<std::uint16_t>(state);
  Message message(type, header);
  return message.address(NDA_DST, kGateway).add(NDA_LLADDR, mac);
}

Message link(unsigned flags) {
  ifinfomsg header{};
  header.ifi_index = kInterface;
  header.ifi_flags = flags;
  return Message(RTM_NEWLINK, header);
}

const route::KernelRoute* only(const route::KernelTables& tables) {
  return tables.main.size() == 1 && tables.main.begin()->second.size() == 1
             ? &tables.main.begin()->second.front()
             : nullptr;
}

void tables_come_one_after_the_other() {
  Kernel kernel;
  Rtnetlink rtnetlink(kernel.bench);
  kernel.hears = &rtnetlink;
  rtnetlink.ask();
  netconfmsg forwards{AF_INET};
  fib_rule_hdr rule{};
  rule.family = AF_INET;
  rule.action = FR_ACT_TO_TBL;
  rule.table = RT_TABLE_MAIN;
  checks.equal(kernel.asked(), unsigned{RTM_GETNETCONF}, "first");
  kernel.say(Message(RTM_NEWNETCONF, forwards)
                 .number(NETCONFA_IFINDEX, kInterface)
                 .number(NETCONFA_FORWARDING, 1),
             kernel.sequence);
  kernel.done();
  checks.equal(kernel.asked(), unsigned{RTM_GETRULE}, "then");
  kernel.say(Message(RTM_NEWRULE, rule).number(FRA_PRIORITY, 32766), kernel.sequence);
  kernel.say(Message(RTM_NEWRULE, rule).number(FRA_PRIORITY, 100), kernel.sequence);
  kernel.done();
  checks.equal(kernel.asked(), unsigned{RTM_GETNEIGH}, "then");
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_STALE, {2, 0, 0, 0, 5, 1}), kernel.sequence);
  kernel.done();
  checks.equal(kernel.asked(), unsigned{RTM_GETROUTE}, "then");
  kernel.say(route(RTM_NEWROUTE, kPrefix).address(RTA_GATEWAY, kGateway), kernel.sequence);
  checks.that(!rtnetlink.changed() && !rtnetlink.complete(), "half of them is not shown");
  kernel.done();
  checks.that(rtnetlink.changed() && rtnetlink.complete(), "all are");
  const route::KernelTables& tables = rtnetlink.taken();
  checks.that(!rtnetlink.changed(), "until there is something new");
  checks.that(tables.forwards.at(kInterface) && tables.rules == 1, "forwarding, one rule more");
  checks.equal(tables.stations.at({kInterface, kGateway}), 0x0200'0000'0501u, "the neighbour");
  const route::KernelRoute* found = only(tables);
  checks.that(found && *found == route::KernelRoute{kInterface, kGateway}, "the route");
}

void changes() {
  Kernel kernel;
  Rtnetlink rtnetlink(kernel.bench);
  kernel.hears = &rtnetlink;
  rtnetlink.ask();
  kernel.nothing();
  rtnetlink.taken();
  // Of one prefix: the first stays first, unless another is put before it or in its place.
  const auto by = [&](std::uint32_t gateway, std::uint16_t flags) {
    kernel.say(route(RTM_NEWROUTE, kPrefix, RTN_UNICAST, flags).address(RTA_GATEWAY, gateway));
  };
  const auto& same = [&]() -> const std::vector<route::KernelRoute>& {
    return rtnetlink.taken().main.begin()->second;
  };
  by(kGateway, NLM_F_CREATE);
  by(kGateway + 1, NLM_F_CREATE | NLM_F_APPEND);
  checks.that(same().size() == 2 && same()[0].gateway == kGateway, "appended");
  by(kGateway + 2, NLM_F_CREATE);
  checks.that(same().size() == 3 && same()[0].gateway == kGateway + 2, "put before");
  by(kGateway + 3, NLM_F_REPLACE);
  checks.that(same().size() == 3 && same()[0].gateway == kGateway + 3, "replaced");
  for (const std::uint32_t n : {3u, 0u, 1u})
    kernel.say(route(RTM_DELROUTE, kPrefix).address(RTA_GATEWAY, kGateway + n));
  checks.that(rtnetlink.changed() && rtnetlink.taken().main.empty(), "gone");
  // What is no affair of the cards' tables.
  kernel.say(route(RTM_NEWROUTE, kPrefix, RTN_UNICAST, 0, 99));
  rtmsg six{};
  six.rtm_family = AF_INET6;
  kernel.say(Message(RTM_NEWROUTE, six));
  checks.that(rtnetlink.taken().main.empty() && rtnetlink.taken().local.empty(), "elsewhere");
  // Neighbours, while they are known.
  const auto knows = [&] { return rtnetlink.taken().stations.size() == 1; };
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_INCOMPLETE, {2, 0, 0, 0, 5, 1}));
  checks.that(!knows(), "not yet");
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_REACHABLE, {1, 0, 0x5e, 0, 0, 5}));
  checks.that(!knows(), "a group");
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_REACHABLE, {2, 0, 0, 0, 5, 1}));
  checks.that(rtnetlink.changed() && knows(), "known");
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_PROBE, {2, 0, 0, 0, 5, 1}));
  checks.that(!rtnetlink.changed(), "the same");
  kernel.say(neighbour(RTM_NEWNEIGH, NUD_FAILED, {2, 0, 0, 0, 5, 1}));
  checks.that(rtnetlink.changed() && !knows(), "not any more");
}

void what_cards_cannot_have() {
  Kernel kernel;
  Rtnetlink rtnetlink(kernel.bench);
  kernel.hears = &rtnetlink;
  rtnetlink.ask();
  kernel.nothing();
  const auto left = [&](Message message) {
    kernel.say(std::move(message));
    const route::KernelRoute* found = only(rtnetlink.taken());
    const std::string why = found && found->to_host ? found->to_host : "";
    kernel.say(route(RTM_DELROUTE, kPrefix));
    kernel.say(route(RTM_DELROUTE, kPrefix, RTN_BLACKHOLE));
    return why;
  };
  const auto unicast = [] { return route(RTM_NEWROUTE, kPrefix); };
  checks.equal(left(unicast()), "", "of one link");
  checks.equal(left(route(RTM_NEWROUTE, kPrefix, RTN_BLACKHOLE)), "blackhole", "kind");
  checks.equal(left(route(RTM_NEWROUTE, kPrefix, RTN_THROW)), "throw", "kind");
  checks.equal(left(route(RTM_NEWROUTE, kPrefix, RTN_NAT)), "other_type", "kind");
  checks.equal(left(unicast().add(RTA_MULTIPATH, {0, 0})), "multipath", "several next hops");
  checks.equal(left(unicast().add(RTA_VIA, {0, 0})), "other_family", "a gateway of IPv6");
  checks.equal(left(unicast().add(RTA_ENCAP, {})), "encapsulated", "labels");
  checks.equal(left(unicast().add(RTA_METRICS, {})), "metrics", "an MTU of its own");
}

void all_is_asked_for_again() {
  Kernel kernel;
  Rtnetlink rtnetlink(kernel.bench);
  kernel.hears = &rtnetlink;
  rtnetlink.ask();
  kernel.nothing();
  kernel.say(route(RTM_NEWROUTE, kPrefix));
  kernel.say(link(IFF_UP));
  checks.equal(kernel.asked(), unsigned{RTM_GETNETCONF}, "an interface comes up");
  kernel.say(link(IFF_UP | IFF_PROMISC));
  checks.that(only(rtnetlink.taken()) != nullptr, "until it has come all is as it was");
  kernel.say(link(0));  // meanwhile: once more when this has come
  unsigned answers = 0;
  for (kernel.done(); kernel.asked() != 0; kernel.done()) ++answers;
  checks.equal(answers, 7u, "three of the first time, four of the second");
  checks.that(rtnetlink.changed() && rtnetlink.taken().main.empty(), "the route went untold");
  ifaddrmsg gone{};
  gone.ifa_family = AF_INET;
  kernel.say(Message(RTM_DELADDR, gone));
  checks.equal(kernel.asked(), unsigned{RTM_GETNETCONF}, "an address has gone");
  kernel.done(NLM_F_DUMP_INTR);
  for (answers = 0; kernel.asked() != 0; kernel.done()) ++answers;
  checks.equal(answers, 7u, "an interrupted answer: all once more");
  // A request that the kernel does not know is left out.
  rtnetlink.ask();
  kernel.asked();
  nlmsgerr refused{};
  refused.error = -EOPNOTSUPP;
  kernel.say(Message(NLMSG_ERROR, refused), kernel.sequence);
  checks.equal(kernel.asked(), unsigned{RTM_GETRULE}, "the next");
  kernel.done();
  kernel.nothing();
  checks.that(rtnetlink.complete(), "and the rest");
  JsonWriter json;
  rtnetlink.write(json);
  checks.that(json.text().find(std::strerror(EOPNOTSUPP)) != std::string::npos, "it is said");
}

// Messages cut short at any byte say nothing, or less.
void messages_cut_short() {
  Kernel kernel;
  Rtnetlink rtnetlink(kernel.bench);
  kernel.hears = &rtnetlink;
  rtnetlink.ask();
  kernel.nothing();
  for (const Message& whole :
       {route(RTM_NEWROUTE, kPrefix).address(RTA_GATEWAY, kGateway), link(IFF_UP),
        neighbour(RTM_NEWNEIGH, NUD_REACHABLE, {2, 0, 0, 0, 5, 1})}) {
    const std::size_t size = Message(whole).made(0).size();
    for (std::size_t cut = 1; cut <= size - sizeof(nlmsghdr); ++cut) kernel.say(whole, 0, cut);
    kernel.nothing();
  }
  checks.that(rtnetlink.complete(), "it still listens");
}

}  // namespace
}  // namespace emery

int main() {
  using namespace emery;
  tables_come_one_after_the_other();
  changes();
  what_cards_cannot_have();
  all_is_asked_for_again();
  messages_cut_short();
  return checks.finish();
}
