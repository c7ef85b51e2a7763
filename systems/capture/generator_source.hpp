// SPDX-License-Identifier: Apache-2.0
// The device's packet generator as a source of the run: set up, started and stopped through its
// registers, its packets offered as soon as one that follows them has arrived.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/traffic/frame.hpp"
#include "bench/traffic/traffic.hpp"
#include "sw/capture/emcap.h"
#include "systems/capture/card.hpp"
#include "systems/capture/generator.hpp"

namespace emery::capture {

class GeneratorSource {
 public:
  using Offer =
      std::function<void(std::span<const std::uint8_t> bytes, std::uint32_t flow, Time when)>;

  /// Throws OptionError for settings that the generator cannot do.
  GeneratorSource(const Options& options, double line_rate, double clock_hz, Offer offer)
      : config_(read(options)),
        generator_(config_),
        offer_(std::move(offer)),
        frames_(options.get("frames", std::uint64_t{0})),
        duration_(options.get("duration_ps", Time{0})) {
    const auto rate = options.get<std::string>("rate");
    // At full rate it is not held back at all.
    const double bits = rate == "1" || rate == "1.0" ? 0 : parse_rate(rate, line_rate);
    rate_ = static_cast<std::uint32_t>(std::ceil(bits / 8 / clock_hz * 256));
  }

  std::uint32_t longest() const { return config_.high; }

  void set_up(emcap* device) const {
    emcap_write(device, EMERY_REG(gen_seed), config_.seed);
    emcap_write(device, EMERY_REG(gen_len_min), config_.low);
    emcap_write(device, EMERY_REG(gen_len_max), config_.high);
    emcap_write(device, EMERY_REG(gen_flow_mask), config_.flow_mask);
    emcap_write(device, EMERY_REG(gen_count), static_cast<std::uint32_t>(frames_));
    emcap_write(device, EMERY_REG(gen_rate), rate_);
  }
  /// Whether it is so then: a link that has just been lost carries nothing, and reads as ones.
  bool enable(emcap* device, bool on) const {
    const std::uint32_t control = on ? CAP_REGS__GEN_CONTROL__ENABLE_bm : 0;
    emcap_write(device, EMERY_REG(gen_control), control);
    return emcap_read(device, EMERY_REG(gen_control)) == control;
  }
  /// Whether it has made what it is to make, `time` after it began; it is turned off then.
  bool done(emcap* device, Time time) const {
    if (!frames_) return time >= duration_ && enable(device, false);
    const std::uint32_t sent = emcap_read(device, EMERY_REG(gen_sent));
    return sent != kOnes && sent >= frames_;
  }
  double part(Time time) const {
    const double part = frames_ ? static_cast<double>(offered_) / static_cast<double>(frames_)
                                : static_cast<double>(time) / static_cast<double>(duration_);
    return std::min(part, 1.0);
  }

  /// A packet has arrived: those before it have been offered.
  void arrived(std::span<const std::uint8_t> bytes, Time when) {
    const auto number = Generator::number(bytes);
    if (!number) return;
    // A number of 32 bits stands for the one nearest to what was offered.
    const std::uint32_t ahead = *number - static_cast<std::uint32_t>(offered_);
    if (ahead < kNotYet) offer_until(offered_ + ahead + 1, when);
  }
  void offer_until(std::uint64_t number, Time when) {
    for (; offered_ < number; ++offered_) {
      const auto bytes = generator_.packet(static_cast<std::uint32_t>(offered_));
      offer_(bytes, generator_.flow(), when);
    }
  }

 private:
  static constexpr std::uint32_t kNotYet = 1u << 22;  // a number so far ahead is none
  static constexpr std::uint32_t kOnes = 0xffff'ffff;

  static GeneratorConfig read(const Options& options) {
    if (!options.get("pcap", "").empty() || !options.get("pcap.0", "").empty())
      throw OptionError("pcap: a capture comes over the wire: set source=wire");
    const auto size = options.get<std::string>("size");
    const auto flows = options.get<unsigned>("flows");
    unsigned low = 0, high = 0;
    char rest = 0;
    const int count = std::sscanf(size.c_str(), "%u-%u%c", &low, &high, &rest);
    if ((count != 1 && count != 2) || size.find_first_not_of("0123456789-") != std::string::npos)
      throw OptionError("size " + size + ": the generator makes packets of one size or of a range");
    if (count == 1) high = low;
    if (low < 64 || high < low || high > Generator::kLongest + kFcsBytes)
      throw OptionError("size " + size + ": the generator makes 64 ... 16388 bytes with FCS");
    if (!std::has_single_bit(flows) || flows > 65536) {
      throw OptionError("flows " + std::to_string(flows) +
                        ": the generator makes a power of two, up to 65536");
    }
    return {static_cast<std::uint32_t>(options.get<std::uint64_t>("seed")), low - kFcsBytes,
            high - kFcsBytes, flows - 1};
  }

  GeneratorConfig config_;
  Generator generator_;
  Offer offer_;
  std::uint64_t frames_;
  Time duration_;
  std::uint32_t rate_ = 0;  // bytes a clock, times 256; 0: as fast as it goes
  std::uint64_t offered_ = 0;
};

}  // namespace emery::capture
