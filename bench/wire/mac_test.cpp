// SPDX-License-Identifier: Apache-2.0
// Tests of the MAC model against plain C++ in place of the device: rates, pacing, content, faults.
#include "bench/wire/mac.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "bench/stats/check.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/wire/wire.hpp"

namespace {

using namespace emery;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kClockHz = 322'265'625;

/// The wires of one direction of a stream.
struct Wires {
  std::uint8_t valid = 0, ready = 0, len = 0, sop = 0, eop = 0, err = 0;
  std::uint32_t data[16] = {};
  FramePins pins() { return {&valid, &ready, data, &len, &sop, &eop, &err}; }
};

/// What a device sees at its receive port: frames, and when their last beat was there.
class Sink : public Component {
 public:
  struct Seen {
    Bytes bytes;
    bool err;
    Time at;
  };
  explicit Sink(Wires& wires) : wires_(wires) {}

  void sample(Time now) override {
    if (!wires_.valid) return;
    contract_ = contract_ && (wires_.sop != 0) == frame_.empty() && wires_.len >= 1 &&
                wires_.len <= 64 && (wires_.eop || (wires_.len == 64 && !wires_.err));
    const auto* data = reinterpret_cast<const std::uint8_t*>(wires_.data);
    frame_.insert(frame_.end(), data, data + wires_.len);
    if (!wires_.eop) return;
    if (keep_) seen.push_back({frame_, wires_.err != 0, now});
    ++frames;
    last = now;
    frame_.clear();
  }
  void drive() override {}

  bool contract() const { return contract_ && frame_.empty(); }
  void forget() { keep_ = false; }
  std::vector<Seen> seen;
  std::uint64_t frames = 0;
  Time last = 0;

 private:
  Wires& wires_;
  Bytes frame_;
  bool contract_ = true;
  bool keep_ = true;
};

/// A device's transmit port: sends frames of a source as fast as it may; can stall inside a frame,
/// abort, or break the protocol.
class Sender : public Component {
 public:
  Sender(Wires& wires, FrameSource& source) : wires_(wires), source_(source) {}

  void sample(Time) override {
    if (wires_.valid && wires_.ready) {
      wires_next_valid_ = false;
      offset_ += wires_.len;
      if (wires_.eop) loaded_ = false, ++sent;
      if (!wires_.eop && sent == stall_frame && offset_ == 128) stall_ = stall_clocks;
    }
    if (!loaded_) {
      if (!source_.next(frame_)) return;
      loaded_ = true, offset_ = 0;
      if (short_frames) frame_.size = 14 + static_cast<std::uint32_t>(sent % 46);
    }
    if (stall_ != 0) {
      --stall_;
      return;
    }
    wires_next_valid_ = true;
  }
  void drive() override {
    wires_.valid = wires_next_valid_;
    if (!wires_.valid) return;
    const std::uint32_t left = frame_.size - offset_;
    std::memcpy(wires_.data, frame_.data.data() + offset_, 64);
    wires_.len = static_cast<std::uint8_t>(std::min(left, 64u));
    wires_.sop = offset_ == 0 && sent != no_sop_frame;
    wires_.eop = left <= 64;
    wires_.err = wires_.eop && sent == abort_frame;
  }

  static constexpr std::uint64_t kNone = ~0ull;
  std::uint64_t sent = 0;
  std::uint64_t stall_frame = kNone, abort_frame = kNone, no_sop_frame = kNone;
  int stall_clocks = 0;
  bool short_frames = false;

