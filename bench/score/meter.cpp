// SPDX-License-Identifier: Apache-2.0
#include "bench/score/meter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace emery {

void Meter::add(int stream, Time time, std::uint64_t bytes, Time inside) {
  const auto number = static_cast<std::size_t>(stream);
  if (streams_.empty()) begin_ = time;
  if (number >= streams_.size()) streams_.resize(number + 1);
  time = std::max(time, begin_);
  while (bin(time) >= kBins) widen();
  Stream& s = streams_[number];
  if (s.total.frames == 0) s.first = time;
  const bool same = in_blocks_ && s.total.frames != 0 && time == s.last;
  const Amount frame{1, bytes, same ? 0u : 1u};
  s.last = std::max(s.last, time);
  const auto count = [&](std::vector<Amount>& bins, Time when) {
    if (bin(when) >= bins.size()) bins.resize(bin(when) + 1);
    bins[bin(when)] += frame;
  };
  count(s.out, time);
  if (time - inside >= begin_) count(s.in, time - inside);
  s.total += frame;
}

void Meter::widen() {
  for (Stream& s : streams_) {
    for (std::vector<Amount>* bins : {&s.in, &s.out}) {
      for (std::size_t i = 0; i < bins->size(); ++i) {
        const Amount amount = (*bins)[i];
        (*bins)[i] = {};
        (*bins)[i / 2] += amount;
      }
      bins->resize((bins->size() + 1) / 2);
    }
  }
  width_ *= 2;
}

Meter::Amount Meter::sum(const std::vector<Amount>& bins, std::size_t from, std::size_t to) {
  Amount amount;
  for (std::size_t i = from; i < std::min(to, bins.size()); ++i) amount += bins[i];
  return amount;
}

namespace {

// How many standard deviations the two halves of one of so many streams may lie apart by chance.
// The two directions of a link have rates of their own, and little to excuse them; where frames go
// to dozens of streams at random, the worst of these is off by about sqrt(2 ln n).
double deviations(std::size_t streams) {
  if (streams <= 2) return std::numbers::sqrt2;
  return std::sqrt(2 * std::log(static_cast<double>(streams) / 2)) + 0.7;
}

}  // namespace

// Halves of n frames each differ by chance: by sqrt(2 / n) of them is one standard deviation. That
// many are allowed besides the 3 %.
bool Meter::steady(const std::vector<const Stream*>& streams, std::size_t from,
                   std::size_t to) const {
  const std::size_t middle = from + (to - from) / 2;
  const auto same = [](const Amount& a, const Amount& b, double parts) {
    const double x = a.line_bits(), y = b.line_bits();
    const auto arrivals = static_cast<double>(std::min(a.arrivals, b.arrivals));
    return std::abs(x - y) <= (0.03 + parts / std::sqrt(std::max(arrivals, 1.0))) * std::max(x, y);
  };
  Amount first, second;
  for (const Stream* s : streams) {
    const Amount a = sum(s->out, from, middle), b = sum(s->out, middle, middle + (middle - from));
    if (!same(a, b, deviations(streams.size()) * std::numbers::sqrt2)) return false;
    first += a;
    second += b;
  }
  return std::min(first.arrivals, second.arrivals) >= kLeastArrivals && same(first, second, 0.5);
}

Meter::Window Meter::window() const {
  std::uint64_t frames = 0, busy = 0;
  for (const Stream& s : streams_) {
    frames += s.total.frames;
    busy += s.total.frames != 0;
  }
  const std::uint64_t least = std::max<std::uint64_t>(100, 2 * busy);  // one in so many has weight
  std::vector<const Stream*> streams;
  Time full = begin_, last = begin_;
  for (const Stream& s : streams_) {
    last = std::max(last, s.last);
    if (s.total.frames == 0 || s.total.frames * least < frames) continue;
    streams.push_back(&s);
    full = std::max(full, s.first);
  }
  if (streams.empty()) return {};
  const Time end = std::max(begin_, std::min(end_.value_or(last), last));
  const std::size_t to = bin(end);
  const std::size_t low = bin(full) + 1;
  const auto at = [&](std::size_t i) { return begin_ + static_cast<Time>(i * width_); };
  if (low + 2 > to) return {full, std::max(full, end), false};
  for (std::size_t eighth = 0; eighth < 7; ++eighth) {
    const std::size_t from = low + (to - low) * eighth / 8;
    if (to - from >= 2 && steady(streams, from, to)) return {at(from), at(to), true};
  }
  return {at(low), at(to), false};
}

Meter::Amount Meter::within(int stream, const Window& window) const {
  const auto number = static_cast<std::size_t>(stream);
  if (number >= streams_.size() || window.to <= window.from) return {};
  const Stream& s = streams_[number];
  const std::size_t from = bin(window.from), to = bin(window.to);
  return std::min(sum(s.in, from, to), sum(s.out, from, to),
                  [](const Amount& a, const Amount& b) { return a.line_bits() < b.line_bits(); });
}

std::optional<double> Meter::settled(const Window& window) const {
  if (!window.steady) return std::nullopt;
  const std::size_t to = bin(window.to), quarter = (to - bin(window.from)) / 4;
  if (quarter == 0) return std::nullopt;
  double in = 0, inside = 0, third = 0, fourth = 0;  // of a quarter: the sum over its bins
  for (std::size_t i = to - 2 * quarter; i < to; ++i) {
    for (const Stream& s : streams_) {
      const auto frames = [i](const std::vector<Amount>& bins) {
        return i < bins.size() ? static_cast<double>(bins[i].frames) : 0.0;
      };
      in += frames(s.in);
      inside += frames(s.in) - frames(s.out);
    }
    (i < to - quarter ? third : fourth) += inside;
  }
  const auto bins = static_cast<double>(quarter);
  const double growth = (fourth - third) / (bins * bins);  // frames a bin
  return (in / (2 * bins) - growth) / static_cast<double>(width_) * 1e6;
}

std::optional<Meter::Rates> Meter::rates(const Amount& amount, const Window& window) {
  if (!window.steady) return std::nullopt;
  const double seconds = static_cast<double>(window.to - window.from) / 1e12;
  const auto per_second = [&](double n) { return n / seconds; };
  return Rates{per_second(static_cast<double>(amount.frames)) / 1e6,
               per_second(amount.line_bits()) / 1e9,
               per_second(8.0 * static_cast<double>(amount.bytes)) / 1e9};
}

}  // namespace emery
