// SPDX-License-Identifier: Apache-2.0
// A PCI Express link, both directions: serialisation, data-link overhead, propagation, and
// flow-control credits.
//
// Rates and packet costs are those of the specification: GT/s x lanes x encoding (128b/130b from
// gen 3, 8b/10b before) less the SKP ordered sets (one block in 373; 4 symbols in 1184 before gen
// 3). A TLP costs 8 bytes (framing, sequence number, LCRC) beyond header and payload. So gen3 x16
// carries 125.69 Gb/s, and writes of 256 bytes with 4DW headers 114.9 Gb/s of payload. ACK and
// UpdateFC DLLPs (8 bytes) take their time on the opposite direction, coalesced: after `ack_tlps`
// packets or `ack_delay`, whichever is first, and the same for credits given back.
//
// `latency` is one way, last byte sent to packet usable: PHYs, data-link layer, wire (and switches,
// if any), and the pipelines of the two ends. The default of 175 ns, with the root complex's 50 +
// 350 ns, makes a read round trip of about 800 ns, in the middle of what is published for servers
// of the gen 3 time (Neugebauer et al., Understanding PCIe performance for end host networking,
// SIGCOMM 2018).
//
// A link can be lost and trained again: what is under way then is gone, what is sent meanwhile too,
// and credits start afresh.
//
// Left out: bit errors and replays, power states, virtual channels, lane skew, non-posted data
// credits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/pcie/tlp.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/time.hpp"

namespace emery {

struct LinkConfig {
  int gen = 3;     // 1 ... 5
  int lanes = 16;  // 1, 2, 4, 8, 16
  Time latency = 175 * kNanosecond;
  int ack_tlps = 8;
  Time ack_delay = 150 * kNanosecond;
  int fc_tlps = 8;
  Time fc_delay = 150 * kNanosecond;
  double speed = 1;  // of the rate these settings give; below 1 for a link that does badly

  // The settings pcie_gen, pcie_lanes and link_latency_ns.
  static LinkConfig from(const Options& options) {
    LinkConfig c;
    c.gen = options.get<int>("pcie_gen");
    c.lanes = options.get<int>("pcie_lanes");
    c.latency = options.ns("link_latency_ns");
    return c;
  }

  void check() const {
    if (gen < 1 || gen > 5) throw OptionError("PCIe generation must be 1 to 5");
    if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16) {
      throw OptionError("PCIe lanes must be 1, 2, 4, 8 or 16");
    }
    if (latency < 20 * kNanosecond) throw OptionError("PCIe latency must be at least 20 ns");
    if (!(speed > 0 && speed <= 1)) throw OptionError("PCIe speed must be above 0, at most 1");
    if (ack_tlps < 1 || fc_tlps < 1)
      throw OptionError("PCIe ack_tlps and fc_tlps must be at least 1");
  }

  // Bytes of TLPs and DLLPs a direction carries, in Gb/s.
  double gbps() const {
    static constexpr double kTransfers[] = {2.5, 5, 8, 16, 32};
    const double coding = gen >= 3 ? 128.0 / 130 * (1 - 1.0 / 373) : 0.8 * (1 - 4.0 / 1184);
    return kTransfers[gen - 1] * lanes * coding * speed;
  }
};

// Credits a receiver advertises, by class: headers (one a TLP) and data (16 bytes each); 0 means
// infinite. At most 127 and 2047, so that the modulo counters of the specification can tell used
// from free.
struct CreditConfig {
  std::uint32_t header[kFcClasses] = {0, 0, 0};
  std::uint32_t data[kFcClasses] = {0, 0, 0};

  // Of what is above a device, the settings credits_ph, credits_pd and credits_nph; completions
  // without limit.
  static CreditConfig from(const Options& options) {
    return {
        {options.get<std::uint32_t>("credits_ph"), options.get<std::uint32_t>("credits_nph"), 0},
        {options.get<std::uint32_t>("credits_pd"), 0, 0}};
  }

  void check() const {
    for (int i = 0; i < kFcClasses; ++i) {
      if (header[i] > 127 || data[i] > 2047)
        throw OptionError("PCIe credits: at most 127 headers, 2047 data");
      if ((header[i] == 0) != (data[i] == 0) && i != kNonPosted) {
        throw OptionError("PCIe credits: headers and data of a class are infinite together");
      }
    }
  }
};

