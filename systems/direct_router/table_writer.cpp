// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/table_writer.hpp"

#include <algorithm>
#include <span>

namespace emery::direct_router {
namespace {

constexpr std::size_t kPart = 64;  // entries: half of what can wait for a card's memory

}  // namespace

void TableWriter::begin(const RouteChange& change, Time now, bool inside) {
  change_ = change;
  reference_.begin(change_);
  on_change();
  begun_ = now;
  waits_ = inside ? lead_ : 0;
  state_ = State::kLead;
}

bool TableWriter::poll(Time now) {
  if (state_ == State::kWriting) return answered_ && next_part(now);
  if (now - begun_ >= waits_) tell(now);
  return false;
}

void TableWriter::tell(Time now) {
  ++(change_.withdrawn ? withdrawals_ : announced_);
  host_.change(change_);
  state_ = State::kWriting;
  begun_ = now;
  card_ = 0;
  writes_ = cards_[0].change(host_.routes(), change_.route);
  written_ = 0;
}

bool TableWriter::next_part(Time now) {
  while (written_ == writes_.size()) {
    entries_ += writes_.size();
    written_ = 0;
    if (++card_ == cards_.size()) {
      reference_.end();
      times_.took(now - begun_);
      state_ = State::kIdle;
      return true;
    }
    writes_ = cards_[card_].change(host_.routes(), change_.route);
  }
  const std::size_t part = std::min(kPart, writes_.size() - written_);
  host_.write_entries(card_, std::span(writes_).subspan(written_, part));
  written_ += part;
  answered_ = false;
  host_.when_taken(card_, [this] { answered_ = true; });
  return false;
}

void TableWriter::write_counts(JsonWriter& json) const {
  json.field("announced", announced_).field("withdrawn", withdrawals_);
}

void TableWriter::write_times(JsonWriter& json) const {
  json.field("entries", entries_);
  times_.write(json);
}

}  // namespace emery::direct_router
