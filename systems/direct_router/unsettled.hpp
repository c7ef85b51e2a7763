// SPDX-License-Identifier: Apache-2.0
// Frames whose way is not known beforehand, because a route changed while they were inside: each is
// right if it comes out as one of the routes at that time has it, and only then.
//
// On the fast path that is the route before the change or after it (updates.hpp says from when to
// when a change is under way); a frame that goes through the host, which may keep it for long, can
// see any route there was until it comes out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"
#include "systems/direct_router/reference.hpp"

namespace emery::direct_router {

class Unsettled {
 public:
  /// What a frame may become.
  struct Form {
    Verdict verdict;
    std::vector<std::uint8_t> bytes;  // as it goes out
  };
  struct Waiting {
    unsigned port;  // where it came in
    std::vector<std::uint8_t> frame;
    std::uint32_t flow;
    Time started;
    bool host = false;  // it may have gone there
    std::vector<Form> forms;
  };

  explicit Unsettled(const Reference& reference) : reference_(reference) {}

  /// A good frame came in: it is kept here, unless its way is certain.
  bool keep(unsigned port, std::span<const std::uint8_t> frame, std::uint32_t flow, Time started) {
    Waiting w{port, {frame.begin(), frame.end()}, flow, started, false, {}};
    add(w, false);
    if (!reference_.changing() && !w.host) return false;
    if (reference_.changing()) add(w, true);
    if (w.forms.size() == 1 && !w.host) return false;
    waiting_.push_back(std::move(w));
    return true;
  }
  /// A change is announced: what may be at the host may see it.
  void change() {
    for (Waiting& w : waiting_) {
      if (w.host) add(w, true);
    }
  }
  /// Such a frame came out: which of those kept it is, and in which form.
  std::optional<std::pair<Waiting, Form>> came(unsigned port, std::span<const std::uint8_t> bytes) {
    for (auto w = waiting_.begin(); w != waiting_.end(); ++w) {
      const auto form = std::ranges::find_if(w->forms, [&](const Form& f) {
        return !f.verdict.drop && f.verdict.port == port && std::ranges::equal(f.bytes, bytes);
      });
      if (form == w->forms.end()) continue;
      const bool first = form == w->forms.begin();
      ++(w->forms.size() == 1 ? one_way_ : first ? old_ : new_);
      std::pair found{std::move(*w), Form{}};
      found.second = found.first.forms[static_cast<std::size_t>(form - found.first.forms.begin())];
      waiting_.erase(w);
      return found;
    }
    return std::nullopt;
  }
  bool empty() const { return waiting_.empty(); }
  /// What has not come out.
  std::vector<Waiting> rest() { return std::exchange(waiting_, {}); }

  void write(JsonWriter& json) const {
    json.field("frames_old", old_).field("frames_new", new_).field("frames_host", one_way_);
  }

 private:
  Form form(const Waiting& w, bool after, bool by_host) const {
    Form form{{}, w.frame};
    form.verdict = reference_.forward(w.port, form.bytes, after, by_host);
    return form;
  }
  void add(Waiting& w, Form form) const {
    const char* const drop = form.verdict.drop;
    const bool known = std::ranges::any_of(w.forms, [&](const Form& f) {
      return f.verdict.drop == drop && (drop || f.bytes == form.bytes);
    });
    if (!known) w.forms.push_back(std::move(form));
  }
  /// What the routes before or after the change make of it.
  void add(Waiting& w, bool after) const {
    const Form by_card = form(w, after, false);
    const char* const drop = by_card.verdict.drop;
    // It is the host that drops what has no route.
    w.host = w.host || reference_.cut(w.port) ||
             (drop ? std::string_view(drop) == "no_route" : by_card.verdict.slow);
    add(w, by_card);
    if (!drop && w.host) add(w, form(w, after, true));
  }

  const Reference& reference_;
  std::vector<Waiting> waiting_;  // oldest first
  std::uint64_t old_ = 0, new_ = 0, one_way_ = 0;
};

}  // namespace emery::direct_router
