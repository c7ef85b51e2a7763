// SPDX-License-Identifier: Apache-2.0
// Traffic of a run that is TCP: connections between the host behind a card's driver and a peer at
// the wire, each with a stream in one direction, as that many instances of iperf3 have.
//
// Settings: traffic=tcp; size, the longest frame with FCS, from which the MSS follows; flows,
// connections each way; frames, so many full segments of data each way altogether, or duration_ps;
// rate, what the applications write at the most, as if all went in full frames; direction, who
// sends the data; seed; and those of parameters.toml. The sender opens and closes; the peer's stack
// takes no time.
//
// A system gives it what comes at both ends, takes the host's frames by feed() and has its MAC play
// peer(). Every frame is a new one: a segment that is sent again has another number in IP.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/score/meter.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/tcp/station.hpp"
#include "bench/traffic/frame.hpp"

namespace emery::tcp {

struct LoadConfig {
  bool on = false;
  bool sends = true, receives = true;  // the host
  std::uint32_t size = 1518;           // longest frame, with FCS
  std::uint32_t flows = 1;
  std::uint64_t frames = 0;  // 0: for `duration`
  Time duration = 0;
  double rate = 0;  // bits a second on the line, each way; 0: as fast as it goes
  std::uint32_t window = 65536;
  Time rto = 0;
  StationConfig host, peer;
  std::uint64_t seed = 1;

  /// `packet`: bytes that the host's card cuts into segments; 0: it does not.
  static LoadConfig of(const Options& options, double line_rate, std::uint32_t packet);
  std::uint32_t mss() const { return size - kFcsBytes - kHeaders; }
};

class Load {
 public:
  /// Null unless the run's traffic is TCP; reads the settings in any case.
  static std::unique_ptr<Load> of(const Options& options, double line_rate, std::uint32_t packet);

  explicit Load(const LoadConfig& config);

  /// A frame has come out at the wire (all of it at `arrived`), or to the host.
  void at_wire(std::span<const std::uint8_t> frame, Time arrived) { take(peer_, frame, arrived); }
  void at_host(std::span<const std::uint8_t> frame, Time now) { take(host_, frame, now); }
  /// What the peer sends.
  FrameSource& peer() { return source_; }

  /// At each step of time: both ends' work, then the host's frames. `room()`: the driver takes
  /// some; `offer(connection, frame)`: false when there is no place for this one now.
  template <class Room, class Offer>
  void feed(Time now, const Room& room, const Offer& offer) {
    poll(now);
    // One of those that found no place, in turns.
    if (auto at = held_.upper_bound(tried_); !held_.empty() && room()) {
      if (at == held_.end()) at = held_.begin();
      tried_ = at->first;
      if (offer(at->first, at->second)) {
        host_.hold(at->first, false);
        held_.erase(at);
      }
    }
    for (int n = 0; room() && (n = host_.next(bytes_, now)) >= 0;) {
      const auto number = static_cast<unsigned>(n);
      frame_.assign(bytes_);
      if (offer(number, frame_)) continue;
      host_.hold(number, true);
      held_.emplace(number, frame_);
    }
  }

  /// All connections are closed.
  bool finished() const;
  double progress(Time now) const;
  /// When the first sender had sent all it had; kNever.
  Time ended() const { return ended_; }
  /// Why it cannot go on, `quiet` since something moved; empty while it can.
  std::string failure(Time quiet) const;
  Time busy_until() const { return host_.busy_until(); }
  void check(Findings& findings) const;
  /// An object; goodput is of that window.
  void write(JsonWriter& json, const Meter::Window& window) const;

 private:
  class Source final : public FrameSource {
   public:
    explicit Source(Load& load) : load_(load) {}
    bool next(Frame& frame) override;
    bool over() const override { return load_.finished(); }

   private:
    Load& load_;
    Time start_ = 0;
    std::vector<std::uint8_t> bytes_;
  };

  static constexpr Time kTick = 500 * kNanosecond;
  static constexpr std::uint16_t kPorts = 32768, kListens = 5201;

  std::vector<ConnectionConfig> ends(bool host) const;
  std::size_t size() const { return host_.size(); }
  // The first of the connections send, if the host sends at all.
  bool host_sends(std::size_t n) const { return config_.sends && n < config_.flows; }
  const Connection& sender(std::size_t n) const { return host_sends(n) ? host_[n] : peer_[n]; }
  const Connection& receiver(std::size_t n) const { return host_sends(n) ? peer_[n] : host_[n]; }
  Connection& sender(std::size_t n) { return host_sends(n) ? host_[n] : peer_[n]; }
  std::uint64_t total(std::size_t n) const;
  std::string name(std::size_t n) const;
  void take(Station& station, std::span<const std::uint8_t> frame, Time at);
  void poll(Time now);
  void write_more(Time now);
  void write_way(JsonWriter& json, bool host, const Meter::Window& window) const;
  void write_flow(JsonWriter& json, std::size_t n, const Meter::Window& window) const;
  double gbps(std::size_t n, const Meter::Window& window) const;

  LoadConfig config_;
  Station host_, peer_;
  Source source_{*this};
  Meter meter_;             // payload in order, by connection
  std::vector<Time> last_;  // when a connection's newest byte came
  std::map<unsigned, Frame> held_;
  unsigned tried_ = 0;
  std::vector<std::uint8_t> bytes_;
  Frame frame_{};
  Time start_ = kNever, now_ = 0, next_tick_ = 0, ended_ = kNever;
  bool over_ = false;  // the applications write no more
  std::uint64_t strange_ = 0;
};

}  // namespace emery::tcp
