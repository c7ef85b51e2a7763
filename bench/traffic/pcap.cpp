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
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery {
namespace {

constexpr std::uint32_t kMagicNano = 0xa1b23c4d;
constexpr std::uint32_t kLinkEthernet = 1;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

std::uint64_t flow_hash(std::span<const std::uint8_t> frame) {
  std::array<std::uint8_t, 42> key{};
  std::size_t used = 0;
  const auto take = [&](std::size_t from, std::size_t n) {
    std::memcpy(key.data() + used, frame.data() + from, n);
    used += n;
  };
  if (frame.size() < kEthBytes) return hash_bytes(frame);
  const std::size_t ip = ip_at(frame);
  const std::uint32_t type = get16(&frame[ip - 2]);
  std::size_t ports = 0;
  std::uint8_t protocol = 0;
  if (type == kTypeIp4 && frame.size() >= ip + kIp4Bytes) {
    protocol = frame[ip + 9];
    take(ip + 12, 8);
    if ((get16(&frame[ip + 6]) & 0x3fff) == 0) ports = ip + 4u * (frame[ip] & 15u);
  } else if (type == kTypeIp6 && frame.size() >= ip + kIp6Bytes) {
    protocol = frame[ip + 6];
    take(ip + 8, 32);
    ports = ip + kIp6Bytes;
  } else {
    take(0, 12);
    key[used++] = static_cast<std::uint8_t>(type >> 8);
    key[used++] = static_cast<std::uint8_t>(type);
    return hash_bytes({key.data(), used});
  }
  key[used++] = protocol;
  // Tags, and of IPv4 the version and how long its header is: what a device finds depends on them.
  key[used++] = static_cast<std::uint8_t>(ip);
  key[used++] = type == kTypeIp4 ? frame[ip] : frame[ip] >> 4;
  const bool has_ports = protocol == kTcp || protocol == kUdp || protocol == 132;
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
  const std::size_t end = capture->file_.size();
  if (end < 24 || capture->u32(0) != kMagicNano || capture->u32(20) != kLinkEthernet)
    throw CaptureError(name + ": not a little-endian nanosecond pcap of Ethernet");
  for (std::size_t at = 24; at < end;) {
    if (end - at < 16) capture->fail("truncated: file ends inside a packet header", at);
    const std::uint32_t size = capture->u32(at + 8);
    if (size != capture->u32(at + 12)) capture->fail("not a whole packet", at);
    if (size > kMaxFrame) capture->fail("frame of " + std::to_string(size) + " bytes", at);
    if (size > end - at - 16) capture->fail("truncated: file ends inside a packet", at);
    capture->packets_.push_back(
        {at + 16, capture->u32(at) * kNsPerSecond + capture->u32(at + 4), size, 0});
    at += 16 + size;
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
  const std::uint8_t* p = &file_[offset];
  return std::uint32_t{p[3]} << 24 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[1]} << 8 | p[0];
}

void Capture::number_flows() {
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  Frame sent;
  for (Packet& packet : packets_) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    sent.assign(bytes(packet));
    sent.pad_to_minimum();
    packet.flow = numbers.try_emplace(flow_hash(sent.bytes()), next).first->second;
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
