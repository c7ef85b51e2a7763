// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/pcap.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "bench/stats/hash.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {
namespace {

constexpr std::uint32_t kMagicMicro = 0xa1b2c3d4;
constexpr std::uint32_t kMagicNano = 0xa1b23c4d;
constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint32_t kLinkEthernet = 1;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::uint32_t big16(const std::uint8_t* p) { return std::uint32_t{p[0]} << 8 | p[1]; }

/// pcapng's time unit of an interface: 10^-n, or 2^-n when the top bit is set.
struct Clock {
  std::uint8_t resolution = 6;
  std::int64_t offset_s = 0;

  std::int64_t ns(std::uint64_t ticks) const {
    const unsigned n = resolution & 0x7f;
    unsigned __int128 t = static_cast<unsigned __int128>(ticks) * kNsPerSecond;
    if (resolution & 0x80) {
      t = n >= 128 ? 0 : t >> n;
    } else {
      for (unsigned i = 0; i < n && t != 0; ++i) t /= 10;
    }
    return static_cast<std::int64_t>(t) + offset_s * kNsPerSecond;
  }
};

struct Interface {
  std::uint32_t link;
  std::uint32_t snap;
  Clock clock;
};

}  // namespace

std::uint64_t flow_hash(std::span<const std::uint8_t> frame) {
  std::array<std::uint8_t, 40> key{};
  std::size_t used = 0;
  const auto take = [&](std::size_t from, std::size_t n) {
    std::memcpy(key.data() + used, frame.data() + from, n);
    used += n;
  };
  if (frame.size() < 14) return hash_bytes(frame);
  std::size_t ip = 14;
  std::uint32_t type = big16(&frame[12]);
  for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8) && frame.size() >= ip + 4;
       ++tags) {
    type = big16(&frame[ip + 2]);
    ip += 4;
  }
  std::size_t ports = 0;
  std::uint8_t protocol = 0;
  if (type == 0x0800 && frame.size() >= ip + 20) {
    protocol = frame[ip + 9];
    take(ip + 12, 8);
    if ((big16(&frame[ip + 6]) & 0x3fff) == 0) ports = ip + 4u * (frame[ip] & 15u);
  } else if (type == 0x86dd && frame.size() >= ip + 40) {
    protocol = frame[ip + 6];
    take(ip + 8, 32);
    ports = ip + 40;
  } else {
    take(0, 12);
    key[used++] = static_cast<std::uint8_t>(type >> 8);
    key[used++] = static_cast<std::uint8_t>(type);
    return hash_bytes({key.data(), used});
  }
  key[used++] = protocol;
  const bool has_ports = protocol == 6 || protocol == 17 || protocol == 132;
  if (has_ports && ports != 0 && frame.size() >= ports + 4) take(ports, 4);
  return hash_bytes({key.data(), used}, 1);
}

std::shared_ptr<const Capture> Capture::read(const std::string& path, std::uint32_t most,
                                             const std::string& limit) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw CaptureError(path + ": " + std::strerror(errno));
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), file.get()))
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(n));
  if (std::ferror(file.get())) throw CaptureError(path + ": " + std::strerror(errno));
  auto capture = parse(std::move(bytes), path);
  for (std::size_t i = 0; i < capture->packets_.size(); ++i) {
    if (const auto size = capture->packets_[i].size; size > most)
      throw CaptureError(path + ": packet " + std::to_string(i + 1) + " has " +
                         std::to_string(size) + " bytes, more than " + limit);
  }
  return capture;
}

std::shared_ptr<const Capture> Capture::parse(std::vector<std::uint8_t> file,
                                              const std::string& name) {
  const std::shared_ptr<Capture> capture(new Capture);
  capture->name_ = name;
  capture->file_ = std::move(file);
  if (capture->file_.size() < 4) capture->fail("too short to be a capture", 0);
  if (capture->u32(0) == kSectionHeader) {
    capture->parse_pcapng();
  } else {
    capture->parse_pcap();
  }
  if (capture->packets_.empty()) throw CaptureError(name + ": holds no packets");
  capture->number_flows();
  return capture;
}

