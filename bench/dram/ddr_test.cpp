// SPDX-License-Identifier: Apache-2.0
// Tests of the memory model by a hand-driven controller: data, masks, latencies, and each time that
// must be kept, a clock too early and just in time.
#include "bench/dram/ddr.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <map>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"

namespace {

using namespace emery;
using Word = std::array<std::uint32_t, 4>;

/// A controller of one slot, of which every clock is written down.
class Hand {
 public:
  explicit Hand(const DdrConfig& config = {}) : ddr(config, pins()) {}

  DdrPins pins() { return {&cmd_, &bank_, &addr_, &dq_valid_, dq_out_, &mask_, dq_in_, 1}; }

  /// One clock with a command; write data queued before come in their clock.
  void clock(DdrCommand cmd = DdrCommand::kNop, unsigned bank = 0, unsigned addr = 0) {
    cmd_ = static_cast<std::uint16_t>(cmd);
    bank_ = static_cast<std::uint16_t>(bank);
    addr_ = addr;
    const auto data = data_.find(now);
    dq_valid_ = data != data_.end();
    if (dq_valid_) {
      std::memcpy(dq_out_, data->second.first.data(), 16);
      mask_ = data->second.second;
    }
    ddr.sample(0);
    for (unsigned i = 0; i < 4; ++i) seen[i] = dq_in_[i];  // what is sampled at this edge
    ddr.drive();
    ++now;
  }
  void wait(unsigned clocks) {
    for (unsigned i = 0; i < clocks; ++i) clock();
  }
  void write(unsigned bank, unsigned column, const Word& word, std::uint16_t mask = 0) {
    data_[now + ddr.config().write_latency] = {word, mask};
    clock(DdrCommand::kWrite, bank, column);
  }

 private:
  std::uint16_t cmd_ = 0, bank_ = 0;
  std::uint64_t addr_ = 0, mask_ = 0;
  std::uint8_t dq_valid_ = 0;
  std::uint32_t dq_out_[4] = {}, dq_in_[4] = {};
  std::map<std::uint64_t, std::pair<Word, std::uint16_t>> data_;

