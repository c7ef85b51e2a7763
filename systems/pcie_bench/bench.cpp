// SPDX-License-Identifier: Apache-2.0
// pcie-bench on the bench: transfers of one size through the device, each a frame with four bytes
// for its FCS, in which its number is. Where frames differ, all transfers are as long as the
// longest and short frames are filled up.
//
// Reads: the host puts frames at the places of a window, in the order in which the device comes to
// them, and again when one has been read. That it has done so the device is told by pins, not over
// the link, so that nothing is on the link but transfers. Writes: frames come into the device and
// are taken from the window when they have landed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "Vpcie_bench.h"
#include "bench/pcie/host_calls.hpp"
#include "bench/run/main.hpp"
#include "bench/run/memory_trace.hpp"
#include "bench/run/pcie_host.hpp"
#include "bench/run/run.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/verilated_model.hpp"
#include "pcie_bench.h"
#include "probe_formats.hpp"
#include "systems/pcie_bench/settings.hpp"

namespace emery::pcie_bench {
namespace {

using probe_pkg::ProbeMost;

constexpr std::uint64_t kCoreHz = 250'000'000;
constexpr std::uint32_t kAhead =
    2 * probe_pkg::ProbeSlots;  // transfers to read that are prepared and not ended
constexpr Time kPatience = 2000 * kMicrosecond;  // the slowest host and engine take less
constexpr unsigned kRead = 0, kWrite = 1;
constexpr unsigned kReadAsked = 1, kWritten = 1;  // stages

class Bench final : public Run {
 public:
  explicit Bench(const Options& options);

  // On the core clock: the host's part of it, and what is at the device's other side.
  void sample(Time now) override;
  void drive() override;

 private:
  using Transfer = std::array<std::uint8_t, ProbeMost>;

  struct Direction {
    Source* source = nullptr;  // null: not in use
    int stream = 0;
    Output* output = nullptr;
    Window window{};
    std::uint64_t begun = 0, ended = 0;
    Ring<std::uint32_t> lengths;  // of the frames in transfers that have not ended
  };

  std::uint32_t payload() const { return size_ - kFcsBytes; }
  void set_up(unsigned way);
  void make(Transfer& to, const Frame& frame, std::uint64_t number) const;
  void end(Direction& way, const std::uint8_t* bytes, Time now);
  void prepare(Time now);
  void read_beat(Time now);
  void put(Time now);

  void open() override;
  void at_move() override { host_.count_to_here(); }
  bool offered() override;
  bool at_rest() const override { return host_.at_rest(); }
  void account() override;
  void check(Findings& findings) const override;
  void report(JsonWriter& json) const override;

  VerilatedModel<Vpcie_bench> model_;
  int core_;
  Engine engine_;
  std::uint32_t in_flight_, size_;
  HostMemory memory_;
  PcieHost host_;
  std::optional<MemoryTrace> memory_trace_;  // a traced run
  Direction way_[2];