 private:
  Wires& wires_;
  FrameSource& source_;
  Frame frame_{};
  std::uint32_t offset_ = 0;
  int stall_ = 0;
  bool loaded_ = false, wires_next_valid_ = false;
};

TrafficConfig traffic_config(const std::string& sizes, std::uint64_t frames, double rate = 100e9) {
  TrafficConfig config;
  config.sizes = Sizes::parse(sizes);
  config.frames = frames;
  config.rate = rate;
  return config;
}

void test_receive(Checks& check, const std::string& sizes, double line, double share,
                  Time propagation) {
  const std::string what = "receive " + sizes + " at " + std::to_string(line * share / 1e9) + "G ";
  Wires wires;
  MacConfig config;
  config.rate = line;
  config.propagation = propagation;
  Mac mac(config, {}, wires.pins());
  Traffic traffic(traffic_config(sizes, 3000, line * share)), reference(traffic.config());
  constexpr Time kOrigin = 777'777;
  mac.set_source(&traffic, kOrigin);
  struct Sent {
    Time start, started, arrives;
  };
  std::vector<Sent> sent;
  mac.on_receiving([&](const Frame& f, WireFault, Time started, Time arrives) {
    sent.push_back({f.start, started, arrives});
  });
  Sink sink(wires);
  Simulation sim;
  const int clock = sim.add_clock("mac", kClockHz);
  sim.add(clock, mac);
  sim.add(clock, sink);
  sim.run_until([&] { return sink.frames == 3000; }, 100'000 * kMicrosecond);
  sim.run_for(kMicrosecond);
  check.equal(sink.seen.size(), 3000u, what + "frames");
  check.that(sink.contract() && mac.rx_idle(), what + "stream contract");
  bool same = true, causal = true, prompt = true, on_time = true, exact = true;
  check.equal(sent.front().started, kOrigin, what + "first start");
  Frame frame;
  for (std::size_t i = 0; i < sink.seen.size(); ++i) {
    reference.next(frame);
    same = same && std::ranges::equal(frame.bytes(), sink.seen[i].bytes) && !sink.seen[i].err;
    // The device samples a beat one edge after it was driven.
    causal = causal && sink.seen[i].at - sim.period(clock) >= sent[i].arrives;
    prompt = prompt && sink.seen[i].at - sent[i].arrives <= 3 * sim.period(clock);
    on_time = on_time && sent[i].started >= sent[i].start && sent[i].started - sent[i].start <= 1;
    const double end = static_cast<double>(sent[i].started) + (frame.size + 12) * 8e12 / line +
                       static_cast<double>(propagation);
    exact = exact && sent[i].arrives >= end - 1 && sent[i].arrives <= end + 2;
  }
  check.that(same, what + "content");
  check.that(causal, what + "no end before the last bit");
  check.that(prompt, what + "end within three clocks of the last bit");
  check.that(on_time, what + "starts when due");
  check.that(exact, what + "last bit's time");
}

void test_transmit(Checks& check, const std::string& sizes, double line) {
  const std::string what = "transmit " + sizes + " at " + std::to_string(line / 1e9) + "G ";
  Wires wires;
  MacConfig config;
  config.rate = line;
  Mac mac(config, wires.pins(), {});
  Traffic traffic(traffic_config(sizes, 4000)), reference(traffic.config());
  Frame frame;
  bool same = true, spaced = true;
  std::uint64_t n = 0, line_bytes = 0, first_bytes = 0;
  Time first = 0, last = 0;
  mac.on_transmitted([&](std::span<const std::uint8_t> bytes, Time arrived) {
    reference.next(frame);
    same = same && std::ranges::equal(frame.bytes(), bytes);
    line_bytes += bytes.size() + 24;
    const double gap = static_cast<double>(bytes.size() + 24) * 8e12 / line;
    if (n++ == 0) first = arrived, first_bytes = line_bytes;
    if (n > 1) spaced = spaced && static_cast<double>(arrived - last) >= gap - 1.01;
    last = arrived;
  });
  Sender sender(wires, traffic);
  Simulation sim;
  const int clock = sim.add_clock("mac", kClockHz);
  sim.add(clock, mac);
  sim.add(clock, sender);
  sim.run_until([&] { return sender.sent == 4000; }, 100'000 * kMicrosecond);
  sim.run_for(10 * kMicrosecond);
  check.equal(n, 4000u, what + "frames");
  check.that(same, what + "content");
  check.that(spaced, what + "preamble, FCS and gap between frames");
  check.near(static_cast<double>(line_bytes - first_bytes) * 8e12 /
                 static_cast<double>(last - first) / line,
             1.0, 1e-4, what + "fills the line");
  check.that(mac.tx_idle(sim.now()), what + "idle in the end");
  check.equal(mac.stats().tx_underruns + mac.stats().tx_protocol_errors + mac.stats().tx_aborted,
              0u, what + "errors");
}

MacStats transmit_with(const std::function<void(Sender&)>& set, const std::string& sizes,
                       std::uint64_t* delivered, bool* padded = nullptr) {
  Wires wires;
  Mac mac({}, wires.pins(), {});
  Traffic traffic(traffic_config(sizes, 100));
  Sender sender(wires, traffic);
  set(sender);
  *delivered = 0;
  mac.on_transmitted([&](std::span<const std::uint8_t> bytes, Time) {
    const std::size_t real = 14 + *delivered % 46;
    ++*delivered;
    if (padded)
      *padded = *padded && bytes.size() == 60 &&
                std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(real), bytes.end(),
                            [](auto b) { return b == 0; });
  });
  Simulation sim;
  const int clock = sim.add_clock("mac", kClockHz);
  sim.add(clock, mac);
  sim.add(clock, sender);
  sim.run_for(50 * kMicrosecond);
  return mac.stats();
}

void test_transmit_errors(Checks& check) {
  std::uint64_t delivered = 0;
  MacStats stats =
      transmit_with([](Sender& s) { s.stall_frame = 40, s.stall_clocks = 40; }, "1518", &delivered);
  check.equal(stats.tx_underruns, 1u, "a long stall is an underrun");
  check.equal(delivered, 99u, "the frame of the underrun is lost");
  stats =
      transmit_with([](Sender& s) { s.stall_frame = 40, s.stall_clocks = 2; }, "1518", &delivered);
  check.equal(stats.tx_underruns, 0u, "the buffer covers a short stall");
  check.equal(delivered, 100u, "nothing is lost in a short stall");
  stats = transmit_with([](Sender& s) { s.abort_frame = 7; }, "200", &delivered);
  check.that(stats.tx_aborted == 1 && delivered == 99, "err at the end aborts the frame");
  stats = transmit_with([](Sender& s) { s.no_sop_frame = 7; }, "64", &delivered);
  check.that(stats.tx_protocol_errors == 1 && stats.tx_first_protocol_error.starts_with("no sop"),
             "missing sop is noticed");
  bool padded = true;
  stats = transmit_with([](Sender& s) { s.short_frames = true; }, "64", &delivered, &padded);
  check.that(stats.tx_padded == 100 && padded, "short frames are padded with zeros");
}

void test_faults(Checks& check) {
  MacConfig config;
  config.bad_fcs = {0.05, 3};
  config.runt = {0.02, 5};
  config.oversize = {0.01, 9};
  config.oversize_bytes = 2000;
  const auto run = [&](std::vector<Sink::Seen>& seen, std::vector<WireFault>& faults,
                       std::vector<Bytes>& offered) {
    Wires wires;
    Mac mac(config, {}, wires.pins());
    Traffic traffic(traffic_config("64-300", 10000));
    mac.set_source(&traffic);
    mac.on_receiving([&](const Frame& f, WireFault fault, Time, Time) {
      faults.push_back(fault);
      offered.emplace_back(f.bytes().begin(), f.bytes().end());
    });
    Sink sink(wires);
    Simulation sim;
    const int clock = sim.add_clock("mac", kClockHz);
    sim.add(clock, mac);
    sim.add(clock, sink);
    sim.run_until([&] { return sink.frames == 10000; }, 100'000 * kMicrosecond);
    seen = sink.seen;
    return mac.stats();
  };
  std::vector<Sink::Seen> seen, seen2;
  std::vector<WireFault> faults, faults2;
  std::vector<Bytes> offered, offered2;
  const MacStats stats = run(seen, faults, offered);
  run(seen2, faults2, offered2);
  check.equal(seen.size(), 10000u, "all frames come, the faulty ones too");
  check.that(faults == faults2, "faults repeat with the seed");
  check.that(faults[2] == WireFault::kBadFcs && faults[4] == WireFault::kRunt &&
                 faults[8] == WireFault::kOversize,
             "nth frame");
  check.near(static_cast<double>(stats.rx_bad_fcs), 500, 70, "bad FCS rate");
  check.near(static_cast<double>(stats.rx_runts), 190, 45, "runt rate");
  check.near(static_cast<double>(stats.rx_oversize), 93, 30, "oversize rate");
  bool right = true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Bytes& got = seen[i].bytes;
    int flipped = 0;
    if (got.size() == offered[i].size())
      for (std::size_t b = 0; b < got.size(); ++b)
        flipped += std::popcount(static_cast<unsigned>(got[b] ^ offered[i][b]));
    right = right && seen[i].err == (faults[i] == WireFault::kBadFcs);
    switch (faults[i]) {
      case WireFault::kNone:
        right = right && got == offered[i];
        break;
      case WireFault::kBadFcs:
        right = right && got.size() == offered[i].size() && flipped == 1;
        break;
      case WireFault::kRunt:
        right = right && got.size() < 60;
        break;
      case WireFault::kOversize:
        right = right && got.size() == 1996;
        break;
    }
  }
  check.that(right, "each frame has the fault it is said to have");
  check.throws([] { Mac({.rate = 400e9}, {}, {}); }, {"too slow"}, "a line faster than the stream");
}

/// Both directions at 100 Gb/s with 64-byte frames: what the model costs a clock.
void measure() {
  Wires out, in;
  Mac mac({}, out.pins(), in.pins());
  Traffic to_device(traffic_config("64", 1'000'000)), from_device(traffic_config("64", 2'000'000));
  mac.set_source(&to_device);
  Sink sink(in);
  sink.forget();
  Sender sender(out, from_device);
  Simulation sim;
  const int clock = sim.add_clock("mac", kClockHz);
  sim.add(clock, mac);
  sim.add(clock, sink);
  sim.add(clock, sender);
  const auto begin = std::chrono::steady_clock::now();
  sim.run_until([&] { return sink.frames == 1'000'000; }, 100'000 * kMicrosecond);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "64-byte frames both ways, with making them: %.0f ns a MAC clock, %.2f Mpps received\n",
      took.count() / static_cast<double>(sim.cycles(clock)), 1e12 / static_cast<double>(sink.last));
}

/// The 8-bit stream of a 1G port: a loop from its receive to its transmit side keeps all frames and
/// the line rate.
void test_bytes(Checks& check) {
  std::uint8_t rx_valid = 0, rx_sop = 0, rx_eop = 0, rx_err = 0, rx_data = 0;
  std::uint8_t tx_valid = 0, tx_ready = 0, tx_sop = 0, tx_eop = 0, tx_err = 0, tx_data = 0;
  const FramePins rx{&rx_valid, nullptr, &rx_data, nullptr, &rx_sop, &rx_eop, &rx_err};
  const FramePins tx{&tx_valid, &tx_ready, &tx_data, nullptr, &tx_sop, &tx_eop, &tx_err};
  MacConfig config;
  config.rate = 1e9;
  config.clock_hz = 125e6;
  ByteMac mac(config, tx, rx);
  Traffic traffic(traffic_config("64-200", 500, 1e9)), reference(traffic.config());
  mac.set_source(&traffic);
  std::vector<Bytes> sent;
  Time last = 0;
  mac.on_transmitted([&](std::span<const std::uint8_t> bytes, Time arrived) {
    sent.emplace_back(bytes.begin(), bytes.end());
    last = arrived;
  });
  // In place of the device: whole frames are stored, then sent.
  std::vector<std::uint8_t> filling;
  std::vector<Bytes> stored;
  std::size_t sending = 0, offset = 0;
  struct Loop final : Component {
    std::function<void()> on_sample, on_drive;
    void sample(Time) override { on_sample(); }
    void drive() override { on_drive(); }
  } loop;
  bool contract = true;
  loop.on_sample = [&] {
    if (rx_valid) {
      contract = contract && (rx_sop != 0) == filling.empty();
      filling.push_back(rx_data);
      if (rx_eop) stored.push_back(std::exchange(filling, {}));
    }
    if (tx_valid && tx_ready && ++offset == stored[sending].size()) ++sending, offset = 0;
  };
  loop.on_drive = [&] {
    tx_valid = sending < stored.size();
    if (!tx_valid) return;
    tx_data = stored[sending][offset];
    tx_sop = offset == 0;
    tx_eop = offset + 1 == stored[sending].size();
  };
  Simulation sim;
  const int clock = sim.add_clock("mac", 125'000'000);
  sim.add(clock, mac);
  sim.add(clock, loop);
  sim.run_until([&] { return sent.size() == 500; }, 2000 * kMicrosecond);
  check.equal(sent.size(), std::size_t{500}, "8 bits: all frames come back");
  check.that(contract, "8 bits: sop at the start of a frame");
  Frame frame{};
  bool same = true;
  std::uint64_t line = 0;
  for (const Bytes& bytes : sent) {
    reference.next(frame);
    same = same && bytes == Bytes(frame.bytes().begin(), frame.bytes().end());
    line += bytes.size() + kFcsBytes + kLineOverhead;
  }
  check.that(same, "8 bits: content");
  check.equal(mac.stats().tx_underruns + mac.stats().tx_protocol_errors, std::uint64_t{0},
              "8 bits: no underruns");
  // 8 ns a byte; the loop adds a frame and a few clocks.
  check.near(static_cast<double>(last), static_cast<double>(line) * 8000, 3e6, "8 bits: line rate");
}

/// The pins of a CMAC: a loop from the receive to the transmit side, whose clock is another, keeps
/// all frames; the block's stamps are the timer at the first clock after the preamble; it does
/// without neither data nor lanes.
void test_cmac(Checks& check, bool gap, bool hole) {
  const std::string what = gap ? "CMAC, a gap: " : hole ? "CMAC, a hole: " : "CMAC: ";
  struct Pins {
    std::uint8_t valid = 0, ready = 0, last = 0, user = 0;
    std::uint32_t data[16] = {};
    std::uint64_t keep = 0;
  } rx, tx;
  std::uint32_t timer[3] = {}, stamp[3] = {};
  MacConfig config;
  Mac in(config, {},
         {.valid = &rx.valid,
          .data = rx.data,
          .eop = &rx.last,
          .err = &rx.user,
          .keep = &rx.keep,
          .timer = timer,
          .stamp = stamp});
  Mac out(config,
          {.valid = &tx.valid,
           .ready = &tx.ready,
           .data = tx.data,
           .eop = &tx.last,
           .err = &tx.user,
           .keep = &tx.keep},
          {});
  Traffic traffic(traffic_config("64-1518", 500)), reference(traffic.config());
  in.set_source(&traffic);
  std::vector<Time> started;
  in.on_receiving([&](const Frame&, WireFault, Time start, Time) { started.push_back(start); });
  struct Logic final : Component {
    std::function<void(Time)> on_sample;
    std::function<void()> on_drive;
    void sample(Time now) override { on_sample(now); }
    void drive() override { on_drive(); }
  } taker, giver;
  std::vector<Bytes> stored;
  Bytes filling;
  bool stamped = true;
  Simulation sim;
  const int rx_clock = sim.add_clock("rx", kClockHz * 1'000'100, 1'000'000);
  const int tx_clock = sim.add_clock("tx", kClockHz);
  const Time period = sim.period(rx_clock);
  taker.on_sample = [&](Time) {
    if (!rx.valid) return;
    if (filling.empty()) {
      const Time since = Time{stamp[0]} - started[stored.size()] - config.propagation - 640;
      stamped = stamped && since >= 0 && since <= period + 2 && stamp[1] == 0 && stamp[2] == 7;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(rx.data);
    filling.insert(filling.end(), bytes, bytes + std::popcount(rx.keep));
    if (rx.last) stored.push_back(std::exchange(filling, {}));
  };
  // The timer in ps, less than a period late when it is read.
  taker.on_drive = [&] { timer[0] = static_cast<std::uint32_t>(sim.now() + period), timer[2] = 7; };
  std::size_t sending = 0, offset = 0;
  giver.on_sample = [&](Time) {
    if (!tx.valid || !tx.ready) return;
    offset += 64;
    if (offset >= stored[sending].size()) ++sending, offset = 0;
  };
  giver.on_drive = [&] {
    tx.valid = sending < stored.size() && !(gap && sending == 7 && offset == 64 && tx.valid);
    if (!tx.valid) return;
    const std::size_t left = std::min(stored[sending].size() - offset, std::size_t{64});
    std::memcpy(tx.data, stored[sending].data() + offset, left);
    tx.last = offset + 64 >= stored[sending].size();
    tx.keep = ~std::uint64_t{0} >> (64 - left) & ~(hole && sending == 7 ? 16ull : 0ull);
  };
  std::uint64_t got = 0;
  bool same = true;
  Frame frame;
  out.on_transmitted([&](std::span<const std::uint8_t> bytes, Time) {
    ++got;
    reference.next(frame);
    same = same && std::ranges::equal(frame.bytes(), bytes);
  });
  sim.add(rx_clock, in);
  sim.add(rx_clock, taker);
  sim.add(tx_clock, out);
  sim.add(tx_clock, giver);
  sim.run_for(200 * kMicrosecond);
  const MacStats stats = in.stats() + out.stats();
  check.equal(stats.rx_frames, 500u, what + "frames received");
  check.that(stamped, what + "stamps");
  if (gap || hole) {
    check.that(stats.tx_protocol_errors != 0 &&
                   stats.tx_first_protocol_error.starts_with(gap ? "a gap" : "lanes left out"),
               what + stats.tx_first_protocol_error);
    return;
  }
  check.equal(got, 500u, what + "frames come back");
  check.that(same, what + "content");
  check.equal(stats.tx_underruns + stats.tx_protocol_errors, 0u, what + "errors");
}

/// Two devices send each other frames over one wire; each gets the other's, in order, not before
/// the wire's delay.
void test_wire(Checks& check, Time delay) {
  const std::string what = "wire of " + std::to_string(delay / kNanosecond) + " ns: ";
  struct Device {
    Wires tx, rx;
    Mac mac{MacConfig{}, tx.pins(), rx.pins()};
    Traffic traffic{traffic_config("64-1518", 1000)}, reference{traffic.config()};
    Sender sender{tx, traffic};
    Sink sink{rx};
  };
  Device device[2];
  Simulation sim;
  std::vector<Time> arrived[2];
  const auto seen = [&](unsigned from, std::span<const std::uint8_t>, Time time) {
    arrived[from].push_back(time);
  };
  const Wire wire(sim, MacConfig{}.rate, delay, device[0].mac, device[1].mac, seen);
  const int clock = sim.add_clock("mac", kClockHz);
  for (Device& d : device) {
    sim.add(clock, d.mac);
    sim.add(clock, d.sender);
    sim.add(clock, d.sink);
  }
  sim.run_for(1000 * kMicrosecond);
  for (unsigned to = 0; to < 2; ++to) {
    Device& from = device[1 - to];
    const auto& got = device[to].sink.seen;
    bool same = true, later = true;
    Frame frame;
    for (std::size_t i = 0; i < got.size(); ++i) {
      from.reference.next(frame);
      same = same && std::ranges::equal(frame.bytes(), got[i].bytes);
      later = later && got[i].at >= arrived[1 - to][i] + delay;
    }
    check.equal(got.size(), 1000u, what + "frames");
    check.that(same && device[to].sink.contract(), what + "content and order");
    check.that(later, what + "delay");
    check.equal(wire.under_way(1 - to), 0u, what + "nothing left");
  }
}

}  // namespace

int main(int argc, char**) {
  Checks check;
  for (const double line : {100e9, 25e9, 10e9})
    for (const char* sizes : {"64", "69", "1518", "random", "9018"}) {
      test_receive(check, sizes, line, 1.0, 5'000);
      test_transmit(check, sizes, line);
    }
  test_receive(check, "imix", 100e9, 0.37, 1'234'567);
  test_transmit_errors(check);
  test_faults(check);
  test_bytes(check);
  test_cmac(check, false, false);
  test_cmac(check, true, false);
  test_cmac(check, false, true);
  for (const Time delay : {5 * kNanosecond, 500 * kNanosecond}) test_wire(check, delay);
  if (argc > 1) measure();

  return check.finish();
}
