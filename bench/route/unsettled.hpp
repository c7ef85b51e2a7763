// SPDX-License-Identifier: Apache-2.0
// Frames whose way is not known beforehand, because a route changed while they were inside: each is
// right if it comes out as one of the routes at that time has it, and only then.
//
// Which frames are kept here, and which of them a change may still meet (`open`), is for each
// router to say, and at which of its exits. `Verdict`: `drop`, why a frame does not come out, or
// null.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/time.hpp"

namespace emery::route {

template <class Verdict>
class Unsettled {
 public:
  /// What a frame may become.
  struct Form {
    Verdict verdict;
    std::vector<std::uint8_t> bytes;  // as it goes out
    unsigned exit;                    // where, unless it is dropped
  };
  struct Waiting {
    unsigned port;  // where it came in
    std::vector<std::uint8_t> frame;
    std::uint32_t flow;
    Time started;
    std::uint32_t lane = 0;  // within which frames of a flow keep their order
    bool open = false;       // changes to come may meet it
    std::vector<Form> forms = {};
  };

  virtual ~Unsettled() = default;

  /// A change begins: frames that it may meet may see it.
  void change() {
    for (Waiting& w : waiting_) {
      if (w.open) meet(w, true);
    }
  }
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }

  /// Such a frame came out: which of those kept it is, and in which form.
  std::optional<std::pair<Waiting, Form>> came(unsigned exit, std::span<const std::uint8_t> bytes) {
    for (auto w = waiting_.begin(); w != waiting_.end(); ++w) {
      const auto form = std::ranges::find_if(w->forms, [&](const Form& f) {
        return !f.verdict.drop && f.exit == exit && std::ranges::equal(f.bytes, bytes);
      });
      if (form == w->forms.end()) continue;
      ++(w->forms.size() == 1 ? one_way_ : form == w->forms.begin() ? old_ : new_);
      std::pair found{std::move(*w), Form{}};
      found.second = found.first.forms[static_cast<std::size_t>(form - found.first.forms.begin())];
      waiting_.erase(w);
      return found;
    }
    return std::nullopt;
  }

  /// Where a frame is gone that did not come out: dropped before it got to an output, or for that
  /// reason.
  using Place = std::pair<unsigned, std::string>;  // where it came in; the output or the reason
  static Place place(const Waiting& w, const Form& form) {
    const char* const drop = form.verdict.drop;
    return {w.port, drop ? drop : std::to_string(form.exit)};
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
      // Whoever drops such frames may have had no room for it.
      const auto& forms = waiting_[n].forms;
      const auto drop = std::ranges::find_if(forms, [](auto& f) { return f.verdict.drop; });
      if (drop != forms.end()) form[n] = static_cast<std::size_t>(drop - forms.begin());
    }
    for (std::size_t n = 0; n < waiting_.size(); ++n)
      found.emplace_back(waiting_[n], waiting_[n].forms[form[n]]);
    waiting_.clear();
    return found;
  }

  /// Frames that came out as the routes before have it, as those after; in their only form.
  std::uint64_t before() const { return old_; }
  std::uint64_t after() const { return new_; }
  std::uint64_t one_way() const { return one_way_; }

 protected:
  /// Adds what the routes before a change, or after it, make of a frame.
  virtual void meet(Waiting& w, bool after) const = 0;

  /// One more form of a frame, unless it has it.
  static void add(Waiting& w, Form form) {
    const char* const drop = form.verdict.drop;
    const bool known = std::ranges::any_of(w.forms, [&](const Form& f) {
      return f.verdict.drop == drop && (drop || (f.exit == form.exit && f.bytes == form.bytes));
    });
    if (!known) w.forms.push_back(std::move(form));
  }

  std::vector<Waiting> waiting_;  // oldest first

 private:
  std::uint64_t old_ = 0, new_ = 0, one_way_ = 0;
};

}  // namespace emery::route
