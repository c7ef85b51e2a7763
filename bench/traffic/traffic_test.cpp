// SPDX-License-Identifier: Apache-2.0
// Tests of the statistics helpers, reading and writing captures, and the traffic sources.
// Optional argument: a real capture, which must read back equal after being written.
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/stats/check.hpp"
#include "bench/stats/hash.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"
#include "bench/stats/sha256.hpp"
#include "bench/traffic/pcap.hpp"

namespace {

using namespace emery;
using Bytes = std::vector<std::uint8_t>;

std::span<const std::uint8_t> span(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void test_json(Checks& check) {
  JsonWriter json;
  json.begin_object().field("a", 1).field("b", -2.5).field("c", "x\"\\\n\x01").field("d", true);
  json.array("e")
      .value(std::uint64_t{18446744073709551615u})
      .value(1.0 / 0.0)
      .begin_object()
      .end_object()
      .end_array();
  json.end_object();
  check.equal(json.text(),
              "{\n  \"a\": 1,\n  \"b\": -2.5,\n  \"c\": \"x\\\"\\\\\\n\\u0001\",\n  \"d\": true,\n "
              " \"e\": [\n"
              "    18446744073709551615,\n    null,\n    {}\n  ]\n}\n",
              "json text");
  check.throws([] { JsonWriter().begin_object().value(1); }, {"without a key"},
               "value without key");
  check.throws([] { JsonWriter().begin_object().end_array(); }, {"close"}, "wrong close");
  check.throws([] { JsonWriter().begin_array().text(); }, {"open"}, "unclosed");
}

void test_sha256(Checks& check, Sha256::Code code) {
  const Sha256 empty(code);
  Sha256 abc(code), million(code), pieces(code);
  check.equal(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
              "sha256 of nothing");
  abc.update(span("abc"));
  check.equal(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
              "sha256 of abc");
  const std::string a(1'000'000, 'a');
  million.update(span(a));
  for (std::size_t at = 0, n = 1; at < a.size(); at += n, n = n % 200 + 1)
    pieces.update(span(std::string_view(a).substr(at, n)));
  check.equal(million.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
              "sha256 of 10^6 a");
  check.equal(pieces.hex(), million.hex(), "sha256 in pieces");
}

void test_histogram(Checks& check) {
  Histogram h, odd;
  check.equal(h.percentile(0.5), 0, "empty percentile");
  Random random(7);
  std::vector<Time> values;
  for (int i = 0; i < 20000; ++i) {
    const auto v = static_cast<Time>(random.next() >> random.between(20, 60));
    values.push_back(v);
    (i & 1 ? h : odd).add(v);
  }
  h.merge(odd);
  std::sort(values.begin(), values.end());
  check.equal(h.count(), values.size(), "histogram count");
  check.equal(h.min(), values.front(), "histogram min");
  check.equal(h.max(), values.back(), "histogram max");
  for (const double f : {0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = static_cast<double>(values[static_cast<std::size_t>(f * 20000 + 0.5) - 1]);
    check.near(static_cast<double>(h.percentile(f)), exact, exact / 256 + 0.5, "percentile");
  }
  Histogram small;
  for (Time t = 1; t <= 200; ++t) small.add(t);
  check.equal(small.percentile(0.5), 100, "small values are exact");
}

void test_hash(Checks& check) {
  Random random(3);
  std::set<std::uint64_t> seen;
  std::size_t made = 0;
  for (std::size_t n = 0; n <= 80; ++n) {
    Bytes data(n);
    for (auto& b : data) b = static_cast<std::uint8_t>(random.next());
    seen.insert(hash_bytes(data));
    ++made;
    for (std::size_t bit = 0; bit < 8 * n; ++bit, ++made) {
      data[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      seen.insert(hash_bytes(data));
      data[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    }
    seen.insert(hash_bytes(Bytes(n + 100)));
    ++made;
  }
  check.equal(seen.size(), made, "single bits and lengths give different hashes");
}

/// Writes a capture.
struct Builder {
  Bytes bytes;

  Builder& u32(std::uint32_t v) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(v >> 8 * i));
    return *this;
  }
  Builder& pcap_header(std::uint32_t magic = 0xa1b23c4d, std::uint32_t link = 1) {
    return u32(magic).u32(2 | 4 << 16).u32(0).u32(0).u32(65535).u32(link);
  }
  Builder& pcap_packet(std::uint32_t s, std::uint32_t ns, const Bytes& data, std::uint32_t length) {
    u32(s).u32(ns).u32(static_cast<std::uint32_t>(data.size())).u32(length);
    bytes.insert(bytes.end(), data.begin(), data.end());
    return *this;
  }
};

Bytes sample(std::size_t n, std::uint8_t first) {
  Bytes data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<std::uint8_t>(first + i * 7);
  data[12] = 0x88, data[13] = 0xb5;
  return data;
}

void expect(Checks& check, const Capture& capture, const std::vector<Bytes>& want,
            const std::string& what) {
  check.equal(capture.packets().size(), want.size(), what + " packets");
  for (std::size_t i = 0; i < std::min(want.size(), capture.packets().size()); ++i)
    check.that(std::ranges::equal(capture.bytes(capture.packets()[i]), want[i]), what + " bytes");
}

void test_pcap(Checks& check) {
  const std::vector<Bytes> frames = {sample(60, 1), sample(61, 9), sample(1514, 5)};
  Builder file = Builder().pcap_header();
  for (const Bytes& f : frames)
    file.pcap_packet(4'000'000'005, 999'999, f, static_cast<std::uint32_t>(f.size()));
  const auto capture = Capture::parse(file.bytes, "made.pcap");
  expect(check, *capture, frames, "pcap");
  check.equal(capture->packets()[0].ns, 4'000'000'005'000'999'999, "pcap stamp");
  const auto damaged = [&](const Builder& bad, std::initializer_list<std::string_view> parts,
                           const char* what) {
    check.throws([&] { Capture::parse(bad.bytes, "bad.pcap"); }, parts, what);
  };
  const auto start = [&] { return Builder().pcap_header(); };
  Builder cut = start().pcap_packet(0, 0, frames[0], 60).pcap_packet(0, 0, frames[1], 61);
  cut.bytes.pop_back();
  damaged(cut, {"bad.pcap", "packet 2", "offset 100", "truncated"}, "truncated packet");
  cut.bytes.resize(24 + 76 + 7);
  damaged(cut, {"bad.pcap", "packet 2", "offset 100", "truncated"}, "truncated header");
  damaged(start().pcap_packet(0, 0, frames[0], 90), {"packet 1", "offset 24", "not a whole"},
          "snapped packet");
  for (const Builder& other :
       {Builder().pcap_header(0xa1b2c3d4), Builder().pcap_header(0xa1b23c4d, 101),
        Builder{.bytes = Bytes(50, 'x')}, Builder{.bytes = Bytes(23)}})
    damaged(other, {"bad.pcap", "not a little-endian nanosecond pcap of Ethernet"}, "other form");
  damaged(start(), {"no packets"}, "empty capture");
  damaged(start().pcap_packet(0, 0, Bytes(16381), 16381), {"16381"}, "giant frame");
  check.throws([] { Capture::read("/nonexistent/x.pcap"); }, {"/nonexistent/x.pcap"},
               "missing file");
}

void test_write(Checks& check, const std::string& path, const Capture& from) {
  PcapWriter writer(path);
  Time t = 1'234'567'891;
  for (const auto& packet : from.packets())
    writer.write(t += 1'000'000'000'000, from.bytes(packet));
  writer.close();
  const auto back = Capture::read(path);
  check.equal(back->packets().size(), from.packets().size(), "written packets");
  bool same = true;
  for (std::size_t i = 0; i < from.packets().size(); ++i)
    same =
        same && std::ranges::equal(back->bytes(back->packets()[i]), from.bytes(from.packets()[i]));
  check.that(same, "written bytes");
  check.equal(back->packets()[0].ns, 1'001'234'567, "written stamp");
  const auto longest = std::ranges::max(back->packets(), {}, &Capture::Packet::size).size;
  check.equal(Capture::read(path, longest)->packets().size(), from.packets().size(), "all fit");
  check.throws([&] { Capture::read(path, longest - 1, "what fits"); },
               {path, "packet", std::to_string(longest) + " bytes, more than what fits"},
               "packet too long");
  std::filesystem::remove(path);
}

/// Byte for byte: tests/test_feed.py reads the same.
void test_pcapng(Checks& check, const std::string& path) {
  PcapWriter writer(path);
  const Bytes frame = sample(61, 3);
  writer.write(5'000'000'007'999, frame);
  writer.close();
  Builder want;
  for (const std::uint32_t word : {0x0a0d0d0au, 28u, 0x1a2b3c4du, 1u, ~0u, ~0u, 28u})
    want.u32(word);
  for (const std::uint32_t word : {1u, 32u, 1u, 262144u, 9u | 1u << 16, 9u, 0u, 32u})
    want.u32(word);
  for (const std::uint32_t word : {6u, 96u, 0u, 1u, 705'032'711u, 61u, 61u}) want.u32(word);
  want.bytes.insert(want.bytes.end(), frame.begin(), frame.end());
  want.bytes.resize(want.bytes.size() + 3);
  want.u32(96);
  std::ifstream file(path, std::ios::binary);
  check.that(Bytes(std::istreambuf_iterator<char>(file), {}) == want.bytes, "pcapng");
  std::filesystem::remove(path);
}

std::uint32_t ones(std::span<const std::uint8_t> data, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < data.size(); ++i) sum += i & 1 ? data[i] : data[i] << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TrafficConfig synthetic(const std::string& sizes, std::uint64_t frames) {
  TrafficConfig config;
  config.sizes = Sizes::parse(sizes);
  config.frames = frames;
  return config;
}

void test_synthetic(Checks& check) {
  TrafficConfig config = synthetic("random", 5000);
  config.flows = 7;
  Traffic traffic(config), again(config);
  Frame frame, other;
  std::set<std::uint64_t> contents;
  std::map<std::uint32_t, std::set<std::uint64_t>> tuples;
  Time last = 0;
  std::uint64_t wire = 0;
  bool valid = true, same = true, paced = true;
  std::uint32_t low = 9999, high = 0;
  while (traffic.next(frame)) {
    same = same && again.next(other) && std::ranges::equal(frame.bytes(), other.bytes()) &&
           frame.flow == other.flow;
    const auto bytes = frame.bytes();
    const std::uint32_t length = bytes[16] << 8 | bytes[17], udp = bytes[38] << 8 | bytes[39];
    valid = valid && ones(bytes.subspan(14, 20)) == 0xffff && length + 14 == frame.size &&
            udp + 34 == frame.size &&
            ones(bytes.subspan(34), ones(bytes.subspan(26, 8), 17 + udp)) == 0xffff &&
            bytes[23] == 17;
    contents.insert(hash_bytes(bytes));
    tuples[frame.flow].insert(flow_hash(bytes));
    paced = paced && frame.start == static_cast<Time>(wire * 80);
    wire += frame.size + 24;
    low = std::min(low, frame.size + 4), high = std::max(high, frame.size + 4);
  }
  check.that(valid, "synthetic frames have right lengths and checksums");
  check.that(same, "same seed, same frames");
  check.that(paced, "back to back at 100 Gb/s");
  check.equal(contents.size(), 5000u, "contents are unique");
  check.equal(tuples.size(), 7u, "all flows are used");
  std::set<std::uint64_t> all;
  for (const auto& [flow, hashes] : tuples)
    all.insert(*hashes.begin()), check.equal(hashes.size(), 1u, "one tuple a flow");
  check.equal(all.size(), 7u, "flows differ");
  check.that(low < 70 && high > 1500 && high <= 1518 && low >= 64, "random sizes span 64 ... 1518");
  check.that(traffic.done() && traffic.stats().frames == 5000, "ends after its frames");

  std::map<std::uint32_t, int> imix;
  Traffic mixed(synthetic("imix", 1200));
  while (mixed.next(frame)) ++imix[frame.size + 4];
  check.that(imix == std::map<std::uint32_t, int>{{64, 700}, {594, 400}, {1518, 100}},
             "IMIX is 7:4:1");

  Traffic own(synthetic("128:2+9018+70:3", 12));
  std::map<std::uint32_t, int> first, second;
  for (int i = 0; own.next(frame); ++i) ++(i < 6 ? first : second)[frame.size + 4];
  check.that(first == std::map<std::uint32_t, int>{{70, 3}, {128, 2}, {9018, 1}} && second == first,
             "each round of a mix has its frames");
  const Sizes span = Sizes::parse("128:2+9018+70:3");
  check.that(span.low == 70 && span.high == 9018, "a mix spans its sizes");

  Traffic listed(synthetic("rfc2544", 8));
  std::vector<std::uint32_t> sizes;
  while (listed.next(frame)) sizes.push_back(frame.size + 4);
  check.that(sizes == std::vector<std::uint32_t>{64, 128, 256, 512, 1024, 1280, 1518, 64},
             "RFC 2544 sizes");

  Traffic jumbo(synthetic("9018", 3));
  check.that(jumbo.next(frame) && frame.size == 9014, "jumbo size");

  TrafficConfig slow = synthetic("64", 0);
  slow.duration = 10 * kMicrosecond;
  slow.rate = parse_rate("0.1", 100e9);
  slow.start = kMicrosecond;
  Traffic timed(slow);
  std::uint64_t n = 0;
  for (last = 0; timed.next(frame); ++n) last = frame.start;
  check.equal(n, 149u, "10 us of 64-byte frames at 10 Gb/s");
  check.equal(last, kMicrosecond + 148 * 67'200, "pacing at a tenth of the line");

  check.equal(parse_rate("80G", 100e9), 80e9, "absolute rate");
  check.throws([] { parse_rate("2", 100e9); }, {"'2'", "above"}, "rate above the line");
  check.throws([] { parse_rate("fast", 100e9); }, {"fast"}, "no rate");
  check.throws([] { Sizes::parse("63"); }, {"63"}, "size too small");
  check.throws([] { Sizes::parse("1518-64"); }, {"1518-64"}, "range backwards");
  check.throws([] { Sizes::parse("64x"); }, {"64x"}, "size with a tail");
  for (const char* bad :
       {"64+", "+64", "64:0+65", "64:1000+65", "64:+65", "64++65", "64-65+66", "63+64", "64:7"})
    check.throws([&] { Sizes::parse(bad); }, {bad}, "no mix");
  check.throws([] { Traffic{TrafficConfig{}}; }, {"frames"}, "endless traffic");
}

void test_chosen_flows(Checks& check) {
  TrafficConfig config;
  config.frames = 40;
  config.flows = 4;
  config.flow_order = FlowOrder::kRoundRobin;
  config.destinations = {0x0a000001, 0x0a010001};
  config.tos = {0, 0, 0xb8};
  Traffic traffic(config);
  Frame frame{};
  bool right = true;
  for (std::uint32_t n = 0; traffic.next(frame); ++n) {
    const std::uint8_t* ip = frame.data.data() + 14;
    right = right && frame.flow == n % 4 && ip[17] == frame.flow % 2 &&
            ip[1] == config.tos[frame.flow % 3];
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(ip[i] << 8 | ip[i + 1]);
    right = right && (sum & 0xffff) + (sum >> 16) == 0xffff;
  }
  check.that(right, "destinations and types of service by flow");
}

void test_capture_source(Checks& check) {
  Builder file = Builder().pcap_header();
  for (std::uint8_t i = 0; i < 10; ++i) file.pcap_packet(0, 0, sample(50 + i * 2u, i), 50 + i * 2u);
  TrafficConfig config;
  config.capture = Capture::parse(file.bytes, "made.pcap");
  check.equal(config.capture->flows(), 10u, "flows of the capture");
  Frame frame;
  Traffic once(config);
  std::uint64_t n = 0;
  bool padded = true;
  for (; once.next(frame); ++n)
    padded = padded && frame.size == std::max<std::uint64_t>(60, 50 + n * 2);
  check.equal(n, 10u, "a capture is played once");
  check.that(padded, "short frames are padded");
  check.equal(once.stats().padded, 5u, "padded frames are counted");
  config.pad_to_minimum = false;
  config.frames = 25;
  config.duration = 0;
  Traffic looped(config);
  std::vector<std::uint32_t> sizes;
  while (looped.next(frame)) sizes.push_back(frame.size);
  check.equal(sizes.size(), 25u, "a capture is looped to the frames asked for");
  check.that(sizes[0] == 50 && sizes[10] == 50 && sizes[24] == 58, "loop keeps the order");
  config.frames = 0;
  config.deal_count = 3;
  n = 0;
  for (config.deal_index = 0; config.deal_index < 3; ++config.deal_index) {
    Traffic dealt(config);
    for (; dealt.next(frame); ++n) check.equal(frame.flow % 3, config.deal_index, "dealt by flow");
  }
  check.equal(n, 10u, "every frame is dealt once");
}

// Of an IPv4 frame of UDP with so many bytes of IP header and a tag or none.
Bytes udp_frame(unsigned header, bool tag, std::uint8_t port, std::uint32_t size) {
  Bytes frame(size);
  const unsigned ip = tag ? 18 : 14;
  if (tag) frame[12] = 0x81;
  frame[ip - 2] = 0x08;
  frame[ip] = static_cast<std::uint8_t>(0x40 | header / 4);
  frame[ip + 9] = 17;
  if (ip + header + 1 < size) frame[ip + header + 1] = port;
  return frame;
}

// A device that finds the ports of the ones and not of the others keeps no order between them.
void test_flows_of_a_capture(Checks& check) {
  Builder file = Builder().pcap_header();
  std::vector<Bytes> frames;
  for (const unsigned header : {20u, 24u})
    for (const bool tag : {false, true})
      for (const std::uint8_t port : {std::uint8_t{7}, std::uint8_t{8}})
        for (int twice = 0; twice < 2; ++twice) frames.push_back(udp_frame(header, tag, port, 100));
  // Of so few bytes that the destination port is in the padding; as it is sent it has one.
  frames.push_back(udp_frame(20, false, 7, 36));
  frames.push_back(udp_frame(20, false, 8, 36));
  for (const Bytes& x : frames) file.pcap_packet(0, 0, x, static_cast<std::uint32_t>(x.size()));
  const auto capture = Capture::parse(file.bytes, "made.pcap");
  check.equal(capture->flows(), 8u, "flows by options, tags and ports, short frames as padded");
  const auto& packets = capture->packets();
  for (std::size_t i = 0; i < 16; ++i)
    check.equal(packets[i].flow, static_cast<std::uint32_t>(i / 2), "flow of a frame");
  check.that(packets[16].flow == packets[0].flow && packets[17].flow == packets[2].flow,
             "a short frame is of the flow it is sent as");
}

/// Frames start when their stamps say, times the speed, but not while the line is busy, nor earlier
/// than those before them; each pass goes on where the one before it ended.
void test_replay(Checks& check) {
  Builder file = Builder().pcap_header();
  for (const std::uint32_t ns : {5'000u, 25'000u, 25'000u, 9'000u, 45'000u})
    file.pcap_packet(7, ns, sample(105, 1), 105);  // 129 bytes with all there is between frames
  TrafficConfig config;
  config.capture = Capture::parse(file.bytes, "made.pcap");
  config.rate = 129 * 8e9;  // a frame a nanosecond
  config.start = 3 * kMicrosecond;
  config.speed = 2;
  config.origin_ns = 7'000'000'000;
  const auto starts = [&] {
    Traffic traffic(config);
    std::vector<Time> found;
    for (Frame frame; traffic.next(frame);) found.push_back((frame.start + 500) / kNanosecond);
    return found;
  };
  check.that(starts() == std::vector<Time>{5'500, 15'500, 15'501, 15'502, 25'500}, "stamps");
  config.frames = 7;
  check.that(starts() == std::vector<Time>{5'500, 15'500, 15'501, 15'502, 25'500, 28'001, 38'001},
             "a second pass");
  config.frames = 0;
  config.duration = 20 * kMicrosecond;
  check.that(starts() == std::vector<Time>{5'500, 15'500, 15'501, 15'502}, "a duration");
}

}  // namespace

int main(int argc, char** argv) {
  Checks check;
  test_json(check);
  test_sha256(check, Sha256::Code::kPortable);
  test_sha256(check, Sha256::Code::kFastest);
  test_histogram(check);
  test_hash(check);
  test_pcap(check);
  test_synthetic(check);
  test_capture_source(check);
  test_flows_of_a_capture(check);
  test_replay(check);
  test_chosen_flows(check);
  const auto scratch = std::filesystem::temp_directory_path() /
                       ("traffic_test." + std::to_string(std::random_device{}()));
  Builder file = Builder().pcap_header().pcap_packet(0, 0, sample(77, 1), 77);
  test_pcapng(check, scratch.string() + ".pcapng");
  test_write(check, scratch.string(),
             argc > 1 ? *Capture::read(argv[1]) : *Capture::parse(file.bytes, "made.pcap"));
  return check.finish();
}
