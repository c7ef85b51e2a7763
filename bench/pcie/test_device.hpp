// SPDX-License-Identifier: Apache-2.0
// For the tests of the PCIe models: a small C++ device in place of the RTL behind the hard block's
// pins, and a bench around it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/host_calls.hpp"
#include "bench/pcie/host_memory.hpp"
#include "bench/pcie/pcie_link.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/check.hpp"

namespace emery::test {

inline Checks checks;

// A device with registered outputs: writes and reads host memory as fast as the pins, its tags and
// the credits allow, checks what it reads, and has 4 kB of registers.
class Device {
 public:
  EndpointPins pins() {
    return {.tx = {&tx_valid, &tx_ready, tx_data, tx_hdr, &tx_sop, &tx_eop},
            .rx = {&rx_valid, &rx_ready, rx_data, rx_hdr, &rx_sop, &rx_eop},
            .cfg = {&id, &mps, &mrrs, &master, &ext_tag, &wide_tag, &ro, &msix_enable, &msix_mask},
            .fc = {&ph, &pd, &p_inf, &nph, &np_inf, &cplh, &cpld, &cpl_inf}};
  }

  struct Request {
    std::uint64_t addr;
    std::uint32_t bytes;
  };

  // The job. Functions give the next request; zero bytes: none now.
  std::function<Request()> next_write, next_read;
  int tags = 256;
  double rx_ready_probability = 1;
  bool ignore_credits = false;
  const HostMemory* memory = nullptr;  // what reads must return

  // What happened.
  std::uint64_t reads_done = 0, reads_failed = 0, reads_poisoned = 0, read_bytes = 0,
                mismatches = 0, bad_completions = 0;
  std::uint64_t completions = 0, out_of_order = 0, rx_writes = 0;
  std::uint32_t largest_completion = 0;
  std::uint8_t registers[4096] = {};
  std::vector<std::uint64_t> write_log;
  struct Raw {
    Tlp tlp;
    std::uint32_t data = 0;  // first word of the payload
  };
  std::deque<Raw> raw;  // packets to send as they are

  void clock() {
    receive();
    transmit();
    if (rx_ready_probability < 1) rx_ready = random_.chance(rx_ready_probability);
  }

  int open_reads() const { return open_; }
  void forget() {
    for (auto& t : tag_) t = {};
    open_ = 0;
    used_ = {};
    answers_.clear();
    sending_ = false;
    tx_valid = 0;
  }

 private:
  struct Tag {
    bool used = false;
    std::uint64_t at = 0;
    std::uint32_t left = 0;
    std::uint64_t order = 0;
  };
  struct Used {
    std::uint32_t ph = 0, pd = 0, nph = 0, cplh = 0, cpld = 0;
  };
  struct Answer {
    Tlp tlp;
    std::uint8_t data[64];
  };

