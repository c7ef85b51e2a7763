// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/flows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace emery {
namespace {

constexpr double kUnit = 1ull << 32;         // the largest weight of a Zipf distribution
constexpr std::uint32_t kNumbers = 1 << 24;  // of flows: an index of that many is dense enough

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("traffic: " + what);
}

/// The whole of a text as a number; `what` says what it is for.
template <class T>
T number(const std::string& text, const std::string& what) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc() && rest == end && value >= 0, what);
  return value;
}

double exponent(const std::string& text, const std::string& what) {
  const auto s = number<double>(text, what);
  require(s > 0 && s <= 10, what);
  return s;
}

/// Weights 1, 2^-s, 3^-s ... in whole numbers, so that draws are the same on every machine.
std::vector<std::uint64_t> zipf(double s, std::uint32_t count) {
  std::vector<std::uint64_t> weights(count);
  for (std::uint32_t n = 0; n < count; ++n)
    weights[n] = static_cast<std::uint64_t>(kUnit * std::pow(n + 1.0, -s) + 0.5);
  return weights;
}

}  // namespace

Draw::Draw(const std::vector<std::uint64_t>& weights) : up_to_(weights.size()) {
  std::partial_sum(weights.begin(), weights.end(), up_to_.begin());
  require(!up_to_.empty() && up_to_.back() != 0, "weights are all 0");
}

std::uint32_t Draw::operator()(Random& random) const {
  const std::uint64_t at = random.below(up_to_.back());
  return static_cast<std::uint32_t>(std::ranges::upper_bound(up_to_, at) - up_to_.begin());
}

FlowWeights FlowWeights::parse(const std::string& text) {
  const std::string what = "flow weights '" + text + "' are not equal, zipf:S or whole numbers";
  if (text == "equal") return {};
  if (text.starts_with("zipf:")) return {false, exponent(text.substr(5), what), {}};
  FlowWeights found{false, 0, {}};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    found.given.push_back(number<std::uint32_t>(text.substr(at, end - at), what));
    at = end + 1;
  }
  return found;
}

std::vector<std::uint64_t> FlowWeights::of(std::uint32_t flows) const {
  if (zipf > 0) return emery::zipf(zipf, flows);
  std::vector<std::uint64_t> weights(flows, equal ? 1 : given.back());
  for (std::size_t n = 0; n < std::min(given.size(), weights.size()); ++n) weights[n] = given[n];
  return weights;
}

FlowLength FlowLength::parse(const std::string& text) {
  const std::string what = "flow length '" + text + "' is not N, geometric:N or zipf:S";
  if (text.starts_with("zipf:")) return {Kind::kZipf, 0, exponent(text.substr(5), what)};
  const bool geometric = text.starts_with("geometric:");
  const auto mean = number<std::uint32_t>(geometric ? text.substr(10) : text, what);
  require(mean >= 1, what);
  return {geometric ? Kind::kGeometric : Kind::kFixed, mean, 0};
}

Flows::Flows(FlowsConfig config, Random& random, std::uint64_t seed)
    : config_(std::move(config)), random_(seed), flows_(config_.flows) {
  // Source addresses of 10.0.0.0/8: an odd factor makes them different in all flows. Destinations
  // of 172.16.0.0/12.
  base_ = static_cast<std::uint32_t>(random.next());
  if (config_.length.kind == FlowLength::Kind::kGeometric && config_.length.mean > 1)
    geometric_ = -1 / std::log1p(-1.0 / config_.length.mean);
  if (config_.length.kind == FlowLength::Kind::kZipf)
    lengths_ = Draw(zipf(config_.length.zipf, FlowLength::kLongest));
  for (std::uint32_t f = 0; f < config_.flows; ++f) begin(flows_[f], f, random.next());
  const std::vector<std::uint64_t> weights = config_.weights.of(config_.flows);
  if (!config_.weights.equal) draw_ = Draw(weights);
  if (config_.ipv6 > 0 || config_.vlan > 0) mix(weights);
}

void Flows::begin(Flow& flow, std::uint32_t place, std::uint64_t drawn) {
  const auto high = static_cast<std::uint32_t>(drawn >> 32),
             low = static_cast<std::uint32_t>(drawn);
  flow.number = begun_++ % kNumbers;
  flow.src_ip = 0x0a000000 | ((flow.number * 0x9e3779u + base_) & 0xffffff);
  flow.dst_ip = config_.destinations.empty()
                    ? 0xac100000 | (high & 0xfffff)
                    : config_.destinations[place % config_.destinations.size()];
  flow.tos = config_.tos.empty() ? std::uint8_t{0} : config_.tos[place % config_.tos.size()];
  flow.src_port = static_cast<std::uint16_t>(1024 + (low & 0xffff) % (65536 - 1024));
  flow.dst_port = static_cast<std::uint16_t>(1024 + (low >> 16) % (65536 - 1024));
  flow.left = length();
  flow.sent = flow.segments = 0;
}

std::uint64_t Flows::length() {
  switch (config_.length.kind) {
    case FlowLength::Kind::kEndless:
      return ~std::uint64_t{0};
    case FlowLength::Kind::kFixed:
      return config_.length.mean;
    case FlowLength::Kind::kGeometric:
      return 1 + static_cast<std::uint64_t>(random_.exponential() * geometric_);
    case FlowLength::Kind::kZipf:
      return 1 + lengths_(random_);
  }
  return 0;
}

Flow& Flows::take(std::uint32_t place) {
  Flow& flow = flows_[place];
  if (flow.left == 0) begin(flow, place, random_.next());
  --flow.left;
  return flow;
}

void Flows::mix(const std::vector<std::uint64_t>& weights) {
  const std::vector<bool> ipv6 = some(weights, config_.ipv6), tagged = some(weights, config_.vlan);
  double all = 0;
  for (std::uint32_t f = 0; f < config_.flows; ++f) {
    flows_[f].ipv6 = ipv6[f];
    if (tagged[f]) flows_[f].vlan = static_cast<std::uint16_t>(random_.between(1, 4094));
    if (tagged[f] && !config_.vlan_ids.empty())
      flows_[f].vlan = config_.vlan_ids[f % config_.vlan_ids.size()];
    const auto weight = static_cast<double>(weights[f]);
    all += weight;
    ipv6_ += ipv6[f] ? weight : 0;
    ipv6_tagged_ += ipv6[f] && tagged[f] ? weight : 0;
  }
  ipv6_ /= all;
  ipv6_tagged_ /= all;
}

// Flows, in an order at random, that have together a part of the weight: as many as have no more
// than that, and the lightest of the others where that comes nearer.
std::vector<bool> Flows::some(const std::vector<std::uint64_t>& weights, double part) {
  std::vector<std::uint32_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random_.below(i + 1)]);
  double left =
      part * static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}));
  std::vector<bool> chosen(weights.size());
  const auto weight = [&](std::uint32_t f) { return static_cast<double>(weights[f]); };
  std::uint32_t lightest = order.front();
  for (const std::uint32_t f : order) {
    chosen[f] = weight(f) <= left;
    if (chosen[f]) left -= weight(f);
    if (!chosen[f] && (chosen[lightest] || weights[f] < weights[lightest])) lightest = f;
  }
  if (left > 0 && weight(lightest) <= 2 * left) chosen[lightest] = true;
  return chosen;
}

}  // namespace emery
