// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/updates.hpp"

#include <algorithm>
#include <span>

namespace emery::direct_router {
namespace {

constexpr std::size_t kPart = 64;  // entries: half of what can wait for a card's memory

}  // namespace

Updates::Updates(const UpdateConfig& config, const Routes& routes,
                 const std::vector<Destination>& destinations, Host& host, Reference& reference,
                 std::vector<CardRoutes>& cards)
    : config_(config),
      churn_(config.seed, config.ports, routes, destinations),
      host_(host),
      reference_(reference),
      cards_(cards) {}

void Updates::poll(Time now, bool ending) {
  switch (state_) {
    case State::kIdle:
      if (due_ == 0) due_ = now;
      if (ending || now < due_) return;
      change_ = churn_.draw();
      reference_.begin(change_);
      on_change();
      begun_ = now;
      state_ = State::kLead;
      return;
    case State::kLead:
      if (now - begun_ >= config_.lead) begin(now);
      return;
    case State::kWriting:
      if (answered_) next_part(now);
  }
}

void Updates::begin(Time now) {
  ++(change_.withdrawn ? withdrawals_ : announced_);
  host_.change(change_);
  state_ = State::kWriting;
  begun_ = now;
  card_ = 0;
  writes_ = cards_[0].change(host_.routes(), change_.route);
  written_ = 0;
}

void Updates::next_part(Time now) {
  while (written_ == writes_.size()) {
    entries_ += writes_.size();
    written_ = 0;
    if (++card_ == cards_.size()) {
      reference_.end();
      longest_ = std::max(longest_, now - begun_);
      all_ += now - begun_;
      const auto period = static_cast<Time>(1e12 / config_.per_second);
      due_ += period;
      late_ += due_ < now;
      state_ = State::kIdle;
      return;
    }
    writes_ = cards_[card_].change(host_.routes(), change_.route);
  }
  const std::size_t part = std::min(kPart, writes_.size() - written_);
  host_.write_entries(card_, std::span(writes_).subspan(written_, part));
  written_ += part;
  answered_ = false;
  host_.when_taken(card_, [this] { answered_ = true; });
}

void Updates::write(JsonWriter& json) const {
  const std::uint64_t done = announced_ + withdrawals_;
  json.field("announced", announced_)
      .field("withdrawn", withdrawals_)
      .field("late", late_)
      .field("entries", entries_)
      .field("us_mean", done ? static_cast<double>(all_) / static_cast<double>(done) / 1e6 : 0.0)
      .field("us_max", static_cast<double>(longest_) / 1e6);
}

}  // namespace emery::direct_router
