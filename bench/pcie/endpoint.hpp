// SPDX-License-Identifier: Apache-2.0
// The PCIe hard block of the device: link transactions on one side, TLP beats to and from the logic
// on the other.
//
// It answers configuration requests itself, refuses (UR) memory requests that miss BAR 0, and
// passes the rest on in order, one beat a clock. Packets from the logic wait in a small transmit
// buffer; a packet for which the root complex has given no credit blocks those behind it and is
// counted: the logic has the limits on `fc` and must keep to them. Clock it with the logic behind
// it.
// Pins of real hard blocks are those of classes derived from it (usplus_endpoint.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/pcie/config_space.hpp"
#include "bench/pcie/endpoint_stats.hpp"
#include "bench/pcie/pcie_link.hpp"
#include "bench/pcie/pins.hpp"
#include "bench/pcie/tlp.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"

namespace emery {

class Endpoint : public Component {
 public:
  // Requests on the stream for reads keep their place in time among the packets of `tx`.
  Endpoint(const EndpointConfig& config, PcieLink& link, const EndpointPins& pins)
      : config_(config),
        link_(link),
        tx_(pins.tx),
        tx_read_(pins.reads),
        rx_(pins.rx),
        cfg_(pins.cfg),
        fc_(pins.fc),
        link_up_(pins.link_up),
        flr_(pins.function_reset),
        flr_done_(pins.function_reset_done),
        space_(config.function, link.config()) {
    FunctionConfig one = config.function;
    one.functions = 1;
    for (unsigned n = 1; n < config.function.functions; ++n) {
      virtual_.emplace_back(one, link.config());
      virtual_.back().reset();
    }
    *tx_.ready = 0;
    if (tx_read_.valid) *tx_read_.ready = 0;
    *rx_.valid = 0;
  }

  void sample(Time now) override {
    link_.up.service(now);
    sample_function_reset();
    if (rx_valid_) {
      if (*rx_.ready) {
        rx_accepted(now);
      } else {
        ++stats_.rx_stall_clocks;
      }
    }
    if (!rx_valid_ && link_.down.front(now)) rx_next(now);
    if (*tx_.valid) {
      if (tx_ready_) {
        tx_beat(now);
      } else {
        ++stats_.tx_stall_clocks;
      }
    }
    if (tx_read_.valid && *tx_read_.valid && read_ready_ && !deaf_) read_request(now);
    if (!own_.empty() || !tx_queue_.empty() || !read_queue_.empty()) launch(now);
  }

  void drive() override {
    drive_function_reset();
    const bool ready = has_room(tx_queue_);
    if (ready != tx_ready_) *tx_.ready = tx_ready_ = ready;
    if (tx_read_.valid) {
      *tx_read_.ready = read_ready_ =
          read_queue_.size() < static_cast<std::size_t>(config_.tx_tlps);
    }
    if (rx_changed_) drive_rx();
    if (cfg_changed_) drive_cfg();
    if (fc_version_ != link_.up.limit_version()) drive_fc();
  }

  // Conventional reset: configuration space back to its defaults, packets in the transmit buffer
  // lost, reads forgotten. Reset the logic with it: its credit counters start from zero again.
  virtual void reset(Time now) {
    space_.reset();
    reset_virtual();
    if (rx_valid_) {
      rx_valid_ = false;
      rx_changed_ = true;
      finish_packet(*link_.down.front(now), now);
    }
    for (int c = 0; c < kFcClasses; ++c) {
      base_h_[c] = link_.up.used_header(c);
      base_d_[c] = link_.up.used_data(c);
      used_h_[c] = used_d_[c] = 0;
    }
    fc_version_ = 0;
    requester_ = 0;
    tx_queue_.clear();
    read_queue_.clear();
    own_.clear();
    in_packet_ = drop_packet_ = false;
    for (ReadState& r : reads_) r = {};
    reads_open_ = read_bytes_open_ = 0;
    resets_function_ = false;
    cfg_changed_ = true;
  }