  void receive() {
    if (!rx_valid || !rx_ready) return;
    if (rx_sop) {
      in_.clear();
      for (int i = 0; i < 4; ++i) rx_tlp_.dw[i] = rx_hdr[3 - i];
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(rx_data);
    in_.insert(in_.end(), bytes, bytes + 64);
    if (!rx_eop) return;
    rx_tlp_.bytes = rx_tlp_.payload_expected();
    if (rx_tlp_.bytes > in_.size() || (in_.size() > 64 && rx_tlp_.bytes + 64 <= in_.size()))
      ++bad_completions;
    rx_tlp_.payload = in_.data();
    if (rx_tlp_.is_completion()) {
      receive_completion();
    } else if (rx_tlp_.is_mem_write()) {
      const ByteRange range = ByteRange::of(rx_tlp_);
      std::memcpy(registers + range.first % 4096, in_.data() + range.first % 4, range.count);
      write_log.push_back(range.first);
      ++rx_writes;
    } else {
      const ByteRange range = ByteRange::of(rx_tlp_);
      Answer answer;
      answer.tlp = make_completion(rx_tlp_, id, kStatusSC, 4 * rx_tlp_.length_dw(), range.count,
                                   range.first & 0x7f);
      std::memcpy(answer.data, registers + rx_tlp_.addr() % 4096, 4 * rx_tlp_.length_dw());
      answers_.push_back(answer);
    }
  }

  void receive_completion() {
    ++completions;
    Tag& tag = tag_[rx_tlp_.cpl_tag()];
    if (!tag.used) {
      ++bad_completions;
      return;
    }
    const std::uint32_t skip = tag.at & 3;
    if (rx_tlp_.status() != kStatusSC) {
      ++reads_failed;
      end(tag);
      return;
    }
    if (rx_tlp_.poisoned()) ++reads_poisoned;
    if (rx_tlp_.byte_count() != std::max(tag.left, 1u) || rx_tlp_.lower_addr() != (tag.at & 0x7f))
      ++bad_completions;
    const std::uint32_t got = std::min(tag.left, rx_tlp_.bytes - skip);
    largest_completion = std::max(largest_completion, rx_tlp_.bytes);
    // Every completion but the last must end at a read completion boundary.
    if (got < tag.left && (tag.at + got) % 64 != 0) ++bad_completions;
    std::uint8_t want[4096];
    if (got && (!memory->read(tag.at, want, got) || std::memcmp(want, in_.data() + skip, got) != 0))
      ++mismatches;
    read_bytes += got;
    tag.at += got;
    tag.left -= got;
    if (tag.left == 0) {
      ++reads_done;
      if (tag.order < last_order_) ++out_of_order;
      last_order_ = std::max(last_order_, tag.order);
      end(tag);
    }
  }

  void end(Tag& tag) {
    tag = {};
    --open_;
  }

  bool credit(const Tlp& tlp) {
    const std::uint32_t data = tlp.data_credits();
    Used next = used_;
    bool ok = true;
    if (tlp.is_mem_write()) {
      next.ph += 1, next.pd += data;
      ok = p_inf || (((ph - next.ph) & 0xff) < 128 && ((pd - next.pd) & 0xfff) < 2048);
    } else if (tlp.is_completion()) {
      next.cplh += 1, next.cpld += data;
      ok = cpl_inf || (((cplh - next.cplh) & 0xff) < 128 && ((cpld - next.cpld) & 0xfff) < 2048);
    } else {
      next.nph += 1;
      ok = np_inf || ((nph - next.nph) & 0xff) < 128;
    }
    if (!ok && !ignore_credits) return false;
    used_ = next;
    return true;
  }

  bool choose() {
    if (!answers_.empty() && credit(answers_.front().tlp)) {
      out_ = answers_.front().tlp;
      std::memcpy(payload_, answers_.front().data, 64);
      answers_.pop_front();
      return true;
    }
    if (!raw.empty() && credit(raw.front().tlp)) {
      out_ = raw.front().tlp;
      std::memcpy(payload_, &raw.front().data, 4);
      raw.pop_front();
      return true;
    }
    if (next_read && open_ < tags) {
      if (!have_read_) read_ = next_read(), have_read_ = read_.bytes != 0;
      if (have_read_) {
        std::uint32_t t = tag_cursor_;
        while (tag_[t].used) t = (t + 1) % static_cast<std::uint32_t>(tags);
        out_ = make_memory(false, read_.addr, read_.bytes, t, id);
        if (credit(out_)) {
          have_read_ = false;
          tag_[t] = {true, read_.addr, read_.bytes, ++order_};
          tag_cursor_ = (t + 1) % static_cast<std::uint32_t>(tags);
          ++open_;
          return true;
        }
      }
    }
    if (next_write) {
      if (!have_write_) write_ = next_write(), have_write_ = write_.bytes != 0;
      if (have_write_) {
        out_ = make_memory(true, write_.addr, write_.bytes, 0, id);
        if (credit(out_)) {
          have_write_ = false;
          ++sequence_;
          for (std::uint32_t i = 0; i < out_.bytes; i += 4)
            std::memcpy(payload_ + i, &sequence_, 4);
          return true;
        }
      }
    }
    return false;
  }

  void transmit() {
    if (tx_valid && tx_ready) {
      offset_ += 64;
      if (offset_ >= out_.bytes) sending_ = false;
      tx_valid = 0;
    }
    if (tx_valid) return;
    if (!sending_) {
      if (!choose()) return;
      sending_ = true;
      offset_ = 0;
    }
    tx_valid = 1;
    tx_sop = offset_ == 0;
    tx_eop = offset_ + 64 >= out_.bytes;
    for (int i = 0; i < 4; ++i) tx_hdr[3 - i] = out_.dw[i];
    std::memcpy(tx_data, payload_ + offset_, 64);
  }

  std::uint8_t tx_valid = 0, tx_ready = 0, tx_sop = 0, tx_eop = 0, rx_valid = 0, rx_ready = 1,
               rx_sop = 0, rx_eop = 0;
  std::uint32_t tx_data[16] = {}, tx_hdr[4] = {}, rx_data[16] = {}, rx_hdr[4] = {};
  std::uint16_t id = 0;

 public:
  std::uint8_t mps = 0, mrrs = 0, master = 0, ext_tag = 0, wide_tag = 0, ro = 0;
  std::uint8_t msix_enable = 0, msix_mask = 0;

 private:
  std::uint8_t ph = 0, p_inf = 0, nph = 0, np_inf = 0, cplh = 0, cpl_inf = 0;
  std::uint16_t pd = 0, cpld = 0;

  Random random_{7};
  Tlp rx_tlp_, out_;
  std::vector<std::uint8_t> in_;
  std::deque<Answer> answers_;
  Tag tag_[256];
  Used used_;
  int open_ = 0;
  std::uint32_t tag_cursor_ = 0;
  std::uint64_t order_ = 0, last_order_ = 0;
  std::uint32_t sequence_ = 0;  // of writes; fills their payload
  Request read_{}, write_{};
  bool have_read_ = false, have_write_ = false, sending_ = false;
  std::uint32_t offset_ = 0;
  std::uint8_t payload_[4096] = {};
};

struct Setup {
  LinkConfig link;
  RootConfig root;
  EndpointConfig endpoint;
  CreditConfig root_credits = PcieLink::root_credits();
  CreditConfig device_credits = PcieLink::device_credits();
  std::uint64_t hz = 250'000'000;
};

struct Bench {
  explicit Bench(const Setup& setup = {})
      : link(setup.link, setup.root_credits, setup.device_credits),
        endpoint(setup.endpoint, link, device.pins()),
        root(setup.root, simulation, link, memory) {
    const int clock = simulation.add_clock("core", setup.hz);
    simulation.add(clock, endpoint);
    simulation.add(clock, root);
    simulation.set_model([this](std::uint32_t) { device.clock(); });
    device.memory = &memory;
    root.enumerate();
    set_bus_master(root, true);
  }

