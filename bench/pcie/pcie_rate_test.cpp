// SPDX-License-Identifier: Apache-2.0
// Test of the PCIe models' rates and latency against the formulas of docs and specification. With
// an argument, also prints the wall-clock cost of a clock.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "bench/pcie/test_device.hpp"

namespace emery::test {
namespace {

std::uint64_t allocations = 0;

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
double dllp_bytes(const LinkConfig& link, double spacing) {
  const double together = std::floor(static_cast<double>(link.ack_delay) / 1e3 / spacing) + 1;
  return 8.0 / std::min<double>(link.ack_tlps, together);
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

void test_writes(int gen, int lanes, int mps, bool low, std::uint64_t hz) {
  Setup setup;
  setup.link.gen = gen;
  setup.link.lanes = lanes;
  setup.root.max_payload = mps;
  setup.hz = hz;
  setup.endpoint.function.max_payload = mps;
  Bench bench(setup);
  const std::uint64_t size = 1 << 20;
  const std::uint64_t buffer =
      pattern_buffer(bench.memory, size, low ? HostMemory::Zone::kLow : HostMemory::Zone::kHigh);
  bench.device.next_write = walk(buffer, size, static_cast<std::uint32_t>(mps));
  const Rates rates = measure(bench, 10 * kMicrosecond, (lanes == 1 ? 2000 : 200) * kMicrosecond);
  const double want = setup.link.gbps() * mps / (mps + (low ? 20 : 24));
  const std::string name = "writes gen" + std::to_string(gen) + " x" + std::to_string(lanes) +
                           " mps " + std::to_string(mps) + (low ? " 3DW" : " 4DW");
  std::printf("%-40s %8.3f Gb/s (formula %.3f)\n", name.c_str(), rates.write, want);
  check_near(rates.write, want, 0.001, name);
  check_clean(bench, name);
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
  const double bare = mrrs + 20.0 * mrrs / mps;
  double spacing = 8 * bare / setup.link.gbps();
  // Requests are acknowledged and their credits given back on the wire of the completions.
  spacing = 8 * (bare + 2 * dllp_bytes(setup.link, spacing)) / setup.link.gbps();
  const double want = 8 * mrrs / spacing;
  const std::string name = "reads gen" + std::to_string(gen) + " x" + std::to_string(lanes) +
                           " mps " + std::to_string(mps) + " mrrs " + std::to_string(mrrs);
  std::printf("%-40s %8.3f Gb/s (formula %.3f)\n", name.c_str(), rates.read, want);
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
  const double byte_ns = 8 / setup.link.gbps();
  double read_ns = 552 * byte_ns, write_ns = 280 * byte_ns;
  for (int i = 0; i < 50; ++i) {
    const double both_ns = 1 / (1 / read_ns + 1 / write_ns);
    const double ack_up = dllp_bytes(setup.link, both_ns),
                 ack_down = dllp_bytes(setup.link, read_ns / 2);
    const double down = ack_up / both_ns + dllp_bytes(setup.link, write_ns) / write_ns +
                        dllp_bytes(setup.link, read_ns) / read_ns;
    read_ns = 552 * byte_ns / (1 - down * byte_ns);
    const double up = (24 + 2 * ack_down) / read_ns;
    write_ns = 280 * byte_ns / (1 - up * byte_ns);
  }
  const std::string name = "both gen3 x" + std::to_string(lanes);
  std::printf("%-40s %8.3f Gb/s written (formula %.3f), %.3f read (formula %.3f)\n", name.c_str(),
              rates.write, 8 * 256 / write_ns, rates.read, 8 * 512 / read_ns);
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
    const double loop = 4 * 280 * 8 / setup.link.gbps() + 2 * 175 + 50 + 24;
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
  check_near(8 * moved / 100e3, 2 * setup.link.gbps() * 256 / 280, 0.001, "writes over x8 + x8");
  checks.that(a.endpoint.id() == 0x100 && b.endpoint.id() == 0x200, "two devices");
  checks.that(a.root.stats().protocol_errors + b.root.stats().protocol_errors == 0,
              "x8 + x8: protocol");
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
  test_allocations();
  test_two_links();
  if (argc > 1) measure_cost();
  return checks.finish();
}
