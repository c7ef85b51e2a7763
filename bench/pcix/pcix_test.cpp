// SPDX-License-Identifier: Apache-2.0
// Tests of the PCI-X bus, its agents and the host bridge: clocks of every kind of transaction, who
// gets the bus, what is refused, what the monitor sees.
#include <cstring>
#include <deque>
#include <vector>

#include "bench/pcix/bus.hpp"
#include "bench/pcix/host_bridge.hpp"
#include "bench/stats/check.hpp"

namespace {

using namespace emery;

constexpr std::uint64_t kHz = 100'000'000;

/// A card in C++: sends what it is told to, keeps what is written to its 4 kB, reads host memory.
class Card final : public PcixAgent {
 public:
  Card(std::uint8_t device, std::uint64_t base) : id{0, device, 0}, base_(base) {}

  struct Job {
    PcixCommand command;
    std::uint64_t address;
    std::vector<std::uint64_t> words;  // of a write
    std::uint32_t bytes = 0;           // of a read
  };
  void write(std::uint64_t address, std::vector<std::uint64_t> words) {
    jobs.push_back({PcixCommand::kMemWriteBlock, address, std::move(words)});
  }
  void read(std::uint64_t address, std::uint32_t bytes) {
    jobs.push_back({PcixCommand::kMemReadBlock, address, {}, bytes});
  }

  PcixId id;
  std::deque<Job> jobs;
  std::vector<Outcome> outcomes;
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(512);
  std::vector<std::uint64_t> completed;
  std::uint64_t written = 0, messages = 0, ends = 0;
  Time first_completion = 0, read_sent = 0;
  PcixResponse answer_writes = PcixResponse::kTransfer;
  unsigned refuse = 0;  // so many accesses are put off

  static constexpr Outcome kOk = Outcome::kDone, kNobody = Outcome::kMasterAbort,
                           kAborted = Outcome::kTargetAbort, kRefused = Outcome::kRetry;

 protected:
  bool wants(Transaction& t) override {
    if (jobs.empty()) return false;
    const Job& job = jobs.front();
    const bool reads = is_read(job.command);
    t.command = job.command;
    t.address = job.address;
    t.words = reads ? 1 : static_cast<unsigned>(job.words.size());
    t.attribute = {reads ? job.bytes : 8 * t.words, false, 3, id};
    t.cbe_n = 0;
    return true;
  }
  std::uint64_t word(unsigned i) override { return jobs.front().words[i]; }
  void finished(Outcome outcome, unsigned) override {
    outcomes.push_back(outcome);
    if (outcome == Outcome::kSplit) read_sent = now();
    if (outcome != Outcome::kRetry) jobs.pop_front();
  }
  bool claims(const PcixTracker& t, bool idsel) override {
    if (is_config(t.command)) return idsel;
    if (t.command == PcixCommand::kSplitCompletion)
      return PcixSplitAddress::of(t.address).requester == id;
    return t.address >= base_ && t.address < base_ + 4096;
  }
  PcixResponse answer(const PcixTracker& t) override {
    if (refuse != 0) return --refuse, PcixResponse::kRetry;
    if (!is_read(t.command)) return answer_writes;
    // Its registers are its memory; configuration reads give the register's number.
    const bool config = is_config(t.command);
    const std::uint64_t word = memory[t.address / 8 % 512];
    const std::uint32_t value = config ? static_cast<std::uint32_t>(t.address & 0xff)
                                       : static_cast<std::uint32_t>(word >> 8 * (t.address & 4));
    jobs.push_back({PcixCommand::kSplitCompletion,
                    PcixSplitAddress{t.attribute.tag, t.attribute.id, 0}.bits(),
                    {std::uint64_t{value} << 32 | value}});
    return PcixResponse::kSplitResponse;
  }
  void received(const PcixTracker& t, unsigned i, std::uint64_t data, std::uint8_t cbe_n) override {
    if (t.command == PcixCommand::kSplitCompletion) {
      if (t.attribute.message) ++messages;
      if (completed.empty()) first_completion = now();
      completed.push_back(data);
      return;
    }
    auto* to = reinterpret_cast<std::uint8_t*>(&memory[(t.address / 8 + i) % 512]);
    for (unsigned b = 0; b < 8; ++b) {
      if ((cbe_n >> b & 1) == 0) to[b] = static_cast<std::uint8_t>(data >> 8 * b);
    }
    ++written;
  }
  void ended(const PcixTracker&) override { ++ends; }

