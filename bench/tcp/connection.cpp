// SPDX-License-Identifier: Apache-2.0
#include "bench/tcp/connection.hpp"

#include <algorithm>

namespace emery::tcp {

namespace {

constexpr unsigned kDuplicates = 3;  // acknowledgements that tell of a loss
constexpr std::uint32_t kInitialSegments = 10, kInitialBytes = 14600;
constexpr Time kMostBackOff = 8;  // times the least RTO

std::uint16_t announced(std::uint64_t window, int scale) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(window >> scale, 0xffff));
}

}  // namespace

Connection::Connection(const ConnectionConfig& config)
    : config_(config),
      out_(config.out_key),
      in_(config.in_key),
      mss_(config.mss),
      rto_(config.rto_least) {
  while (config_.window >> own_scale_ > 0xffff) ++own_scale_;
}

void Connection::cut_off() {
  given_ = std::min(given_, max_ > 0 ? max_ - 1 : 0);
  finished_ = true;
}

void Connection::break_up(const std::string& why, Time now) {
  broken_ = why + " at " + std::to_string(now / kMicrosecond) + " us";
  rto_at_ = ack_at_ = kNever;
}

// ---- sending

Connection::Plan Connection::plan() const {
  if (!broken_.empty()) return {};
  if (nxt_ == 0)
    return {(config_.active ? opened_ : peer_known_) ? Plan::kSyn : Plan::kNothing, 0, 0, false};
  if (!established()) return {};
  if (lost_) {
    if (una_ >= end()) return {Plan::kFin, una_, 0, true};
    const auto bytes = std::min<std::uint64_t>(mss_, std::min(end(), max_) - una_);
    return {Plan::kData, una_, static_cast<std::uint32_t>(bytes), true};
  }
  if (nxt_ < end()) {
    // Limited transmit: the first duplicates let a new segment go each.
    const std::uint64_t more = recovering_ ? 0 : std::min(duplicates_, kDuplicates - 1) * mss_;
    const std::uint64_t may = std::min(cwnd_ + more, window_), flying = nxt_ - una_;
    const std::uint64_t room = may > flying ? may - flying : 0;
    const auto wanted = std::min<std::uint64_t>(mss_, end() - nxt_);
    if (wanted <= room || (flying == 0 && room != 0))
      return {Plan::kData, nxt_, static_cast<std::uint32_t>(std::min(wanted, room)), false};
  } else if (finished_ && nxt_ == end()) {
    return {Plan::kFin, nxt_, 0, false};
  }
  return {ack_ ? Plan::kAck : Plan::kNothing, nxt_, 0, false};
}

// Sequence space that a segment takes.
void Connection::account(const Plan& p, Time now) {
  const Place after = p.from + (p.kind == Plan::kData ? p.bytes : 1);
  const bool again = p.from < max_;
  if (p.kind != Plan::kSyn) {
    ++stats_.data_segments;
    stats_.retransmitted += again;
  }
  if (p.again) {
    lost_ = false;
    for (Flight& flight : flight_)
      if (flight.end <= after) flight.again = true;
  } else {
    flight_.push_back({after, now, again});
    nxt_ = after;
    max_ = std::max(max_, nxt_);
  }
  if (rto_at_ == kNever) rto_at_ = now + rto_;
}

Connection::Made Connection::next(std::vector<std::uint8_t>& frame, Time now) {
  const Plan p = plan();
  Segment s;
  s.src_port = config_.addresses.src_port;
  s.dst_port = config_.addresses.dst_port;
  s.seq = config_.isn + static_cast<std::uint32_t>(p.from);
  s.window = announced(config_.window, own_scale_);
  if (peer_known_) {
    s.flags = kAck;
    s.ack = peer_isn_ + static_cast<std::uint32_t>(rcv_nxt_);
  }
  if (p.kind != Plan::kAck) account(p, now);
  ack_ = false;
  ack_at_ = kNever;
  unacked_ = 0;
  acked_ = rcv_nxt_;
  if (p.kind == Plan::kSyn) {
    s.flags |= kSyn;
    s.mss = static_cast<std::uint16_t>(config_.mss);
    s.scale = own_scale_;
    s.window = announced(config_.window, 0);
  }
  if (p.kind == Plan::kFin) s.flags |= kFin;
  const bool last = p.kind != Plan::kData || p.again || plan().kind != Plan::kData;
  if (p.kind == Plan::kData) {
    payload_.resize(p.bytes);
    out_.read(p.from - 1, payload_);
    s.payload = payload_;
    if (last) s.flags |= kPsh;
  }
  ++stats_.segments;
  build(s, config_.addresses, id_++, frame);
  return {p.bytes, last};
}

