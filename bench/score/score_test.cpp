// SPDX-License-Identifier: Apache-2.0
// Tests of the scoreboard: each way a device can go wrong is done on purpose and must be found and
// named.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/score/scoreboard.hpp"
#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"
#include "bench/traffic/traffic.hpp"

namespace {

using namespace emery;
using Bytes = std::vector<std::uint8_t>;

Bytes content(std::uint32_t n, std::size_t size = 60) {
  Bytes bytes(size, 0x11);
  std::memcpy(bytes.data(), &n, sizeof n);
  return bytes;
}

/// One stream `rx`, ten frames offered 1 ns apart on two flows, and whatever the test does to their
/// delivery.
struct Ten {
  Scoreboard board;
  int rx = board.stream("rx");
  int tx = board.stream("tx");
  Ten() {
    for (std::uint32_t i = 0; i < 10; ++i) board.offered(rx, content(i), i % 2, i * kNanosecond);
  }
  void deliver(std::uint32_t n) { board.delivered(rx, content(n), (100 + n) * kNanosecond); }
  std::string failures() const {
    std::string all;
    for (const std::string& line : board.failures()) all += line + "\n";
    return all;
  }
};

void test_findings(Checks& check) {
  Ten good;
  for (std::uint32_t i = 0; i < 10; ++i) good.deliver(i);
  check.equal(good.failures(), "", "all delivered");
  check.equal(good.board.under_way(), 0u, "nothing under way");
  check.equal(good.board.latency(good.rx).min(), 100 * kNanosecond, "latency");
  check.equal(good.board.latency(good.rx).max(), 100 * kNanosecond, "latency");

  Ten lost;
  for (std::uint32_t i = 0; i < 7; ++i) lost.deliver(i);
  check.equal(lost.board.under_way(lost.rx), 3u, "three under way");
  lost.board.dropped(lost.rx, "no_buffer", 1);
  lost.board.dropped(lost.rx, "bad_fcs", 1);
  check.equal(
      lost.failures(),
      "stream rx: 1 frames missing: offered 10, delivered 7, dropped 2 (bad_fcs 1, no_buffer 1)\n",
      "a missing frame");
  lost.board.dropped(lost.rx, "no_buffer", 1);
  check.equal(lost.failures(), "", "all accounted for");
  lost.board.dropped(lost.rx, "no_buffer", 1);
  check.equal(
      lost.failures(),
      "stream rx: 1 frames too many: offered 10, delivered 7, dropped 4 (bad_fcs 1, no_buffer 3)\n",
      "a drop too many");

  Ten corrupt;
  for (std::uint32_t i = 0; i < 9; ++i) corrupt.deliver(i);
  Bytes changed = content(9);
  changed[59] ^= 0x80;
  corrupt.board.delivered(corrupt.rx, changed, 0);
  check.equal(corrupt.board.counts(corrupt.rx).corrupted, 1u, "a flipped bit is found");
  check.equal(corrupt.failures(),
              "stream rx: 1 frames missing: offered 10, delivered 9, dropped 0\n"
              "stream rx: 1 frames corrupted: they match nothing that was offered\n",
              "corruption is named");
  Ten shorter;
  for (std::uint32_t i = 0; i < 9; ++i) shorter.deliver(i);
  shorter.board.delivered(shorter.rx, content(9, 59), 0);
  check.equal(shorter.board.counts(shorter.rx).corrupted, 1u, "a byte short is found");

  Ten twice;
  for (std::uint32_t i = 0; i < 10; ++i) twice.deliver(i);
  twice.deliver(4);
  check.equal(twice.failures(),
              "stream rx: 1 frames duplicated: delivered more often than offered\n", "duplicate");

  Ten astray;
  for (std::uint32_t i = 0; i < 9; ++i) astray.deliver(i);
  astray.board.delivered(astray.tx, content(9), 0);
  check.equal(
      astray.failures(),
      "stream rx: 1 frames missing: offered 10, delivered 9, dropped 0, delivered elsewhere 1\n"
      "stream tx: 1 frames misdelivered: they belong to another stream\n",
      "misdelivery");

  Ten crossed;  // 1 and 2 are of different flows
  for (const std::uint32_t i : {0u, 2u, 1u, 3u, 4u, 5u, 6u, 7u, 8u, 9u}) crossed.deliver(i);
  check.equal(crossed.failures(), "", "flows may overtake each other");
  Ten swapped;
  for (const std::uint32_t i : {0u, 1u, 4u, 3u, 2u, 5u, 6u, 7u, 8u, 9u}) swapped.deliver(i);
  check.equal(swapped.failures(), "stream rx: 1 frames reordered within their flows\n",
              "overtaking inside a flow");
  check.equal(swapped.board.counts(swapped.rx).delivered, 10u, "reordered frames are delivered");

  Scoreboard lanes;  // even frames of a flow go one way, odd ones another
  const int way = lanes.stream("a");
  for (std::uint32_t i = 0; i < 6; ++i) lanes.offered(way, content(i), 0, 0, i % 2);
  for (const std::uint32_t i : {1u, 0u, 3u, 2u}) lanes.delivered(way, content(i), 1);
  check.equal(lanes.counts(way).reordered, 2u, "a lane that lags behind reorders the flow");
  lanes.dropped(way, "rest", 2);
  check.that(lanes.passed(), "which is no failure");
  Scoreboard lane;
  const int within = lane.stream("a");
  for (std::uint32_t i = 0; i < 4; ++i) lane.offered(within, content(i), 0, 0, i % 2);
  for (const std::uint32_t i : {1u, 2u, 0u, 3u}) lane.delivered(within, content(i), 1);
  check.equal(lane.counts(within).reordered, 1u, "0 came last of 0, 1 and 2");
  check.that(!lane.passed(), "and behind 2, of its own lane");

  Scoreboard never;
  const int s = never.stream("a");
  never.delivered(s, content(1), 0);
  check.equal(never.counts(s).corrupted, 1u, "out of nothing");
  never.offered(s, content(2), 0, 0);
  check.that(!never.passed(), "nothing delivered of what was offered");
}

/// Equal contents over and over, as a looped capture gives them, a part of them dropped: no false
/// findings, right latencies.
void test_equal_contents(Checks& check) {
  Scoreboard board;
  const int rx = board.stream("rx");
  Random random(5);
  std::deque<std::pair<std::uint32_t, Time>> queue;
  std::uint64_t drops = 0, wrong = 0;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    const std::uint32_t n = i % 50;
    const Time t = Time{i} * kNanosecond;
    board.offered(rx, content(n), n % 3, t);
    if (random.chance(0.4)) {
      ++drops;
    } else {
      queue.emplace_back(n, t);
    }
    if (queue.size() > 20) {
      board.delivered(rx, content(queue.front().first), t);
      wrong += t - queue.front().second > 100 * kNanosecond;
      queue.pop_front();
    }
  }
  for (; !queue.empty(); queue.pop_front())
    board.delivered(rx, content(queue.front().first), 200'000 * kNanosecond);
  board.dropped(rx, "full", drops);
  check.equal(wrong, 0u, "the test's own delay is bounded");
  check.that(board.passed(), "dropped copies make no findings");
  check.that(board.latency(rx).max() < 200 * kNanosecond,
             "deliveries are not matched with copies dropped long ago");
}

void test_digest(Checks& check) {
  const auto digest = [](bool tx_first, std::uint32_t last, bool split) {
    Scoreboard board;
    if (tx_first) board.stream("tx");
    const int rx = board.stream("rx"), tx = board.stream("tx");
    board.delivered(tx, content(1), 0);
    board.delivered(rx, content(2, split ? 64 : 60), 0);
    board.delivered(rx, content(last, split ? 60 : 64), 0);
    return board.digest();
  };
  check.equal(digest(true, 3, false), digest(false, 3, false),
              "the order of making streams is no matter");
  check.that(digest(true, 3, false) != digest(true, 4, false), "content matters");
  check.that(digest(true, 3, false) != digest(true, 3, true), "frame borders matter");
  // sha256sum over: "rx" 0 SHA-256(3c000000 02000000 11*56) "tx" 0 SHA-256().
  Scoreboard board;
  const int rx = board.stream("rx");
  board.stream("tx");
  board.delivered(rx, content(2), 0);
  check.equal(board.digest(), "f2140ebfbceb319210d35bd5e397282b1f3a0b531ee27ad5092ee981a1c28032",
              "digest, computed elsewhere");
}

void test_json(Checks& check) {
  Ten ten;
  for (std::uint32_t i = 0; i < 9; ++i) ten.deliver(i);
  ten.board.dropped(ten.rx, "full", 1);
  JsonWriter json;
  json.begin_object();
  ten.board.write(json);
  json.end_object();
  const std::string text = json.text();
  for (const char* part :
       {"\"streams\": {",    "\"rx\": {",           "\"tx\": {",        "\"totals\": {",
        "\"offered\": 10",   "\"delivered\": 9",    "\"full\": 1",      "\"corrupted\": 0",
        "\"duplicated\": 0", "\"misdelivered\": 0", "\"reordered\": 0", "\"mpps\": null",
        "\"l1_gbps\": null", "\"l2_gbps\": null",   "\"p50\": 100",     "\"p99\": 100",
        "\"p999\": 100",     "\"min\": null",       "\"window\": {",    "\"steady\": false",
        "\"digest\": \""})
    check.that(text.find(part) != std::string::npos, std::string("json has ") + part);
}

/// A million different frames on two streams with 100 under way: the cost of a frame offered and
/// delivered.
void measure() {
  for (const char* size : {"64", "1518"}) {
    TrafficConfig config;
    config.sizes = Sizes::parse(size);
    config.frames = 1'000'000;
    Traffic traffic(config);
    Scoreboard board;
    const int ids[2] = {board.stream("rx"), board.stream("tx")};
    std::vector<Frame> ring(100);
    std::chrono::duration<double, std::nano> took{};
    for (std::uint64_t i = 0; i < config.frames + ring.size(); ++i) {
      Frame& frame = ring[i % ring.size()];
      const auto begin = std::chrono::steady_clock::now();
      if (i >= ring.size())
        board.delivered(ids[frame.seq % 2], frame.bytes(), frame.start + kMicrosecond);
      const auto middle = std::chrono::steady_clock::now();
      const bool more = traffic.next(frame);
      const auto made = std::chrono::steady_clock::now();
      if (more) board.offered(ids[frame.seq % 2], frame.bytes(), frame.flow, frame.start);
      took += middle - begin + (std::chrono::steady_clock::now() - made);
    }
    std::printf("%s-byte frames: %.0f ns a frame, %s\n", size, took.count() / 1e6,
                board.passed() ? "passed" : "FAILED");
  }
}

/// Outputs that several streams share.
void test_shared(Checks& check) {
  Scoreboard board;
  const int a = board.stream("a"), b = board.stream("b");
  const int both[] = {a, b};
  check.equal(board.waiting_for(both, content(1)), -1, "nobody waits yet");
  board.offered(b, content(1), 0, 0);
  board.offered(a, content(1), 0, 1);
  board.offered(a, content(2), 0, 2);
  check.equal(board.waiting_for(both, content(1)), b, "the one that waits longest");
  check.equal(board.waiting_for(std::span(both).first(1), content(1)), a, "of those asked about");
  check.equal(board.waiting_for(both, content(3)), -1, "an unknown content");
  board.delivered(b, content(1), 10);
  check.equal(board.waiting_for(both, content(1)), a, "then the next");
  board.delivered(a, content(1), 11);
  check.equal(board.waiting_for(both, content(1)), -1, "then none");
}

}  // namespace

int main(int argc, char**) {
  Checks check;
  test_findings(check);
  test_equal_contents(check);
  test_digest(check);
  test_json(check);
  test_shared(check);
  if (argc > 1) measure();
  return check.finish();
}