  // The link goes down, or is trained again: packets under way and in the transmit buffer are lost,
  // the configuration space is as after reset. The logic may be reset with it (`logic_reset`) or go
  // on: then its credit counters go on too, and the limits it sees follow what it has used. While
  // the link is lost the hard block takes packets as fast as they come and drops them.
  void set_link_lost(bool lost, bool logic_reset, Time now) {
    std::uint64_t used_h[kFcClasses] = {}, used_d[kFcClasses] = {};
    if (!logic_reset) {
      std::copy_n(used_h_, kFcClasses, used_h);
      std::copy_n(used_d_, kFcClasses, used_d);
    }
    const bool in_packet = in_packet_ && !logic_reset;
    reset(now);
    link_.set_lost(lost);
    for (int c = 0; c < kFcClasses; ++c) {
      used_h_[c] = used_h[c], used_d_[c] = used_d[c];
      base_h_[c] = -used_h[c], base_d_[c] = -used_d[c];  // modulo 2^64: only differences count
    }
    in_packet_ = drop_packet_ = in_packet;
    deaf_ = lost && logic_reset;
  }

  // Likewise of a virtual function, 1 ...: while it is being reset it is not there.
  bool resets_virtual(unsigned n) const { return virtual_.at(n - 1).in_reset; }

  // What the logic sees of it, where it looks: that the link is trained.
  void show_up(bool up) { *link_up_ = up; }

  // The host has reset the function, and the logic has not done it yet. Configuration requests are
  // to be tried again meanwhile, memory requests miss BAR 0.
  bool resets_function() const { return resets_function_; }
  // Completions given to the logic since it did so last.
  std::uint64_t completions_since_reset() const { return completions_since_reset_; }

  const ConfigSpace& config_space() const { return space_; }
  std::uint16_t id() const { return requester_; }
  const EndpointStats& stats() const { return stats_; }
  // Reads of the logic that have not been answered in full.
  std::uint64_t reads_open() const { return reads_open_; }
  // Packets in the transmit buffer, or on offer to the logic.
  virtual std::size_t held() const {
    return tx_queue_.size() + read_queue_.size() + own_.size() + rx_valid_;
  }

 protected:
  struct VirtualFunction : ConfigSpace {
    using ConfigSpace::ConfigSpace;
    bool in_reset = false;
    Time master_until = kNever;  // when it lost the right to ask, or never
  };
  // Which function a place on this bus is, and who has an address in BAR 0; -1: none.
  int function_at(std::uint16_t id) const {
    const unsigned place = id & 0xff;
    if (id >> 8 != requester_ >> 8) return -1;
    if (place == 0) return 0;
    const unsigned n = place - ConfigSpace::kFirstVirtual + 1;
    return place >= ConfigSpace::kFirstVirtual && n <= existing() ? static_cast<int>(n) : -1;
  }
  int function_of(std::uint64_t addr) const {
    if (space_.in_bar0(addr)) return 0;
    const std::uint64_t bytes = config_.function.bar0_bytes, at = addr - space_.virtual_bar0();
    if (!space_.virtual_memory_enabled() || at / bytes >= existing()) return -1;
    const auto n = static_cast<unsigned>(at / bytes);
    return virtual_[n].in_reset ? -1 : static_cast<int>(n + 1);
  }
  unsigned existing() const {
    return std::min(space_.virtual_functions(), static_cast<unsigned>(virtual_.size()));
  }
  void reset_virtual() {
    for (VirtualFunction& f : virtual_) {
      f.reset();
      f.in_reset = false;
      f.master_until = 0;
    }
  }

  struct ReadState {
    Time since = 0;
    std::uint32_t left = 0, bytes = 0;
    std::uint64_t addr = 0;
  };

  struct OwnCompletion {
    Tlp tlp;
    std::uint32_t data;
  };

  // ---- from the link to the logic

  // Takes the next packet for the logic from the link, dealing with those that are the hard block's
  // own.
  void rx_next(Time now) {
    while (const Tlp* tlp = link_.down.front(now)) {
      if (for_logic(*tlp)) {
        rx_valid_ = rx_changed_ = true;
        rx_offset_ = 0;
        ++stats_.rx_tlps;
        return;
      }
      deal_with(*tlp, now);
    }
  }

  bool for_logic(const Tlp& tlp) const {
    return tlp.is_completion() ? function_at(tlp.cpl_requester()) >= 0
                               : tlp.is_mem() && function_of(tlp.addr()) >= 0;
  }

  // A packet that is the hard block's own.
  void deal_with(const Tlp& tlp, Time now) {
    if (tlp.is_config()) {
      answer_config(tlp, now);
    } else if (tlp.is_completion()) {
      ++stats_.rx_misrouted;
    } else {
      ++stats_.rx_unsupported;
      if (!tlp.is_mem_write()) {
        const ByteRange range = ByteRange::of(tlp);
        answer(make_completion(tlp, requester_, kStatusUR, 0, std::max(range.count, 1u),
                               range.first & 0x7f),
               0, now);
      }
    }
    finish_packet(tlp, now);
  }