 public:
  std::uint64_t now = 0;
  Word seen{};
  Ddr ddr;
};

Word word_of(std::uint32_t n) { return {n, n * 3 + 1, ~n, n ^ 0x5a5a5a5a}; }

void test_data(Checks& check) {
  Hand hand;
  hand.clock(DdrCommand::kActivate, 3, 77);
  hand.wait(6);
  for (unsigned i = 0; i < 4; ++i) hand.write(3, 10 + i, word_of(i));
  hand.write(3, 11, word_of(99), 0xfff0);  // its first four bytes only
  hand.wait(7);                            // write latency, tWTR
  for (unsigned i = 0; i < 4; ++i) hand.clock(DdrCommand::kRead, 3, 10 + i);
  hand.wait(4);
  for (unsigned i = 0; i < 4; ++i) {
    hand.clock();
    Word want = word_of(i);
    if (i == 1) want[0] = 99;
    check.that(hand.seen == want,
               "word " + std::to_string(i) +
                   " seven clocks after its command, and at the end of that clock");
  }
  hand.clock();
  check.equal(hand.seen[0], 0xa5a5a5a5u, "nothing on the pins afterwards");
  const std::size_t at = 16u * ((77u * 8 + (3 ^ 77 % 8)) * 128 + 10);
  check.equal(unsigned{hand.ddr.bytes()[at + 16]}, 99u, "bytes at their linear address");
  const DdrStats& stats = hand.ddr.stats();
  check.equal(stats.violations, 0u, "violations: " + stats.first_violation);
  check.equal(stats.bytes_moved(), 16u * 9, "bytes moved");
  check.equal(stats.busy(), 9u, "busy clocks");
  check.equal(stats.bytes_written, 16u * 4 + 4, "bytes written");
  check.equal(stats.bytes_masked, 12u, "bytes masked");
  check.equal(stats.activates, 1u, "activates");
  JsonWriter json;
  stats.write(json);
  check.that(json.text().find("\"bytes_masked\": 12") != std::string::npos, "statistics as JSON");
}

/// Four slots a clock: a word written and read, each in its slot, and a command a slot too early.
void test_slots(Checks& check) {
  std::uint16_t cmd = 0, bank = 0;
  std::uint64_t addr = 0, mask = 0;
  std::uint8_t valid = 0;
  std::uint32_t out[16] = {}, in[16] = {};
  Ddr ddr({}, {&cmd, &bank, &addr, &valid, out, &mask, in, 4});
  const auto clock = [&](DdrCommand what, unsigned slot = 0, unsigned at = 0, int data = -1) {
    cmd = static_cast<std::uint16_t>(static_cast<unsigned>(what) << 3 * slot);
    bank = static_cast<std::uint16_t>(5u << 3 * slot);
    addr = std::uint64_t{at} << 14 * slot;
    valid = static_cast<std::uint8_t>(data < 0 ? 0 : 1 << data);
    ddr.sample(0);
    ddr.drive();
  };
  using C = DdrCommand;
  clock(C::kActivate, 1, 3);
  clock(C::kNop);
  for (unsigned i = 0; i < 4; ++i) out[12 + i] = 100 + i;
  mask = std::uint64_t{0xff00} << 48;
  clock(C::kWrite, 0, 9, 3);  // three clocks later: slot 3
  clock(C::kNop);
  check.equal(ddr.stats().violations, 0u, "slots: " + ddr.stats().first_violation);
  clock(C::kRead, 1, 9);  // nine clocks behind it
  clock(C::kNop);
  check.equal(in[0], 0u, "not yet there");
  clock(C::kNop);  // 7 clocks after the read: slot 0 of these four
  check.equal(in[0], 100u, "a word in its slot");
  check.equal(in[1], 101u, "and all of it");
  check.equal(in[2], 0u, "but what the mask kept");
  check.equal(in[4], 0u, "and in no other");
  clock(C::kPrecharge, 0);
  clock(C::kNop);
  clock(C::kActivate, 2, 3);
  clock(C::kNop);
  check.equal(ddr.stats().violations, 0u, "slots: " + ddr.stats().first_violation);
  clock(C::kRead, 0, 9);  // six clocks after its row was opened
  check.equal(ddr.stats().violations, 1u, "a slot too early");
  check.that(ddr.stats().first_violation.starts_with("tRCD"), ddr.stats().first_violation);
}

/// What follows `first` after `gap` clocks: the clock too early names `what`, the next is right.
void test_time(Checks& check, const char* what, unsigned gap,
               const std::function<void(Hand&)>& first, const std::function<void(Hand&)>& second) {
  for (const unsigned early : {1u, 0u}) {
    Hand hand;
    first(hand);
    hand.wait(gap - 1 - early);
    second(hand);
    hand.wait(20);
    const DdrStats& stats = hand.ddr.stats();
    check.equal(stats.violations, early, std::string(what) + ": " + stats.first_violation);
    if (early)
      check.that(stats.first_violation.starts_with(what),
                 std::string(what) + " said as: " + stats.first_violation);
  }
}

void test_times(Checks& check) {
  using C = DdrCommand;
  const auto send = [](C cmd, unsigned bank = 0, unsigned addr = 0) {
    return [=](Hand& hand) { hand.clock(cmd, bank, addr); };
  };
  const auto opened = [](C cmd) {
    return [=](Hand& hand) {
      hand.clock(C::kActivate, 0, 1);
      hand.wait(20);
      if (cmd == C::kWrite)
        hand.write(0, 5, word_of(1));
      else if (cmd != C::kNop)
        hand.clock(cmd, 0, 5);
    };
  };
  const auto write = [](Hand& hand) { hand.write(0, 6, word_of(2)); };
  test_time(check, "tRCD", 7, send(C::kActivate), send(C::kRead));
  test_time(check, "tRCD", 7, send(C::kActivate), write);
  test_time(check, "tRAS", 15, send(C::kActivate), send(C::kPrecharge));
  test_time(check, "tRAS", 15, send(C::kActivate), send(C::kPrechargeAll));
  test_time(check, "tRRD", 5, send(C::kActivate, 0), send(C::kActivate, 1));
  test_time(check, "tRP", 7, opened(C::kPrecharge), send(C::kActivate));
  test_time(check, "tRTP", 2, opened(C::kRead), send(C::kPrecharge));
  test_time(check, "tWR", 11, opened(C::kWrite), send(C::kPrecharge));
  test_time(check, "tWTR", 8, opened(C::kWrite), send(C::kRead));
  test_time(check, "write too early", 6, opened(C::kRead), write);
  const auto refreshed = [](Hand& hand) { hand.clock(C::kRefresh); };
  test_time(check, "tRFC", 36, refreshed, send(C::kActivate));
}

void test_states(Checks& check) {
  using C = DdrCommand;
  const auto fails = [&](const char* what, const std::function<void(Hand&)>& body) {
    Hand hand;
    body(hand);
    hand.wait(10);
    check.that(hand.ddr.stats().first_violation.starts_with(what),
               std::string(what) + " said as: " + hand.ddr.stats().first_violation);
  };
  fails("read or write of a closed bank", [](Hand& h) { h.clock(C::kRead, 2, 0); });
  fails("activate of an open bank", [](Hand& h) {
    h.clock(C::kActivate, 0, 1);
    h.wait(30);
    h.clock(C::kActivate, 0, 1);
  });
  fails("precharge of a closed bank", [](Hand& h) { h.clock(C::kPrecharge, 0); });
  fails("refresh with an open bank", [](Hand& h) {
    h.clock(C::kActivate, 0, 1);
    h.wait(30);
    h.clock(C::kRefresh);
  });
  fails("no such row", [](Hand& h) { h.clock(C::kActivate, 0, 2048); });
  fails("no such command", [](Hand& h) { h.clock(static_cast<C>(7)); });
  fails("write data missing", [](Hand& h) {
    h.clock(C::kActivate, 0, 1);
    h.wait(10);
    h.clock(C::kWrite, 0, 1);
  });
  Hand small({.banks = 4});
  small.clock(C::kActivate, 4, 0);
  check.equal(small.ddr.stats().first_violation, std::string("no such bank in clock 1"), "banks");
  Hand hand;
  hand.wait(9 * 3900);
  check.equal(hand.ddr.stats().violations, 0u, "eight refreshes may be late");
  hand.clock();
  check.equal(hand.ddr.stats().violations, 1u, "a ninth may not");
  check.throws([] { Hand bad({.banks = 0}); }, {"ddr", "banks"}, "no banks");
}

/// Random whole rows against an array.
void test_random(Checks& check) {
  Hand hand;
  Random random(4);
  std::map<std::size_t, Word> want;
  bool right = true;
  for (unsigned n = 0; n < 300; ++n) {
    const unsigned bank = static_cast<unsigned>(random.below(8));
    const unsigned row = static_cast<unsigned>(random.below(3)) * 1023;
    hand.clock(DdrCommand::kActivate, bank, row);
    hand.wait(8);
    const unsigned column = static_cast<unsigned>(random.below(120));
    const bool write = random.chance(0.5);
    for (unsigned i = 0; i < 8; ++i) {
      const std::size_t key = (row * 8 + bank) * 128 + column + i;
      if (write) {
        const Word word = word_of(static_cast<std::uint32_t>(random.next()));
        want[key] = word;
        hand.write(bank, column + i, word);
      } else {
        hand.clock(DdrCommand::kRead, bank, column + i);
      }
      if (!write && i == 7) {
        // The first is sampled in the clock after the last command.
        for (unsigned k = 0; k < 8; ++k) {
          hand.clock();
          right = right && hand.seen == want[(row * 8 + bank) * 128 + column + k];
        }
      }
    }
    hand.wait(12);
    hand.clock(DdrCommand::kPrecharge, bank);
    hand.wait(8);
  }
  check.that(right, "what was written is read");
  check.equal(hand.ddr.stats().violations, 0u, "random rows: " + hand.ddr.stats().first_violation);
}

void measure() {
  Hand hand;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < 10'000'000; ++n) hand.clock();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("idle: %.1f ns a clock, the test's own part with it\n", took.count() / 10'000'000);
}

}  // namespace

int main(int argc, char**) {
  Checks check;
  test_data(check);
  test_slots(check);
  test_times(check);
  test_states(check);
  test_random(check);
  if (argc > 1) measure();
  return check.finish();
}
