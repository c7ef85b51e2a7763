// SPDX-License-Identifier: Apache-2.0
// The TCP stack by itself: two machines and a network between that loses, repeats, reorders and
// spoils frames, by a script or by a seed.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"
#include "bench/tcp/segment.hpp"
#include "bench/tcp/station.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/traffic/network_order.hpp"

namespace emery::tcp {
namespace {

constexpr Time kStep = 100 * kNanosecond;

ConnectionConfig plain(bool active) {
  ConnectionConfig c;
  c.active = active;
  c.isn = active ? 0xffffff00 : 77;  // wraps around
  c.out_key = active ? 1 : 2;
  c.in_key = active ? 2 : 1;
  c.addresses = {1, 2, 0x0a000001, 0x0a000002, 40000, 5201};
  if (!active) c.addresses = {2, 1, 0x0a000002, 0x0a000001, 5201, 40000};
  return c;
}

/// Two machines with a connection each, `trip` apart.
class Net {
 public:
  explicit Net(ConnectionConfig left = plain(true), ConnectionConfig right = plain(false),
               StationConfig machine = {})
      : ends_{Station(machine, {left}), Station(StationConfig{}, {right})} {}

  Connection& left() { return ends_[0][0]; }
  Connection& right() { return ends_[1][0]; }

  /// What becomes of a frame: how many of it come out, and how much later each.
  struct Fate {
    std::vector<Time> copies{0};
    bool spoilt = false;
  };
  /// Of the nth frame (from 0) of that end.
  std::function<Fate(unsigned end, std::uint64_t n, const Segment& segment)> fate =
      [](unsigned, std::uint64_t, const Segment&) { return Fate{}; };
  std::function<void(unsigned end, const Segment& segment)> seen = [](unsigned, const Segment&) {};
  Time trip = 5 * kMicrosecond;
  unsigned frames_a_step = 4;

  /// Until both ends are closed or broken, or for so long.
  bool run(Time most = 200'000 * kMicrosecond) {
    left().open();
    for (const Time until = now + most; now < until; now += kStep) {
      for (unsigned end = 0; end < 2; ++end) step(end);
      if (left().closed() && right().closed() && under_way_.empty()) return true;
      if (!left().broken().empty() || !right().broken().empty()) return false;
    }
    return false;
  }
  bool run_with(std::uint64_t bytes) {
    left().write(bytes);
    left().finish();
    return run();
  }
  Station& end(unsigned n) { return ends_[n]; }
  std::uint64_t frames(unsigned end) const { return sent_[end]; }
  Time now = 0;

 private:
  void step(unsigned end) {
    Station& here = ends_[end];
    for (auto at = under_way_.begin(); at != under_way_.end() && at->first <= now;) {
      if (at->second.to != end) {
        ++at;
        continue;
      }
      here.receive(0, at->second.frame, now);
      at = under_way_.erase(at);
    }
    here.poll(now);
    std::vector<std::uint8_t> frame;
    for (unsigned i = 0; i < frames_a_step && here.next(frame, now) >= 0; ++i) {
      const auto segment = parse(frame);
      seen(end, *segment);
      const Fate what = fate(end, sent_[end]++, *segment);
      if (what.spoilt) frame[40] ^= 4;
      for (const Time later : what.copies)
        under_way_.insert({now + trip + later, {1 - end, frame}});
    }
  }

