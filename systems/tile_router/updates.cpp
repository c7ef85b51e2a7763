// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/updates.hpp"

#include "systems/tile_router/shortest_change.hpp"
#include "tile_formats.hpp"

namespace emery::tile_router {
namespace {

constexpr Time kAsk = 100 * kNanosecond;  // between two looks at whether a change is done

}  // namespace

Updates::Updates(const Options& options, const BootImage& image, const route::Routes& routes,
                 const std::vector<route::Destination>& destinations, BootPort& boot, Judge& judge)
    : image_(image),
      boot_(boot),
      judge_(judge),
      frames_(judge),
      routes_(routes),
      changes_(route::change_source(options, static_cast<unsigned>(image.linecards.size()), routes,
                                    destinations, kShortestChange)),
      period_(static_cast<Time>(1e12 / options.get<double>("updates_per_s"))) {}

std::unique_ptr<Updates> Updates::of(const Options& options, const BootImage& image,
                                     const route::Routes& routes,
                                     const std::vector<route::Destination>& destinations,
                                     BootPort& boot, Judge& judge) {
  options.get<double>("updates_per_s");
  if (!image.changes) return nullptr;
  return std::make_unique<Updates>(options, image, routes, destinations, boot, judge);
}

void Updates::sample(Time now) {
  now_ = now;
  if (state_ == State::kIdle) {
    if (!ended_ && now >= due_) begin(now);
    return;
  }
  if (asked_ || now < ask_at_) return;
  asked_ = true;
  const bool made = state_ == State::kRefused;
  boot_.read(image_.counter(made ? "changes_refused" : "changes_done"),
             [this, made](std::uint32_t value) {
               asked_ = false;
               ask_at_ = now_ + kAsk;
               if (made) return done(value != refused_);
               if (value != number_) return;
               state_ = State::kRefused;
               times_.took(now_ - begun_);
             });
}

void Updates::begin(Time now) {
  const auto change = changes_->next();
  if (!change) {
    ended_ = true;
    return;
  }
  change_ = *change;
  judge_.begin(change_);
  frames_.change();
  routes_.change(change_);
  const route::Route& route = change_.route;
  std::uint32_t result = route.port, becomes = route.length;
  if (change_.withdrawn) {
    const auto around = routes_.around(route);
    result = around ? around->port : tile_pkg::PortNoRoute;
    becomes = around ? around->length : 0;
  }
  std::uint32_t at = image_.changes->words;
  for (const std::uint32_t word : {route.prefix, std::uint32_t{route.length}, result, becomes}) {
    boot_.write(at, word);
    at += 4;
  }
  boot_.write(image_.changes->number, ++number_);
  begun_ = ask_at_ = now;
  state_ = State::kMaking;
}

// Refused is only what has no route yet.
void Updates::done(bool refused) {
  if (refused) {
    ++refused_;
    routes_.change({change_.route, true});
    judge_.undo();
  } else {
    ++(change_.withdrawn ? withdrawn_ : announced_);
    judge_.end();
  }
  due_ += period_;
  late_ += due_ < now_;
  state_ = State::kIdle;
}

std::vector<Unsettled::Settled> Updates::rest(const Counters& counters,
                                              const Crossings& crossings) {
  return frames_.rest([&](const Unsettled::Waiting& w, const Unsettled::Form& form) {
    if (!form.verdict.drop) return std::int64_t{0};
    const auto& expected = crossings.expected(w.port);
    const auto known = expected.find(form.verdict.drop);
    return static_cast<std::int64_t>(counters.dropped(w.port, form.verdict.drop)) -
           static_cast<std::int64_t>(known == expected.end() ? 0 : known->second);
  });
}

void Updates::check(Findings& findings, const Memories& memories) const {
  memories.check(findings, routes_.routes());
  findings.add(frames_.overtaken(), "frames out of order within a pipeline");
}

void Updates::write(JsonWriter& json) const {
  json.object("updates")
      .field("announced", announced_)
      .field("withdrawn", withdrawn_)
      .field("refused", refused_)
      .field("late", late_)
      .field("left", changes_->left());
  times_.write(json);
  json.field("frames_old", frames_.before())
      .field("frames_new", frames_.after())
      .field("overtaken", frames_.overtaken())
      .end_object();
}

}  // namespace emery::tile_router
