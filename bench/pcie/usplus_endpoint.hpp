// SPDX-License-Identifier: Apache-2.0
// The hard block of an UltraScale+ device: an Endpoint whose pins are RQ, RC, CQ and CC
// (usplus_port.hpp).
//
// Credits are the block's: the logic is not told of them but for read requests, and a request
// without credit blocks those behind it. Completions that nobody asked for are dropped.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/usplus_port.hpp"

namespace emery {

class UsPlusEndpoint final : public Endpoint {
 public:
  UsPlusEndpoint(const EndpointConfig& config, PcieLink& link, const EndpointPins& pins)
      : Endpoint(config, link, pins),
        pins_(pins.usplus),
        rq_in_(UsPlusReceiver::rq(pins_.straddle), pins_.rq),
        cc_in_(UsPlusReceiver::cc(), pins_.cc),
        rc_(UsPlusSender::rc(pins_.straddle), pins_.rc),
        cq_(UsPlusSender::cq(), pins_.cq) {}

  void sample(Time now) override {
    link_.up.service(now);
    sample_function_reset();
    if (*pins_.vf_flr_done) virtual_reset_done(*pins_.vf_flr_number);
    rc_free_ = sample_sender(rc_, now);
    cq_free_ = sample_sender(cq_, now);
    while (const Tlp* tlp = link_.down.front(now)) {
      if (!for_logic(*tlp) || (tlp->is_completion() && reads_[tlp->cpl_tag()].left == 0)) {
        deal_with(*tlp, now);
        continue;
      }
      ++stats_.rx_tlps;
      if (tlp->is_completion()) {
        const ReadState& r = reads_[tlp->cpl_tag()];
        UsPlusSender::Extra extra;
        extra.lower_addr = (r.addr + r.bytes - r.left) & 0xfff;
        extra.error = tlp->status() != kStatusSC ? 2 : tlp->poisoned();
        read_progress(*tlp, now);
        extra.completed = r.left == 0;
        extras_.push(extra);
        rc_.queue.push(*tlp);
      } else {
        // Told as it comes: what waits here when its function is reset is no other's.
        UsPlusSender::Extra extra;
        extra.function = place_of(function_of(tlp->addr()));
        cq_extras_.push(extra);
        cq_.queue.push(*tlp);
      }
      link_.down.pop();
    }
    if (!deaf_) {
      sample_receiver(rq_in_, pins_.rq, rq_ready_, tx_queue_, now);
      sample_receiver(cc_in_, pins_.cc, cc_ready_, cc_queue_, now);
    }
    while (link_.up.idle(now) && send_next()) {
    }
  }

  void drive() override {
    drive_function_reset();
    if (rc_free_) {
      rc_.next([&](const Tlp&) {
        const UsPlusSender::Extra extra = extras_.front();
        extras_.pop();
        return extra;
      });
    }
    if (cq_free_) {
      cq_.next([this](const Tlp&) {
        const UsPlusSender::Extra extra = cq_extras_.front();
        cq_extras_.pop();
        return extra;
      });
    }
    *pins_.rq.ready = rq_ready_ = has_room(tx_queue_);
    *pins_.cc.ready = cc_ready_ = has_room(cc_queue_);
    const LinkDirection& up = link_.up;
    // Known two clocks after a request was taken.
    *pins_.nph_av = known_[1];
    known_[1] = known_[0];
    const auto used = static_cast<std::int64_t>(up.used_header(kNonPosted) + reads_held_);
    const std::int64_t left = static_cast<std::int64_t>(up.limit_header(kNonPosted)) - used;
    known_[0] = static_cast<std::uint8_t>(
        up.infinite(kNonPosted) ? 15 : std::clamp<std::int64_t>(left, 0, 15));
    // Device Control is where the hard block has it; an answer takes a few clocks.
    const bool asked = *pins_.mgmt_read && !*pins_.mgmt_done;
    mgmt_clocks_ = asked ? mgmt_clocks_ + 1 : 0;
    *pins_.mgmt_done = mgmt_clocks_ == 4;
    if (*pins_.mgmt_done)
      *pins_.mgmt_data = space_.read(static_cast<std::uint16_t>(*pins_.mgmt_addr * 4));
    if (!cfg_changed_) return;
    cfg_changed_ = false;
    *pins_.bus_number = static_cast<std::uint8_t>(requester_ >> 8);
    *pins_.max_payload = static_cast<std::uint8_t>(std::min(space_.max_payload(), 3u));
    *pins_.max_read_req = static_cast<std::uint8_t>(space_.max_read_request());
    *pins_.function_status =
        static_cast<std::uint16_t>(space_.memory_enabled() << 1 | space_.bus_master() << 2);
    *pins_.msix_enable = space_.msix_enabled();
    *pins_.msix_mask = space_.msix_masked();
    drive_virtual();
  }

