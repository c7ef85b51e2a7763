// SPDX-License-Identifier: Apache-2.0
// Test of the PCIe switch: where packets go, when they leave, what order they keep, what credits
// and a port that does not move do to the others, accesses of the CPU above it.
#include "bench/pcie/pcie_switch.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/pcie/config_space.hpp"
#include "bench/pcie/switch_cpu.hpp"
#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"

namespace emery {
namespace {

Checks checks;

constexpr std::uint64_t kBase = 0xe000'0000, kBytes = 0x40000;

// What a packet says of itself: who sent it, to whom, the how-manieth of that pair.
struct Label {
  std::uint32_t from, to, number;
};

// An endpoint in C++: sends packets as they are given, takes what comes when it is allowed to.
struct Node {
  explicit Node(const LinkConfig& config) : link(config) {}
  PcieLink link;
  std::uint32_t id = 0;
  bool takes = true;
  std::uint32_t rate_percent = 100;
  std::vector<Tlp> got;
  std::vector<Label> labels;
  std::vector<Time> when;
  std::vector<std::uint8_t> last_payload;
};

struct Bench {
  explicit Bench(unsigned nodes, const LinkConfig& config = {}, Time latency = 150 * kNanosecond)
      : fabric(SwitchConfig{latency}), root_link(LinkConfig{}), cpu(root_link, fabric, kBytes) {
    clock = simulation.add_clock("core", 250'000'000);
    for (unsigned n = 0; n < nodes; ++n) {
      node.push_back(std::make_unique<Node>(config));
      node.back()->id = n;
      cpu.add_device(node.back()->link);
      fabric.set_window(cpu.port(n), kBase + n * kBytes, kBytes);
    }
    simulation.add(clock, receiver);
    simulation.add(clock, fabric);
    simulation.add(clock, cpu);
  }

  // A posted write from one node into the window of another.
  bool write(unsigned from, unsigned to, std::uint32_t bytes = 64) {
    LinkDirection& up = node[from]->link.up;
    up.service(simulation.now());
    Tlp tlp = make_memory(true, kBase + to * kBytes, bytes, 0, bus_id(from));
    if (!up.idle(simulation.now()) || !up.has_credit(kPosted, tlp.data_credits())) return false;
    std::uint8_t data[4096] = {};
    const Label label{from, to, sent[{from, to}]};
    std::memcpy(data, &label, sizeof label);
    tlp.payload = data;
    up.send(tlp, simulation.now());
    ++sent[{from, to}];
    return true;
  }
  std::uint16_t bus_id(unsigned n) const { return static_cast<std::uint16_t>((2 + n) << 8); }
  void step() { simulation.run_for(4 * kNanosecond); }

  class Receiver final : public Component {
   public:
    explicit Receiver(Bench& bench) : bench_(bench) {}
    void sample(Time now) override {
      for (auto& n : bench_.node) {
        n->link.down.service(now);
        while (n->takes) {
          const Tlp* tlp = n->link.down.front(now);
          if (tlp == nullptr) break;
          if (bench_.random.below(100) >= n->rate_percent) break;
          n->got.push_back(*tlp);
          n->when.push_back(tlp->time);
          n->last_payload.assign(tlp->payload, tlp->payload + tlp->bytes);
          if (tlp->is_mem_write() && tlp->bytes >= sizeof(Label)) {
            Label label;
            std::memcpy(&label, tlp->payload, sizeof label);
            n->labels.push_back(label);
          }
          if (bench_.answers && tlp->is_config()) bench_.answer(*n, *tlp, now);
          if (bench_.answers && tlp->is_mem_read()) bench_.answer(*n, *tlp, now);
          const FcClass c = tlp->fc_class();
          const std::uint32_t data = tlp->data_credits();
          n->link.down.pop();
          n->link.down.release(c, data, now);
        }
      }
    }
    void drive() override {}

   private:
    Bench& bench_;
  };