struct LinkStats {
  std::uint64_t tlps = 0, wire_bytes = 0, payload_bytes = 0, dllps = 0;
  std::uint64_t tlps_by_class[kFcClasses] = {0, 0, 0};
  std::uint64_t credit_overruns = 0;  // packets sent beyond what the receiver granted
  std::uint64_t lost = 0;  // packets under way when the link was lost, or sent while it was

  template <class Json>
  void write(Json& json) const {
    json.begin_object()
        .field("tlps", tlps)
        .field("posted", tlps_by_class[kPosted])
        .field("non_posted", tlps_by_class[kNonPosted])
        .field("completions", tlps_by_class[kCompletion])
        .field("payload_bytes", payload_bytes)
        .field("tlp_bytes", wire_bytes)
        .field("dllps", dllps)
        .field("credit_overruns", credit_overruns)
        .field("lost", lost)
        .end_object();
  }
};

// One direction: the transmitter calls idle / has_credit / send, the receiver front / pop /
// release, either one service.
class LinkDirection {
 public:
  LinkDirection(const LinkConfig& config, const CreditConfig& credits)
      : config_(config), credits_(credits) {
    // Byte time in 2^-16 ps: one part in 10^8 of rounding at gen 5 x16.
    byte_time_ = static_cast<std::int64_t>(8e3 / config.gbps() * 65536 + 0.5);
    init_credits();
  }

  // While lost, the transmitter's packets vanish as it sends them.
  void set_lost(bool lost) {
    lost_ = lost;
    stats_.lost += queue_.size();
    queue_.clear();
    updates_.clear();
    acks_.clear();
    unacked_ = 0;
    owed_ = 0;
    ack_due_ = next_service_ = kNever;
    init_credits();
    ++limit_version_;
  }
  bool lost() const { return lost_; }

  void set_reverse(LinkDirection& reverse) { reverse_ = &reverse; }

  // ---- transmitter

  bool idle(Time now) const { return free_at_ <= now; }

  bool infinite(int c) const { return credits_.header[c] == 0; }

  bool has_credit(FcClass c, std::uint32_t data) const {
    if (lost_ || infinite(c)) return true;
    const Credit& fc = fc_[c];
    return fc.limit_h - fc.used_h >= 1 && (credits_.data[c] == 0 || fc.limit_d - fc.used_d >= data);
  }

  bool within_limits(FcClass c, std::uint64_t header, std::uint64_t data) const {
    return infinite(c) ||
           (header <= fc_[c].limit_h && (credits_.data[c] == 0 || data <= fc_[c].limit_d));
  }

  // Cumulative limits as the transmitter knows them; reduce modulo the field's width.
  std::uint64_t limit_header(int c) const { return fc_[c].limit_h; }
  std::uint64_t limit_data(int c) const { return fc_[c].limit_d; }
  std::uint64_t used_header(int c) const { return fc_[c].used_h; }
  std::uint64_t used_data(int c) const { return fc_[c].used_d; }

  // Headers of a class that the receiver has taken credits for and not freed again.
  std::uint64_t credits_out(int c) const {
    const Credit& fc = fc_[c];
    return infinite(c) ? 0 : fc.used_h - (fc.granted_h + fc.freed_h - credits_.header[c]);
  }

  // Counts how often a limit moved, so that a copy of the limits knows when it is old.
  std::uint64_t limit_version() const { return limit_version_; }

  // Sends a packet that was ready at `ready`; returns when its last byte leaves. It begins no
  // sooner than the link is free and the credits it takes are known. Call when idle, so that
  // packets of several sources are chosen one at a time.
  Time send(const Tlp& tlp, Time ready) {
    if (lost_) {
      ++stats_.lost;
      return ready;
    }
    const FcClass c = tlp.fc_class();
    ready = std::max(ready, affordable_since(c, tlp.data_credits()));
    ++fc_[c].used_h;
    fc_[c].used_d += tlp.data_credits();
    if (!infinite(c) && (fc_[c].used_h > fc_[c].granted_h ||
                         (credits_.data[c] != 0 && fc_[c].used_d > fc_[c].granted_d))) {
      ++stats_.credit_overruns;
    }
    const std::uint32_t bytes = tlp.wire_bytes();
    const Time start = std::max(free_at_, ready);
    const Time end = occupy(bytes, ready);
    if (owed_) pay_dllps(start, end);
    ++stats_.tlps;
    ++stats_.tlps_by_class[c];
    stats_.wire_bytes += bytes;
    stats_.payload_bytes += tlp.bytes;
    Tlp copy = tlp;
    copy.time = end + config_.latency;
    queue_.push(copy);
    expect_ack(copy.time);
    return end;
  }

