// SPDX-License-Identifier: Apache-2.0
#include "bench/live/tap.hpp"

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "bench/traffic/network_order.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/protocols.hpp"

namespace emery {
namespace {

constexpr std::size_t kLongestRead = 1 << 16;  // of whatever an interface may give
constexpr unsigned kMostLeft = 1 << 16;        // frames: one that goes on sending does not keep us

// An interface that is down refuses frames with EIO.
const char* reason(int error) {
  return error == EIO                                                  ? "interface_down"
         : error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS ? "queue_full"
                                                                       : "refused";
}

}  // namespace

Tap::Tap(int file) : file_(file), buffer_(kLongestRead) {}

std::size_t Tap::take() {
  ssize_t got;
  do {
    got = ::read(file_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  gone_ = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

void Tap::station(std::uint64_t mac) {
  ifreq request{};
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  put48(reinterpret_cast<std::uint8_t*>(request.ifr_hwaddr.sa_data), mac);
  if (::ioctl(file_, SIOCSIFHWADDR, &request) != 0)
    throw std::runtime_error(std::string("tap: ") + std::strerror(errno));
}

bool Tap::read() {
  while (!full()) {
    const std::size_t size = take();
    if (size == 0) break;
    if (size > longest_ || size < kEthBytes) {
      ++in_.dropped[size < kEthBytes ? "too_short" : "too_long"];
      continue;
    }
    ++in_.frames;
    in_.bytes += size;
    held_.push({buffer_.data(), buffer_.data() + size});
  }
  return !gone_;
}

void Tap::end() {
  for (unsigned i = 0; i < kMostLeft && take() != 0; ++i) ++in_.dropped["ended"];
}

bool Tap::next(Frame& frame) {
  if (held_.empty()) return false;
  frame.assign(held_.front());
  held_.pop();
  frame.pad_to_minimum();
  const auto next = static_cast<std::uint32_t>(flows_.size());
  frame.flow = flows_.try_emplace(flow_hash(frame.bytes()), next).first->second;
  return true;
}

void Tap::write(std::span<const std::uint8_t> frame) {
  ssize_t written;
  do {
    written = ::write(file_, frame.data(), frame.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    ++out_.dropped[reason(errno)];
    return;
  }
  ++out_.frames;
  out_.bytes += frame.size();
}

void Tap::Way::write(JsonWriter& json) const {
  json.begin_object().field("frames", frames).field("bytes", bytes).object("dropped");
  for (const auto& [why, n] : dropped) json.field(why, n);
  json.end_object().end_object();
}

void Tap::write(JsonWriter& json) const {
  json.begin_object();
  in_.write(json.key("in"));
  out_.write(json.key("out"));
  json.end_object();
}

}  // namespace emery
