// SPDX-License-Identifier: Apache-2.0
// The packets that the device's generator makes, made once more from their description in
// capture.rdl: what arrives is held against these, not against what the device says it sent.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "bench/traffic/network_order.hpp"

namespace emery::capture {

struct GeneratorConfig {
  std::uint32_t seed;
  std::uint32_t low, high;  // bytes without FCS
  std::uint32_t flow_mask;
};

class Generator {
 public:
  static constexpr std::uint32_t kLongest = 16384;

  explicit Generator(const GeneratorConfig& config) : config_(config) {}

  /// Packet `number`; valid until the next call.
  std::span<const std::uint8_t> packet(std::uint32_t number) {
    const std::uint32_t m = mix(number ^ config_.seed ^ 0x9e3779b9u);
    const std::uint32_t length =
        config_.low + ((m & 0xffff) * (config_.high - config_.low + 1) >> 16);
    flow_ = mix(m) & config_.flow_mask & 0xffff;
    static constexpr std::uint8_t kFixed[34] = {2, 0, 0,    0, 0, 1, 2,  0, 0,    0, 0,    2,
                                                8, 0, 0x45, 0, 0, 0, 0,  0, 0x40, 0, 0x40, 17,
                                                0, 0, 10,   1, 0, 0, 10, 2, 0,    1};
    std::memcpy(data_.data(), kFixed, sizeof kFixed);
    put16(&data_[16], length - 14);
    put16(&data_[28], flow_);
    put16(&data_[24], checksum(sum16({&data_[14], 20})));
    put16(&data_[34], flow_);
    put16(&data_[36], 9);
    put16(&data_[38], length - 34);
    put16(&data_[40], 0);
    std::memcpy(&data_[42], &number, 4);
    data_[46] = data_[47] = 0;
    for (std::uint32_t k = 12; 4 * k < length; ++k) {
      const std::uint32_t word = m ^ (k << 16 | (~k & 0xffff));
      std::memcpy(&data_[4 * k], &word, 4);
    }
    return {data_.data(), length};
  }

  /// Of the packet made last.
  std::uint32_t flow() const { return flow_; }

  /// The number that a packet carries.
  static std::optional<std::uint32_t> number(std::span<const std::uint8_t> packet) {
    if (packet.size() < 60) return {};
    std::uint32_t n;
    std::memcpy(&n, &packet[42], 4);
    return n;
  }

 private:
  static std::uint32_t mix(std::uint32_t x) {
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
  }

  GeneratorConfig config_;
  std::array<std::uint8_t, kLongest + 4> data_{};
  std::uint32_t flow_ = 0;
};

}  // namespace emery::capture
