// SPDX-License-Identifier: Apache-2.0
#include "bench/tcp/load.hpp"

#include <algorithm>
#include <cmath>

#include "bench/sim/random.hpp"
#include "bench/traffic/network_order.hpp"
#include "bench/traffic/traffic.hpp"

namespace emery::tcp {

namespace {

constexpr Addresses kHost{0x020000000001, 0x020000000002, 0x0a000001, 0x0a000002, 0, 0};
constexpr std::uint64_t kEndless = std::uint64_t{1} << 60;
constexpr Time kStalled = 64;  // times the least RTO: more than any back-off

double per_second(double amount, Time time) { return amount * 1e12 / static_cast<double>(time); }

void rtt(JsonWriter& json, const Histogram& times) {
  json.object("rtt_ns");
  for (const auto& [name, value] : {std::pair{"min", times.min()},
                                    {"p50", times.percentile(0.5)},
                                    {"p99", times.percentile(0.99)},
                                    {"max", times.max()}}) {
    json.key(name);
    times.count() == 0 ? json.null() : json.value(static_cast<double>(value) / kNanosecond);
  }
  json.end_object();
}

}  // namespace

LoadConfig LoadConfig::of(const Options& options, double line_rate, std::uint32_t packet) {
  LoadConfig c;
  c.window = 1000 * options.get<std::uint32_t>("tcp_window_kb");
  c.rto = options.us("tcp_rto_us");
  c.peer.delay = options.fine_us("tcp_delay_us");
  c.host.cpus = options.get<unsigned>("tcp_cpus");
  c.host.per_segment = options.ns("tcp_ns_per_segment");
  c.host.per_kb = options.ns("tcp_ns_per_kb");
  c.host.packet = packet;
  c.on = options.get("traffic", "frames") == "tcp";
  if (!c.on) return c;
  const auto direction = options.get<std::string>("direction");
  c.sends = direction != "rx";
  c.receives = direction != "tx";
  c.size = options.get<std::uint32_t>("size");
  c.flows = options.get<std::uint32_t>("flows");
  c.frames = options.get("frames", std::uint64_t{0});
  c.duration = options.get("duration_ps", Time{0});
  const double rate = parse_rate(options.get<std::string>("rate"), line_rate);
  c.rate = rate < line_rate ? rate : 0;
  c.seed = options.get<std::uint64_t>("seed");
  return c;
}

std::unique_ptr<Load> Load::of(const Options& options, double line_rate, std::uint32_t packet) {
  const LoadConfig config = LoadConfig::of(options, line_rate, packet);
  return config.on ? std::make_unique<Load>(config) : nullptr;
}

Load::Load(const LoadConfig& config)
    : config_(config), host_(config.host, ends(true)), peer_(config.peer, ends(false)) {
  last_.resize(size());
  for (std::size_t n = 0; n < size(); ++n) {
    Connection& to = host_sends(n) ? peer_[n] : host_[n];
    to.on_data = [this, n](std::uint32_t bytes, Time now) {
      meter_.add(static_cast<int>(n), now, bytes);
      last_[n] = now;
    };
  }
}

std::vector<ConnectionConfig> Load::ends(bool host) const {
  std::vector<ConnectionConfig> found;
  Random random(config_.seed * 0x10001 + 0x7c9);
  const std::size_t count = std::size_t{config_.flows} * (config_.sends + config_.receives);
  for (std::size_t n = 0; n < count; ++n) {
    ConnectionConfig c;
    c.active = host_sends(n) == host;
    c.mss = config_.mss();
    c.window = config_.window;
    c.rto_least = config_.rto;
    c.ack_delay = config_.rto / 5;
    const std::uint64_t keys[] = {random.next(),
                                  random.next()};  // of the host's stream, the peer's
    const std::uint64_t isns = random.next();
    c.out_key = keys[!host];
    c.in_key = keys[host];
    c.isn = static_cast<std::uint32_t>(host ? isns : isns >> 32);
    c.addresses = kHost;
    if (!host) {
      std::swap(c.addresses.src_mac, c.addresses.dst_mac);
      std::swap(c.addresses.src_ip, c.addresses.dst_ip);
    }
    const auto port = static_cast<std::uint16_t>(kPorts + n);
    c.addresses.src_port = c.active ? port : kListens;
    c.addresses.dst_port = c.active ? kListens : port;
    found.push_back(c);
  }
  return found;
}

// ---- the run

std::uint64_t Load::total(std::size_t n) const {
  if (config_.frames == 0) return kEndless;
  const std::size_t place = n % config_.flows;
  return (config_.frames / config_.flows + (place < config_.frames % config_.flows)) *
         config_.mss();
}

std::string Load::name(std::size_t n) const {
  return "TCP connection " + std::to_string(n) +
         (host_sends(n) ? " (host to wire)" : " (wire to host)");
}

void Load::take(Station& station, std::span<const std::uint8_t> frame, Time at) {
  if (frame.size() >= kHeaders) {
    const std::size_t n = std::max(get16(&frame[34]), get16(&frame[36])) - std::size_t{kPorts};
    if (n < size()) return station.receive(n, frame, at);
  }
  ++strange_;
}

bool Load::Source::next(Frame& frame) {
  const int n = load_.peer_.next(bytes_, load_.now_);
  if (n < 0) return false;
  frame.assign(bytes_);
  // A line that was busy until just now plays it at once, as if it had been asked for before.
  frame.start = start_ = std::max(start_, load_.peer_.ready_since(static_cast<std::size_t>(n)));
  frame.flow = static_cast<std::uint32_t>(n);
  return true;
}

void Load::poll(Time now) {
  now_ = now;
  const bool begins = start_ == kNever;
  if (begins) {
    start_ = now;
    meter_.add(0, now, 0);
    for (std::size_t n = 0; n < size(); ++n) sender(n).open();
  }
  const bool tick = now >= next_tick_;
  if (tick) {
    next_tick_ = now + kTick;
    write_more(now);
  }
  host_.poll(now, tick);
  peer_.poll(now, tick);
}

// The applications.
void Load::write_more(Time now) {
  const bool over = config_.frames == 0 && now - start_ >= config_.duration;
  for (std::size_t n = 0; n < size() && !over_; ++n) {
    Connection& from = sender(n);
    std::uint64_t may = total(n);
    if (config_.rate > 0) {
      const double bits = 8.0 * (config_.size + kLineOverhead) * config_.flows;
      const double segments = static_cast<double>(now - start_) / 1e12 * config_.rate / bits;
      may = std::min(may, static_cast<std::uint64_t>(segments) * config_.mss());
    }
    from.write(may);
    if (may == total(n)) from.finish();
    if (over) from.cut_off();
  }
  over_ = over_ || over;
  for (std::size_t n = 0; n < size() && ended_ == kNever; ++n)
    if (sender(n).sent_all()) ended_ = now;
}

bool Load::finished() const {
  for (std::size_t n = 0; n < size(); ++n)
    if (!host_[n].closed() || !peer_[n].closed()) return false;
  return true;
}

double Load::progress(Time now) const {
  if (start_ == kNever) return 0;
  if (config_.frames == 0)
    return std::min(1.0, static_cast<double>(now - start_) / static_cast<double>(config_.duration));
  double least = 1;
  for (std::size_t n = 0; n < size(); ++n)
    if (total(n) != 0)
      least = std::min(least, static_cast<double>(receiver(n).stats().delivered) /
                                  static_cast<double>(total(n)));
  return least;
}

std::string Load::failure(Time quiet) const {
  for (std::size_t n = 0; n < size(); ++n)
    for (const Connection* end : {&sender(n), &receiver(n)})
      if (!end->broken().empty()) return name(n) + " stalled: " + end->broken();
  if (quiet <= kStalled * config_.rto) return "";
  return "TCP stalled: nothing has moved for " + std::to_string(quiet / kMicrosecond) + " us";
}

void Load::check(Findings& findings) const {
  std::uint64_t wrong = 0, missing = 0;
  for (std::size_t n = 0; n < size(); ++n) {
    wrong += receiver(n).stats().wrong;
    missing += sender(n).acknowledged() > receiver(n).stats().delivered ||
               (receiver(n).closed() && sender(n).written() != receiver(n).stats().delivered);
  }
  findings.add(wrong, "bytes of TCP streams are not those that were sent");
  findings.add(missing, "TCP streams did not arrive whole");
  findings.add(host_.bad() + peer_.bad(), "frames that came out are no TCP segments any more");
  findings.add(strange_, "frames that came out are of no TCP connection");
}

// ---- the result

double Load::gbps(std::size_t n, const Meter::Window& window) const {
  if (!window.steady) return NAN;
  const Meter::Window from_start{std::max(window.from, start_), window.to, true};
  const auto bytes = static_cast<double>(meter_.within(static_cast<int>(n), from_start).bytes);
  return 8e-9 * per_second(bytes, from_start.to - from_start.from);
}

void Load::write_way(JsonWriter& json, bool host, const Meter::Window& window) const {
  ConnectionStats sum;
  double goodput = 0, squares = 0, count = 0;
  Time last = start_ + 1;
  Histogram times;
  for (std::size_t n = 0; n < size(); ++n) {
    if (host_sends(n) != host) continue;
    const ConnectionStats& s = sender(n).stats();
    const double rate = gbps(n, window);
    goodput += rate;
    squares += rate * rate;
    ++count;
    sum.data_segments += s.data_segments;
    sum.retransmitted += s.retransmitted;
    sum.fast_retransmits += s.fast_retransmits;
    sum.timeouts += s.timeouts;
    sum.delivered += receiver(n).stats().delivered;
    sum.out_of_order += receiver(n).stats().out_of_order;
    sum.duplicates += receiver(n).stats().duplicates;
    sum.segments += receiver(n).stats().segments;
    last = std::max(last, last_[n]);
    times.merge(s.rtt);
  }
  json.object(host ? "tx" : "rx")
      .field("goodput_gbps", goodput)
      .field("mean_gbps", 8e-9 * per_second(static_cast<double>(sum.delivered), last - start_))
      .field("fairness", goodput * goodput / (count * squares))
      .field("bytes", sum.delivered)
      .field("segments", sum.data_segments)
      .field("acks", sum.segments)
      .field("retransmitted", sum.retransmitted)
      .field("fast_retransmits", sum.fast_retransmits)
      .field("timeouts", sum.timeouts)
      .field("out_of_order", sum.out_of_order)
      .field("duplicates", sum.duplicates);
  rtt(json, times);
  json.end_object();
}

void Load::write_flow(JsonWriter& json, std::size_t n, const Meter::Window& window) const {
  const Connection &from = sender(n), &to = receiver(n);
  json.begin_object()
      .field("way", host_sends(n) ? "tx" : "rx")
      .field("bytes", to.stats().delivered)
      .field("goodput_gbps", gbps(n, window))
      .field("retransmitted", from.stats().retransmitted)
      .field("timeouts", from.stats().timeouts)
      .field("congestion_window", from.congestion_window());
  rtt(json, from.stats().rtt);
  json.end_object();
}

void Load::write(JsonWriter& json, const Meter::Window& window) const {
  Time last = start_ + 1;
  for (const Time time : last_) last = std::max(last, time);
  const auto busy = static_cast<double>(host_.most_busy());
  json.begin_object()
      .field("mss", config_.mss())
      .field("host_cpu_busy", std::min(1.0, busy / static_cast<double>(last - start_)));
  if (config_.sends) write_way(json, true, window);
  if (config_.receives) write_way(json, false, window);
  json.array("flows");
  for (std::size_t n = 0; n < size(); ++n) write_flow(json, n, window);
  json.end_array().end_object();
}

}  // namespace emery::tcp