void Capture::fail(const std::string& what, std::size_t offset) const {
  throw CaptureError(name_ + ": packet " + std::to_string(packets_.size() + 1) + " at offset " +
                     std::to_string(offset) + ": " + what);
}

std::uint32_t Capture::u32(std::size_t offset) const {
  if (offset + 4 > file_.size()) fail("file ends inside a header", offset);
  const std::uint8_t* p = &file_[offset];
  return big_endian_ ? std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 |
                           std::uint32_t{p[2]} << 8 | p[3]
                     : std::uint32_t{p[3]} << 24 | std::uint32_t{p[2]} << 16 |
                           std::uint32_t{p[1]} << 8 | p[0];
}

std::uint16_t Capture::u16(std::size_t offset) const {
  if (offset + 2 > file_.size()) fail("file ends inside a header", offset);
  const std::uint8_t* p = &file_[offset];
  return static_cast<std::uint16_t>(big_endian_ ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

/// `at` is where the packet's record begins, for the messages.
void Capture::add(std::size_t offset, std::uint64_t captured, std::uint64_t length, std::int64_t ns,
                  std::size_t at) {
  if (captured > file_.size() - offset) {
    fail("truncated: " + std::to_string(captured) + " bytes announced, " +
             std::to_string(file_.size() - offset) + " left in the file",
         at);
  }
  if (captured < length) {
    fail("snapped: " + std::to_string(captured) + " of " + std::to_string(length) +
             " bytes captured (capture again without a snap length)",
         at);
  }
  if (captured > length) fail("captured length is above the packet's length", at);
  if (captured > kMaxFrame) {
    fail("frame of " + std::to_string(captured) + " bytes, at most " + std::to_string(kMaxFrame) +
             " are supported",
         at);
  }
  if (captured < 14) fail("shorter than an Ethernet header", at);
  packets_.push_back({offset, ns, static_cast<std::uint32_t>(captured), 0});
}

void Capture::parse_pcap() {
  const auto is_magic = [&] { return u32(0) == kMagicMicro || u32(0) == kMagicNano; };
  if (!is_magic()) {
    big_endian_ = true;
    if (!is_magic()) throw CaptureError(name_ + ": not a pcap or pcapng capture");
  }
  const std::int64_t unit = u32(0) == kMagicNano ? 1 : 1000;
  const std::uint32_t link = u32(20);
  if ((link & 0xffff) != kLinkEthernet)
    fail("link type " + std::to_string(link & 0xffff) + " is not Ethernet (1)", 20);
  if (link & 1u << 26) fail("frames with FCS are not supported", 20);
  for (std::size_t at = 24; at < file_.size();) {
    if (file_.size() - at < 16) fail("truncated: file ends inside a packet header", at);
    const std::uint32_t captured = u32(at + 8);
    add(at + 16, captured, u32(at + 12), u32(at) * kNsPerSecond + u32(at + 4) * unit, at);
    at += 16 + captured;
  }
}

void Capture::parse_pcapng() {
  std::vector<Interface> interfaces;
  for (std::size_t at = 0; at < file_.size();) {
    if (file_.size() - at < 12) fail("truncated: file ends inside a block header", at);
    const std::uint32_t type = u32(at);
    if (type == kSectionHeader) {
      big_endian_ = false;
      if (u32(at + 8) != kByteOrder) {
        big_endian_ = true;
        if (u32(at + 8) != kByteOrder) fail("bad byte-order mark", at + 8);
      }
      interfaces.clear();
    }
    const std::uint32_t length = u32(at + 4);
    if (length < 12 || length % 4 != 0) fail("bad block length " + std::to_string(length), at + 4);
    if (length > file_.size() - at) fail("truncated: file ends inside a block", at);
    const std::size_t end = at + length - 4;
    if (u32(end) != length) fail("block lengths before and after differ", end);
    const auto need = [&](std::size_t n) {
      if (length < n) fail("block too short", at);
    };
    const auto interface = [&](std::uint32_t i) -> const Interface& {
      if (i >= interfaces.size()) fail("interface " + std::to_string(i) + " was not described", at);
      if (interfaces[i].link != kLinkEthernet) {
        fail("link type " + std::to_string(interfaces[i].link) + " is not Ethernet (1)", at);
      }
      return interfaces[i];
    };
    const auto packet = [&](std::uint32_t index) {
      need(32);
      const std::uint64_t ticks = std::uint64_t{u32(at + 12)} << 32 | u32(at + 16);
      const std::uint32_t captured = u32(at + 20);
      if (captured > length - 32) fail("packet is longer than its block", at);
      add(at + 28, captured, u32(at + 24), interface(index).clock.ns(ticks), at);
    };
    if (type == 1) {  // interface description
      need(20);
      Interface added{u16(at + 8), u32(at + 12), {}};
      for (std::size_t o = at + 16; o + 4 <= end;) {
        const std::uint32_t code = u16(o), size = u16(o + 2);
        if (code == 0) break;
        if (size > end - o - 4) fail("option is longer than its block", o);
        if (code == 9 && size == 1) added.clock.resolution = file_[o + 4];
        if (code == 13 && size == 1 && file_[o + 4] != 0)
          fail("frames with FCS are not supported", o);
        if (code == 14 && size == 8) {
          const std::uint64_t low = u32(o + 4), high = u32(o + 8);
          added.clock.offset_s =
              static_cast<std::int64_t>(big_endian_ ? low << 32 | high : high << 32 | low);
        }
        o += 4 + (size + 3) / 4 * 4;
      }
      interfaces.push_back(added);
    } else if (type == 6) {  // enhanced packet
      packet(u32(at + 8));
    } else if (type == 2) {  // packet, obsolete but still found
      packet(u16(at + 8));
    } else if (type == 3) {  // simple packet: no stamp, captured length only implied
      need(16);
      const Interface& from = interface(0);
      const std::uint32_t whole = u32(at + 8);
      const std::uint32_t captured = from.snap == 0 ? whole : std::min(whole, from.snap);
      if (captured > length - 16) fail("packet is longer than its block", at);
      add(at + 12, captured, whole, 0, at);
    }
    at += length;
  }
}

void Capture::number_flows() {
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (Packet& packet : packets_) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    packet.flow = numbers.try_emplace(flow_hash(bytes(packet)), next).first->second;
  }
  flows_ = static_cast<std::uint32_t>(numbers.size());
}

PcapWriter::PcapWriter(const std::string& path)
    : path_(path),
      next_generation_(path.ends_with(".pcapng")),
      file_(std::fopen(path.c_str(), "wb")) {
  if (!file_) throw CaptureError(path + ": " + std::strerror(errno));
  const std::uint32_t snap = 262144;
  if (next_generation_) {
    // Section header, then one Ethernet interface with option if_tsresol = 9 (nanoseconds).
    put_words({0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28});
    put_words({1, 32, kLinkEthernet, snap, 9 | 1 << 16, 9, 0, 32});
  } else {
    put_words({0xa1b23c4d, 2 | 4 << 16, 0, 0, snap, kLinkEthernet});
  }
}

PcapWriter::~PcapWriter() {
  if (file_) std::fclose(file_);
}

void PcapWriter::write(Time time, std::span<const std::uint8_t> frame) {
  const std::int64_t ns = time / kNanosecond;
  const auto size = static_cast<std::uint32_t>(frame.size());
  if (next_generation_) {
    const std::uint32_t padding = (4 - size % 4) % 4, block = 32 + size + padding;
    put_words({6, block, 0, static_cast<std::uint32_t>(ns >> 32), static_cast<std::uint32_t>(ns),
               size, size});
    put(frame.data(), frame.size());
    put("\0\0", padding);
    put_words({block});
  } else {
    put_words({static_cast<std::uint32_t>(ns / kNsPerSecond),
               static_cast<std::uint32_t>(ns % kNsPerSecond), size, size});
    put(frame.data(), frame.size());
  }
  ++packets_;
}

void PcapWriter::close() {
  if (!file_) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0)
    throw CaptureError(path_ + ": " + std::strerror(errno));
}

void PcapWriter::put_words(std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    std::uint8_t bytes[4];
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
    put(bytes, sizeof bytes);
  }
}

void PcapWriter::put(const void* data, std::size_t size) {
  if (!file_ || std::fwrite(data, 1, size, file_) != size)
    throw CaptureError(path_ + ": cannot be written");
}

}  // namespace emery
