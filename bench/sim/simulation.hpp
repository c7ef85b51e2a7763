// SPDX-License-Identifier: Apache-2.0
// Simulated time: clock domains, the components they tick, timed callbacks, and the hardware model
// between them.
//
// At an edge every component of the rising domains first gets `sample(now)`: it reads the model's
// outputs as they were before the edge, together with the inputs it drives itself, so it sees this
// edge's handshakes. Then the model is evaluated once with those clocks raised and the inputs still
// old; then every component gets `drive()` and writes its new inputs. Coinciding edges of several
// domains are one evaluation. The model's outputs must not depend combinationally on its inputs,
// and the model callback lowers the clocks itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery {

class Component {
 public:
  virtual ~Component() = default;
  virtual void sample(Time now) = 0;
  virtual void drive() = 0;
};

class Simulation {
 public:
  using Eval = std::function<void(std::uint32_t rising)>;  // bit n: clock n rises
  using Callback = std::function<void(Time now)>;

  // A clock of hz / divisor; edges at round(n * period), n = 1, 2, ..., without drift. Returns its
  // number.
  int add_clock(std::string name, std::uint64_t hz, std::uint64_t divisor = 1) {
    if (hz == 0 || divisor == 0 || clocks_.size() == 32)
      throw std::invalid_argument("bad clock " + name);
    Clock clock;
    clock.name = std::move(name);
    clock.tune(hz, divisor);
    clock.rest = hz / 2;  // makes the truncation below round to nearest
    clock.advance();
    clocks_.push_back(std::move(clock));
    return static_cast<int>(clocks_.size()) - 1;
  }

  // The clock is one of hz / divisor from its next edge on.
  void retune(int clock, std::uint64_t hz, std::uint64_t divisor = 1) {
    Clock& tuned = clocks_.at(static_cast<std::size_t>(clock));
    const auto rest = static_cast<unsigned __int128>(tuned.rest) * hz / tuned.hz;
    tuned.tune(hz, divisor);
    tuned.rest = static_cast<std::uint64_t>(rest);
  }

  void add(int clock, Component& component) {
    clocks_.at(static_cast<std::size_t>(clock)).components.push_back(&component);
  }

  void set_model(Eval eval) { eval_ = std::move(eval); }

  // Calls back at `when` (or at once if that has passed), before any edge of that time. Callbacks
  // of one time run in the order of the calls. May be called from callbacks and components.
  void at(Time when, Callback callback) {
    events_.push_back({std::max(when, now_), event_count_++, std::move(callback)});
    std::push_heap(events_.begin(), events_.end(), Later{});
  }

  Time now() const { return now_; }
  Time period(int clock) const { return clocks_.at(static_cast<std::size_t>(clock)).step; }
  std::uint64_t cycles(int clock) const {
    return clocks_.at(static_cast<std::size_t>(clock)).cycles;
  }
  const std::string& clock_name(int clock) const {
    return clocks_.at(static_cast<std::size_t>(clock)).name;
  }
  int clocks() const { return static_cast<int>(clocks_.size()); }

  // Runs to the next edge or callback and through it.
  void step() {
    if (inside_) throw std::logic_error("simulation advanced from inside a component or callback");
    inside_ = true;
    struct Leave {
      bool& flag;
      ~Leave() { flag = false; }
    } leave{inside_};

    Time next = kNever;
    std::uint32_t rising = 0;
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      const Time edge = clocks_[i].next;
      if (edge > next) continue;
      rising = (edge == next ? rising : 0) | 1u << i;
      next = edge;
    }
    if (!events_.empty() && events_.front().when <= next) {
      now_ = events_.front().when;
      std::pop_heap(events_.begin(), events_.end(), Later{});
      const Callback callback = std::move(events_.back().callback);
      events_.pop_back();
      callback(now_);
      return;
    }
    if (next == kNever) throw std::logic_error("simulation has nothing left to do");
    now_ = next;
    for (std::uint32_t left = rising; left != 0; left &= left - 1) {
      for (Component* component : clocks_[first(left)].components) component->sample(next);
    }
    if (eval_) eval_(rising);
    for (std::uint32_t left = rising; left != 0; left &= left - 1) {
      Clock& clock = clocks_[first(left)];
      for (Component* component : clock.components) component->drive();
      ++clock.cycles;
      clock.advance();
    }
  }

  // Runs everything up to and including `end`.
  void run_until(Time end) {
    while (next_time() <= end) step();
    now_ = std::max(now_, end);
  }

  void run_for(Time duration) { run_until(now_ + duration); }

  // Runs until `done()` holds (asked after each step) or the deadline has passed; returns done().
  template <class Done>
  bool run_until(Done done, Time deadline) {
    while (!done()) {
      if (next_time() > deadline) return false;
      step();
    }
    return true;
  }

 private:
  struct Clock {
    std::string name;
    std::vector<Component*> components;
    Time next = 0;
    Time step = 0;
    std::uint64_t hz = 0, step_rest = 0, rest = 0;
    std::uint64_t cycles = 0;

    void tune(std::uint64_t new_hz, std::uint64_t divisor) {
      const unsigned __int128 picoseconds =
          static_cast<unsigned __int128>(1'000'000'000'000u) * divisor;
      hz = new_hz;
      step = static_cast<Time>(picoseconds / hz);
      step_rest = static_cast<std::uint64_t>(picoseconds % hz);
    }
    void advance() {
      next += step;
      rest += step_rest;
      if (rest >= hz) {
        rest -= hz;
        ++next;
      }
    }
  };

  struct Event {
    Time when;
    std::uint64_t order;
    Callback callback;
  };

  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };

  static std::size_t first(std::uint32_t bits) {
    return static_cast<std::size_t>(std::countr_zero(bits));
  }

  Time next_time() const {
    Time next = events_.empty() ? kNever : events_.front().when;
    for (const Clock& clock : clocks_) next = std::min(next, clock.next);
    return next;
  }

  std::vector<Clock> clocks_;
  std::vector<Event> events_;  // heap, earliest first
  std::uint64_t event_count_ = 0;
  Eval eval_;
  Time now_ = 0;
  bool inside_ = false;
};

}  // namespace emery
