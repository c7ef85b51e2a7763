// SPDX-License-Identifier: Apache-2.0
// Arrivals, flows and kinds of frames, each held to its own statistics, and the closed loop.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "bench/run/closed_loop.hpp"
#include "bench/stats/check.hpp"
#include "bench/traffic/traffic.hpp"

namespace emery {
namespace {

TrafficConfig plan(std::uint64_t frames, std::uint32_t flows = 64) {
  TrafficConfig config;
  config.frames = frames;
  config.flows = flows;
  config.line_rate = config.rate = 100e9;
  return config;
}

/// Times between the starts of frames, in those that one takes on the line.
std::vector<double> gaps(const TrafficConfig& config) {
  Traffic traffic(config);
  Frame frame;
  std::vector<double> found;
  Time last = -1;
  while (traffic.next(frame)) {
    if (last >= 0) found.push_back(static_cast<double>(frame.start - last) / 6720);
    last = frame.start;
  }
  return found;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  for (const double x : values) m.mean += x / static_cast<double>(values.size());
  for (const double x : values)
    m.deviation += (x - m.mean) * (x - m.mean) / static_cast<double>(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

void test_arrivals(Checks& check) {
  const auto with = [](const char* kind, double load) {
    TrafficConfig config = plan(200'000);
    config.arrivals = ArrivalKind::parse(kind);
    config.rate = load * config.line_rate;
    return gaps(config);
  };
  for (const char* kind : {"constant", "poisson", "burst:16", "on-off:16"}) {
    for (const double load : {0.05, 0.5}) {
      const Moments m = moments(with(kind, load));
      const double within = kind[0] == 'o' ? 0.03 : 0.01;
      check.near(m.mean, 1 / load, within / load, std::string(kind) + ": the mean is the rate");
    }
    const Moments full = moments(with(kind, 1));
    check.near(full.mean, 1, 0.02, std::string(kind) + " at line rate");
  }
  const Moments even = moments(with("constant", 0.25)), poisson = moments(with("poisson", 0.01));
  check.near(even.deviation, 0, 1e-3, "evenly");
  check.near(poisson.deviation / poisson.mean, 1, 0.02, "Poisson: coefficient of variation");

  // A gap longer than a frame's is between bursts.
  const auto trains = [&](const std::vector<double>& gap) {
    std::vector<double> lengths(1, 1);
    for (const double x : gap) {
      if (x < 1.001) {
        ++lengths.back();
      } else {
        lengths.push_back(1);
      }
    }
    lengths.pop_back();
    return lengths;
  };
  const auto burst = with("burst:16", 0.25);
  const Moments same = moments(trains(burst)), drawn = moments(trains(with("on-off:16", 0.25)));
  check.near(same.mean, 16, 1e-9, "bursts are of 16");
  check.near(same.deviation, 0, 1e-9, "each of them");
  check.near(drawn.mean, 16, 0.5, "on for 16 frames in the mean");
  check.near(drawn.deviation, std::sqrt(16.0 * 15), 0.7, "geometrically");
  const std::set<double> different(burst.begin(), burst.end());
  check.that(*different.rbegin() > 48.9 && *different.rbegin() < 49.1, "and nothing for 48 frames");

  // Sizes that differ leave the times of a Poisson process alone; the mean rate is right.
  TrafficConfig mixed = plan(200'000);
  mixed.sizes = Sizes::parse("imix");
  mixed.arrivals = ArrivalKind::parse("poisson");
  mixed.rate = 0.02 * mixed.line_rate;
  const Moments m = moments(gaps(mixed));
  check.near(m.deviation / m.mean, 1, 0.03, "IMIX as a Poisson process");
  check.near(m.mean, (7 * 84 + 4 * 614 + 1538) / 12.0 / 84 / 0.02, m.mean / 50, "IMIX's rate");
}

/// How often each is drawn follows its weight.
void test_weights(Checks& check) {
  const auto shares = [](const char* weights, std::uint32_t flows) {
    TrafficConfig config = plan(400'000, flows);
    config.weights = FlowWeights::parse(weights);
    Traffic traffic(config);
    Frame frame;
    std::vector<double> found(flows);
    while (traffic.next(frame)) found.at(frame.flow) += 1 / 400e3;
    return found;
  };
  const auto zipf = shares("zipf:1.2", 100);
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int n = 1; n <= 30; ++n) {
    const double u = std::log(n), v = std::log(zipf[static_cast<std::size_t>(n) - 1]);
    x += u, y += v, xx += u * u, xy += u * v;
  }
  check.near((30 * xy - x * y) / (30 * xx - x * x), -1.2, 0.03, "exponent of Zipf's law");
  const auto given = shares("5,0,1", 8);
  check.near(given[0], 5 / 11.0, 0.01, "five times as much");
  check.near(given[1], 0, 0, "none");
  for (std::size_t f = 2; f < 8; ++f)
    check.near(given[f], 1 / 11.0, 0.005, "the last is the rest's");
}

/// Frames of each flow that has ended, by its number.
std::vector<double> lengths(const char* length, std::uint32_t flows) {
  TrafficConfig config = plan(300'000, flows);
  config.length = FlowLength::parse(length);
  Traffic traffic(config);
  Frame frame;
  std::map<std::uint32_t, double> frames;
  std::map<std::uint32_t, std::set<std::uint64_t>> tuples;
  while (traffic.next(frame)) {
    ++frames[frame.flow];
    if (frame.flow < 1000) tuples[frame.flow].insert(flow_hash(frame.bytes()));
  }
  std::set<std::uint64_t> all;
  for (const auto& [flow, hashes] : tuples) {
    if (hashes.size() != 1) return {};
    all.insert(*hashes.begin());
  }
  if (all.size() != tuples.size() || traffic.flows() < frames.size()) return {};
  std::vector<double> found;
  for (const auto& [flow, n] : frames)
    if (flow < frames.size() - 4 * flows) found.push_back(n);  // the last may go on
  return found;
}

void test_lengths(Checks& check) {
  const Moments fixed = moments(lengths("50", 8)), geometric = moments(lengths("geometric:50", 8));
  check.near(fixed.mean, 50, 0.5, "flows of 50 frames");
  check.near(geometric.mean, 50, 2, "of 50 in the mean");
  check.near(geometric.deviation, std::sqrt(50.0 * 49), 2.5, "geometrically");
  const auto zipf = lengths("zipf:2", 8);
  double ones = 0, twos = 0;
  for (const double n : zipf) ones += n == 1, twos += n == 2;
  const auto count = static_cast<double>(zipf.size());
  check.near(ones / count, 6 / 9.8696, 0.02, "flows of one frame");
  check.near(ones / twos, 4, 0.3, "and of two");
  check.equal(lengths("1", 3).size() > 299'000, true, "a flow a frame");
}

std::uint32_t sum16(std::span<const std::uint8_t> data, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < data.size(); ++i) sum += i & 1 ? data[i] : data[i] << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

void test_kinds(Checks& check) {
  TrafficConfig config = plan(60'000, 1000);
  config.sizes = Sizes::parse("64-200");
  config.ipv6 = 0.3;
  config.vlan = 0.6;
  config.source = 7;
  Traffic traffic(config);
  Frame frame;
  double ipv6 = 0, tagged = 0, both = 0;
  std::set<std::uint32_t> ids;
  bool valid = true, least = true, own = true;
  for (std::uint64_t n = 0; traffic.next(frame); ++n) {
    const auto bytes = frame.bytes();
    const bool tag = bytes[12] == 0x81;
    const auto ip = bytes.subspan(tag ? 18 : 14);
    const bool six = ip[0] >> 4 == 6;
    if (tag) ids.insert((bytes[14] << 8 | bytes[15]) & 0xfff);
    ipv6 += six, tagged += tag, both += six && tag;
    const std::uint32_t type = bytes[tag ? 16 : 12] << 8 | bytes[tag ? 17 : 13];
    const auto udp = ip.subspan(six ? 40 : 20);
    const std::uint32_t length = udp[4] << 8 | udp[5];
    const auto addresses = six ? ip.subspan(8, 32) : ip.subspan(12, 8);
    valid =
        valid && type == (six ? 0x86ddu : 0x0800u) && length == udp.size() &&
        ip[six ? 6 : 9] == 17 && (six || sum16(ip.first(20)) == 0xffff) &&
        sum16(udp, sum16(addresses, 17 + length)) == 0xffff &&
        (ip[six ? 4 : 2] << 8 | ip[six ? 5 : 3]) == static_cast<int>(six ? udp.size() : ip.size());
    least = least && frame.size + 4 >= (six ? tag ? 78u : 74u : 64u) && frame.size + 4 <= 200;
    const auto origin = Traffic::origin(bytes);
    own = own && origin && origin->source == 7 && origin->number == n;
  }
  check.that(valid, "headers and checksums of IPv4 and IPv6, with tags and without");
  check.that(least, "frames have room for their headers");
  check.that(own, "frames say which they are");
  check.near(ipv6 / 60e3, 0.3, 0.01, "share of IPv6");
  check.near(tagged / 60e3, 0.6, 0.01, "share of tags");
  check.near(both / 60e3, 0.18, 0.03, "one has nothing to do with the other");
  check.that(ids.size() > 450 && !ids.contains(0) && !ids.contains(4095), "VLAN IDs");
  check.near(static_cast<double>(traffic.stats().ipv6), ipv6, 0, "counted");
  check.near(static_cast<double>(traffic.stats().vlan), tagged, 0, "counted");
  check.that(!Traffic::origin(frame.bytes().first(20)), "what is no such frame");

  // Few flows of very different weight: the frames, not the flows, have the share.
  config.weights = FlowWeights::parse("zipf:1");
  config.flows = 40;
  Traffic uneven(config);
  while (uneven.next(frame)) {
  }
  check.near(static_cast<double>(uneven.stats().ipv6) / 60e3, 0.3, 0.02, "share of frames");
}

void test_contents_do_not_follow_from_times(Checks& check) {
  TrafficConfig one = plan(1000), other = plan(1000);
  other.arrivals = ArrivalKind::parse("poisson");
  other.rate = 1e9;
  Traffic a(one), b(other);
  Frame x, y;
  bool same = true;
  while (a.next(x)) same = same && b.next(y) && std::ranges::equal(x.bytes(), y.bytes());
  check.that(same, "the same frames, at other times");
}

void test_words(Checks& check) {
  const auto refused = [&](auto make, const char* text) {
    check.throws([&] { make(text); }, {text}, text);
  };
  for (const char* x : {"", "even", "constant:3", "poisson:2", "burst:0", "burst:", "on-off:-1"})
    refused(ArrivalKind::parse, x);
  for (const char* x : {"", "zipf:", "zipf:0", "zipf:x", "1,", "1,-2", "1 2", "fair"})
    refused(FlowWeights::parse, x);
  for (const char* x : {"", "0", "-1", "geometric:0", "zipf:99", "pareto:1"})
    refused(FlowLength::parse, x);
  TrafficConfig nothing = plan(10, 3);
  nothing.weights = FlowWeights::parse("0");
  check.throws([&] { Traffic{nothing}; }, {"weights"}, "weights of nothing");
}

void test_closed_loop(Checks& check) {
  ClosedLoop loop(2);
  check.that(!loop.full(0), "empty");
  loop.enter(0), loop.enter(10);
  check.that(loop.full(20), "two inside");
  loop.leave(1), loop.leave(1), loop.leave(7);
  check.that(!loop.full(30), "one came out, not the first");
  loop.enter(40);
  check.that(loop.full(ClosedLoop::kPatience), "the first is late, not lost");
  check.that(!loop.full(ClosedLoop::kPatience + 1), "written off");
  check.equal(loop.written_off(), 1u, "counted");
  loop.leave(0);
  loop.enter(50);
  check.that(loop.full(60), "it does not count twice when it comes after all");
  loop.leave(2), loop.leave(3);
  check.that(!loop.full(70), "all out");
}

}  // namespace
}  // namespace emery

int main() {
  emery::Checks check;
  emery::test_arrivals(check);
  emery::test_weights(check);
  emery::test_lengths(check);
  emery::test_kinds(check);
  emery::test_contents_do_not_follow_from_times(check);
  emery::test_words(check);
  emery::test_closed_loop(check);
  return check.finish();
}
