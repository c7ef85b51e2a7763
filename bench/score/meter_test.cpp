// SPDX-License-Identifier: Apache-2.0
// The window of rates: where it begins and ends, when there is none, and that streams add up.
#include "bench/score/meter.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/sim/random.hpp"
#include "bench/stats/check.hpp"

namespace emery {
namespace {

/// Frames of 64 bytes at equal distances from one time to another.
void play(Meter& meter, int stream, Time from, Time to, Time gap) {
  for (Time t = from; t < to; t += gap) meter.add(stream, t, 64);
}

double mpps(const Meter& meter, int stream) {
  const auto rates = Meter::rates(meter.within(stream, meter.window()), meter.window());
  return rates ? rates->mpps : -1;
}

void test_one_stream(Checks& check) {
  for (const Time span : {20 * kMicrosecond, 500 * kMicrosecond, 20000 * kMicrosecond}) {
    Meter meter;
    play(meter, 0, kMicrosecond, kMicrosecond + span, 10 * kNanosecond);
    meter.end(span);
    const Meter::Window window = meter.window();
    check.that(window.steady && window.from > kMicrosecond && window.to <= span, "within the run");
    check.that(window.to - window.from > span * 9 / 10, "most of the run is measured");
    check.that(meter.within(1, window).frames == 0, "nothing of the next stream, which is none");
    check.near(mpps(meter, 0), 100, 0.1, "rate of a steady stream");
    const auto rates = *Meter::rates(meter.within(0, window), window);
    check.near(rates.l2_gbps, 51.2, 0.1, "its frames' bits");
    check.near(rates.l1_gbps, 67.2, 0.1, "and the line's");
  }
}

void test_slow_start_and_drain_do_not_count(Checks& check) {
  Meter meter;
  play(meter, 0, 0, 20 * kMicrosecond, 100 * kNanosecond);  // pipes fill
  play(meter, 0, 20 * kMicrosecond, 200 * kMicrosecond, 10 * kNanosecond);
  play(meter, 0, 200 * kMicrosecond, 300 * kMicrosecond, 2 * kNanosecond);  // buffers drain
  meter.end(200 * kMicrosecond);
  meter.end(300 * kMicrosecond);
  check.that(meter.window().from >= 20 * kMicrosecond, "begins when the pipes are full");
  check.that(meter.window().to <= 200 * kMicrosecond, "ends when the first source stops");
  check.near(mpps(meter, 0), 100, 0.2, "the rate between");
}

/// The second stream begins later and its source goes on for longer: both are measured while both
/// run, and nothing else.
void test_streams_share_the_window(Checks& check) {
  Meter meter;
  play(meter, 0, 0, 100 * kMicrosecond, 10 * kNanosecond);
  play(meter, 1, 30 * kMicrosecond, 400 * kMicrosecond, 20 * kNanosecond);
  play(meter, 0, 100 * kMicrosecond, 120 * kMicrosecond, 10 * kNanosecond);
  meter.end(120 * kMicrosecond);
  const Meter::Window window = meter.window();
  check.that(window.steady && window.from >= 30 * kMicrosecond && window.to <= 120 * kMicrosecond,
             "while both run");
  check.near(mpps(meter, 0), 100, 0.2, "the first");
  check.near(mpps(meter, 1), 50, 0.2, "the second");
}

/// The places at which a window may begin are eighths of the time that is left when the last stream
/// of weight has delivered.
void test_window_begins_soon(Checks& check) {
  Meter meter;
  play(meter, 0, 0, 200 * kMicrosecond, 10 * kNanosecond);
  play(meter, 1, 100 * kMicrosecond, 110 * kMicrosecond, 100 * kNanosecond);
  play(meter, 1, 110 * kMicrosecond, 200 * kMicrosecond, 20 * kNanosecond);
  meter.end(200 * kMicrosecond);
  const Meter::Window window = meter.window();
  check.that(
      window.steady && window.from >= 110 * kMicrosecond && window.from <= 126 * kMicrosecond,
      "at the first place from which on the run is steady");
}

void test_no_steady_time(Checks& check) {
  Meter empty;
  check.that(!empty.window().steady && mpps(empty, 0) < 0, "no frame, no rate");
  Meter few;
  play(few, 0, 0, 4 * kMicrosecond, 100 * kNanosecond);
  few.end(4 * kMicrosecond);
  check.that(!few.window().steady, "40 frames are no steady state");
  Meter rising;
  Time t = 0;
  for (int i = 0; i < 4000; ++i) rising.add(0, t += (8000 - 2 * i) * 10, 64);
  rising.end(t);
  check.that(!rising.window().steady, "a rate that rises all the time is none");
  Meter burst;  // everything comes out after the source has stopped
  burst.end(kMicrosecond);
  play(burst, 0, 2 * kMicrosecond, 40 * kMicrosecond, 10 * kNanosecond);
  const Meter::Window none = burst.window();
  check.that(!none.steady && none.from <= none.to, "what drains is no measure");
  check.that(burst.within(0, none).frames == 0 && burst.within(7, none).frames == 0,
             "nothing is in a window of none, and nothing of a stream that is none");
  Meter starved;  // the second half brings none of one stream
  play(starved, 0, 0, 200 * kMicrosecond, 10 * kNanosecond);
  play(starved, 1, 0, 30 * kMicrosecond, 10 * kNanosecond);
  starved.end(200 * kMicrosecond);
  check.that(starved.window().from >= 30 * kMicrosecond && starved.window().steady,
             "a stream that ends is not averaged over its absence");
  check.near(mpps(starved, 1), 0, 1e-9, "it has none then");
  for (const bool known : {false, true}) {
    Meter blocks;  // 60, of 100 frames each
    if (known) blocks.in_blocks();
    for (Time at = 0; at < 600 * kMicrosecond; at += 10 * kMicrosecond) {
      for (int i = 0; i < 100; ++i) blocks.add(0, at, 64);
    }
    blocks.end(600 * kMicrosecond);
    check.that(blocks.window().steady != known,
               "60 blocks are no steady state, however many frames they hold");
  }
}

/// Chance excuses a part of what two halves of a run differ by: 3 % and as many standard deviations
/// as the worst of so many streams may have, and half of one of all together.
void test_chance(Checks& check) {
  const auto excused = [](int streams, double part) {
    Meter meter;  // 400 frames a half; in the second the first stream has that part more,
    const Time half = 100 * kMicrosecond, more = static_cast<Time>(400 * part);
    for (int s = 0; s < streams; ++s) {  // and the next one, if there is one, as many less
      for (int which = 0; which < 2; ++which) {
        const Time count = 400 + (which == 0 ? 0 : s == 0 ? more : s == 1 ? -more : 0);
        for (Time i = 0; i < count; ++i) meter.add(s, which * half + i * half / count, 64);
      }
    }
    meter.end(2 * half);
    return meter.window().from < half / 8;  // the whole run is steady
  };
  // 1: 0.03 + 0.5 / sqrt(400) of the larger half. Of two: 0.03 + 2 / sqrt(345) of 400 frames. Of n:
  // 0.03 + (sqrt(2 ln(n / 2)) + 0.7) sqrt(2 / (400 - more)).
  for (const auto& [streams, most] :
       {std::pair{1, 0.05}, std::pair{2, 0.13}, std::pair{3, 0.15}, std::pair{40, 0.29}}) {
    check.that(excused(streams, most), std::to_string(streams) + " streams: chance");
    check.that(!excused(streams, most + 0.01), std::to_string(streams) + " streams: no chance");
  }
}

/// The shortest window is two bins, and none is only the last eighth of a run.
void test_short_windows(Checks& check) {
  constexpr Time kBin = 65536;
  Meter quick;
  play(quick, 0, 0, 4 * kBin, kNanosecond);
  quick.end(3 * kBin);
  check.that(quick.window().steady && quick.window().to - quick.window().from == 2 * kBin,
             "two bins with 65 frames each");
  Meter late;
  play(late, 0, 0, 174 * kMicrosecond, 40 * kNanosecond);
  play(late, 0, 174 * kMicrosecond, 200 * kMicrosecond, 10 * kNanosecond);
  late.end(200 * kMicrosecond);
  check.that(!late.window().steady, "an eighth of the run is too little");
}

/// What had waited before the window and leaves within it is no rate.
void test_a_backlog_that_drains(Checks& check) {
  for (const Time gap : {8, 10, 12}) {
    Meter meter;  // 100 frames a microsecond go in; from 20 us on 125, 100 or 83 come out
    for (int i = 0; i < 10000; ++i) {
      const Time out = 20 * kMicrosecond + i * gap * kNanosecond;
      meter.add(0, out, 64, out - i * 10 * kNanosecond);
    }
    meter.end(100 * kMicrosecond);
    check.near(mpps(meter, 0), std::min(100.0, 1000.0 / static_cast<double>(gap)), 0.2, "the less");
  }
}

/// Delays that grow at first, in lumps, hold nothing back for good; a queue that goes on growing
/// does, and so does a sender that has to wait.
void test_settled(Checks& check) {
  const auto settled = [](Time grows_until, double growth, double held) {
    Meter meter;  // 100 frames a microsecond, less what is held back
    for (int i = 0; i < 4000; ++i) {
      const Time in = static_cast<Time>(i * 10'000.0 / (1 - held));
      const double grown = growth * static_cast<double>(std::min(in, grows_until));
      const Time lump = 700 * kNanosecond;
      const Time out = (in + kMicrosecond + static_cast<Time>(grown)) / lump * lump;
      meter.add(i % 2, out, 64, out - in);
    }
    meter.end(static_cast<Time>(40 * kMicrosecond / (1 - held)));
    return meter.settled(meter.window()).value_or(-1);
  };
  check.near(settled(0, 0, 0), 100, 1, "constant delays");
  check.near(settled(8 * kMicrosecond, 0.2, 0), 100, 1, "that have grown");
  check.near(settled(400 * kMicrosecond, 0.05, 0), 100 / 1.05, 1, "that go on growing");
  check.near(settled(0, 0, 0.1), 90, 1, "a sender that waits");
  check.that(!Meter{}.settled({0, 1, false}), "not steady");
}

/// Frames that go to so many streams at random; the last stream gets `part` of its share in the
/// second half of the run.
Meter::Window random_streams(int streams, int frames, double part, std::uint64_t seed) {
  Meter meter;
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    int stream = static_cast<int>(random.below(static_cast<std::uint64_t>(streams)));
    if (stream == streams - 1 && i > frames / 2 && !random.chance(part)) stream = 0;
    meter.add(stream, i * 10 * kNanosecond, random.chance(0.5) ? 64 : 128);
  }
  meter.end(frames * 10 * kNanosecond);
  return meter.window();
}

void test_many_random_streams(Checks& check) {
  for (const int frames : {8000, 40000}) {
    int steady = 0, whole = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Meter::Window window = random_streams(56, frames, 1, seed);
      steady += window.steady;
      whole += window.steady && window.from < frames * kNanosecond;
    }
    check.that(steady == 50, "56 streams at random are steady: " + std::to_string(steady));
    check.that(whole >= 45, "most of the run is measured: " + std::to_string(whole));
  }
  int crowd = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    crowd += random_streams(132, 80000, 1, seed).steady;
  check.that(crowd == 10,
             "132 streams are steady though each is below 1 %: " + std::to_string(crowd));
  int excused = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Meter::Window window = random_streams(8, 40000, 0.6, seed);
    excused += window.steady && window.from < 150 * kMicrosecond;
  }
  check.that(excused == 0, "one that loses two fifths is not: " + std::to_string(excused));
}

}  // namespace
}  // namespace emery

int main() {
  emery::Checks check;
  emery::test_one_stream(check);
  emery::test_slow_start_and_drain_do_not_count(check);
  emery::test_streams_share_the_window(check);
  emery::test_window_begins_soon(check);
  emery::test_no_steady_time(check);
  emery::test_chance(check);
  emery::test_short_windows(check);
  emery::test_a_backlog_that_drains(check);
  emery::test_settled(check);
  emery::test_many_random_streams(check);
  return check.finish();
}