  struct Frame {
    unsigned to;
    std::vector<std::uint8_t> frame;
  };
  Station ends_[2];
  std::multimap<Time, Frame> under_way_;
  std::uint64_t sent_[2] = {};
};

Net::Fate lost() { return {{}, false}; }

void whole(Checks& check, Net& net, std::uint64_t bytes, const std::string& what) {
  check.that(net.left().closed() && net.right().closed(), what + ": closed");
  check.equal(net.left().broken() + net.right().broken(), std::string(), what);
  check.equal(net.right().stats().delivered, bytes, what + ": delivered");
  check.equal(net.right().stats().wrong, 0u, what + ": exact");
}

void test_segment(Checks& check) {
  Segment s;
  s.src_port = 1000, s.dst_port = 2000, s.seq = 0xfedcba98, s.ack = 7, s.flags = kSyn | kAck;
  s.window = 1234, s.mss = 8960, s.scale = 3;
  const std::vector<std::uint8_t> payload{1, 2, 3, 4, 5};
  s.payload = payload;
  std::vector<std::uint8_t> frame;
  build(s, plain(true).addresses, 9, frame);
  const auto read = parse(frame);
  check.that(read.has_value(), "a segment is one");
  check.equal(read->seq, s.seq, "seq");
  check.equal(read->mss, s.mss, "mss");
  check.equal(read->scale, s.scale, "scale");
  check.that(std::ranges::equal(read->payload, payload), "payload");
  // Behind the Ethernet header and up to the end of IP there is no bit without which it is one.
  for (std::size_t bit = 8 * 14; bit < 8 * (kHeaders + 8 + payload.size()); ++bit) {
    if (bit / 8 == 18 || bit / 8 == 19) continue;  // a checksum of its own holds these: below
    auto other = frame;
    other[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    check.that(!parse(other), "bit " + std::to_string(bit));
  }
  frame[19] ^= 1;
  check.that(!parse(frame), "identification");
  s.payload = {};
  s.flags = kAck, s.mss = 0, s.scale = -1;
  build(s, plain(true).addresses, 9, frame);
  check.equal(frame.size(), std::size_t{kMinFrame}, "padded");
  check.that(parse(frame) && parse(frame)->payload.empty(), "padding is no payload");
}

void test_stream(Checks& check) {
  const Stream stream(5);
  std::vector<std::uint8_t> part(100);
  for (const std::uint64_t place : {0u, 3u, 8u, 12345u}) {
    stream.read(place, part);
    for (std::size_t i = 0; i < part.size(); ++i)
      check.equal(unsigned{part[i]}, unsigned{stream.at(place + i)}, "any part");
    check.equal(stream.wrong(place, part), 0u, "itself");
    part[50] ^= 1;
    check.equal(stream.wrong(place, part), 1u, "a wrong byte");
  }
  check.that(Stream(6).wrong(0, part) > 90, "another key");
}

void test_plain(Checks& check) {
  for (const std::uint64_t bytes : {0u, 1u, 1460u, 1461u, 1'000'000u}) {
    Net net;
    std::uint64_t most = 0, acked = 0;
    bool syn = false;
    net.seen = [&](unsigned end, const Segment& s) {
      if ((s.flags & kSyn) != 0) {
        syn = true;
        check.that(s.mss == 1460 && s.scale >= 0, "options of the handshake");
      }
      if (end == 0 && !s.payload.empty())
        most = std::max<std::uint64_t>(
            most, static_cast<std::uint32_t>(s.seq - 0xffffff01u) + s.payload.size() - acked);
      if (end == 1 && (s.flags & kSyn) == 0) acked = s.ack - 0xffffff01u;
    };
    check.that(net.run_with(bytes), "it ends");
    const std::string what = std::to_string(bytes) + " bytes";
    whole(check, net, bytes, what);
    check.that(syn, what + ": handshake");
    check.equal(net.left().stats().retransmitted, 0u, what + ": nothing again");
    check.equal(net.left().stats().timeouts, 0u, what + ": no timeouts");
    if (bytes < 1'000'000) continue;
    const auto segments = static_cast<double>(bytes) / 1460;
    check.near(static_cast<double>(net.right().stats().segments), segments / 2, 0.1 * segments,
               "an acknowledgement for every second segment");
    check.that(most <= 65536 && most > 60000,
               "the window is used and kept: " + std::to_string(most));
    check.that(net.left().stats().rtt.min() >= 2 * net.trip, "round trips");
    check.that(net.left().stats().rtt.percentile(0.5) < 3 * net.trip, "round trips, median");
  }
}

// Initial window and slow start: what is sent before the nth acknowledgement comes back.
void test_slow_start(Checks& check) {
  auto right = plain(false), left = plain(true);
  right.window = left.window = 4'000'000;
  Net net(left, right);
  net.trip = 100 * kMicrosecond;
  net.frames_a_step = 100;
  std::map<Time, unsigned> sent;  // by round trip
  net.seen = [&](unsigned end, const Segment& s) {
    if (end == 0 && !s.payload.empty()) ++sent[net.now / (2 * net.trip)];
  };
  check.that(net.run_with(400 * 1460), "it ends");
  check.equal(sent[1], 10u, "initial window");
  check.that(sent[2] >= 20 && sent[2] <= 21, "twice that: " + std::to_string(sent[2]));
  check.that(sent[3] >= 40 && sent[3] <= 43, "and again: " + std::to_string(sent[3]));
  check.that(net.left().congestion_window() > 100 * 1460, "open");
}

// The nth new data segment is lost once: fast retransmit, and no timeout.
void test_fast_retransmit(Checks& check) {
  for (const std::vector<unsigned>& gone :
       {std::vector<unsigned>{30}, {30, 31}, {30, 34, 36, 37}}) {
    Net net;
    unsigned data = 0;
    net.fate = [&](unsigned end, std::uint64_t, const Segment& s) {
      if (end == 1 || s.payload.empty()) return Net::Fate{};
      return std::ranges::count(gone, data++) != 0 ? lost() : Net::Fate{};
    };
    check.that(net.run_with(200 * 1460), "it ends");
    const std::string what = std::to_string(gone.size()) + " lost";
    whole(check, net, 200 * 1460, what);
    check.equal(net.left().stats().timeouts, 0u, what + ": no timeout");
    check.equal(net.left().stats().fast_retransmits, 1u, what + ": one recovery");
    check.equal(net.left().stats().retransmitted, gone.size(), what + ": sent again");
    check.that(net.now < 900 * kMicrosecond, what + ": within the least RTO");
  }
}

// What nothing comes after, the SYN, its answer, a FIN or all acknowledgements for a time: timers.
void test_timeouts(Checks& check) {
  const auto once = [&](const std::string& what, unsigned of, std::uint64_t timeouts,
                        const std::function<bool(const Segment&)>& is) {
    Net net;
    bool struck = false;
    net.fate = [&](unsigned end, std::uint64_t, const Segment& s) {
      if (struck || end != of || !is(s)) return Net::Fate{};
      struck = true;
      return lost();
    };
    check.that(net.run_with(20 * 1460), what + ": it ends");
    whole(check, net, 20 * 1460, what);
    check.that(struck, what + ": it was lost");
    check.equal(net.end(of)[0].stats().timeouts, timeouts, what + ": timeouts");
    check.that(net.now >= 1000 * kMicrosecond && net.now < 3000 * kMicrosecond, what + ": a time");
  };
  once("SYN", 0, 1, [](const Segment& s) { return s.flags == kSyn; });
  once("SYN-ACK", 1, 1, [](const Segment& s) { return s.flags == (kSyn | kAck); });
  once("FIN", 0, 1, [](const Segment& s) { return (s.flags & kFin) != 0; });
  once("FIN of the other end", 1, 1, [](const Segment& s) { return (s.flags & kFin) != 0; });
  once("last segment", 0, 1,
       [](const Segment& s) { return !s.payload.empty() && s.seq == 0xffffff01u + 19 * 1460; });
}

// Reordering by two places is no loss; a repeated segment does no harm.
void test_reordered(Checks& check) {
  for (const bool repeated : {false, true}) {
    Net net;
    net.frames_a_step = 1;
    net.fate = [&](unsigned end, std::uint64_t n, const Segment&) {
      if (end == 1 || n < 20 || n % 9 != 0) return Net::Fate{};
      return repeated ? Net::Fate{{0, kStep}, false} : Net::Fate{{2 * kStep + 1}, false};
    };
    const std::string what = repeated ? "repeated" : "reordered";
    check.that(net.run_with(300 * 1460), "it ends");
    whole(check, net, 300 * 1460, what);
    const ConnectionStats& s = net.right().stats();
    check.that((repeated ? s.duplicates : s.out_of_order) > 20, what);
    check.equal(net.left().stats().retransmitted, 0u, what + ": nothing sent again");
  }
}

// A network that is cut: the connection is given up, in words, after so many tries.
void test_given_up(Checks& check) {
  Net net;
  unsigned tries = 0;
  net.fate = [&](unsigned end, std::uint64_t n, const Segment& s) {
    if (end == 0 && n >= 10) tries += s.seq == 0xffffff01u + 8 * 1460;
    return n < 10 ? Net::Fate{} : lost();
  };
  check.that(!net.run_with(100 * 1460), "it does not end well");
  check.that(net.left().broken().starts_with("no answer to byte "), net.left().broken());
  check.that(net.left().stats().timeouts == 4, "tries");
  check.that(net.now > 20'000 * kMicrosecond, "backing off");
  check.that(!net.left().closed() && !net.right().closed(), "nobody believes it is closed");
}

// A peer whose bytes are others is found out.
void test_wrong_bytes(Checks& check) {
  auto left = plain(true);
  left.out_key = 99;
  Net net(left);
  check.that(net.run_with(1460), "it ends");
  check.that(net.right().stats().wrong > 1400, "wrong bytes are counted");
}

// Rates follow window over round trip, and CPU time.
void test_rates(Checks& check) {
  const auto gbps = [&](std::uint32_t window, Time trip, Time per_segment,
                        std::uint32_t mss = 1460) {
    auto left = plain(true), right = plain(false);
    right.window = window;
    left.mss = right.mss = mss;
    StationConfig machine;
    machine.per_segment = per_segment;
    Net net(left, right, machine);
    net.trip = trip;
    net.frames_a_step = 100;
    const std::uint64_t bytes = 20'000'000;
    check.that(net.run_with(bytes), "it ends");
    return 8e3 * static_cast<double>(bytes) / static_cast<double>(net.now);
  };
  check.near(gbps(65536, 50 * kMicrosecond, 0), 8 * 65536 / 100e3, 0.3, "window over round trip");
  check.near(gbps(131072, 50 * kMicrosecond, 0), 8 * 131072 / 100e3, 0.6, "twice the window");
  // Room for one segment only: its acknowledgement does not wait for a second.
  check.near(gbps(16000, 5 * kMicrosecond, 0, 8960), 8 * 8960 / 10e3, 0.3, "one at a time");
  // A segment, and half an acknowledgement.
  check.near(gbps(65536, kMicrosecond, 2 * kMicrosecond), 8 * 1.46 / 3, 0.3, "CPU time");
}

// Any harm, both ways, by seed.
void test_random(Checks& check) {
  std::uint64_t again = 0, timeouts = 0, fast = 0, bad = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    auto left = plain(true), right = plain(false);
    left.mss = static_cast<std::uint32_t>(random.between(100, 9000));
    right.mss = static_cast<std::uint32_t>(random.between(100, 9000));
    right.window = static_cast<std::uint32_t>(random.between(16'000, 500'000));
    left.isn = static_cast<std::uint32_t>(random.next());
    left.retries = right.retries = 40;
    Net net(left, right);
    net.trip = static_cast<Time>(random.between(1, 60)) * kMicrosecond;
    const double harm = random.real() * 0.06;
    net.fate = [&, harm](unsigned, std::uint64_t, const Segment&) {
      Net::Fate what;
      const auto later = [&] { return static_cast<Time>(random.below(20'000'000)); };
      if (random.chance(harm)) what.copies.clear();
      if (random.chance(harm)) what.copies.push_back(later());
      if (random.chance(harm)) what.copies.push_back(later());
      if (random.chance(harm)) what.copies = {later()};
      what.spoilt = random.chance(harm / 4);
      return what;
    };
    const std::uint64_t bytes = random.below(1'500'000);
    const std::string what = "seed " + std::to_string(seed);
    net.left().write(bytes);
    net.left().finish();
    check.that(net.run(3'000'000 * kMicrosecond), what + ": it ends");
    whole(check, net, bytes, what);
    again += net.left().stats().retransmitted;
    timeouts += net.left().stats().timeouts;
    fast += net.left().stats().fast_retransmits;
    bad += net.end(0).bad() + net.end(1).bad();
  }
  check.that(again > 500 && timeouts > 50 && fast > 50 && bad > 50, "all of it was tried");
}

}  // namespace
}  // namespace emery::tcp

int main() {
  emery::Checks check;
  emery::tcp::test_segment(check);
  emery::tcp::test_stream(check);
  emery::tcp::test_plain(check);
  emery::tcp::test_slow_start(check);
  emery::tcp::test_fast_retransmit(check);
  emery::tcp::test_timeouts(check);
  emery::tcp::test_reordered(check);
  emery::tcp::test_given_up(check);
  emery::tcp::test_wrong_bytes(check);
  emery::tcp::test_rates(check);
  emery::tcp::test_random(check);
  return check.finish();
}
