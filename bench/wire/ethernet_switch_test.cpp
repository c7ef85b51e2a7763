// SPDX-License-Identifier: Apache-2.0
// The switch: where frames go, when, in what order, and what becomes of those there is no room for.
#include "bench/wire/ethernet_switch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"
#include "bench/traffic/network_order.hpp"

namespace emery {
namespace {

constexpr Time kLatency = 700 * kNanosecond, kAgeing = 1'000 * kMicrosecond;

// What stands at a port: sends by hand, and takes all there is.
struct End {
  std::function<void(std::span<const std::uint8_t>, Time)> send;
  FrameSource* source = nullptr;

  void on_transmitted(std::function<void(std::span<const std::uint8_t>, Time)> callback) {
    send = std::move(callback);
  }
  void set_source(FrameSource* from) { source = from; }
  std::vector<Frame> taken() const {
    std::vector<Frame> found;
    for (Frame frame; source->next(frame);) found.push_back(frame);
    return found;
  }
};

std::vector<std::uint8_t> frame(std::uint64_t to, std::uint64_t from, std::size_t size = 60,
                                std::uint32_t mark = 0) {
  std::vector<std::uint8_t> bytes(size, 0x5a);
  put48(&bytes[0], to);
  put48(&bytes[6], from);
  put32(&bytes[14], mark);
  return bytes;
}

struct Bench {
  Simulation simulation;
  EthernetSwitch fabric;
  End ends[4];

  explicit Bench(std::uint64_t queue = 1 << 20, std::size_t addresses = 16)
      : fabric(simulation, {100e9, kLatency, queue, kAgeing, addresses}) {
    for (End& end : ends) fabric.join(end);
  }
  // Who gets a frame that port sends then.
  std::string gets(unsigned port, std::uint64_t to, std::uint64_t from, Time time) {
    ends[port].send(frame(to, from), time);
    std::string who;
    for (unsigned n = 0; n < 4; ++n)
      for (std::size_t i = ends[n].taken().size(); i > 0; --i) who += std::to_string(n);
    return who;
  }
};

void test_learning(Checks& check) {
  Bench bench;
  const std::uint64_t a = 0x0200'0000'0001, b = 0x0200'0000'0002, all = 0xffff'ffff'ffff;
  Time t = kMicrosecond;
  check.equal(bench.gets(0, b, a, t), "123", "unknown: to all others");
  check.equal(bench.gets(2, a, b, ++t), "0", "known");
  check.equal(bench.gets(0, b, a, ++t), "2", "known, the other way");
  check.equal(bench.gets(1, all, 0x0200'0000'0003, ++t), "023", "broadcast");
  check.equal(bench.gets(1, 0x0100'5e00'0001, all, ++t), "023", "multicast");
  check.equal(bench.gets(3, all, a, ++t), "012", "a station goes elsewhere");
  check.equal(bench.gets(2, a, b, ++t), "3", "and is found there");
  check.equal(bench.gets(3, a, a, ++t), "", "not back");
  for (unsigned n = 0; n < 16; ++n)
    check.equal(bench.gets(1, 0x0180'c200'0000 + n, b + 2, ++t), "", "reserved");
  check.equal(bench.gets(1, 0x0180'c200'0010, b + 2, ++t), "023", "not reserved");
  check.equal(bench.fabric.addresses(), 4u, "stations");
  check.equal(bench.fabric.stats(3).filtered + bench.fabric.stats(1).filtered, 17u, "filtered");
  t += kAgeing / 2;
  check.equal(bench.gets(2, a, b, t), "3", "not yet old");
  t += kAgeing / 2 + 100;
  check.equal(bench.gets(0, a, b + 1, t), "123", "not heard of for so long");
  check.equal(bench.gets(0, b, b + 1, t), "2", "heard of since");
  check.equal(bench.fabric.addresses(), 2u, "old ones are forgotten");
}

void test_a_full_table(Checks& check) {
  Bench bench(1 << 20, 2);
  Time t = 1;
  for (std::uint64_t n = 0; n < 4; ++n) bench.gets(static_cast<unsigned>(n), 99, 2 * n + 2, ++t);
  check.equal(bench.fabric.addresses(), 2u, "no more than there is room for");
  check.equal(bench.fabric.not_learned(), 2u, "counted");
  check.equal(bench.gets(3, 2, 4, ++t), "0", "known");
  check.equal(bench.gets(0, 8, 2, ++t), "123", "not learned");
}

// Three ports send at line rate to the fourth. What its line does not take waits, up to the limit;
// none is lost without being counted, none is early, none overtakes.
void test_congestion(Checks& check, std::uint64_t queue) {
  const std::string what = "queue of " + std::to_string(queue) + " bytes: ";
  Bench bench(queue);
  Random random(queue);
  bench.gets(3, 1, 0x44, 1);
  std::vector<std::pair<Time, std::pair<unsigned, std::vector<std::uint8_t>>>> sent;
  for (unsigned port = 0; port < 3; ++port) {
    LineClock line(100e9);
    line.wait_until(10 * kMicrosecond);
    for (unsigned n = 0; n < 300; ++n) {
      const auto bytes = frame(0x44, 2 + 2 * port, random.between(60, 1514), port << 16 | n);
      line.advance(bytes.size() + kFcsBytes + kLineOverhead);
      sent.push_back({line.now(), {port, bytes}});
    }
  }
  std::sort(sent.begin(), sent.end());
  std::map<std::uint32_t, Time> came;
  std::uint64_t told = 0;
  bench.fabric.on_copy([&](const EthernetSwitch::Copy& copy) { told += copy.dropped; });
  for (const auto& [time, x] : sent) {
    came[get32(&x.second[14])] = time;
    bench.ends[x.first].send(x.second, time);
  }
  const auto got = bench.ends[3].taken();
  std::uint32_t next[3] = {0, 0, 0};
  bool order = true, early = false, apart = true;
  Time before = 0;
  for (const Frame& f : got) {
    const std::uint32_t mark = get32(&f.data[14]), port = mark >> 16, n = mark & 0xffff;
    order = order && n >= next[port];
    next[port] = n + 1;
    early = early || f.start < came[mark] + kLatency;
    apart = apart && f.start >= before;
    LineClock line(100e9);
    before = f.start + line.after(f.size + kFcsBytes + kLineOverhead);
  }
  const auto& stats = bench.fabric.stats(3);
  check.that(order && !early && apart, what + "order, latency, one frame at a time");
  check.equal(got.size() + stats.dropped, 900u, what + "each came out or was dropped");
  check.equal(stats.dropped, told, what + "drops are told");
  check.that(stats.most_bytes <= queue, what + "no more waits than there is room for");
  check.equal(stats.dropped == 0, queue > 1'000'000, what + "drops where it is too small");
  const double busy = static_cast<double>(before - 10 * kMicrosecond) / 1e12 * 100e9 / 8;
  double bytes = 0;
  for (const Frame& f : got) bytes += f.size + kFcsBytes + kLineOverhead;
  check.that(queue == 0 || bytes > 0.97 * busy - 12'500, what + "its line was busy all the time");
}

}  // namespace
}  // namespace emery

int main() {
  emery::Checks check;
  emery::test_learning(check);
  emery::test_a_full_table(check);
  for (const std::uint64_t queue : {0, 3000, 64'000, 2'000'000})
    emery::test_congestion(check, queue);
  return check.finish();
}