  void reset(Time now) override {
    Endpoint::reset(now);
    rq_in_.reset();
    cc_in_.reset();
    rc_.reset();
    cq_.reset();
    cc_queue_.clear();
    extras_.clear();
    cq_extras_.clear();
    rc_free_ = cq_free_ = true;
    reads_held_ = 0;
    known_[0] = known_[1] = 0;
  }

  std::size_t held() const override {
    return Endpoint::held() + cc_queue_.size() + rc_.held() + cq_.held();
  }

 private:
  // Whether the next beat can be put on the pins.
  bool sample_sender(UsPlusSender& sender, Time now) {
    if (!sender.busy()) return true;
    if (!sender.taken()) {
      ++stats_.rx_stall_clocks;
      return false;
    }
    ++stats_.rx_beats;
    for (const Tlp& tlp : sender.ended) link_.down.release(tlp.fc_class(), tlp.data_credits(), now);
    sender.ended.clear();
    return true;
  }

  void sample_receiver(UsPlusReceiver& receiver, const AxisPins& pins, bool ready, TlpFifo& queue,
                       Time now) {
    if (!*pins.valid) {
      stats_.tx_malformed += receiver.gap();
    } else if (!ready) {
      ++stats_.tx_stall_clocks;
    } else {
      ++stats_.tx_beats;
      receiver.beat(queue, stats_.tx_malformed, [&](Tlp& tlp) {
        if (tlp.is_mem() && !may_ask(tlp, now)) {
          ++stats_.tx_not_master;
          return false;
        }
        if (tlp.is_mem() || tlp.is_completion()) tlp.dw[1] |= std::uint32_t{requester_} << 16;
        tlp.time = now;
        ++stats_.tx_tlps;
        if (!tlp.is_completion()) stats_.rq_beats += receiver.beats(tlp.bytes);
        if (tlp.is_mem_read()) read_begins(tlp, now);
        reads_held_ += tlp.fc_class() == kNonPosted;
        return true;
      });
    }
  }

  static unsigned place_of(int function) {
    return function == 0 ? 0 : static_cast<unsigned>(function) + ConfigSpace::kFirstVirtual - 1;
  }

  // What the logic had begun when the host took the right away is still sent.
  bool may_ask(const Tlp& tlp, Time now) const {
    if (virtual_.empty()) return space_.bus_master();
    const int n =
        function_at(static_cast<std::uint16_t>((requester_ & 0xff00) | (tlp.requester() & 0xff)));
    if (n <= 0) return n == 0 && space_.bus_master();
    const Time until = virtual_[static_cast<unsigned>(n) - 1].master_until;
    return until == kNever || (until != 0 && now < until + kBegun);
  }

  void virtual_reset_done(unsigned place) {
    const unsigned n = place - ConfigSpace::kFirstVirtual;
    if (n >= virtual_.size()) {
      ++stats_.tx_malformed;
      return;
    }
    virtual_[n].in_reset = false;
    cfg_changed_ = true;
  }

  void drive_virtual() {
    *pins_.vf_flr = *pins_.vf_msix_enable = *pins_.vf_msix_mask = 0;
    for (unsigned n = 0; n < virtual_.size(); ++n) {
      const VirtualFunction& f = virtual_[n];
      const std::uint64_t bit = std::uint64_t{1} << n;
      const bool there = n < existing();
      set_bits(pins_.vf_status, 2 * n, 2, there | (there && f.bus_master()) << 1);
      if (f.in_reset) *pins_.vf_flr |= bit;
      if (there && f.msix_enabled()) *pins_.vf_msix_enable |= bit;
      if (f.msix_masked()) *pins_.vf_msix_mask |= bit;
    }
  }

  // Requests go in their order; completions do not wait for them, nor they for completions.
  bool send_next() {
    if (!own_.empty()) return send_own();
    TlpFifo* const queues[] = {&tx_queue_, &cc_queue_};
    TlpFifo* next = nullptr;
    for (TlpFifo* queue : queues) {
      if (queue->empty()) continue;
      const Tlp& tlp = queue->front();
      if (!link_.up.has_credit(tlp.fc_class(), tlp.data_credits())) continue;
      if (!next || tlp.time < next->front().time) next = queue;
    }
    if (!next) return false;
    link_.up.send(next->front(), next->front().time);
    reads_held_ -= next->front().fc_class() == kNonPosted;
    next->pop();
    return true;
  }

  static constexpr Time kBegun = 1 * kMicrosecond;

  UsPlusPins pins_;
  UsPlusReceiver rq_in_, cc_in_;
  UsPlusSender rc_, cq_;
  TlpFifo cc_queue_;  // completions of the logic; tx_queue_ has its requests
  Ring<UsPlusSender::Extra> extras_, cq_extras_;
  bool rq_ready_ = false, cc_ready_ = false, rc_free_ = true, cq_free_ = true;
  int mgmt_clocks_ = 0;
  unsigned reads_held_ = 0;         // taken and not yet on the link
  std::uint8_t known_[2] = {0, 0};  // nph_av of the next clocks
};

}  // namespace emery