void Connection::expire(Time now) {
  if (ack_at_ <= now) {
    ack_at_ = kNever;
    ack_ = true;
  }
  if (rto_at_ > now) return;
  rto_at_ = kNever;
  if (++tries_ > config_.retries) {
    break_up("no answer to byte " + std::to_string(una_) + ", sent " + std::to_string(tries_) +
                 " times,",
             now);
    return;
  }
  ++stats_.timeouts;
  if (established() && tries_ == 1)
    ssthresh_ = std::max<std::uint64_t>((max_ - una_) / 2, 2 * mss_);
  cwnd_ = mss_;
  recover_ = max_;
  recovering_ = lost_ = false;
  duplicates_ = 0;
  flight_.clear();
  nxt_ = una_;
  rto_ = std::min(2 * rto_, kMostBackOff * config_.rto_least);
}

// ---- receiving

void Connection::take_peer(const Segment& s) {
  peer_known_ = true;
  peer_isn_ = s.seq;
  rcv_nxt_ = 1;
  if (s.mss != 0) mss_ = std::min<std::uint32_t>(mss_, s.mss);
  if (s.scale >= 0) {
    scale_ = std::min(s.scale, 14);
  } else {
    own_scale_ = 0;
  }
  window_ = s.window;
  cwnd_ = std::min(kInitialSegments * mss_, std::max(2 * mss_, kInitialBytes));
}

void Connection::receive(const Segment& s, Time now) {
  if (!broken_.empty()) return;
  if ((s.flags & kRst) != 0) {
    if (peer_known_ && s.seq == peer_isn_ + static_cast<std::uint32_t>(rcv_nxt_))
      break_up("reset by the other end", now);
    return;
  }
  if (!peer_known_) {
    const bool wanted = config_.active
                            ? (s.flags & kAck) != 0 && nxt_ == 1 && s.ack == config_.isn + 1
                            : (s.flags & kAck) == 0;
    if ((s.flags & kSyn) == 0 || !wanted) return;
    take_peer(s);
    if (config_.active) {
      const bool lost = tries_ != 0;
      acknowledge(1, s, now);
      if (lost) cwnd_ = mss_;
      ack_ = true;
    }
    return;
  }
  if ((s.flags & kSyn) != 0) {
    if (una_ == 0) {
      nxt_ = 0;  // the answer was lost, or is under way
    } else {
      ack_ = true;
    }
    return;
  }
  if ((s.flags & kAck) == 0) return;
  const Place place = near(s.ack, config_.isn, una_);
  if (place >= una_ && place <= max_) acknowledge(place, s, now);
  if (!established()) return;
  take_data(near(s.seq, peer_isn_, rcv_nxt_), s, now);
}

void Connection::sample_rtt(Time rtt) {
  stats_.rtt.add(rtt);
  if (srtt_ == 0) {
    srtt_ = rtt;
    rttvar_ = rtt / 2;
  } else {
    rttvar_ += ((srtt_ > rtt ? srtt_ - rtt : rtt - srtt_) - rttvar_) / 4;
    srtt_ += (rtt - srtt_) / 8;
  }
  rto_ = std::max(config_.rto_least, srtt_ + 4 * rttvar_);
}

// Bytes acknowledged open the congestion window, as far as the other end's lets it be of use.
void Connection::grow(std::uint64_t acked) {
  if (cwnd_ >= window_) return;
  if (cwnd_ < ssthresh_) {
    cwnd_ += std::min<std::uint64_t>(acked, una_ < recover_ ? mss_ : 2 * mss_);
    return;
  }
  grown_ += acked;
  if (grown_ >= cwnd_) {
    grown_ -= cwnd_;
    cwnd_ += mss_;
  }
}

