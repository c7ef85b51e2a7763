// SPDX-License-Identifier: Apache-2.0
// Test of the PCIe models' rates and latency against absolute numbers, worked out here from what
// the PCI Express Base Specification says and from nothing that is tested. With an argument, also
// prints the wall-clock cost of a clock.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include "bench/pcie/test_device.hpp"

namespace emery::test {
namespace {

std::uint64_t allocations = 0;

// ---- what the specification says

// Gb/s that a lane has for TLPs and DLLPs. Generations 1 and 2 send 8 bits in 10 and an SKP ordered
// set of 4 symbols every 1180 to 1538 symbols; from generation 3 on 128 bits in 130 and one SKP
// block in 371 to 376 (after 370 to 375 others). The bench says 1180 and 373.
constexpr double kLane[] = {2.5 * 8 / 10 * 1180 / 1184,     // 1.99324
                            5.0 * 8 / 10 * 1180 / 1184,     // 3.98649
                            8.0 * 128 / 130 * 372 / 373,    // 7.85581
                            16.0 * 128 / 130 * 372 / 373,   // 15.71163
                            32.0 * 128 / 130 * 372 / 373};  // 31.42326
// Bytes of a TLP besides header and payload: STP token with the sequence number (before generation
// 3: STP, 2 bytes of sequence number, END) and LCRC. Headers of writes have 12 bytes below 4 GB,
// else 16; those of completions 12.
constexpr double kFraming = 4 + 4;
constexpr double kWrite = kFraming + 16, kLowWrite = kFraming + 12, kRequest = kFraming + 16,
                 kCompletionTlp = kFraming + 12;
// A DLLP: 2 bytes of framing, 4 of content, 2 of CRC.
constexpr double kDllp = 2 + 4 + 2;
// The bench acknowledges and gives credits back after 8 packets or 150 ns. The specification's
// limits at generation 3 and a payload of 256 are 168 ns for 16 lanes and 203 for 8.
constexpr double kTogether = 8, kTogetherNs = 150;

// How near a measured rate must come. The SKP interval alone may move it by 0.004 %.
constexpr double kClose = 0.0005;

bool fits(double got, double want, double fraction = kClose) {
  return std::abs(got - want) <= fraction * want;
}

// Within a fraction of what is wanted.
void check_near(double got, double want, double fraction, const std::string& what) {
  checks.near(got, want, fraction * want, what);
}

struct Rates {
  double write, read;
};

Rates measure(Bench& bench, Time warm = 10 * kMicrosecond, Time window = 100 * kMicrosecond) {
  bench.simulation.run_for(warm);
  const std::uint64_t w = bench.root.stats().write_bytes, r = bench.root.stats().read_bytes;
  bench.simulation.run_for(window);
  const double ns = static_cast<double>(window) / 1e3;
  return {8.0 * static_cast<double>(bench.root.stats().write_bytes - w) / ns,
          8.0 * static_cast<double>(bench.root.stats().read_bytes - r) / ns};
}

// DLLP bytes per packet in a direction, for acknowledgements or credits of packets every `spacing`
// ns.
double dllp_bytes(double spacing) {
  return kDllp / std::min(kTogether, std::floor(kTogetherNs / spacing) + 1);
}

void test_latency() {
  Bench bench;
  const std::uint64_t buffer = pattern_buffer(bench.memory, 4096);
  int left = 100;
  bench.device.tags = 1;
  bench.device.next_read = [&] { return Device::Request{buffer, left-- > 0 ? 64u : 0u}; };
  bench.simulation.run_for(200 * kMicrosecond);
  const EndpointStats& stats = bench.endpoint.stats();
  const double mean =
      static_cast<double>(stats.read_time_sum) / 1e3 / static_cast<double>(stats.reads);
  std::printf("%-40s %8.1f ns\n", "read round trip, 64 bytes, idle link", mean);
  checks.that(stats.reads == 100 && mean > 750 && mean < 800,
              "read round trip " + std::to_string(mean) + " ns");
  check_clean(bench, "latency");
}

// Payload of endless writes, `speed` being that of the link against what it should be.
double write_rate(int gen, int lanes, int mps, bool low, std::uint64_t hz, const std::string& name,
                  double speed = 1) {
  Setup setup;
  setup.link.gen = gen;
  setup.link.lanes = lanes;
  setup.link.speed = speed;
  setup.root.max_payload = mps;
  setup.hz = hz;
  setup.endpoint.function.max_payload = mps;
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  const std::uint64_t buffer =
      pattern_buffer(bench.memory, size, low ? HostMemory::Zone::kLow : HostMemory::Zone::kHigh);
  bench.device.next_write = walk(buffer, size, static_cast<std::uint32_t>(mps));
  const Rates rates = measure(bench, 10 * kMicrosecond, (lanes == 1 ? 2000 : 200) * kMicrosecond);
  check_clean(bench, name);
  return rates.write;
}

void test_writes(int gen, int lanes, int mps, bool low, std::uint64_t hz) {
  const std::string name = "writes gen" + std::to_string(gen) + " x" + std::to_string(lanes) +
                           " mps " + std::to_string(mps) + (low ? " 3DW" : " 4DW");
  const double want = kLane[gen - 1] * lanes * mps / (mps + (low ? kLowWrite : kWrite));
  const double got = write_rate(gen, lanes, mps, low, hz, name);
  std::printf("%-40s %8.3f Gb/s (specification %.3f)\n", name.c_str(), got, want);
  check_near(got, want, kClose, name);
}

// What everyone quotes, as numbers: and that this test would see a link that is a little off.
void test_absolute() {
  // 8 GT/s x 16 lanes x 128/130 x 372/373 = 125.693 Gb/s; x 256/280 = 114.919, x 256/276 = 116.585.
  const double high = write_rate(3, 16, 256, false, 322'000'000, "gen3 x16"),
               low = write_rate(3, 16, 256, true, 322'000'000, "gen3 x16, 3DW"),
               slow = write_rate(3, 16, 256, false, 322'000'000, "gen3 x16, slow", 0.998);
  checks.that(fits(high, 114.919), "gen3 x16 writes 114.919 Gb/s, not " + std::to_string(high));
  checks.that(fits(low, 116.585), "gen3 x16 3DW writes 116.585 Gb/s, not " + std::to_string(low));
  checks.that(!fits(slow, 114.919), "a link 0.2 % slow is seen");
  checks.that(!fits(high, 114.919 * 0.998) && !fits(high, 114.919 * 1.002),
              "a link 0.2 % off is seen");
  checks.that(!fits(low, 114.919) && !fits(high, 116.585), "a header 4 bytes off is seen");
}

void test_reads(int gen, int lanes, int mps, int mrrs) {
  Setup setup;
  setup.link.gen = gen;
  setup.link.lanes = lanes;
  setup.root.max_payload = mps;
  setup.root.max_read_request = mrrs;
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  bench.device.next_read =
      walk(pattern_buffer(bench.memory, size), size, static_cast<std::uint32_t>(mrrs));
  const Rates rates = measure(bench, 20 * kMicrosecond, 200 * kMicrosecond);
  const double gbps = kLane[gen - 1] * lanes;
  const double bare = mrrs + kCompletionTlp * mrrs / mps;
  double spacing = 8 * bare / gbps;
  // Requests are acknowledged and their credits given back on the wire of the completions.
  spacing = 8 * (bare + 2 * dllp_bytes(spacing)) / gbps;
  const double want = 8 * mrrs / spacing;
  const std::string name = "reads gen" + std::to_string(gen) + " x" + std::to_string(lanes) +
                           " mps " + std::to_string(mps) + " mrrs " + std::to_string(mrrs);
  std::printf("%-40s %8.3f Gb/s (specification %.3f)\n", name.c_str(), rates.read, want);
  check_near(rates.read, want, 0.001, name);
  checks.that(bench.device.reads_done > 300 && bench.device.out_of_order == 0,
              name + ": reads in order");
  checks.that(bench.device.largest_completion == static_cast<std::uint32_t>(mps),
              name + ": completion size");
  check_clean(bench, name);
}

void test_both(int lanes) {
  Setup setup;
  setup.link.lanes = lanes;
  setup.hz = 322'000'000;  // 512 bits at 250 MHz are just short of both at once
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  bench.device.next_read = walk(pattern_buffer(bench.memory, size), size, 512);
  bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
  const Rates rates = measure(bench, 20 * kMicrosecond, 200 * kMicrosecond);
  // Down: completions, and the DLLPs of writes and read requests. Up: writes, read requests,
  // acknowledged completions.
  const double byte_ns = 8 / (kLane[2] * lanes);
  const double read = 512 + 2 * kCompletionTlp, write = 256 + kWrite;
  double read_ns = read * byte_ns, write_ns = write * byte_ns;
  for (int i = 0; i < 50; ++i) {
    const double both_ns = 1 / (1 / read_ns + 1 / write_ns);
    const double ack_up = dllp_bytes(both_ns), ack_down = dllp_bytes(read_ns / 2);
    const double down =
        ack_up / both_ns + dllp_bytes(write_ns) / write_ns + dllp_bytes(read_ns) / read_ns;
    read_ns = read * byte_ns / (1 - down * byte_ns);
    const double up = (kRequest + 2 * ack_down) / read_ns;
    write_ns = write * byte_ns / (1 - up * byte_ns);
  }
  const std::string name = "both gen3 x" + std::to_string(lanes);
  std::printf("%-40s %8.3f Gb/s written (specification %.3f), %.3f read (specification %.3f)\n",
              name.c_str(), rates.write, 8 * 256 / write_ns, rates.read, 8 * 512 / read_ns);
  check_near(rates.write, 8 * 256 / write_ns, 0.001, name + " writes");
  check_near(rates.read, 8 * 512 / read_ns, 0.001, name + " reads");
  check_clean(bench, name);
}

// Throughput of a link short of credits is credits per round trip of the credit.
void test_credits() {
  for (const bool header : {false, true}) {
    Setup setup;
    setup.root_credits.header[kPosted] = header ? 8 : 112;
    setup.root_credits.data[kPosted] = header ? 1536 : 128;
    Bench bench(setup);
    const std::uint64_t size = 1 << 20;
    bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
    const Rates rates = measure(bench);
    // Credits come back by fours: four packets on the wire, link, ingress, link, and some clocks of
    // the device.
    const double loop = 4 * (256 + kWrite) * 8 / (16 * kLane[2]) + 2 * 175 + 50 + 24;
    const double want = 8 * 256 * 8 / loop;
    check_near(rates.write, want, 0.02, header ? "8 header credits" : "128 data credits");
    check_clean(bench, "few credits");
  }
  // A device that ignores the limits is caught, and held.
  Setup setup;
  setup.root_credits.header[kPosted] = 8;
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  bench.device.ignore_credits = true;
  bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
  bench.simulation.run_for(10 * kMicrosecond);
  checks.that(bench.endpoint.stats().fc_violations > 0, "credits exceeded are counted");
  // Completion credits are finite: the hard block's own completions use them too.
  Setup finite;
  finite.root_credits.header[kCompletion] = 4;
  finite.root_credits.data[kCompletion] = 8;
  Bench limited(finite);
  bool same = true;
  for (unsigned i = 0; i < 300; ++i) {
    mmio_write(limited.root, limited.root.device().bar0 + 4, i, 4);
    same &= mmio_read(limited.root, limited.root.device().bar0 + 4, 4) == i;
    limited.root.config_read(0);
  }
  checks.that(same, "completions with finite credits");
  check_clean(limited, "finite completion credits");
}

// Two links to one memory, as a bifurcated slot: each has its own wire, both land in the same
// buffer.
void test_two_links() {
  Setup setup;
  setup.link.lanes = 8;
  Simulation simulation;
  HostMemory memory;
  struct Half {
    Half(const Setup& s, const RootConfig& r, Simulation& sim, HostMemory& m)
        : link(s.link), endpoint(s.endpoint, link, device.pins()), root(r, sim, link, m) {}
    PcieLink link;
    Device device;
    Endpoint endpoint;
    RootComplex root;
  };
  RootConfig second = setup.root;
  second.bus = 2;
  second.mmio_base = setup.root.mmio_base + (1ull << 32);
  Half a(setup, setup.root, simulation, memory), b(setup, second, simulation, memory);
  const int clock = simulation.add_clock("core", 250'000'000);
  const std::uint64_t size = 1 << 20, buffer = memory.alloc(size);
  simulation.set_model([&](std::uint32_t) {
    a.device.clock();
    b.device.clock();
  });
  for (Half* half : {&a, &b}) {
    simulation.add(clock, half->endpoint);
    simulation.add(clock, half->root);
  }
  for (Half* half : {&a, &b}) {
    half->root.enumerate();
    set_bus_master(half->root, true);
    half->device.next_write = walk(buffer + (half == &a ? 0 : size / 2), size / 2, 256);
  }
  simulation.run_for(10 * kMicrosecond);
  const std::uint64_t before = a.root.stats().write_bytes + b.root.stats().write_bytes;
  simulation.run_for(100 * kMicrosecond);
  const auto moved =
      static_cast<double>(a.root.stats().write_bytes + b.root.stats().write_bytes - before);
  check_near(8 * moved / 100e3, 16 * kLane[2] * 256 / (256 + kWrite), kClose,
             "writes over x8 + x8");
  checks.that(a.endpoint.id() == 0x100 && b.endpoint.id() == 0x200, "two devices");
  checks.that(a.root.stats().protocol_errors + b.root.stats().protocol_errors == 0,
              "x8 + x8: protocol");
}

// What a host_profile is made of: each value does what it says, by numbers worked out here.
void test_host() {
  const auto reads = [](const std::function<void(RootConfig&)>& change, std::uint32_t bytes,
                        int tags, const std::string& name) {
    Setup setup;
    setup.link.lanes = 8;
    change(setup.root);
    auto bench = std::make_unique<Bench>(setup);
    bench->device.tags = tags;
    const std::uint64_t size = 1 << 20;
    bench->device.next_read = walk(pattern_buffer(bench->memory, size), size, bytes);
    bench->simulation.run_for(400 * kMicrosecond);
    check_clean(*bench, name);
    return bench;
  };
  const auto latency = [](const Bench& bench) {
    const EndpointStats& s = bench.endpoint.stats();
    return static_cast<double>(s.read_time_sum) / 1e3 / static_cast<double>(s.reads);
  };
  // 256 bytes in pieces of 64: 4 x 84 instead of 276 on the wire, below the length given only.
  for (const bool pieces : {false, true}) {
    const auto bench = reads([&](RootConfig& c) { c.completion_from = pieces ? 257 : 256; }, 256,
                             256, "completion_from");
    const auto done = static_cast<double>(bench->root.stats().reads);
    checks.near(static_cast<double>(bench->root.stats().completions) / done, pieces ? 4 : 1, 0.2,
                "completions of a read of 256 bytes");
    const double spacing = 8 * (256 + (pieces ? 4 : 1) * kCompletionTlp) / (8 * kLane[2]);
    check_near(400e3 / done, spacing, 0.05, "time of a read in pieces");
  }
  // One read at a time: the mean of a uniform time is its half, of one in so many its share.
  const double plain = latency(*reads([](RootConfig&) {}, 64, 1, "plain"));
  checks.near(latency(*reads([](RootConfig& c) { c.wake = 400 * kNanosecond; }, 64, 1, "wake")),
              plain + 200, 25, "a host that must wake for each read");
  const auto tail = [](RootConfig& c) {
    c.tail = 2000 * kNanosecond;
    c.tail_chance = 0.1;
  };
  checks.near(latency(*reads(tail, 64, 1, "tail")), plain + 200, 60, "one read in ten 2 us later");
  // Writes at the host's own pace: one in 50 ns.
  Setup setup;
  setup.root.write_time = 50 * kNanosecond;
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  bench.device.next_write = walk(bench.memory.alloc(size), size, 64);
  check_near(measure(bench).write, 8 * 64 / 50.0, 0.002, "a host that takes a write in 50 ns");
  check_clean(bench, "write_time");
}

// In the steady state nothing is allocated.
void test_allocations() {
  Bench bench;
  const std::uint64_t size = 1 << 20;
  bench.device.next_read = walk(pattern_buffer(bench.memory, size), size, 60);
  bench.device.next_write = walk(bench.memory.alloc(size), size, 200);
  bench.simulation.run_for(50 * kMicrosecond);
  const std::uint64_t before = allocations;
  bench.simulation.run_for(50 * kMicrosecond);
  const std::uint64_t more = allocations - before;
  checks.that(more == 0, std::to_string(more) + " allocations in 50 us of traffic");
}

void cost(const char* name, Bench& bench, std::uint64_t clocks) {
  bench.simulation.run_for(10 * kMicrosecond);
  const std::uint64_t tlps = bench.link.up.stats().tlps + bench.link.down.stats().tlps;
  const auto start = std::chrono::steady_clock::now();
  bench.simulation.run_for(static_cast<Time>(clocks) * 4000);
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - start;
  const auto moved =
      static_cast<double>(bench.link.up.stats().tlps + bench.link.down.stats().tlps - tlps);
  std::printf("%-40s %8.1f ns a clock, %.2f TLPs a clock\n", name,
              wall.count() / static_cast<double>(clocks), moved / static_cast<double>(clocks));
}

void measure_cost() {
  const std::uint64_t size = 1 << 20;
  {
    Bench bench;
    cost("idle", bench, 2'000'000);
  }
  {
    Bench bench;
    bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
    bench.device.next_read = walk(pattern_buffer(bench.memory, size), size, 512);
    cost("256-byte writes and 512-byte reads", bench, 500'000);
  }
  {
    Bench bench;
    bench.device.next_write = walk(bench.memory.alloc(size), size, 60);
    bench.device.next_read = walk(pattern_buffer(bench.memory, size), size, 60);
    cost("60-byte writes and reads", bench, 500'000);
  }
}

}  // namespace
}  // namespace emery::test

// Not inlined, so that the compiler does not take malloc and delete for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++emery::test::allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main(int argc, char**) {
  using namespace emery::test;
  test_latency();
  test_absolute();
  test_writes(3, 16, 256, false, 250'000'000);
  test_writes(3, 16, 256, true, 322'000'000);
  test_writes(3, 8, 256, false, 250'000'000);
  test_writes(3, 16, 128, false, 322'000'000);
  test_writes(3, 8, 512, false, 250'000'000);
  test_writes(4, 8, 256, false, 250'000'000);
  test_writes(1, 1, 128, false, 250'000'000);
  test_writes(2, 8, 256, false, 250'000'000);
  test_writes(5, 4, 256, false, 250'000'000);
  test_reads(3, 16, 256, 512);
  test_reads(3, 8, 256, 512);
  test_reads(3, 8, 128, 4096);
  test_reads(4, 8, 512, 512);
  test_both(8);
  test_both(16);
  test_credits();
  test_host();
  test_allocations();
  test_two_links();
  if (argc > 1) measure_cost();
  return checks.finish();
}