  void rx_accepted(Time now) {
    ++stats_.rx_beats;
    rx_offset_ += rx_.bytes;
    rx_changed_ = true;
    const Tlp& tlp = *link_.down.front(now);
    if (rx_offset_ < tlp.bytes) return;
    if (tlp.is_completion()) read_progress(tlp, now);
    rx_valid_ = false;
    finish_packet(tlp, now);
  }

  void finish_packet(const Tlp& tlp, Time now) {
    const FcClass c = tlp.fc_class();
    const std::uint32_t data = tlp.data_credits();
    link_.down.pop();
    link_.down.release(c, data, now);
  }

  void answer_config(const Tlp& tlp, Time now) {
    // The function learns its number from the write that reaches it (Base Specification 2.2.6.2).
    std::uint32_t data = 0;
    if (resets_function_) {
      answer(make_completion(tlp, tlp.config_target(), kStatusCRS, 0, 4, 0), 0, now);
      return;
    }
    const int function = virtual_.empty() ? 0 : function_at(tlp.config_target());
    if (function != 0 && (tlp.config_target() & 0xff) != 0) {
      answer_virtual(tlp, function, now);
      return;
    }
    if (tlp.has_data()) {
      if (requester_ != tlp.config_target()) requester_ = tlp.config_target();
      std::uint32_t value;
      std::memcpy(&value, tlp.payload, 4);
      if (space_.write(tlp.config_offset(), value, tlp.first_be())) {
        space_.reset_function();
        reset_virtual();
        resets_function_ = true;
      }
      cfg_changed_ = true;
    } else {
      data = space_.read(tlp.config_offset());
    }
    const std::uint16_t id = tlp.config_target();
    answer(make_completion(tlp, id, kStatusSC, tlp.has_data() ? 0 : 4, 4, 0), data, now);
  }

  void answer_virtual(const Tlp& tlp, int function, Time now) {
    const std::uint16_t id = tlp.config_target();
    if (function < 0) {
      answer(make_completion(tlp, id, kStatusUR, 0, 4, 0), 0, now);
      return;
    }
    VirtualFunction& f = virtual_[static_cast<unsigned>(function) - 1];
    if (f.in_reset) {
      answer(make_completion(tlp, id, kStatusCRS, 0, 4, 0), 0, now);
      return;
    }
    std::uint32_t data = f.read(tlp.config_offset());
    if (tlp.has_data()) {
      std::uint32_t value;
      std::memcpy(&value, tlp.payload, 4);
      if (f.write(tlp.config_offset(), value, tlp.first_be())) {
        f.reset();
        f.in_reset = true;
      }
      cfg_changed_ = true;
    }
    if (f.bus_master()) f.master_until = kNever;
    if (!f.bus_master() && f.master_until == kNever) f.master_until = now;
    answer(make_completion(tlp, id, kStatusSC, tlp.has_data() ? 0 : 4, 4, 0), data, now);
  }

  void answer(Tlp completion, std::uint32_t data, Time now) {
    completion.time = now;
    own_.push({completion, data});
  }

  // ---- from the logic to the link

  void tx_beat(Time now) {
    if (deaf_) return;
    ++stats_.tx_beats;
    tx_part(*tx_.sop, *tx_.eop, tx_.hdr, tx_.data, tx_.bytes, now);
  }

  bool has_room(const TlpFifo& queue) const {
    return queue.size() < static_cast<std::size_t>(config_.tx_tlps) &&
           queue.payload_bytes() < config_.tx_bytes;
  }

  // So many bytes of a packet as they come from the logic: a beat, or a segment of one.
  void tx_part(bool sop, bool eop, const std::uint32_t* hdr, const std::uint32_t* data,
               std::uint32_t bytes, Time now) {
    if (sop == in_packet_) {  // a packet inside a packet, or a tail without a head
      ++stats_.tx_malformed;
      if (!sop) return;
    }
    if (sop) {
      tx_tlp_ = Tlp{};
      for (int i = 0; i < 4; ++i) tx_tlp_.dw[i] = hdr[3 - i];
      tx_tlp_.bytes = tx_tlp_.payload_expected();
      tx_offset_ = 0;
      in_packet_ = true;
      drop_packet_ = !space_.bus_master() && tx_tlp_.is_mem();
      if (drop_packet_) ++stats_.tx_not_master;
      tx_room_ = tx_queue_.reserve(tx_tlp_.bytes);
    }
    if (tx_offset_ < tx_tlp_.bytes) {
      std::memcpy(tx_room_ + tx_offset_, data, std::min(bytes, tx_tlp_.bytes - tx_offset_));
    }
    tx_offset_ += bytes;
    const bool last = tx_offset_ >= tx_tlp_.bytes;
    if (last != eop) {
      ++stats_.tx_malformed;
      drop_packet_ = true;
    }
    if (!eop) return;
    in_packet_ = false;
    if (drop_packet_) {
      tx_queue_.cancel();
      give_back(tx_tlp_);
      return;
    }
    tx_tlp_.time = now;
    ++stats_.tx_tlps;
    if (tx_tlp_.is_mem_read()) read_begins(tx_tlp_, now);
    use_credits(tx_tlp_);
    tx_queue_.commit(tx_tlp_);
  }

