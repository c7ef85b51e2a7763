// SPDX-License-Identifier: Apache-2.0
// Test of the PCIe models' behaviour: enumeration, MMIO, data and ordering, interrupts, faults,
// protocol checks, reset.
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "bench/pcie/test_device.hpp"
#include "bench/stats/json.hpp"

namespace emery::test {
namespace {

void test_byte_enables() {
  bool ok = true;
  for (std::uint64_t at = 0x1000; at < 0x1008; ++at) {
    for (std::uint32_t n = 1; n < 40; ++n) {
      const Tlp tlp = make_memory(true, at, n, 0, 0);
      const ByteRange range = ByteRange::of(tlp);
      ok &= range.first == at && range.count == n && range.contiguous;
    }
  }
  checks.that(ok, "byte enables round trip");
  checks.that(ByteRange::of(make_memory(false, 0x1000, 0, 0, 0)).count == 0, "zero-length request");
  Tlp holes = make_memory(true, 0x1000, 8, 0, 0);
  holes.dw[1] = (holes.dw[1] & ~0xffu) | 0x5a;
  checks.that(!ByteRange::of(holes).contiguous, "byte enables with holes");
}

// A DLLP takes its time on the wire, but leaves no gap in a stream of packets that were ready
// before it.
void test_dllps() {
  const LinkConfig config;
  CreditConfig at_root = PcieLink::root_credits();
  at_root.header[kNonPosted] = 1;  // each is given back at once
  PcieLink link(config, at_root);
  const double byte_ps = 8e3 / config.gbps();
  Tlp tlp = make_memory(true, 0x20'0000'0000, 64, 0, 0);
  const auto near = [&](Time got, double want, const char* what) {
    checks.near(static_cast<double>(got), want, 3, what);
  };
  link.up.release(kNonPosted, 0, 1'000'000);
  const Time first = link.down.send(tlp, 997'000), second = link.down.send(tlp, 997'000);
  near(first, 997'000 + 88 * byte_ps, "packet that began before a DLLP");
  near(second, 997'000 + (88 + 8 + 88) * byte_ps, "packet behind it and the DLLP");
  link.up.release(kNonPosted, 0, second - 1);
  near(link.down.send(tlp, 0), 997'000 + (4 * 88 - 88 + 16) * byte_ps, "DLLP on a busy wire");
  link.up.release(kNonPosted, 0, 2'000'000);
  near(link.down.send(tlp, 2'100'000), 2'100'000 + 88 * byte_ps, "DLLP on an idle wire");
  checks.equal(link.down.stats().dllps, 3u, "DLLPs counted");
  const Time end = static_cast<Time>(2'100'000 + 88 * byte_ps);
  near(link.down.busy_time(end), (4 * 88 + 3 * 8) * byte_ps, "busy time");
  near(link.down.busy_time(2'100'000), (3 * 88 + 3 * 8) * byte_ps, "of a packet what has gone by");
}

// A packet that waited for a credit begins when the credit is known, not when it was ready itself.
void test_waiting_for_credits() {
  const LinkConfig config;
  CreditConfig at_root = PcieLink::root_credits();
  at_root.header[kPosted] = 2;
  PcieLink link(config, at_root);
  const Tlp tlp = make_memory(true, 0x20'0000'0000, 64, 0, 0);
  const Time length = link.up.send(tlp, 0);
  link.up.send(tlp, 0);
  checks.that(!link.up.has_credit(kPosted, 4), "no credit is left");
  const Time freed = 3 * length + config.latency;
  link.up.release(kPosted, 4, freed);
  link.up.service(freed + config.latency - 1);
  checks.that(!link.up.has_credit(kPosted, 4), "the credit is on its way");
  link.up.service(freed + 2 * config.latency);
  checks.that(link.up.has_credit(kPosted, 4), "the credit has come");
  const Time end = link.up.send(tlp, 0);
  checks.that(end >= freed + config.latency + length, "begun before its credit came");
  checks.that(end <= freed + config.latency + 2 * length, "begun long after its credit came");
  link.up.release(kPosted, 4, end);
  link.up.release(kPosted, 4, end);
  link.up.service(end + 2 * config.latency);
  link.up.send(tlp, end + 3 * config.latency);
  checks.equal(link.up.send(tlp, end + 9 * config.latency), end + 9 * config.latency + length,
               "with credits at hand it begins when it is ready");
}

void test_enumeration() {
  Setup setup;
  setup.endpoint.function.vendor = 0xabcd;
  setup.endpoint.function.device = 0x1001;
  setup.endpoint.function.msix_vectors = 64;
  setup.endpoint.function.msix_table = 0x8000;
  setup.endpoint.function.msix_pba = 0x9000;
  setup.endpoint.function.bar0_bytes = 1 << 25;
  setup.endpoint.function.max_payload = 512;
  setup.root.max_payload = 1024;
  setup.root.max_read_request = 4096;
  Bench bench(setup);
  const PciDevice& d = bench.root.device();
  checks.that(d.vendor == 0xabcd && d.device == 0x1001 && d.class_code == 0x020000,
              "ids and class");
  checks.that(d.bar0 >> 32 != 0 && d.bar0_bytes == 1 << 25 && d.bar0 % d.bar0_bytes == 0,
              "BAR 0 above 4 GB, aligned");
  checks.that(bench.endpoint.config_space().bar0() == d.bar0, "BAR 0 in the device");
  checks.that(d.max_payload == 512 && bench.device.mps == 2, "max payload is the device's");
  checks.that(d.max_read_request == 4096 && bench.device.mrrs == 5, "max read request");
  checks.that(d.msix_vectors == 64 && d.msix_table == 0x8000 && d.msix_pba == 0x9000,
              "MSI-X capability");
  checks.that(d.link_gen == 3 && d.link_lanes == 16, "link status");
  checks.that(bench.endpoint.id() == 0x100 && bench.device.master == 1 && bench.device.ext_tag == 1,
              "id and control bits at the pins");
  enable_msix(bench.root, 3);
  std::uint32_t entry[4];
  std::memcpy(entry, bench.device.registers + (0x8000 + 2 * 16) % 4096, 16);
  const MsixMessage m = bench.root.msix_message(2);
  checks.that(entry[0] == m.addr && entry[1] == 0 && entry[2] == m.data && entry[3] == 0,
              "MSI-X table entry");
  checks.that(bench.device.msix_enable == 1 && bench.device.msix_mask == 0, "MSI-X enabled");
  set_bus_master(bench.root, false);
  bench.simulation.run_for(100 * kNanosecond);
  checks.that(bench.device.master == 0, "bus mastering off");
  check_clean(bench, "enumeration");
}

void test_mmio() {
  Bench bench;
  const std::uint64_t bar = bench.root.device().bar0;
  for (unsigned i = 0; i < 64; ++i) mmio_write(bench.root, bar + 4 * i, 0x1000'0000u + i, 4);
  const Time before = bench.simulation.now();
  bool same = true;
  for (unsigned i = 0; i < 64; ++i)
    same &= mmio_read(bench.root, bar + 4 * i, 4) == 0x1000'0000u + i;
  const double each = static_cast<double>(bench.simulation.now() - before) / 64e3;
  checks.that(same, "MMIO read back");
  checks.that(each > 400 && each < 520, "MMIO read takes " + std::to_string(each) + " ns");
  checks.that(mmio_read(bench.root, bar + 8, 8) == 0x1000'0003'1000'0002u, "MMIO read of 8 bytes");
  mmio_write(bench.root, bar + 0x101, 0xa5, 1);
  checks.that(mmio_read(bench.root, bar + 0x100, 4) == 0xa500, "MMIO write of one byte");
  std::uint8_t block[150], back[150];
  for (unsigned i = 0; i < sizeof block; ++i) block[i] = static_cast<std::uint8_t>(i * 7);
  bench.device.write_log.clear();
  bench.root.mmio_write(bar + 0x220, block, sizeof block);
  mmio_read(bench.root, bar, 4);  // pushes the writes before it
  std::memcpy(back, bench.device.registers + 0x220, sizeof back);
  checks.that(std::memcmp(block, back, sizeof block) == 0, "MMIO block");
  checks.that(
      (bench.device.write_log == std::vector<std::uint64_t>{bar + 0x220, bar + 0x240, bar + 0x280}),
      "MMIO writes in order");
  std::uint64_t seen = 0;
  bench.root.mmio_read_async(bar + 4, 4,
                             [&](std::uint64_t value, bool ok) { seen = ok ? value : 0; });
  bench.simulation.run_for(2 * kMicrosecond);
  checks.that(seen == 0x1000'0001, "MMIO read with a callback");
  check_clean(bench, "MMIO");
  checks.that(mmio_read(bench.root, bar + bench.root.device().bar0_bytes, 4) == 0xffff'ffff,
              "MMIO read beside the BAR");
  checks.that(bench.endpoint.stats().rx_unsupported == 1 && bench.root.stats().mmio_failed == 1,
              "... is refused and counted");
  // More writes than the device has credits for, to a device that takes them slowly.
  bench.device.rx_ready_probability = 0.05;
  bench.device.write_log.clear();
  for (unsigned i = 0; i < 2000; ++i) mmio_write(bench.root, bar + 4 * (i % 1000), i, 4);
  checks.that(mmio_read(bench.root, bar + 4 * 999, 4) == 1999, "MMIO read behind 2000 writes");
  bool ordered = bench.device.write_log.size() == 2000;
  for (unsigned i = 0; ordered && i < 2000; ++i)
    ordered = bench.device.write_log[i] == bar + 4 * (i % 1000);
  checks.that(ordered, "2000 MMIO writes in order against back-pressure");
  checks.equal(bench.link.down.stats().credit_overruns, 0u, "... and within the device's credits");
}

// Random sizes and addresses against a slow device and a root complex that reorders: data, order of
// writes, tags.
void test_random(std::uint64_t seed, bool reorder) {
  Setup setup;
  setup.root.reorder = reorder;
  setup.root.jitter = reorder ? 200 * kNanosecond : 50 * kNanosecond;
  setup.root.random_split = true;
  setup.root.seed = seed;
  setup.root_credits.header[kPosted] = 20;
  setup.root_credits.header[kNonPosted] = 12;
  Bench bench(setup);
  Random random(seed);
  const std::uint64_t size = 64 << 10;
  const std::uint64_t source = pattern_buffer(bench.memory, size),
                      target = bench.memory.alloc(size);
  const auto within = [&](std::uint64_t base, std::uint32_t most) {
    const std::uint64_t at = random.below(size - 4096);
    const auto bytes = static_cast<std::uint32_t>(random.between(1, most));
    const std::uint64_t room = 4096 - at % 4096;
    const std::uint64_t fits = std::min<std::uint64_t>(room, most - at % 4);
    return Device::Request{base + at,
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, fits))};
  };
  std::vector<Device::Request> sent;
  std::size_t landed = 0;
  bool in_order = true, intact = true;
  bench.root.watch(target, size, [&](std::uint64_t addr, std::uint32_t bytes) {
    in_order &= landed < sent.size() && sent[landed].addr == addr && sent[landed].bytes == bytes;
    ++landed;
    // The payload is the number of the write, over and over.
    const std::uint8_t* bytes_there = bench.memory.pointer(addr, bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) {
      intact &= bytes_there[i] == (landed >> 8 * ((addr + i) % 4) & 0xff);
    }
  });
  int left = 5000;
  bench.device.next_read = [&] { return left > 0 ? within(source, 512) : Device::Request{0, 0}; };
  bench.device.next_write = [&] {
    if (left <= 0) return Device::Request{0, 0};
    --left;
    sent.push_back(within(target, 256));
    return sent.back();
  };
  bench.device.rx_ready_probability = 0.6;
  bench.simulation.run_until(
      [&] { return left <= 0 && landed == sent.size() && bench.device.open_reads() == 0; },
      500 * kMicrosecond);
  const std::string name = std::string("random traffic") + (reorder ? ", reordered" : "");
  checks.that(intact, name + ": data written");
  checks.that(landed == 5000 && in_order, name + ": writes land once and in order");
  checks.that(bench.device.reads_done > 2000 && bench.device.open_reads() == 0,
              name + ": every read answered");
  checks.that((bench.device.out_of_order > 0) == reorder, name + ": order of reads");
  check_clean(bench, name);
}

void test_ordering() {
  // A read sees the write just before it.
  Bench bench;
  const std::uint64_t buffer = bench.memory.alloc(4096);
  std::uint64_t step = 0;
  bench.device.tags = 1;
  bench.device.next_write = [&] {
    const bool go = step % 2 == 0 && bench.device.open_reads() == 0;
    step += go;
    return Device::Request{buffer, go ? 64u : 0u};
  };
  bench.device.next_read = [&] {
    const bool go = step % 2 == 1;
    step += go;
    return Device::Request{buffer, go ? 64u : 0u};
  };
  bench.simulation.run_for(100 * kMicrosecond);
  checks.that(bench.device.reads_done > 50 && bench.device.mismatches == 0,
              "a read sees the write before it");
  // An interrupt comes after the data written before it.
  bench.device.next_write = bench.device.next_read = nullptr;
  std::vector<std::uint32_t> seen;
  bench.root.on_vector([&](unsigned vector) {
    std::uint32_t data = 0;
    bench.root.memory().read(buffer + 128, &data, 4);
    seen.push_back(data ^ vector);
  });
  std::vector<std::uint32_t> want;
  for (std::uint32_t i = 1; i <= 20; ++i) {
    const MsixMessage message = bench.root.msix_message(i);
    bench.device.raw.push_back(
        {make_memory(true, buffer + 128, 4, 0, 0x100), 0x5a5a0000u + i * 256});
    bench.device.raw.push_back({make_memory(true, message.addr, 4, 0, 0x100), message.data});
    want.push_back((0x5a5a0000u + i * 256) ^ i);
  }
  bench.simulation.run_for(2 * kMicrosecond);
  checks.that(seen == want, "MSI-X messages become vectors, after the data written before them");
  checks.that(bench.root.stats().interrupts == 20, "interrupts counted");
  check_clean(bench, "ordering");
}

// CPUs that write faster than the device takes it hold no completion up that was ready before.
void test_completions_between_writes() {
  Bench bench;
  const std::uint64_t buffer = pattern_buffer(bench.memory, 4096);
  int left = 10;
  bench.device.tags = 1;
  bench.device.next_read = [&] { return Device::Request{buffer, left-- > 0 ? 64u : 0u}; };
  while (bench.simulation.now() < 50 * kMicrosecond) {
    while (bench.root.mmio_room()) mmio_write(bench.root, bench.root.device().bar0 + 4, 0, 4);
    bench.simulation.step();
  }
  const EndpointStats& stats = bench.endpoint.stats();
  const auto mean = stats.reads ? stats.read_time_sum / stats.reads : kNever;
  checks.that(stats.reads == 10 && mean < 2 * kMicrosecond,
              std::to_string(stats.reads) + " of 10 reads answered between writes");
  check_clean(bench, "completions between writes");
}

void test_memory() {
  HostMemory memory;
  const std::uint64_t a = memory.alloc(10'000), b = memory.alloc(64, 1 << 16),
                      low = memory.alloc(64, 64, HostMemory::Zone::kLow);
  checks.that(a >> 32 != 0 && b % (1 << 16) == 0 && low >> 32 == 0, "zones and alignment");
  std::vector<std::uint8_t> out(10'000, 0xee), in(10'000);
  checks.that(memory.read(a, out.data(), 10'000) && out == std::vector<std::uint8_t>(10'000),
              "memory starts as zero");
  // More than this machine has, if it has less than 32 GB.
  const std::uint64_t much = memory.alloc(32ull << 30);
  checks.that(memory.write(much + (31ull << 30), out.data(), 64), "the end of much memory");
  memory.free(much);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 31);
  checks.that(memory.write(a, in.data(), 10'000) && memory.read(a, out.data(), 10'000) && in == out,
              "access over pages");
  checks.that(std::memcmp(memory.pointer(a, 10'000), in.data(), 10'000) == 0, "pointer");
  checks.that(!memory.mapped(a, 10'001) && !memory.write(a + 9'999, in.data(), 2) &&
                  !memory.pointer(a - 1, 1),
              "mapped to the byte");
  int calls = 0;
  const int id = memory.watch(a + 4'090, 16, [&](std::uint64_t, std::uint32_t) { ++calls; });
  memory.notify(a + 4'080, 10);
  memory.notify(a + 4'106, 10);
  checks.that(calls == 0, "writes beside a watch");
  memory.notify(a + 4'088, 4);
  memory.notify(a + 4'096, 64);
  checks.that(calls == 2, "writes that touch a watch, on both of its pages");
  memory.unwatch(id);
  memory.notify(a + 4'096, 64);
  checks.that(calls == 2, "watch removed");
  memory.free(a);
  checks.that(!memory.mapped(a + 5'000, 1) && memory.alloc(64) != a,
              "freed addresses are unmapped and not used again");
}

void test_statistics() {
  Bench bench;
  JsonWriter json;
  json.begin_object();
  json.key("root");
  bench.root.stats().write(json);
  json.key("endpoint");
  bench.endpoint.stats().write(json);
  json.key("up");
  bench.link.up.stats().write(json);
  json.end_object();
  checks.that(json.text().find("\"protocol_errors\": 0") != std::string::npos,
              "statistics as JSON");
}

void test_faults() {
  Bench bench;
  const std::uint64_t buffer = pattern_buffer(bench.memory, 8192);
  std::deque<Device::Request> todo;
  bench.device.next_read = [&] {
    if (todo.empty()) return Device::Request{0, 0};
    const Device::Request r = todo.front();
    todo.pop_front();
    return r;
  };
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i) todo.push_back({buffer + 512u * static_cast<unsigned>(i % 8), 512});
    bench.simulation.run_for(5 * kMicrosecond);
  };
  const auto& d = bench.device;
  bench.root.inject({.kind = ReadFault::Kind::kUnsupported, .nth = 3});
  run(10);
  checks.that(d.reads_done == 9 && d.reads_failed == 1, "third read refused");
  bench.root.inject(
      {.kind = ReadFault::Kind::kAbort, .nth = 1, .count = 2, .addr = buffer + 1024, .bytes = 64});
  run(24);
  checks.that(d.reads_done == 31 && d.reads_failed == 3, "reads of an address aborted, twice");
  bench.root.inject({.kind = ReadFault::Kind::kPoison, .nth = 2});
  run(4);
  checks.that(d.reads_poisoned == 1 && d.reads_done == 35, "second read poisoned");
  bench.root.inject({.kind = ReadFault::Kind::kDelay, .nth = 1, .delay = 2 * kMicrosecond});
  const std::uint64_t before = d.out_of_order;
  run(8);
  checks.that(d.out_of_order == before + 1 && d.reads_done == 43, "delayed read overtaken");
  bench.root.inject({.kind = ReadFault::Kind::kDrop, .nth = 2});
  run(4);
  checks.that(d.open_reads() == 1 && d.reads_done == 46, "second read lost");
  const std::uint64_t completions = d.completions;
  bench.root.inject({.kind = ReadFault::Kind::kDropLast, .nth = 1});
  run(1);
  checks.that(d.open_reads() == 2 && d.completions == completions + 1, "last completion lost");
  checks.that(bench.root.stats().faults == 7, "faults counted");
  // Nothing moves while the host stalls; everything does afterwards.
  bench.root.stall(bench.simulation.now(), bench.simulation.now() + 20 * kMicrosecond);
  run(10);
  const std::uint64_t stalled = d.reads_done;
  checks.that(stalled == 46, "host stalled");
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(d.reads_done == 56, "host goes on");
  check_clean(bench, "faults");
}

void test_errors() {
  Bench bench;
  const std::uint64_t buffer =
      pattern_buffer(bench.memory, 100);  // 100 bytes are mapped, not the page
  std::deque<Device::Request> reads{
      {buffer + 36, 64}, {buffer + 37, 64}, {0x10'0000, 64}, {buffer + 4096, 64}};
  std::deque<Device::Request> writes{
      {buffer, 100}, {buffer + 90, 11}, {buffer - 4, 4}, {0xff'0000'0000, 4}};
  const auto take = [](std::deque<Device::Request>& q) {
    if (q.empty()) return Device::Request{0, 0};
    const Device::Request r = q.front();
    q.pop_front();
    return r;
  };
  bench.device.next_read = [&] { return take(reads); };
  bench.simulation.run_for(5 * kMicrosecond);
  checks.that(bench.device.reads_done == 1 && bench.device.reads_failed == 3,
              "reads of unmapped memory are refused");
  checks.that(bench.root.stats().unsupported == 3, "... and counted");
  std::uint8_t before[100], after[100];
  bench.memory.read(buffer, before, 100);
  bench.device.next_write = [&] { return take(writes); };
  bench.simulation.run_for(5 * kMicrosecond);
  bench.memory.read(buffer, after, 100);
  checks.that(bench.root.stats().writes == 1 && bench.root.stats().wild_writes == 3,
              "wild writes counted");
  checks.that(bench.root.stats().first_wild_addr == buffer + 90, "first wild address");
  checks.that(std::memcmp(before, after, 100) != 0, "the good write landed");
  bench.memory.free(buffer);
  checks.that(!bench.memory.mapped(buffer, 1), "freed memory is unmapped");

  // Each of these breaks one rule.
  const auto errors = [&](Tlp tlp, const char* what) {
    const std::uint64_t count = bench.root.stats().protocol_errors;
    bench.device.raw.push_back({tlp});
    bench.simulation.run_for(2 * kMicrosecond);
    checks.that(bench.root.stats().protocol_errors == count + 1,
                std::string("protocol error: ") + what);
  };
  Tlp tlp = make_memory(false, 0x10'0000'0fe0, 64, 1, 0x100);
  errors(tlp, "4 kB border");
  tlp = make_memory(false, 0x10'0000'0000, 64, 1, 0x100);
  tlp.dw[2] = 0;
  errors(tlp, "4DW header below 4 GB");
  errors(make_memory(false, 0x10'0000'0000, 1024, 1, 0x100), "read larger than allowed");
  errors(make_memory(true, 0x10'0000'0000, 512, 1, 0x100), "payload larger than allowed");
  errors(make_memory(false, 0x10'0000'0000, 64, 1, 0x200), "requester id");
  tlp = make_memory(false, 0x10'0000'0000, 64, 1, 0x100);
  tlp.dw[1] &= ~0xfu;
  errors(tlp, "byte enables");
  Tlp other = make_memory(false, 0x10'0000'0000, 4, 5, 0x100);
  errors(make_completion(other, 0x100, kStatusSC, 4, 4, 0), "unexpected completion");
  // The same tag twice.
  tlp = make_memory(false, 0x10'0000'0000, 64, 200, 0x100);
  bench.device.raw.push_back({tlp});
  errors(tlp, "tag in use");
  const std::uint64_t master = bench.endpoint.stats().tx_not_master;
  set_bus_master(bench.root, false);
  bench.device.raw.push_back({make_memory(false, 0x10'0000'0000, 64, 1, 0x100)});
  bench.simulation.run_for(kMicrosecond);
  checks.that(bench.endpoint.stats().tx_not_master == master + 1,
              "requests are dropped while bus mastering is off");
}

void test_reset(Time after) {
  Bench bench;
  const std::uint64_t size = 1 << 20, buffer = pattern_buffer(bench.memory, size);
  bench.device.next_read = walk(buffer, size, 512);
  bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
  bench.simulation.run_for(after);
  bench.device.next_read = bench.device.next_write = nullptr;
  bench.endpoint.reset(bench.simulation.now());
  bench.device.forget();
  bench.root.forget_reads();
  bench.simulation.run_for(5 * kMicrosecond);
  checks.that(bench.device.master == 0 && bench.device.mps == 0, "reset clears the configuration");
  bench.root.enumerate();
  set_bus_master(bench.root, true);
  bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
  bench.device.next_read = walk(buffer, size, 512);
  const std::uint64_t before = bench.device.reads_done, written = bench.root.stats().writes;
  bench.simulation.run_for(10 * kMicrosecond);
  checks.that(bench.device.reads_done > before + 200 && bench.root.stats().writes > written + 200,
              "traffic after a reset");
  checks.that(bench.endpoint.stats().fc_violations == 0 && bench.device.mismatches == 0,
              "credits and data after a reset");
  checks.that(bench.root.stats().protocol_errors == 0,
              "reset: " + bench.root.stats().first_protocol_error);
}

// The link is lost in the middle of writes and comes back. The device either is reset with it, or
// goes on writing all the while, its credit counters too.
void test_link_loss(Time after, bool reset) {
  Setup setup;
  setup.endpoint.function.serial = 0x0123456789abcdef;
  Bench bench(setup);
  checks.that(bench.root.config_read(0x100) == 0x0001'0003, "serial number capability");
  checks.that(
      bench.root.config_read(0x104) == 0x89abcdef && bench.root.config_read(0x108) == 0x01234567,
      "serial number");
  const std::uint64_t size = 1 << 20;
  bench.device.next_write = walk(bench.memory.alloc(size), size, 256);
  bench.simulation.run_for(after);
  bool failed = false, failed_too = false;
  bench.root.mmio_read_async(bench.root.device().bar0, 4, [&](std::uint64_t value, bool ok) {
    failed = !ok && value == 0xffff'ffff;
  });
  bench.endpoint.set_link_lost(true, reset, bench.simulation.now());
  bench.root.link_lost();
  if (reset) bench.device.forget();
  checks.that(failed, "read under way when the link is lost");
  bench.simulation.run_for(kMicrosecond);
  const std::uint64_t written = bench.root.stats().writes;
  bench.root.mmio_read_async(bench.root.device().bar0, 4,
                             [&](std::uint64_t, bool ok) { failed_too = !ok; });
  bench.simulation.run_for(20 * kMicrosecond);
  checks.that(failed_too && bench.root.stats().writes == written, "nothing passes a lost link");
  const std::uint64_t before = bench.endpoint.stats().tx_not_master;
  bench.simulation.run_for(5 * kMicrosecond);
  checks.that(reset || bench.endpoint.stats().tx_not_master > before + 20,
              "the device is not held up by it");
  if (reset) bench.device.forget();
  bench.endpoint.set_link_lost(false, reset, bench.simulation.now());
  bench.simulation.run_for(kMicrosecond);
  bench.root.enumerate();
  set_bus_master(bench.root, true);
  bench.simulation.run_for(10 * kMicrosecond);
  checks.that(bench.root.stats().writes > written + 200, "traffic when it is back");
  checks.that(bench.root.stats().protocol_errors == 0 &&
                  bench.endpoint.stats().fc_violations == 0 && bench.root.stats().wild_writes == 0,
              "link loss: " + bench.root.stats().first_protocol_error);
}

// What the link moves does not depend on anything but the inputs.
void test_deterministic() {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    Setup setup;
    setup.root.reorder = true;
    setup.root.jitter = 100 * kNanosecond;
    Bench bench(setup);
    const std::uint64_t size = 1 << 20;
    bench.device.next_read = walk(pattern_buffer(bench.memory, size), size, 384);
    bench.simulation.run_for(50 * kMicrosecond);
    const std::string state = std::to_string(bench.root.stats().read_bytes) + " " +
                              std::to_string(bench.device.out_of_order) + " " +
                              std::to_string(bench.endpoint.stats().read_time_sum);
    if (i == 0) first = state;
    checks.that(state == first, "two runs are the same");
  }
}

}  // namespace
}  // namespace emery::test

int main() {
  using namespace emery::test;
  test_byte_enables();
  test_dllps();
  test_waiting_for_credits();
  test_enumeration();
  test_mmio();
  test_random(1, false);
  test_random(2, true);
  test_random(3, true);
  test_ordering();
  test_completions_between_writes();
  test_memory();
  test_statistics();
  test_faults();
  test_errors();
  // The credit counters stand elsewhere each time.
  for (const int us : {10, 13, 17, 22}) test_reset(us * emery::kMicrosecond);
  for (const int us : {10, 11, 13}) {
    test_link_loss(us * emery::kMicrosecond, true);
    test_link_loss(us * emery::kMicrosecond, false);
  }
  test_deterministic();
  return checks.finish();
}
