// SPDX-License-Identifier: Apache-2.0
// One end of a TCP connection, by itself: it is told what came, of timers and of what its
// application has written, and asked for the next segment whenever there is room for one.
//
// Written for Emery, because a run needs nothing but python3, g++ and make, and a state that is
// pulled frame by frame at a simulated time. It has: three-way handshake and FIN both ways (RFC
// 9293), window scale (RFC 7323), slow start, congestion avoidance by bytes acknowledged and an
// initial window of ten segments (RFC 5681, 3465, 6928), limited transmit (RFC 3042), fast
// retransmit and NewReno recovery (RFC 6582), RTO with Karn's rule and back-off (RFC 6298), delayed
// acknowledgements (every second segment, and at once when half the window has come:
// 9293, 3.8.6.2.2).
//
// Left out: SACK, time stamps, ECN, urgent data, Nagle, keep-alive, path MTU discovery, TIME_WAIT's
// two minutes; and zero windows, for an application here reads at once, so the window that is
// announced is the whole buffer. CUBIC grows in tenths of seconds: runs of milliseconds would see
// Reno of it. Times are pressed: the least RTO and the delay of an acknowledgement are settings.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/tcp/segment.hpp"
#include "bench/tcp/stream.hpp"

namespace emery::tcp {

struct ConnectionConfig {
  bool active = false;           // opens; the other end listens
  std::uint32_t mss = 1460;      // bytes of payload, sent and accepted
  std::uint32_t window = 65536;  // receive buffer
  Time rto_least = 1000 * kMicrosecond;
  Time ack_delay = 200 * kMicrosecond;
  unsigned retries = 4;   // of one segment, before the connection is given up
  std::uint32_t isn = 0;  // initial sequence number
  Addresses addresses;
  std::uint64_t out_key = 0, in_key = 0;  // of what is sent, and of what must come
};

struct ConnectionStats {
  std::uint64_t segments = 0;          // sent, acknowledgements too
  std::uint64_t data_segments = 0;     // of these with payload or FIN
  std::uint64_t retransmitted = 0;     // of these not for the first time
  std::uint64_t fast_retransmits = 0;  // losses that duplicate acknowledgements told
  std::uint64_t timeouts = 0;
  std::uint64_t duplicates = 0;    // segments received again
  std::uint64_t out_of_order = 0;  // received before what belongs in front of them
  std::uint64_t delivered = 0;     // bytes, in order
  std::uint64_t wrong = 0;         // of these not what was sent
  Histogram rtt;
};

class Connection {
 public:
  explicit Connection(const ConnectionConfig& config);

  /// The active end begins.
  void open() { opened_ = true; }
  /// The application has written so many bytes since the beginning.
  void write(std::uint64_t bytes) { given_ = std::max(given_, bytes); }
  /// It writes no more than it has.
  void finish() { finished_ = true; }
  /// It writes no more than was sent.
  void cut_off();

  void receive(const Segment& segment, Time now);
  /// There is a segment to send now.
  bool wants() const { return plan().kind != Plan::kNothing; }
  /// It has an acknowledgement to send, before anything else that came is looked at.
  bool owes() const { return ack_ && broken_.empty(); }
  /// Makes it, as a frame.
  struct Made {
    std::uint32_t payload;
    bool last;  // the next one is no part of the same burst
  };
  Made next(std::vector<std::uint8_t>& frame, Time now);

  /// When a timer ends: expire() is to be called then.
  Time deadline() const { return std::min(rto_at_, ack_at_); }
  void expire(Time now);

  /// In-order bytes for the application.
  std::function<void(std::uint32_t bytes, Time now)> on_data;

  bool established() const { return una_ > 0 && peer_known_; }
  /// All that was written is with the other end, which has ended its side, too.
  bool closed() const { return finished_ && una_ == end() + 1 && eof_; }
  /// All that will be written was sent, at least once.
  bool sent_all() const { return finished_ && max_ >= end(); }
  /// Why it was given up; empty while it was not.
  const std::string& broken() const { return broken_; }
  std::uint64_t written() const { return given_; }
  std::uint64_t acknowledged() const { return una_ > 0 ? std::min(una_, end()) - 1 : 0; }
  std::uint64_t congestion_window() const { return cwnd_; }
  const ConnectionConfig& config() const { return config_; }
  const ConnectionStats& stats() const { return stats_; }

 private:
  // Places of a stream are counted from its SYN, which is at 0; data begins at 1, and FIN is behind
  // the last byte.
  using Place = std::uint64_t;

  struct Plan {
    enum Kind { kNothing, kSyn, kData, kFin, kAck } kind = kNothing;
    Place from = 0;
    std::uint32_t bytes = 0;
    bool again = false;  // what is lost, in front of all else
  };
  struct Flight {
    Place end;
    Time sent;
    bool again;
  };

  Place end() const { return 1 + given_; }
  static Place near(std::uint32_t number, std::uint32_t first, Place place) {
    return place + static_cast<Place>(static_cast<std::int64_t>(static_cast<std::int32_t>(
                       number - (first + static_cast<std::uint32_t>(place)))));
  }
  Plan plan() const;
  void account(const Plan& plan, Time now);
  void take_peer(const Segment& segment);
  void acknowledge(Place place, const Segment& segment, Time now);
  void grow(std::uint64_t acked);
  void sample_rtt(Time rtt);
  void duplicate_ack();
  void take_data(Place from, const Segment& segment, Time now);
  void deliver(std::span<const std::uint8_t> bytes, Time now);
  void drain(Time now);
  void break_up(const std::string& why, Time now);

  ConnectionConfig config_;
  ConnectionStats stats_;
  Stream out_, in_;
  bool opened_ = false, finished_ = false;
  std::uint64_t given_ = 0;
  std::string broken_;
  std::vector<std::uint8_t> payload_;
  std::uint16_t id_ = 0;  // of the next IP packet

  // What is sent.
  std::uint32_t mss_;
  Place una_ = 0, nxt_ = 0, max_ = 0, recover_ = 0;
  std::uint64_t window_ = 0, cwnd_ = 0, ssthresh_ = UINT64_MAX, grown_ = 0;
  int scale_ = 0, own_scale_ = 0;
  unsigned duplicates_ = 0, tries_ = 0;
  bool recovering_ = false, lost_ = false;
  std::deque<Flight> flight_;
  Time srtt_ = 0, rttvar_ = 0, rto_, rto_at_ = kNever;

  // What is received.
  bool peer_known_ = false, eof_ = false;
  std::uint32_t peer_isn_ = 0;
  Place rcv_nxt_ = 0, peer_fin_ = UINT64_MAX;
  std::map<Place, std::vector<std::uint8_t>> early_;
  bool ack_ = false;      // one is due
  unsigned unacked_ = 0;  // segments since the last one
  Place acked_ = 0;       // as of the last one
  Time ack_at_ = kNever;
};

}  // namespace emery::tcp
