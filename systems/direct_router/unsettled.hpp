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
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
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
  /// Such a frame came out (Verdict::exit): which of those kept it is, and in which form.
  std::optional<std::pair<Waiting, Form>> came(unsigned exit, std::span<const std::uint8_t> bytes) {
    for (auto w = waiting_.begin(); w != waiting_.end(); ++w) {
      const auto form = std::ranges::find_if(w->forms, [&](const Form& f) {
        return !f.verdict.drop && f.verdict.exit(w->port, reference_.ports()) == exit &&
               std::ranges::equal(f.bytes, bytes);
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
  /// Where a frame is gone that did not come out: dropped before it got to an output, or by the
  /// host for that reason.
  using Place = std::pair<unsigned, std::string>;  // where it came in; the output or the reason
  Place place(const Waiting& w, const Form& form) const {
    const Verdict& v = form.verdict;
    return {w.port, v.drop ? v.drop : std::to_string(v.exit(w.port, reference_.ports()))};
  }
  /// What has not come out, each in one form: so that as many as possible are where `missed` says
  /// that frames were dropped which no other explains (a matching of frames and places).
  std::vector<std::pair<Waiting, Form>> rest(
      const std::function<std::int64_t(const Waiting&, const Form&)>& missed) {
    std::map<Place, std::pair<std::int64_t, std::vector<std::size_t>>> places;
    std::vector<std::size_t> form(waiting_.size());
    std::set<Place> tried;
    const std::function<bool(std::size_t)> find = [&](std::size_t n) {
      const Waiting& w = waiting_[n];
      for (std::size_t f = 0; f < w.forms.size(); ++f) {
        const Place at = place(w, w.forms[f]);
        if (!tried.insert(at).second) continue;
        auto [it, fresh] = places.try_emplace(at);
        auto& [room, here] = it->second;
        if (fresh) room = missed(w, w.forms[f]);
        std::size_t* free = nullptr;
        if (static_cast<std::int64_t>(here.size()) < room) free = &here.emplace_back();
        for (std::size_t i = 0; !free && i < here.size(); ++i) {
          if (find(here[i])) free = &here[i];
        }
        if (!free) continue;
        *free = n;
        form[n] = f;
        return true;
      }
      return false;
    };
    std::vector<std::pair<Waiting, Form>> found;
    for (std::size_t n = 0; n < waiting_.size(); ++n) {
      tried.clear();
      if (find(n)) continue;
      // The host may have had no room for it.
      const auto& forms = waiting_[n].forms;
      const auto drop = std::ranges::find_if(forms, [](auto& f) { return f.verdict.drop; });
      if (drop != forms.end()) form[n] = static_cast<std::size_t>(drop - forms.begin());
    }
    for (std::size_t n = 0; n < waiting_.size(); ++n)
      found.emplace_back(waiting_[n], waiting_[n].forms[form[n]]);
    waiting_.clear();
    return found;
  }

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
    if (reference_.kernel()) {  // which is not followed any further
      add(w, by_card);
      if (!drop && reference_.cut(w.port)) add(w, form(w, after, true));
      return;
    }
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