  // A request on the stream for reads.
  void read_request(Time now) {
    Tlp tlp{};
    for (int i = 0; i < 4; ++i) tlp.dw[i] = tx_read_.hdr[3 - i];
    if (!tlp.is_mem_read()) {
      ++stats_.tx_malformed;
    } else if (!space_.bus_master()) {
      ++stats_.tx_not_master;
      give_back(tlp);
    } else {
      tlp.time = now;
      ++stats_.tx_tlps;
      read_begins(tlp, now);
      use_credits(tlp);
      read_queue_.push(tlp);
    }
  }

  void use_credits(const Tlp& tlp) {
    const FcClass c = tlp.fc_class();
    ++used_h_[c];
    used_d_[c] += tlp.data_credits();
    if (!link_.up.within_limits(c, base_h_[c] + used_h_[c], base_d_[c] + used_d_[c]))
      ++stats_.fc_violations;
  }

  // A packet that was dropped here: the logic has used credits that the link has not.
  void give_back(const Tlp& tlp) {
    const FcClass c = tlp.fc_class();
    ++used_h_[c];
    used_d_[c] += tlp.data_credits();
    --base_h_[c];
    base_d_[c] -= tlp.data_credits();
    fc_version_ = 0;
  }

  bool send_own() {
    OwnCompletion& own = own_.front();
    if (!link_.up.has_credit(kCompletion, own.tlp.data_credits())) return false;
    std::uint8_t data[4];
    std::memcpy(data, &own.data, 4);
    own.tlp.payload = data;
    link_.up.send(own.tlp, own.tlp.time);
    // The hard block's completions use the logic's credits: the limit it sees moves back.
    ++base_h_[kCompletion];
    base_d_[kCompletion] += own.tlp.data_credits();
    fc_version_ = 0;
    own_.pop();
    return true;
  }

  void launch(Time now) {
    while (link_.up.idle(now)) {
      if (!own_.empty()) {
        if (!send_own()) return;
      } else if (!read_is_next()) {
        if (tx_queue_.empty()) return;
        const Tlp& tlp = tx_queue_.front();
        if (!link_.up.has_credit(tlp.fc_class(), tlp.data_credits())) return;
        link_.up.send(tlp, tlp.time);
        tx_queue_.pop();
      } else {
        link_.up.send(read_queue_.front(), read_queue_.front().time);
        read_queue_.pop();
      }
    }
  }

  // Reads keep their place behind what was there before them, but do not block the rest while they
  // have no credit.
  bool read_is_next() const {
    return !read_queue_.empty() && link_.up.has_credit(kNonPosted, 0) &&
           (tx_queue_.empty() || read_queue_.front().time < tx_queue_.front().time);
  }

  // ---- reads of the logic, for the statistics

  void read_begins(const Tlp& tlp, Time now) {
    ReadState& r = reads_[tlp.tag()];
    r.since = now;
    const ByteRange range = ByteRange::of(tlp);
    r.left = r.bytes = std::max(range.count, 1u);
    r.addr = range.first;
    read_bytes_open_ += r.left;
    stats_.read_bytes_max = std::max(stats_.read_bytes_max, read_bytes_open_);
    stats_.reads_max = std::max(stats_.reads_max, ++reads_open_);
  }

  void read_progress(const Tlp& tlp, Time now) {
    ++completions_since_reset_;
    ReadState& r = reads_[tlp.cpl_tag()];
    if (r.left == 0) return;
    const std::uint32_t in_packet = tlp.bytes - std::min(tlp.bytes, tlp.lower_addr() & 3);
    const std::uint32_t got = tlp.status() == kStatusSC
                                  ? std::min(r.left, std::min(in_packet, tlp.byte_count()))
                                  : r.left;
    read_bytes_open_ -= got;
    r.left -= got;
    stats_.read_bytes += got;
    if (r.left) return;
    const Time took = now - r.since;
    --reads_open_;
    ++stats_.reads;
    stats_.read_time_sum += took;
    stats_.read_time_min = std::min(stats_.read_time_min, took);
    stats_.read_time_max = std::max(stats_.read_time_max, took);
  }

