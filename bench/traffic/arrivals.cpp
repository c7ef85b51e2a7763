// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/arrivals.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace emery {

ArrivalKind ArrivalKind::parse(const std::string& text) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  ArrivalKind found;
  found.kind = name == "poisson"  ? Kind::kPoisson
               : name == "burst"  ? Kind::kBurst
               : name == "on-off" ? Kind::kOnOff
                                  : Kind::kConstant;
  bool good = found.kind != Kind::kConstant || name == "constant";
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, found.burst);
    good = good && (found.kind == Kind::kBurst || found.kind == Kind::kOnOff) && rest == end &&
           error == std::errc() && found.burst >= 1;
  }
  if (!good)
    throw std::invalid_argument("traffic: arrivals '" + text +
                                "' are not constant, poisson, burst:N or on-off:N");
  return found;
}

Arrivals::Arrivals(const ArrivalKind& kind, double rate, double line_rate, double mean,
                   std::uint64_t seed, Time start)
    : kind_(kind),
      gap_(8e12 * mean / rate),
      random_(seed),
      line_(kind.kind == Kind::kConstant ? rate : std::max(rate, line_rate)),
      even_(rate) {
  if (kind_.kind == Kind::kOnOff)
    gap_ = (gap_ - 8e12 * mean / std::max(rate, line_rate)) * kind_.burst;
  wait_until(start);
  if (kind_.kind == Kind::kPoisson) arrival_ = start + exponential(gap_);
}

Time Arrivals::next() const {
  if (kind_.kind == Kind::kPoisson) return std::max(arrival_, line_.now());
  if (kind_.kind == Kind::kBurst && in_burst_ == 0) return std::max(even_.now(), line_.now());
  return line_.now();
}

void Arrivals::sent(std::uint64_t bytes) {
  line_.wait_until(next());
  line_.advance(bytes);
  switch (kind_.kind) {
    case Kind::kConstant:
      break;
    case Kind::kPoisson:
      arrival_ += exponential(gap_);
      break;
    case Kind::kBurst:
      even_.advance(bytes);
      in_burst_ = (in_burst_ + 1) % kind_.burst;
      break;
    case Kind::kOnOff:
      if (random_.below(kind_.burst) == 0) line_.wait_until(line_.now() + exponential(gap_));
      break;
  }
}

}  // namespace emery
