// SPDX-License-Identifier: Apache-2.0
// Frames inside tile-router while its routes may change (bench/route/unsettled.hpp): every one is
// kept here until it comes out, and a change may meet it until a later frame of its pipeline has
// come out: then its lookup is over.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/route/unsettled.hpp"
#include "systems/tile_router/judge.hpp"

namespace emery::tile_router {

class Unsettled : public route::Unsettled<Verdict> {
 public:
  using Settled = std::pair<Waiting, Form>;

  explicit Unsettled(const Judge& judge) : judge_(judge) {}

  /// A frame came in; `lane` is that of its pipeline at the port.
  void keep(unsigned port, std::uint32_t lane, std::span<const std::uint8_t> frame,
            std::uint32_t flow, Time started) {
    Waiting w{port, {frame.begin(), frame.end()}, flow, started, lane, true};
    meet(w, false);
    if (judge_.changing()) meet(w, true);
    waiting_.push_back(std::move(w));
  }
  /// A frame came out: what is known by that, itself last if it is one of these.
  std::vector<Settled> came_out(unsigned port, std::span<const std::uint8_t> bytes) {
    std::vector<Settled> settled;
    auto found = came(port, bytes);
    if (!found) return settled;
    const Waiting& out = found->first;
    std::erase_if(waiting_, [&](Waiting& w) {
      if (w.port != out.port || w.lane != out.lane || w.started > out.started) return false;
      w.open = false;
      if (w.forms.size() > 1) return false;
      const Form& only = w.forms.front();
      if (!only.verdict.drop) {
        overtaken_ += w.flow == out.flow && only.exit == port;
        return false;
      }
      settled.emplace_back(w, only);
      return true;
    });
    settled.push_back(std::move(*found));
    return settled;
  }
  /// Frames that came out before an older one of their flow and pipeline.
  std::uint64_t overtaken() const { return overtaken_; }

 private:
  void meet(Waiting& w, bool after) const override {
    Form form{{}, w.frame, 0};
    form.verdict = judge_.forward(w.port, form.bytes, after);
    form.exit = form.verdict.port;
    add(w, std::move(form));
  }

  const Judge& judge_;
  std::uint64_t overtaken_ = 0;
};

}  // namespace emery::tile_router