  // As a device whose every register holds its number.
  void answer(Node& n, const Tlp& request, Time now) {
    const bool reads = !request.has_data();
    const std::uint32_t value = 0xabc0 + n.id;
    std::uint8_t data[4];
    std::memcpy(data, &value, 4);
    Tlp tlp = make_completion(request, bus_id(n.id), kStatusSC, reads ? 4 : 0, 4, 0);
    tlp.payload = data;
    n.link.up.send(tlp, now);
  }

  // The packets from `from` that reached `to` are 0, 1, 2 ... in order.
  bool in_order(unsigned from, unsigned to) const {
    std::uint32_t next = 0;
    for (const Label& l : node[to]->labels) {
      if (l.from == from && (l.to != to || l.number != next++)) return false;
    }
    const auto it = sent.find({from, to});
    return next == (it == sent.end() ? 0 : it->second);
  }

  Simulation simulation;
  Random random{3};
  int clock = 0;
  PcieSwitch fabric;
  PcieLink root_link;
  SwitchCpu cpu;
  std::vector<std::unique_ptr<Node>> node;
  std::map<std::pair<unsigned, unsigned>, std::uint32_t> sent;
  bool answers = false;
  Receiver receiver{*this};
};

// Store and forward: serialised twice, through two links and the switch.
void test_latency() {
  LinkConfig config;
  config.gen = 1;
  config.lanes = 1;
  Bench bench(3, config);
  bench.simulation.run_for(kMicrosecond);
  const Time start = bench.simulation.now();
  checks.that(bench.write(0, 2, 128), "sent");
  bench.simulation.run_for(5 * kMicrosecond);
  const auto& got = bench.node[2]->when;
  checks.equal(got.size(), 1u, "arrived once");
  checks.that(bench.node[1]->got.empty(), "and nowhere else");
  const double byte_ps = 8e3 / config.gbps();
  const double want = 2 * 148 * byte_ps + 2 * 175e3 + 150e3;
  if (!got.empty()) checks.near(static_cast<double>(got[0] - start), want, 10, "latency in ps");
  checks.equal(bench.node[2]->last_payload.size(), 128u, "payload");
}

// One sender into each of many outputs at once, and everybody to everybody: all arrive, in order.
void test_all_to_all(unsigned nodes, std::uint32_t slow_percent) {
  LinkConfig config;
  config.gen = 1;
  config.lanes = 1;
  Bench bench(nodes, config);
  for (auto& n : bench.node) n->rate_percent = slow_percent;
  Random random(7 + nodes);
  std::uint32_t total = 0;
  for (int k = 0; k < 30'000; ++k) {
    for (unsigned n = 0; n < nodes; ++n) {
      const auto to = static_cast<unsigned>(random.below(nodes));
      if (to != n) total += bench.write(n, to, 16 + 4 * static_cast<unsigned>(random.below(60)));
    }
    bench.step();
  }
  bench.simulation.run_for(200 * kMicrosecond);
  std::uint32_t arrived = 0;
  bool ordered = true;
  for (unsigned a = 0; a < nodes; ++a) {
    arrived += static_cast<std::uint32_t>(bench.node[a]->labels.size());
    for (unsigned b = 0; b < nodes; ++b) ordered &= bench.in_order(a, b);
    checks.equal(bench.node[a]->link.up.stats().credit_overruns +
                     bench.node[a]->link.down.stats().credit_overruns,
                 0u, "no credit overrun");
  }
  checks.that(total > (slow_percent == 100 ? 150 : 50) * nodes, "much was sent");
  checks.equal(arrived, total, "all arrived");
  checks.that(ordered, "in order");
  checks.equal(bench.fabric.held(), 0u, "nothing is left in the switch");
}

// Full links: a permutation runs at the rate of the links, two into one share it evenly.
void test_throughput() {
  LinkConfig config;
  config.gen = 1;
  config.lanes = 1;
  Bench bench(4, config);
  const auto run = [&](const std::vector<std::pair<unsigned, unsigned>>& pairs, Time time) {
    for (auto& n : bench.node) n->got.clear(), n->labels.clear();
    for (const Time end = bench.simulation.now() + time; bench.simulation.now() < end;) {
      for (const auto& [from, to] : pairs) bench.write(from, to, 256);
      bench.step();
    }
  };
  constexpr Time kTime = 500 * kMicrosecond;
  const double most = config.gbps() * static_cast<double>(kTime) / 8e3 / 276;  // packets
  run({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, kTime);
  for (const auto& n : bench.node) {
    // ACKs and credits of the way back take 6 % of a full link.
    checks.near(static_cast<double>(n->got.size()), 0.94 * most, 0.04 * most, "permutation");
  }
  bench.simulation.run_for(50 * kMicrosecond);
  run({{0, 2}, {1, 2}}, kTime);
  checks.near(static_cast<double>(bench.node[2]->got.size()), 0.97 * most, 0.04 * most,
              "two to one");
  std::size_t first = 0;
  for (const Label& l : bench.node[2]->labels) first += l.from == 0;
  checks.near(static_cast<double>(first) / static_cast<double>(bench.node[2]->labels.size()), 0.5,
              0.02, "in turn");
}

// A port that takes nothing fills up what is sent to it; packets to others pass by.
void test_no_head_of_line_blocking() {
  Bench bench(3);
  bench.node[1]->takes = false;
  // The far buffer fills, then part of that of the input; the sender keeps credits for others.
  for (int k = 0; k < 200; ++k) {
    bench.write(0, 1, 64);
    bench.step();
  }
  bench.simulation.run_for(5 * kMicrosecond);
  const auto held = bench.fabric.held();
  checks.that(held > 0, "some wait in the switch");
  std::uint32_t passed = 0;
  for (int k = 0; k < 500; ++k) {
    passed += bench.write(0, 2, 64);
    bench.step();
  }
  bench.simulation.run_for(20 * kMicrosecond);
  checks.equal(bench.node[2]->labels.size(), passed, "others pass");
  checks.that(passed > 200, "and many");
  checks.equal(bench.fabric.held(), held, "those wait on");
  checks.that(bench.fabric.stats(bench.cpu.port(1)).no_credit > 0, "for want of credits");
  bench.node[1]->takes = true;
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(bench.in_order(0, 1) && bench.in_order(0, 2), "none is lost");
}

// A stalled port: nothing is taken from it until its turn comes again; nothing is lost.
void test_stall() {
  Bench bench(2);
  bench.fabric.set_stalled(bench.cpu.port(0), true);
  std::uint32_t accepted = 0;
  for (int k = 0; k < 1000; ++k) {
    accepted += bench.write(0, 1, 64);
    bench.step();
  }
  checks.equal(accepted, PcieLink::root_credits().header[kPosted], "credits run out");
  checks.that(bench.node[1]->got.empty(), "nothing comes");
  bench.fabric.set_stalled(bench.cpu.port(0), false);
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(bench.in_order(0, 1), "all comes later");
}

// A completion stays behind the posted writes before it; a posted write passes a read that waits.
void test_ordering_rules() {
  Bench bench(2);
  bench.node[1]->takes = false;
  for (int k = 0; k < 80; ++k) {
    bench.write(0, 1, 64);
    bench.simulation.run_for(8 * kNanosecond);
  }
  bench.simulation.run_for(5 * kMicrosecond);
  checks.equal(bench.fabric.held(), 80u - PcieLink::device_credits().header[kPosted],
               "posted writes wait for credits");
  Tlp completion = make_completion(make_memory(false, kBase, 4, 5, bench.bus_id(1)),
                                   bench.bus_id(0), kStatusSC, 0, 4, 0);
  bench.node[0]->link.up.send(completion, bench.simulation.now());
  bench.simulation.run_for(5 * kMicrosecond);
  bench.node[1]->takes = true;
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(!bench.node[1]->got.empty() && bench.node[1]->got.back().is_completion(),
              "a completion does not pass posted writes");

  Bench other(2);
  other.node[1]->takes = false;
  for (std::uint32_t n = 0; n < PcieLink::device_credits().header[kNonPosted] + 4; ++n) {
    other.node[0]->link.up.send(make_memory(false, kBase + kBytes, 4, n, other.bus_id(0)),
                                other.simulation.now());
    other.simulation.run_for(kMicrosecond);
  }
  checks.that(other.fabric.held() == 4, "reads wait for credits");
  other.write(0, 1);
  other.simulation.run_for(2 * kMicrosecond);
  checks.equal(other.fabric.held(), 4u, "a posted write passes reads that wait");
  other.node[1]->takes = true;
  other.simulation.run_for(20 * kMicrosecond);
  checks.equal(other.fabric.held(), 0u, "the reads follow");
}

// To nobody's address: to the root, which drops it and counts; from the root: dropped here.
void test_unroutable() {
  Bench bench(2);
  bench.node[0]->link.up.send(make_memory(true, 0x1000'0000, 4, 0, bench.bus_id(0)), 0);
  bench.simulation.run_for(5 * kMicrosecond);
  checks.equal(bench.cpu.stats().unexpected, 1u, "at the root");
  bench.cpu.write(0x1000'0000, 5);
  bench.simulation.run_for(5 * kMicrosecond);
  checks.equal(bench.fabric.stats(0).unroutable, 1u, "from the root");
  checks.that(bench.node[0]->got.empty() && bench.node[1]->got.empty(), "not at the endpoints");
}

// A lost link: what goes there is gone, the others do not notice.
void test_lost_link() {
  Bench bench(3);
  bench.node[1]->link.set_lost(true);
  std::uint32_t others = 0;
  for (int k = 0; k < 2000; ++k) {
    bench.write(0, 1);
    bench.simulation.run_for(8 * kNanosecond);
    others += bench.write(0, 2);
    bench.simulation.run_for(8 * kNanosecond);
  }
  bench.simulation.run_for(20 * kMicrosecond);
  checks.equal(bench.node[2]->labels.size(), others, "others arrive");
  checks.that(others > 1000, "at speed");
  checks.that(bench.node[1]->got.empty(), "nothing arrives there");
  checks.equal(bench.fabric.held(), 0u, "nothing is stuck");
}

void test_cpu() {
  Bench bench(3);
  bench.answers = true;
  std::vector<std::uint32_t> values;
  const auto keep = [&](std::uint32_t value, bool ok) { values.push_back(ok ? value : 0); };
  bench.cpu.write(kBase + 2 * kBytes + 0x40, 0x1234'5678);
  bench.cpu.read(kBase + kBytes + 0x10, keep);
  bench.cpu.config_read(2, 0, keep);
  // The window moves with BAR 0.
  bench.cpu.config_write(0, 0x10, 0xd000'0000);
  bench.cpu.read(0xd000'0020, keep);
  checks.that(!bench.cpu.quiet() && bench.cpu.requests() == 5, "accesses wait");
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(bench.cpu.quiet(), "done");
  checks.that(values == std::vector<std::uint32_t>{0xabc1, 0xabc2, 0xabc0}, "values, in order");
  const auto& node = *bench.node[2];
  checks.that(!node.got.empty() && node.got.front().is_mem_write() &&
                  node.got.front().addr() == kBase + 2 * kBytes + 0x40,
              "a write arrives");
  bench.answers = false;
  bench.cpu.read(kBase + kBytes, keep);
  bench.simulation.run_for(SwitchCpu::kTimeout + 5 * kMicrosecond);
  checks.that(bench.cpu.quiet() && bench.cpu.stats().failed == 1 && values.back() == 0,
              "a read that nobody answers ends");
}

}  // namespace
}  // namespace emery

int main() {
  using namespace emery;
  test_latency();
  test_all_to_all(2, 100);
  test_all_to_all(8, 100);
  test_all_to_all(5, 2);
  test_throughput();
  test_no_head_of_line_blocking();
  test_stall();
  test_ordering_rules();
  test_unroutable();
  test_lost_link();
  test_cpu();
  return checks.finish();
}