  // ---- pins

  void sample_function_reset() {
    if (!resets_function_ || !(*flr_done_ & 1)) return;
    resets_function_ = false;
    completions_since_reset_ = 0;
  }

  void drive_function_reset() {
    if (flr_) *flr_ = resets_function_;
  }

  void drive_rx() {
    rx_changed_ = false;
    *rx_.valid = rx_valid_;
    if (!rx_valid_) return;
    const Tlp& tlp = *link_.down.front(kNever);
    *rx_.sop = rx_offset_ == 0;
    *rx_.eop = rx_offset_ + rx_.bytes >= tlp.bytes;
    if (rx_offset_ == 0) {
      for (int i = 0; i < 4; ++i) rx_.hdr[3 - i] = tlp.dw[i];
    }
    if (tlp.bytes > rx_offset_) {
      std::memcpy(rx_.data, tlp.payload + rx_offset_, std::min(rx_.bytes, tlp.bytes - rx_offset_));
    }
  }

  void drive_cfg() {
    cfg_changed_ = false;
    *cfg_.requester_id = requester_;
    *cfg_.max_payload = static_cast<std::uint8_t>(space_.max_payload());
    *cfg_.max_read_request = static_cast<std::uint8_t>(space_.max_read_request());
    *cfg_.bus_master = space_.bus_master();
    *cfg_.extended_tag = space_.extended_tag();
    *cfg_.wide_tag = space_.wide_tag();
    *cfg_.relaxed_ordering = space_.relaxed_ordering();
    *cfg_.msix_enable = space_.msix_enabled();
    *cfg_.msix_mask = space_.msix_masked();
  }

  void drive_fc() {
    fc_version_ = link_.up.limit_version();
    const LinkDirection& up = link_.up;
    *fc_.ph = (up.limit_header(kPosted) - base_h_[kPosted]) & 0xff;
    *fc_.pd = (up.limit_data(kPosted) - base_d_[kPosted]) & 0xfff;
    *fc_.p_inf = up.infinite(kPosted);
    *fc_.nph = (up.limit_header(kNonPosted) - base_h_[kNonPosted]) & 0xff;
    *fc_.np_inf = up.infinite(kNonPosted);
    *fc_.cplh = (up.limit_header(kCompletion) - base_h_[kCompletion]) & 0xff;
    *fc_.cpld = (up.limit_data(kCompletion) - base_d_[kCompletion]) & 0xfff;
    *fc_.cpl_inf = up.infinite(kCompletion);
  }

  EndpointConfig config_;
  PcieLink& link_;
  TlpPins tx_, tx_read_, rx_;
  PcieCfgPins cfg_;
  FcLimitPins fc_;
  std::uint8_t* link_up_;
  std::uint8_t *flr_, *flr_done_;
  ConfigSpace space_;
  std::vector<VirtualFunction> virtual_;
  std::uint16_t requester_ = 0;

  bool rx_valid_ = false, rx_changed_ = false;
  std::uint32_t rx_offset_ = 0;

  bool tx_ready_ = false, in_packet_ = false, drop_packet_ = false;
  bool deaf_ = false;  // the link is lost and the logic is in reset: what it drives says nothing
  Tlp tx_tlp_;
  std::uint32_t tx_offset_ = 0;
  std::uint8_t* tx_room_ = nullptr;
  TlpFifo tx_queue_;
  bool read_ready_ = false;
  Ring<Tlp> read_queue_;  // header only
  Ring<OwnCompletion> own_;
  // Credits of the link the logic knows nothing of, and credits it has used.
  std::uint64_t base_h_[kFcClasses] = {0, 0, 0}, base_d_[kFcClasses] = {0, 0, 0};
  std::uint64_t used_h_[kFcClasses] = {0, 0, 0}, used_d_[kFcClasses] = {0, 0, 0};

  bool cfg_changed_ = true, resets_function_ = false;
  std::uint64_t completions_since_reset_ = 0;
  std::uint64_t fc_version_ = 0;
  ReadState reads_[1024];
  std::uint64_t reads_open_ = 0, read_bytes_open_ = 0;
  EndpointStats stats_;
};

}  // namespace emery
