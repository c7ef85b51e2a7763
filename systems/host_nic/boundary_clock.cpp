// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/boundary_clock.hpp"

#include <algorithm>
#include <memory>

namespace emery::host_nic {

namespace {

constexpr Time kTick = kMicrosecond;
constexpr std::int64_t kOne = std::int64_t{1} << 40;

bool is_event(std::span<const std::uint8_t> bytes) {
  return ptp_is(bytes.data(), static_cast<unsigned>(bytes.size())) && (bytes[14] & 0xf) < 4;
}

}  // namespace

BoundaryClock::BoundaryClock(const PtpSettings& settings, Oscillator& crystal,
                             Simulation& simulation, double rate)
    : settings_(settings), crystal_(crystal), simulation_(simulation), line_(rate) {
  for (unsigned p = 0; p < 2; ++p) {
    Port& port = port_[p];
    port.clock = this;
    const ptp_config config = settings.port(p == 1, static_cast<std::uint8_t>(0x10 + p));
    ptp_ops ops{};
    ops.context = &port;
    ops.send = [](void* context, const std::uint8_t* frame, unsigned bytes, int) {
      Port& self = *static_cast<Port*>(context);
      Frame made;
      made.assign({frame, bytes});
      made.start = self.clock->simulation_.now();
      made.seq = self.count++;
      self.own.push(made);
      return 0;
    };
    ops.step = [](void* context, std::int64_t ns) {
      BoundaryClock& self = *static_cast<Port*>(context)->clock;
      self.go_to(self.simulation_.now());
      self.ahead_ += static_cast<__int128>(ns * kNanosecond) * kOne;
      return 0;
    };
    ops.adjust = [](void* context, std::int64_t rate) {
      static_cast<Port*>(context)->clock->adjust(rate);
    };
    if (ptp_init(&port.ptp, &config, &ops) != 0) throw std::logic_error("boundary clock");
  }
}

void BoundaryClock::go_to(Time at) {
  const auto crystal = static_cast<__int128>(crystal_.ppb()) * kOne / 1'000'000'000;
  ahead_ += (crystal + rate_) * (at - at_);
  at_ = at;
}

void BoundaryClock::adjust(std::int64_t rate) {
  go_to(simulation_.now());
  rate_ = rate;
}

std::uint64_t BoundaryClock::stamp(Time at) {
  go_to(at);
  const auto ps = static_cast<std::int64_t>((static_cast<__int128>(at) * kOne + ahead_) / kOne);
  const std::int64_t step = std::int64_t{settings_.switch_stamp_ns};
  return static_cast<std::uint64_t>(ps / kNanosecond / step * step);
}

bool BoundaryClock::Port::next(Frame& frame) {
  Ring<Frame>& from = own.empty() ? passing : own;
  if (from.empty()) return false;
  frame = from.front();
  from.pop();
  if (&from == &passing) bytes -= frame.size;
  return true;
}

void BoundaryClock::connect(unsigned p, MacPort& nic) {
  nic.tx.on_transmitted([this, p](std::span<const std::uint8_t> bytes, Time arrived) {
    const auto frame = std::make_shared<Frame>();
    frame->assign(bytes);
    simulation_.at(arrived + settings_.residence,
                   [this, p, frame, arrived](Time) { came(p, frame->bytes(), arrived); });
  });
  nic.rx.on_receiving(
      [this, p](const Frame& frame, WireFault, Time started, Time) { begins(p, frame, started); });
  nic.rx.set_source(&port_[p]);
}

void BoundaryClock::came(unsigned p, std::span<const std::uint8_t> bytes, Time arrived) {
  if (ptp_is(bytes.data(), static_cast<unsigned>(bytes.size()))) {
    const Time began = arrived - LineClock(line_).after(bytes.size() + kFcsBytes);
    ptp_received(&port_[p].ptp, bytes.data(), static_cast<unsigned>(bytes.size()), stamp(began));
    return;
  }
  Port& out = port_[1 - p];
  if (out.bytes + bytes.size() > kBuffer) {
    ++port_[p].dropped;
    return;
  }
  Frame frame;
  frame.assign(bytes);
  frame.start = simulation_.now();
  frame.seq = out.count++;
  out.bytes += bytes.size();
  out.passing.push(frame);
}

void BoundaryClock::begins(unsigned p, const Frame& frame, Time started) {
  if (!is_event(frame.bytes())) return;
  const Time left = started + LineClock(line_).after(kPreambleBytes);
  simulation_.at(std::max(left, simulation_.now()) + settings_.residence,
                 [this, p, left](Time) { ptp_sent(&port_[p].ptp, stamp(left)); });
}

void BoundaryClock::tick() {
  ptp_tick(&port_[1].ptp, static_cast<std::uint64_t>(simulation_.now() / kNanosecond));
  simulation_.at(simulation_.now() + kTick, [this](Time) { tick(); });
}

void BoundaryClock::start() {
  go_to(simulation_.now());
  tick();
}

void BoundaryClock::write(JsonWriter& json) const {
  const ptp_port& slave = port_[0].ptp;
  json.begin_object();
  json.field("exchanges", slave.exchanges).field("steps", slave.steps);
  json.field("delay_ns", static_cast<double>(slave.delay) / 256);
  json.field("dropped_frames", port_[0].dropped + port_[1].dropped);
  json.end_object();
}

}  // namespace emery::host_nic