void Connection::duplicate_ack() {
  ++duplicates_;
  if (recovering_) {
    cwnd_ += mss_;
  } else if (duplicates_ == kDuplicates && una_ > recover_) {
    ++stats_.fast_retransmits;
    ssthresh_ = std::max<std::uint64_t>((max_ - una_) / 2, 2 * mss_);
    cwnd_ = ssthresh_ + kDuplicates * mss_;
    recover_ = max_;
    recovering_ = lost_ = true;
  }
}

void Connection::acknowledge(Place place, const Segment& s, Time now) {
  const std::uint64_t window = std::uint64_t{s.window} << ((s.flags & kSyn) != 0 ? 0 : scale_);
  if (place == una_) {
    if (max_ > una_ && una_ > 0 && s.payload.empty() && (s.flags & (kSyn | kFin)) == 0 &&
        window == window_)
      duplicate_ack();
    window_ = window;
    return;
  }
  const bool first = una_ == 0;
  const std::uint64_t acked = place - una_;
  una_ = place;
  nxt_ = std::max(nxt_, una_);
  window_ = window;
  tries_ = 0;
  lost_ = false;
  bool again = false;
  Time sent = -1;
  for (; !flight_.empty() && flight_.front().end <= una_; flight_.pop_front()) {
    again = again || flight_.front().again;
    sent = flight_.front().sent;
  }
  if (!again && sent >= 0) sample_rtt(now - sent);
  if (recovering_ && una_ < recover_) {
    // A partial one: the next hole is at its place.
    lost_ = true;
    cwnd_ = std::max<std::uint64_t>(cwnd_ > acked ? cwnd_ - acked : 0, mss_);
    if (acked >= mss_) cwnd_ += mss_;
  } else {
    if (recovering_) cwnd_ = std::min(ssthresh_, std::max<std::uint64_t>(max_ - una_, mss_) + mss_);
    if (!recovering_ && !first) grow(acked);
    recovering_ = false;
    duplicates_ = 0;
  }
  rto_at_ = una_ == max_ ? kNever : now + rto_;
}

void Connection::deliver(std::span<const std::uint8_t> bytes, Time now) {
  stats_.wrong += in_.wrong(rcv_nxt_ - 1, bytes);
  stats_.delivered += bytes.size();
  rcv_nxt_ += bytes.size();
  if (on_data) on_data(static_cast<std::uint32_t>(bytes.size()), now);
}

// What came early and has its turn now.
void Connection::drain(Time now) {
  while (!early_.empty() && early_.begin()->first <= rcv_nxt_) {
    const auto part = early_.extract(early_.begin());
    const Place end = part.key() + part.mapped().size();
    if (end > rcv_nxt_)
      deliver(std::span(part.mapped()).subspan(static_cast<std::size_t>(rcv_nxt_ - part.key())),
              now);
  }
}

void Connection::take_data(Place from, const Segment& s, Time now) {
  const Place after = from + s.payload.size();
  const bool fin = (s.flags & kFin) != 0;
  if (s.payload.empty() && !fin) return;
  if (after + fin <= rcv_nxt_) {
    ++stats_.duplicates;
    ack_ = true;
    return;
  }
  if (after > rcv_nxt_ + config_.window) {
    ack_ = true;
    return;
  }
  if (fin) peer_fin_ = after;
  const bool gap = !early_.empty();
  if (from > rcv_nxt_) {
    ++stats_.out_of_order;
    if (!s.payload.empty()) early_.try_emplace(from, s.payload.begin(), s.payload.end());
    ack_ = true;
    return;
  }
  if (after > rcv_nxt_) deliver(s.payload.subspan(static_cast<std::size_t>(rcv_nxt_ - from)), now);
  drain(now);
  if (rcv_nxt_ == peer_fin_) {
    ++rcv_nxt_;
    eof_ = finished_ = true;
  }
  const bool half = 2 * (rcv_nxt_ - acked_) >= config_.window;
  if (gap || eof_ || half || ++unacked_ >= 2) {
    ack_ = true;
  } else {
    ack_at_ = std::min(ack_at_, now + config_.ack_delay);
  }
}

}  // namespace emery::tcp