  std::uint64_t prepared_ = 0;
  struct Prepared {
    std::uint32_t flow, length;
  };
  Ring<Prepared> waiting_;  // frames prepared and not asked for
  Transfer reading_{}, putting_{};
  std::uint32_t read_at_ = 0, put_at_ = 0, landed_ = 0;
  bool putting_one_ = false;
  std::uint64_t misnumbered_ = 0;
  std::uint32_t failed_ = 0, amiss_ = 0, foreign_ = 0;
};

Bench::Bench(const Options& options)
    : Run(options, kMicrosecond, kPatience),
      model_("pcie_bench"),
      core_(model_.add_clock(simulation_, "core", kCoreHz, 1, model_->clk_i)),
      engine_(options),
      in_flight_(options.get<std::uint32_t>("in_flight")),
      size_(0),
      host_(PcieSettings(options), simulation_, memory_) {
  model_.open_waves(waves());
  host_.attach(
      core_, function(),
      EndpointPins::of(model_->pcie_i, model_->pcie_o, options.get<std::string>("pcie_interface")));
  simulation_.add(core_, *this);
  // More than the link can take: transfers begin when the device is ready for them.
  const Workload workload(
      options, {1.1e9 * host_.link.config().gbps(), ProbeMost - kFcsBytes, "the device moves"}, 2);
  size_ = transfer_size(workload);
  const auto direction = options.get<std::string>("direction");
  for (const unsigned w : {kRead, kWrite}) {
    if (direction == (w == kRead ? "rx" : "tx")) continue;
    auto plan = workload.port(w, 0, 1);  // a capture goes each way whole
    if (!plan) continue;
    plan->source = static_cast<std::uint16_t>(w);
    Direction& way = way_[w];
    way.source = &add_source(*plan);
    way.stream = score_.stream(w == kRead ? "read" : "write");
    way.output = add_output(w == kRead ? "device.pcap" : "host.pcap");
    way.window = window(options, size_);
    way.window.base = memory_.alloc(way.window.bytes, 4096);
  }
  if (trace()) {
    memory_trace_.emplace(*trace(), memory_);
    host_.root.observe(&*memory_trace_);
    const unsigned read = trace()->add_way({"probe_ask", "dma_read", "probe_copy", "device"}),
                   write = trace()->add_way({"probe_write", "dma_write", "host"});
    if (way_[kRead].source) trace()->takes(way_[kRead].stream, read);
    if (way_[kWrite].source) trace()->takes(way_[kWrite].stream, write);
  }
  if (way_[kWrite].source) {
    const Window& w = way_[kWrite].window;
    memory_.watch(w.base, w.bytes, [this](std::uint64_t, std::uint32_t bytes) {
      // Writes land in order, so the last byte of a transfer is the last to come.
      Direction& way = way_[kWrite];
      landed_ += bytes;
      if (landed_ < size_) return;
      landed_ -= size_;
      const std::uint8_t* const place = memory_.pointer(way.window.at(way.ended), size_);
      end(way, place, simulation_.now());
      if (memory_trace_) stage(kWritten, memory_trace_->written(place, size_).first);
    });
  }
}

void Bench::set_up(unsigned w) {
  using Way = std::remove_reference_t<decltype(std::declval<pcie_bench_t>().device.way[0])>;
  const Direction& way = way_[w];
  const auto set = [&](std::size_t reg, std::uint64_t value) {
    write32(host_.root,
            static_cast<std::uint32_t>(offsetof(pcie_bench_t, device.way) + w * sizeof(Way) + reg),
            static_cast<std::uint32_t>(value));
  };
  set(offsetof(Way, length), size_);
  set(offsetof(Way, base_lo), way.window.base);
  set(offsetof(Way, base_hi), way.window.base >> 32);
  set(offsetof(Way, window), way.window.bytes);
  set(offsetof(Way, step), way.window.step);
  set(offsetof(Way, in_flight), in_flight_);
  set(offsetof(Way, delay), engine_.delay);
  set(offsetof(Way, beat), engine_.beat);
  set(offsetof(Way, piece), engine_.piece);
  set(offsetof(Way, setup), engine_.setup);
  set(offsetof(Way, apart), w == kWrite ? engine_.write : 0);
  set(offsetof(Way, control), 1);
}

void Bench::open() {
  host_.endpoint->show_up(true);
  model_.reset(simulation_, {&model_->rst_i}, 100 * kNanosecond);
  host_.root.enumerate();
  set_bus_master(host_.root, true);
  const auto magic = static_cast<std::uint32_t>(offsetof(pcie_bench_t, device.magic));
  if (read32(host_.root, magic) != PROBE_REGS__MAGIC__VALUE_reset)
    throw std::runtime_error("no pcie-bench answers");
  for (const unsigned w : {kRead, kWrite}) {
    if (way_[w].source) set_up(w);
  }
  read32(host_.root, magic);  // the settings are there
  host_.count_from_here();
}

// What the sources gave may still wait in the window, or before the device.
bool Bench::offered() { return sources_finished() && waiting_.empty() && !putting_one_; }

// ---- transfers

void Bench::make(Transfer& to, const Frame& frame, std::uint64_t number) const {
  const auto last = static_cast<std::uint32_t>(number);
  std::memcpy(to.data(), frame.data.data(), frame.size);
  std::memset(to.data() + frame.size, 0, payload() - frame.size);
  std::memcpy(to.data() + payload(), &last, kFcsBytes);
}

void Bench::end(Direction& way, const std::uint8_t* bytes, Time now) {
  std::uint32_t number;
  std::memcpy(&number, bytes + payload(), kFcsBytes);
  misnumbered_ += number != static_cast<std::uint32_t>(way.ended);
  ++way.ended;
  const std::uint32_t length = way.lengths.front();
  way.lengths.pop();
  deliver(way.stream, {bytes, length}, now, way.output);
}

void Bench::sample(Time now) {
  if (!running()) return;
  if (way_[kRead].source) {
    prepare(now);
    if (model_->started_o) {
      Direction& way = way_[kRead];
      const Prepared frame = waiting_.front();
      waiting_.pop();
      const std::uint8_t* const place = memory_.pointer(way.window.at(way.begun), size_);
      offer(way.stream, {place, frame.length}, frame.flow, now);
      if (memory_trace_) memory_trace_->lend(trace()->newest(), place, size_, kReadAsked);
      way.lengths.push(frame.length);
      ++way.begun;
    }
    if (model_->read_valid_o) read_beat(now);
  }
  if (way_[kWrite].source) put(now);
}

void Bench::prepare(Time now) {
  Direction& way = way_[kRead];
  Transfer transfer;
  while (prepared_ - way.ended < std::min(way.window.places(), kAhead)) {
    const Frame* frame = way.source->due(now);
    if (!frame) break;
    make(transfer, *frame, prepared_);
    std::memcpy(memory_.pointer(way.window.at(prepared_), size_), transfer.data(), size_);
    waiting_.push({frame->flow, frame->size});
    way.source->pop();
    ++prepared_;
  }
}

void Bench::read_beat(Time now) {
  std::memcpy(reading_.data() + read_at_, model_->read_data_o.data(), ProbeBeatBytes);
  read_at_ += ProbeBeatBytes;
  if (!model_->read_eop_o) return;
  read_at_ = 0;
  end(way_[kRead], reading_.data(), now);
}

void Bench::put(Time now) {
  Direction& way = way_[kWrite];
  if (putting_one_ && model_->write_valid_i && model_->write_ready_o) {
    put_at_ += ProbeBeatBytes;
    putting_one_ = put_at_ < size_;
  }
  if (putting_one_) return;
  const Frame* frame = way.source->due(now);
  if (!frame) return;
  make(putting_, *frame, way.begun++);
  offer(way.stream, frame->bytes(), frame->flow, now);
  way.lengths.push(frame->size);
  way.source->pop();
  put_at_ = 0;
  putting_one_ = true;
}

void Bench::drive() {
  model_->prepared_i = static_cast<std::uint32_t>(prepared_);
  model_->write_valid_i = putting_one_;
  if (!putting_one_) return;
  std::memcpy(model_->write_data_i.data(), putting_.data() + put_at_, ProbeBeatBytes);
  model_->write_sop_i = put_at_ == 0;
  model_->write_eop_i = put_at_ + ProbeBeatBytes >= size_;
}

// ---- the result

void Bench::account() {
  failed_ = read32(host_.root, offsetof(pcie_bench_t, device.failed));
  amiss_ = read32(host_.root, offsetof(pcie_bench_t, device.amiss));
  foreign_ = read32(host_.root, offsetof(pcie_bench_t, device.foreign));
}

void Bench::check(Findings& findings) const {
  host_.check(findings);
  findings.add(failed_, "transfers that the device could not read");
  findings.add(amiss_, "completions amiss");
  findings.add(foreign_, "TLPs that the device does not take");
  findings.add(misnumbered_, "transfers with another's number");
}

void Bench::report(JsonWriter& json) const {
  host_.write_busy(json);
  host_.write(json, "pcie_");
}

}  // namespace
}  // namespace emery::pcie_bench

int main(int argc, char** argv) {
  return emery::run_simulator<emery::pcie_bench::Bench>(argc, argv);
}