  HostMemory memory;
  Simulation simulation;
  PcieLink link;
  Device device;
  Endpoint endpoint;
  RootComplex root;
};

// Fills a buffer with what depends on the address.
inline std::uint64_t pattern_buffer(HostMemory& memory, std::uint64_t bytes,
                                    HostMemory::Zone zone = HostMemory::Zone::kHigh) {
  const std::uint64_t addr = memory.alloc(bytes, 4096, zone);
  std::uint8_t* p = memory.pointer(addr, bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    p[i] = static_cast<std::uint8_t>((addr + i) * 0x9e3779b1u >> 13);
  return addr;
}

// Walks through a buffer in steps.
inline std::function<Device::Request()> walk(std::uint64_t base, std::uint64_t size,
                                             std::uint32_t bytes) {
  auto offset = std::make_shared<std::uint64_t>(0);
  return [=]() {
    const std::uint64_t at = *offset;
    *offset = (at + bytes) % size;
    return Device::Request{base + at, bytes};
  };
}

inline void check_clean(Bench& bench, const std::string& what) {
  const RootStats& root = bench.root.stats();
  const EndpointStats& endpoint = bench.endpoint.stats();
  checks.that(root.protocol_errors == 0, what + ": " + root.first_protocol_error);
  checks.that(root.wild_writes == 0 && root.unsupported == 0, what + ": unmapped memory touched");
  checks.that(endpoint.fc_violations == 0, what + ": credits exceeded");
  checks.that(
      endpoint.tx_malformed == 0 && endpoint.rx_unsupported == 0 && endpoint.rx_misrouted == 0,
      what + ": endpoint errors");
  checks.that(bench.link.up.stats().credit_overruns + bench.link.down.stats().credit_overruns == 0,
              what + ": receiver overrun");
  checks.that(bench.device.mismatches == 0, what + ": read data");
  checks.that(bench.device.bad_completions == 0, what + ": malformed completions");
}

}  // namespace emery::test