  // ---- receiver

  // The oldest packet if it has arrived by `now`. `time` is its arrival.
  const Tlp* front(Time now) const {
    return !queue_.empty() && queue_.front().time <= now ? &queue_.front() : nullptr;
  }
  void pop() { queue_.pop(); }

  // The receiver has room again for a packet of this class.
  void release(FcClass c, std::uint32_t data, Time now) {
    if (infinite(c)) return;
    Credit& fc = fc_[c];
    if (fc.freed_h == 0) fc.due = now + config_.fc_delay;
    ++fc.freed_h;
    fc.freed_d += data;
    const bool scarce = 2 * fc.freed_h >= credits_.header[c] ||
                        (credits_.data[c] != 0 && 2 * fc.freed_d >= credits_.data[c]);
    if (scarce || fc.freed_h >= static_cast<std::uint32_t>(config_.fc_tlps)) update_fc(c, now);
    next_service_ = std::min(next_service_, fc.freed_h ? fc.due : kNever);
  }

  // Lets DLLPs go and arrive up to `now`; cheap when none is due.
  void service(Time now) {
    if (next_service_ <= now) service_due(now);
  }

  const LinkStats& stats() const { return stats_; }
  std::size_t in_flight() const { return queue_.size(); }

  // How long the wire has been busy until now: of a packet that is on it what has gone by.
  Time busy_time(Time now) const { return busy_ - std::max<Time>(free_at_ - now, 0); }

 private:
  struct Credit {
    std::uint64_t limit_h = 0, limit_d = 0;    // transmitter: may use up to
    std::uint64_t before_h = 0, before_d = 0;  // ... until it was told so, at `told`
    Time told = 0;
    std::uint64_t used_h = 0, used_d = 0;        // transmitter: has used
    std::uint64_t granted_h = 0, granted_d = 0;  // receiver: has told
    std::uint32_t freed_h = 0, freed_d = 0;      // receiver: not told yet
    Time due = kNever;
  };

  struct Update {
    Time arrival;
    int c;
    std::uint64_t header, data;
  };

  // Since when there are credits for the next packet, which has so much data.
  Time affordable_since(int c, std::uint32_t data) const {
    const Credit& fc = fc_[c];
    const bool had = infinite(c) || (fc.used_h < fc.before_h &&
                                     (credits_.data[c] == 0 || fc.used_d + data <= fc.before_d));
    return had ? 0 : fc.told;
  }

  void init_credits() {
    for (int c = 0; c < kFcClasses; ++c) {
      fc_[c] = {};
      fc_[c].limit_h = fc_[c].granted_h = credits_.header[c];
      fc_[c].limit_d = fc_[c].granted_d = credits_.data[c];
      fc_[c].before_h = fc_[c].limit_h;
      fc_[c].before_d = fc_[c].limit_d;
    }
  }

  Time occupy(std::uint32_t bytes, Time ready) {
    const Time start = std::max(free_at_, ready);
    const std::int64_t length = byte_time_ * bytes + (start == free_at_ ? fraction_ : 0);
    fraction_ = length & 0xffff;
    free_at_ = start + (length >> 16);
    busy_ += length >> 16;
    return free_at_;
  }

  // A DLLP that finds the wire idle must not push a packet back that was ready before it but is
  // sent later in the same clock: it is owed, and takes its time behind that packet unless the wire
  // was idle long enough for it.
  Time send_dllp(Time ready) {
    ++stats_.dllps;
    if (free_at_ > ready) return occupy(kDllpBytes, ready) + config_.latency;
    owed_ += kDllpBytes;
    owed_end_ = std::max(ready, owed_end_) + (byte_time_ * kDllpBytes >> 16);
    return owed_end_ + config_.latency;
  }

  void pay_dllps(Time start, Time end) {
    if (start < owed_end_) {
      occupy(owed_, end);
    } else {
      busy_ += byte_time_ * owed_ >> 16;
    }
    owed_ = 0;
  }

