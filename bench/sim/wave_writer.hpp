// SPDX-License-Identifier: Apache-2.0
// Writes what Verilated models do as waves (FST or VCD, as they were built), within a window of
// time, with two signals of the bench: frames.offered and frames.delivered.
#pragma once

#include <cstdint>

#include "bench/sim/waves.hpp"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#else
#include "verilated_vcd_c.h"
#endif

namespace emery {

class WaveWriter {
 public:
  /// `models`: pointers to them; they outlive this.
  template <class Models>
  WaveWriter(const Waves& waves, Models& models) : waves_(waves) {
    for (auto& model : models) model->trace(&file_, 99);
    if (waves_.offered && waves_.delivered) add_numbers();
    file_.open(waves_.path.c_str());
  }
  ~WaveWriter() { file_.close(); }
  WaveWriter(const WaveWriter&) = delete;
  WaveWriter& operator=(const WaveWriter&) = delete;

  bool wants(Time time) const { return waves_.from <= time && time <= waves_.to; }
  void dump(Time time) {
    if (wants(time)) file_.dump(static_cast<std::uint64_t>(time));
  }

 private:
#if VM_TRACE_FST
  using File = VerilatedFstC;
#else
  using File = VerilatedVcdC;
#endif

  void add_numbers() {
    auto* writer = file_.spTrace();
    writer->addInitCb(
        [](void* self, auto* trace, std::uint32_t code) {
          static_cast<WaveWriter*>(self)->declare(trace, code);
        },
        this, "frames", false, 2);
    writer->addFullCb(
        [](void* self, auto* buffer) {
          const auto* w = static_cast<WaveWriter*>(self);
          buffer->fullIData(buffer->oldp(w->code_), *w->waves_.offered, 32);
          buffer->fullIData(buffer->oldp(w->code_ + 1), *w->waves_.delivered, 32);
        },
        0, this);
    writer->addChgCb(
        [](void* self, auto* buffer) {
          const auto* w = static_cast<WaveWriter*>(self);
          buffer->chgIData(buffer->oldp(w->code_), *w->waves_.offered, 32);
          buffer->chgIData(buffer->oldp(w->code_ + 1), *w->waves_.delivered, 32);
        },
        0, this);
  }

  template <class Trace>
  void declare(Trace* trace, std::uint32_t code) {
    constexpr auto kScope = VerilatedTracePrefixType::SCOPE_MODULE;
    [[maybe_unused]] constexpr auto kOut = VerilatedTraceSigDirection::NONE;
    [[maybe_unused]] constexpr auto kVar = VerilatedTraceSigKind::VAR;
    [[maybe_unused]] constexpr auto kLogic = VerilatedTraceSigType::LOGIC;
    code_ = code;
    VL_TRACE_PUSH_PREFIX(trace, "frames", kScope, 0, 0);
    VL_TRACE_DECL_BUS(trace, code, 0, "offered", -1, kOut, kVar, kLogic, 31, 0);
    VL_TRACE_DECL_BUS(trace, code + 1, 0, "delivered", -1, kOut, kVar, kLogic, 31, 0);
    VL_TRACE_POP_PREFIX(trace);
  }

  Waves waves_;
  File file_;
  std::uint32_t code_ = 0;  // of frames.offered; that of frames.delivered is the next one
};

}  // namespace emery
