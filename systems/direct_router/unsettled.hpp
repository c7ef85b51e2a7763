// SPDX-License-Identifier: Apache-2.0
// Frames that a route changed about while they were inside (bench/route/unsettled.hpp), of
// direct-router.
//
// On the fast path a frame is as the routes before the change have it or as those after
// (updates.hpp says from when to when a change is under way); a frame that goes through the host,
// which may keep it for long, can see any route there was until it comes out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "bench/route/unsettled.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {

class Unsettled : public route::Unsettled<Verdict> {
 public:
  explicit Unsettled(const Reference& reference) : reference_(reference) {}

  /// A good frame came in: it is kept here, unless its way is certain.
  bool keep(unsigned port, std::span<const std::uint8_t> frame, std::uint32_t flow, Time started) {
    Waiting w{port, {frame.begin(), frame.end()}, flow, started};
    meet(w, false);
    if (!reference_.changing() && !w.open) return false;
    if (reference_.changing()) meet(w, true);
    if (w.forms.size() == 1 && !w.open) return false;
    waiting_.push_back(std::move(w));
    return true;
  }

  void write(JsonWriter& json) const {
    json.field("frames_old", before()).field("frames_new", after()).field("frames_host", one_way());
  }

 private:
  Form form(const Waiting& w, bool after, bool by_host) const {
    Form form{{}, w.frame, 0};
    form.verdict = reference_.forward(w.port, form.bytes, after, by_host);
    form.exit = form.verdict.exit(w.port, reference_.ports());
    return form;
  }
  void meet(Waiting& w, bool after) const override {
    const Form by_card = form(w, after, false);
    const char* const drop = by_card.verdict.drop;
    if (reference_.kernel()) {  // which is not followed any further
      add(w, by_card);
      if (!drop && reference_.cut(w.port)) add(w, form(w, after, true));
      return;
    }
    // It is the host that drops what has no route.
    w.open = w.open || reference_.cut(w.port) ||
             (drop ? std::string_view(drop) == "no_route" : by_card.verdict.slow);
    add(w, by_card);
    if (!drop && w.open) add(w, form(w, after, true));
  }

  const Reference& reference_;
};

}  // namespace emery::direct_router