 private:
  std::uint64_t base_;
};

constexpr std::uint64_t kA = 0xe000'0000, kB = 0xe000'1000, kNowhere = 0xf000'0000;

struct Machine {
  explicit Machine(Time latency = 750 * kNanosecond,
                   PcixBus::Level of_bridge = PcixBus::Level::kRound)
      : bridge({latency, {0, 31, 0}}, memory), a(1, kA), b(2, kB) {
    clock = sim.add_clock("bus", kHz);
    sim.add(clock, bus);
    bus.add_agent(a);
    bus.add_agent(b);
    bus.add_agent(bridge, of_bridge);
    bus.set_reset(false);
  }
  void run(int clocks) { sim.run_for(clocks * (1'000'000'000'000 / static_cast<Time>(kHz))); }

  Simulation sim;
  int clock;
  HostMemory memory;
  PcixBus bus;
  HostBridge bridge;
  Card a, b;
};

std::vector<std::uint64_t> words(unsigned n, std::uint64_t base = 0x1000) {
  std::vector<std::uint64_t> v;
  for (unsigned i = 0; i < n; ++i) v.push_back(base + i);
  return v;
}

void test_writes(Checks& check) {
  for (const unsigned n : {1u, 2u, 16u, 512u}) {
    Machine m;
    for (int i = 0; i < 20; ++i) m.a.write(kB, words(n)), m.b.write(kA, words(n, 0x5000));
    m.run(40 * (static_cast<int>(n) + 4) + 10);
    const std::string what = std::to_string(n) + " words: ";
    check.equal(m.b.written, std::uint64_t{20} * n, what + "all there");
    check.that(std::equal(m.b.memory.begin(), m.b.memory.begin() + n, words(n).begin()),
               what + "content");
    check.equal(m.bus.stats().busy_clocks, std::uint64_t{40} * (n + 4),
                what + "N + 4 clocks each, of two masters in turn");
    check.equal(m.bus.stats().words, std::uint64_t{40} * n, what + "words counted");
    check.equal(m.a.ends + m.b.ends, std::uint64_t{40}, what + "every end is seen");
    check.equal(m.bus.stats().violations, std::uint64_t{0}, m.bus.stats().first_violation);
  }
}

void test_first_level(Checks& check) {
  Machine m(750 * kNanosecond, PcixBus::Level::kFirst);
  for (int i = 0; i < 100; ++i) {
    m.a.write(kB, words(1)), m.b.write(kA, words(1));
    m.bridge.write(kA, 1), m.bridge.write(kB, 1);
  }
  m.run(500);
  const double turns = 100 - static_cast<double>(m.a.jobs.size());
  check.that(turns > 10, "cards are not starved");
  check.near(100 - static_cast<double>(m.b.jobs.size()), turns, 1.0, "turns of two masters");
  check.near(200 - static_cast<double>(m.bridge.requests()), 2 * turns, 2.0,
             "the bridge has one after each of theirs");
  // Alone it needs to wait for nobody.
  Machine alone(750 * kNanosecond, PcixBus::Level::kFirst);
  for (int i = 0; i < 100; ++i) alone.bridge.write(kA, 1);
  alone.run(520);
  check.equal(alone.bridge.requests(), std::size_t{0}, "all of its writes");
}

void test_fair(Checks& check) {
  Machine m;
  for (int i = 0; i < 300; ++i) m.a.write(kNowhere + 0x100, words(1)), m.b.write(kA, words(4));
  const auto host = m.memory.alloc(4096);
  for (int i = 0; i < 300; ++i) m.bridge.write(kA, 1);
  m.run(1500);
  const auto left = m.a.jobs.size();
  check.near(static_cast<double>(left), static_cast<double>(m.b.jobs.size()), 1.0,
             "turns of two masters");
  check.near(static_cast<double>(left), static_cast<double>(m.bridge.requests()), 1.0,
             "and of the bridge");
  check.equal(m.a.outcomes.front() == Card::kNobody, true, "nobody answers: master abort");
  check.that(m.bus.stats().master_aborts > 0, "which is counted");
  check.that(m.memory.mapped(host, 4096), "memory is untouched");
  // Without grants it stands still; with them it goes on.
  m.bus.set_ungranted(0, true);
  m.run(20);
  const auto stands = m.a.jobs.size();
  m.run(200);
  check.equal(m.a.jobs.size(), stands, "no grant, no transaction");
  m.bus.set_ungranted(0, false);
  m.run(200);
  check.that(m.a.jobs.size() < stands, "goes on");
  // Dead in the middle of a transaction: the others have the bus, and its target sees an end.
  m.a.write(kB, words(400));
  for (auto* card : {&m.a, &m.b}) card->jobs.erase(card->jobs.begin(), card->jobs.end() - 1);
  m.run(60);
  const auto ends = m.b.ends;
  m.bus.set_dead(0, true);
  m.run(60);
  check.equal(m.b.ends, ends + 1, "the target of a burst cut off sees its end");
  const auto before = m.bus.stats().writes;
  for (int i = 0; i < 5; ++i) m.b.write(kB + 0x100, words(1));
  m.run(100);
  check.that(m.bus.stats().writes >= before + 5, "a dead card does not stop the bus");
  check.equal(m.bus.stats().violations, std::uint64_t{0}, m.bus.stats().first_violation);
}

void test_memory(Checks& check) {
  for (const Time latency : {0 * kNanosecond, 750 * kNanosecond}) {
    Machine m(latency);
    const auto at = m.memory.alloc(8192);
    m.a.write(at + 64, words(100));
    m.run(120);
    std::uint64_t got[100];
    check.that(m.memory.read(at + 64, got, sizeof got), "memory is there");
    check.that(std::equal(got, got + 100, words(100).begin()), "write to memory");
    const auto busy = m.bus.stats().busy_clocks;
    m.b.read(at + 64, 800);
    m.run(300);
    check.that(m.b.completed == words(100), "split read of memory");
    check.equal(m.bus.stats().busy_clocks - busy, std::uint64_t{5 + 104},
                "a split read takes 5 clocks, its completion N + 4");
    // The latency runs from the response phase to the completion's address; data comes 3 later.
    const double wait = static_cast<double>(m.b.first_completion - m.b.read_sent) / kNanosecond;
    check.near(wait, static_cast<double>(latency) / kNanosecond + 45, 20, "read latency");
    m.b.read(kNowhere & ~0xfffull, 8);
    m.b.read(HostMemory::kHighBase + (1ull << 32), 8);
    m.run(300);
    check.equal(m.b.messages, std::uint64_t{1}, "a read of nothing gives an error message");
    check.equal(m.bridge.stats().unmapped_reads, std::uint64_t{1}, "which is counted");
    check.equal(m.bus.stats().violations, std::uint64_t{0}, m.bus.stats().first_violation);
  }
  // Reads of many cards are served side by side.
  Machine m;
  const auto at = m.memory.alloc(4096);
  for (int i = 0; i < 10; ++i) m.a.read(at, 8), m.b.read(at, 8);
  m.run(75 + 20 * 10 + 40);
  check.equal(m.a.completed.size() + m.b.completed.size(), std::size_t{20}, "reads overlap");
}

void test_cpu(Checks& check) {
  Machine m;
  m.bridge.write(kA + 4, 0x11223344);
  m.bridge.write(kA, 0x55667788);
  m.a.refuse = 3;
  std::vector<std::uint32_t> got;
  bool answered = true;
  const auto keep = [&](std::uint32_t value, bool ok) {
    got.push_back(value);
    answered = answered && ok;
  };
  m.bridge.read(kA, keep);
  m.bridge.read(kA + 4, keep);
  m.bridge.config_read(1, 0x10, keep);
  m.run(200);
  check.equal(m.a.memory[0], std::uint64_t{0x1122334455667788}, "dwords in their lanes");
  check.that(got == std::vector<std::uint32_t>{0x55667788, 0x11223344, 0x10}, "reads, in order");
  check.that(answered && m.bridge.quiet(), "all answered");
  check.equal(m.bus.stats().retries, std::uint64_t{3}, "put off and tried again");
  m.bridge.config_read(9, 0, keep);
  m.bridge.read(kNowhere, keep);
  m.run(100);
  check.that(got.size() == 5 && got[3] == ~0u && got[4] == ~0u && !answered,
             "nobody there: all ones");
  check.equal(m.bus.stats().violations, std::uint64_t{0}, m.bus.stats().first_violation);
}

void test_aborts(Checks& check) {
  Machine m;
  m.b.answer_writes = PcixResponse::kTargetAbort;
  m.a.write(kB, words(6));
  m.a.write(kNowhere, words(6));
  m.run(60);
  check.that(m.a.outcomes.size() == 2 && m.a.outcomes[0] == Card::kAborted &&
                 m.a.outcomes[1] == Card::kNobody,
             "target abort, master abort");
  check.equal(m.b.written, std::uint64_t{0}, "nothing was taken");
  // c0 ... c3, FRAME# up at c4, idle at c5; with nobody there the answer is given up after c7.
  check.equal(m.bus.stats().busy_clocks, std::uint64_t{6 + 10}, "clocks of aborts");
  check.equal(m.bus.stats().violations, std::uint64_t{0}, m.bus.stats().first_violation);
}

}  // namespace

int main() {
  Checks check;
  test_writes(check);
  test_fair(check);
  test_first_level(check);
  test_memory(check);
  test_cpu(check);
  test_aborts(check);
  return check.finish();
}
