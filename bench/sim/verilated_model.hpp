// SPDX-License-Identifier: Apache-2.0
// Ties a Verilated model to the simulation: raises and lowers its clocks, and writes waves.
//
// One evaluation an edge: a clock that has risen is lowered before the next evaluation, whichever
// clock that is for; only when the same clock rises again before any other does the model need an
// evaluation of its own to see it low. With waves on, the falling edge is shown halfway to the next
// one. Several instances of a model share the clocks and the waves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/simulation.hpp"
#include "bench/sim/waves.hpp"
#include "verilated.h"
#if VM_TRACE
#include "bench/sim/wave_writer.hpp"
#endif

namespace emery {

template <class Model>
class VerilatedModel {
 public:
  explicit VerilatedModel(const std::string& name) { add(name); }
  // So many instances: name0, name1, ...
  VerilatedModel(const std::string& name, unsigned count) {
    for (unsigned i = 0; i < count; ++i) add(name + std::to_string(i));
  }
  ~VerilatedModel() {
    for (auto& model : models_) model->final();
  }

  Model* operator->() { return models_.front().get(); }
  Model& operator*() { return *models_.front(); }
  Model& operator[](std::size_t i) { return *models_[i]; }

  // Adds `pin` as a clock of `hz` / `divisor`; the first one added is number 0.
  int add_clock(Simulation& simulation, const std::string& name, std::uint64_t hz,
                std::uint64_t divisor, std::uint8_t& pin) {
    return add_clock(simulation, name, hz, divisor, std::vector<std::uint8_t*>{&pin});
  }
  // The same clock at a pin of each instance.
  int add_clock(Simulation& simulation, const std::string& name, std::uint64_t hz,
                std::uint64_t divisor, std::vector<std::uint8_t*> pins) {
    return add_clock(simulation, name, hz, divisor, std::move(pins), kAll);
  }
  // Of these instances only (bit n: instance n): the others are not evaluated for its sake.
  int add_clock(Simulation& simulation, const std::string& name, std::uint64_t hz,
                std::uint64_t divisor, std::vector<std::uint8_t*> pins, std::uint32_t instances) {
    for (std::uint8_t* pin : pins) *pin = 0;
    clocks_.push_back(std::move(pins));
    instances_.push_back(instances);
    return simulation.add_clock(name, hz, divisor);
  }

  // The clock may rise twice in a row without an evaluation of its own to see it low: worth it for
  // the fastest of several clocks. `last`: seen_CLOCK() of the (only) model.
  void keeps(int clock, std::uint8_t& last) {
    kept_.push_back({1u << clock, &last});
    kept_mask_ |= 1u << clock;
  }

  // Call when all clocks are there.
  void attach(Simulation& simulation) {
    evaluate();
    simulation.set_model(
        [this, &simulation](std::uint32_t rising) { edge(rising, simulation.now()); });
  }

  // Attaches the model with these resets high, and lowers them after `duration`.
  void reset(Simulation& simulation, const std::vector<std::uint8_t*>& pins, Time duration) {
    for (std::uint8_t* pin : pins) *pin = 1;
    attach(simulation);
    simulation.run_for(duration);
    for (std::uint8_t* pin : pins) *pin = 0;
  }

  // Writes these waves, unless they are none; the model must have been built with them.
  void open_waves(const Waves& waves) {
    if (waves.path.empty()) return;
#if VM_TRACE
    context_.traceEverOn(true);
    waves_ = std::make_unique<WaveWriter>(waves, models_);
#else
    throw std::logic_error("this model was built without waves");
#endif
  }

 private:
  void add(const std::string& name) {
    models_.push_back(std::make_unique<Model>(&context_, name.c_str()));
  }
  void evaluate(std::uint32_t instances = kAll) {
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (instances >> i & 1) models_[i]->eval();
    }
  }
  // Whose clocks these are.
  std::uint32_t instances_of(std::uint32_t clocks) const {
    std::uint32_t all = 0;
    for (; clocks != 0; clocks &= clocks - 1)
      all |= instances_[static_cast<std::size_t>(std::countr_zero(clocks))];
    return all;
  }
  // Those of the clocks that none of these instances has.
  std::uint32_t unseen_by(std::uint32_t clocks, std::uint32_t instances) const {
    std::uint32_t left = 0;
    for (std::uint32_t rest = clocks; rest != 0; rest &= rest - 1) {
      const auto clock = static_cast<std::size_t>(std::countr_zero(rest));
      if ((instances_[clock] & ~instances) != 0) left |= 1u << clock;
    }
    return left;
  }

  // The pins of those clocks.
  void set(std::uint32_t clocks, std::uint8_t value) {
    for (; clocks != 0; clocks &= clocks - 1) {
      for (std::uint8_t* pin : clocks_[static_cast<std::size_t>(std::countr_zero(clocks))])
        *pin = value;
    }
  }

  void edge(std::uint32_t rising, Time now) {
    if (tracing((now + last_) / 2)) {
      evaluate();
      dump((now + last_) / 2);
    } else if ((rising & unseen_low_) != 0) {
      evaluate(instances_of(rising & unseen_low_));
    }
    set(rising, 1);
    const std::uint32_t instances = instances_of(rising);
    evaluate(instances);
    dump(now);
    set(rising, 0);
    for (const auto& [clock, last] : kept_) {
      if (rising & clock) *last = 0;
    }
    unseen_low_ = unseen_by(unseen_low_ & ~rising, instances) | (rising & ~kept_mask_);
    last_ = now;
  }

#if VM_TRACE
  bool tracing(Time time) const { return waves_ && waves_->wants(time); }
  void dump(Time time) {
    if (waves_) waves_->dump(time);
  }
#else
  static constexpr bool tracing(Time) { return false; }
  void dump(Time) {}
#endif

  static constexpr std::uint32_t kAll = ~0u;

  VerilatedContext context_;
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<std::vector<std::uint8_t*>> clocks_;  // pins of each
  std::vector<std::uint32_t> instances_;            // of each
  std::vector<std::pair<std::uint32_t, std::uint8_t*>> kept_;
  std::uint32_t kept_mask_ = 0, unseen_low_ = 0;
  Time last_ = 0;
#if VM_TRACE
  std::unique_ptr<WaveWriter> waves_;  // goes before the models
#endif
};

}  // namespace emery