  // Acknowledgements are planned when the packet is sent, for the time of its arrival.
  void expect_ack(Time arrival) {
    if (unacked_ && arrival > ack_due_) plan_ack(ack_due_);
    if (unacked_++ == 0) ack_due_ = arrival + config_.ack_delay;
    if (unacked_ >= config_.ack_tlps) plan_ack(arrival);
    if (unacked_) next_service_ = std::min(next_service_, ack_due_);
  }

  void plan_ack(Time when) {
    acks_.push(when);
    unacked_ = 0;
    next_service_ = std::min(next_service_, when);
  }

  void update_fc(int c, Time now) {
    Credit& fc = fc_[c];
    fc.granted_h += fc.freed_h;
    fc.granted_d += fc.freed_d;
    fc.freed_h = fc.freed_d = 0;
    fc.due = kNever;
    const Time arrival = reverse_->send_dllp(now);
    updates_.push({arrival, c, fc.granted_h, fc.granted_d});
    next_service_ = std::min(next_service_, arrival);
  }

  void service_due(Time now) {
    if (unacked_ && ack_due_ <= now) plan_ack(ack_due_);
    while (!acks_.empty() && acks_.front() <= now) {
      reverse_->send_dllp(acks_.front());
      acks_.pop();
    }
    for (int c = 0; c < kFcClasses; ++c) {
      if (fc_[c].freed_h && fc_[c].due <= now) update_fc(c, fc_[c].due);
    }
    bool moved[kFcClasses] = {};
    while (!updates_.empty() && updates_.front().arrival <= now) {
      const Update& update = updates_.front();
      Credit& fc = fc_[update.c];
      if (!std::exchange(moved[update.c], true)) {
        fc.before_h = fc.limit_h;
        fc.before_d = fc.limit_d;
      }
      fc.told = update.arrival;
      fc.limit_h = update.header;
      fc.limit_d = update.data;
      ++limit_version_;
      updates_.pop();
    }
    next_service_ = unacked_ ? ack_due_ : kNever;
    if (!acks_.empty()) next_service_ = std::min(next_service_, acks_.front());
    if (!updates_.empty()) next_service_ = std::min(next_service_, updates_.front().arrival);
    for (const Credit& fc : fc_)
      next_service_ = std::min(next_service_, fc.freed_h ? fc.due : kNever);
  }

  LinkConfig config_;
  CreditConfig credits_;
  LinkDirection* reverse_ = nullptr;
  bool lost_ = false;
  std::int64_t byte_time_;
  std::int64_t fraction_ = 0;
  Time free_at_ = 0;
  std::uint32_t owed_ = 0;  // bytes of DLLPs
  Time owed_end_ = 0;
  Time busy_ = 0;
  TlpFifo queue_;
  Credit fc_[kFcClasses];
  Ring<Update> updates_;
  Ring<Time> acks_;
  int unacked_ = 0;
  Time ack_due_ = kNever;
  Time next_service_ = kNever;
  std::uint64_t limit_version_ = 1;
  LinkStats stats_;
};

// `up` runs from the device to the root complex, `down` the other way.
class PcieLink {
 public:
  // The root complex takes completions without limit, as one that does not pass packets between its
  // ports must; the device does too, as every endpoint must.
  static CreditConfig root_credits() { return {{112, 112, 0}, {1536, 0, 0}}; }
  static CreditConfig device_credits() { return {{64, 32, 0}, {512, 0, 0}}; }

  explicit PcieLink(const LinkConfig& config, const CreditConfig& at_root = root_credits(),
                    const CreditConfig& at_device = device_credits())
      : config_(checked(config, at_root, at_device)), up(config, at_root), down(config, at_device) {
    up.set_reverse(down);
    down.set_reverse(up);
  }

  PcieLink(const PcieLink&) = delete;
  PcieLink& operator=(const PcieLink&) = delete;

  const LinkConfig& config() const { return config_; }

  // For both ends at once; Endpoint::set_link_lost calls it.
  void set_lost(bool lost) {
    up.set_lost(lost);
    down.set_lost(lost);
  }
  bool lost() const { return up.lost(); }

 private:
  static const LinkConfig& checked(const LinkConfig& config, const CreditConfig& a,
                                   const CreditConfig& b) {
    config.check();
    a.check();
    b.check();
    return config;
  }

  LinkConfig config_;

 public:
  LinkDirection up, down;
};

}  // namespace emery
