// SPDX-License-Identifier: Apache-2.0
#include "bench/run/workload.hpp"

#include <algorithm>
#include <limits>

namespace emery {

Workload::Workload(const Options& options, const Line& line, unsigned ports) : own_(ports) {
  const auto read = [&](const std::string& path) {
    captures_ = true;
    return Capture::read(path, line.longest, line.limit);
  };
  if (const std::string path = options.get("pcap", ""); !path.empty()) common_.capture = read(path);
  for (unsigned p = 0; p < ports; ++p) {
    const std::string path = options.get("pcap." + std::to_string(p), "");
    if (!path.empty()) own_[p] = read(path);
  }
  for (const std::string& port : options.endings("pcap.")) {
    if (port.size() > 4 || std::stoul(port) >= ports)
      throw OptionError("--pcap " + port + "=FILE: there is no port " + port +
                        ", the last one is " + std::to_string(ports - 1));
  }
  if (!captures_ && !options.has("live"))
    common_.sizes = Sizes::parse(options.get<std::string>("size"));
  common_.line_longest = line.longest;
  common_.frames = options.get("frames", std::uint64_t{0});
  common_.duration = options.get("duration_ps", Time{0});
  common_.flows = options.get<unsigned>("flows");
  common_.weights = FlowWeights::parse(options.get("flow_weights", "equal"));
  if (const std::string length = options.get("flow_length", ""); !length.empty())
    common_.length = FlowLength::parse(length);
  common_.ipv6 = options.get("ipv6", 0.0);
  common_.vlan = options.get("vlan", 0.0);
  common_.rate = parse_rate(options.get<std::string>("rate"), line.rate);
  common_.line_rate = line.rate;
  common_.arrivals = ArrivalKind::parse(options.get("arrivals", "constant"));
  common_.speed = options.get("replay_speed", 0.0);
  common_.origin_ns = earliest();
  common_.seed = options.get<std::uint64_t>("seed");
  if (common_.sizes.high > line.longest + kFcsBytes) {
    throw OptionError("size " + std::to_string(common_.sizes.high) + ": longer than " + line.limit);
  }
}

std::int64_t Workload::earliest() const {
  auto least = std::numeric_limits<std::int64_t>::max();
  const auto look = [&](const std::shared_ptr<const Capture>& capture) {
    if (!capture) return;
    for (const Capture::Packet& packet : capture->packets()) least = std::min(least, packet.ns);
  };
  look(common_.capture);
  for (const auto& capture : own_) look(capture);
  return least;
}

std::optional<TrafficConfig> Workload::port(unsigned p, unsigned index, unsigned count) const {
  TrafficConfig plan = common_;
  if (own_[p]) {
    plan.capture = own_[p];
  } else if (common_.capture) {
    plan.deal_index = index;
    plan.deal_count = count;
  } else if (captures_) {
    return std::nullopt;
  }
  return plan;
}

void Source::play(const Live& live, Tap* tap, Clock clock) {
  live_ = &live;
  tap_ = tap;
  if (tap) tap->limit(plan_.line_longest);
  clock_ = std::move(clock);
}

void Source::start(Time now) {
  plan_.start = now;
  if (!live_) traffic_ = std::make_unique<Traffic>(plan_);
}

void Source::end() {
  over_ = true;
  ended_(*this);
}

bool Source::next_live(Frame& frame) {
  if (tap_ && tap_->next(frame)) {
    frame.start = clock_();
    return true;
  }
  if (!over_ && live_->ended()) end();
  return false;
}

bool Source::next(Frame& frame) {
  if (live_) return next_live(frame);
  if (!traffic_ || over_) return false;
  if (loop_) {
    const Time now = clock_();
    if (loop_->full(now)) return false;
    traffic_->wait_until(now);
  }
  if (traffic_->next(frame)) {
    if (loop_) loop_->enter(clock_());
    return true;
  }
  if (!over_ && traffic_->done()) end();
  return false;
}

const Frame* Source::due(Time now) {
  if (!held_) held_ = next(frame_);
  return held_ && frame_.start <= now ? &frame_ : nullptr;
}

void Source::add_to(Sent& sent) const {
  if (!traffic_) return;
  const TrafficStats& stats = traffic_->stats();
  sent.frames += stats.frames;
  sent.ipv6 += stats.ipv6;
  sent.vlan += stats.vlan;
  sent.flows += plan_.capture ? 0 : traffic_->flows();
  if (loop_) sent.written_off += loop_->written_off();
}

void Sent::write(JsonWriter& json) const {
  json.begin_object().field("frames", frames).field("ipv6", ipv6).field("vlan", vlan);
  if (flows != 0) json.field("flows", flows);
  if (written_off != 0) json.field("written_off", written_off);
  json.end_object();
}

double Source::part(Time now) const {
  if (live_) return 1;  // of what there is so far
  if (!traffic_) return 0;
  double part = 0;
  if (plan_.frames != 0 || plan_.duration == 0) {
    const double frames =
        plan_.frames != 0 ? static_cast<double>(plan_.frames)
                          : static_cast<double>(plan_.capture->packets().size()) / plan_.deal_count;
    part = static_cast<double>(traffic_->stats().frames) / frames;
  } else {
    part = static_cast<double>(now - plan_.start) / static_cast<double>(plan_.duration);
  }
  return over_ ? 1 : std::min(part, 1.0);
}

}  // namespace emery
