// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/updates.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace emery::direct_router {
namespace {

constexpr std::size_t kPart = 64;  // entries: half of what can wait for a card's memory

template <class T>
T take(std::vector<T>& from, std::size_t at) {
  std::swap(from[at], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

}  // namespace

Updates::Updates(const UpdateConfig& config, const Routes& routes,
                 const std::vector<Destination>& destinations, Host& host, Reference& reference,
                 std::vector<CardRoutes>& cards)
    : config_(config), random_(config.seed), host_(host), reference_(reference), cards_(cards) {
  // The route of a destination is the longest of those that cover it.
  std::unordered_map<std::uint64_t, std::size_t> index;
  const auto key = [](std::uint32_t prefix, unsigned length) {
    return std::uint64_t{prefix} << 8 | length;
  };
  for (std::size_t i = 0; i < routes.size(); ++i)
    index[key(routes[i].prefix, routes[i].length)] = i;
  std::vector<bool> chosen(routes.size());
  for (const Destination& to : destinations) {
    for (unsigned length = 33; length-- > 0;) {
      const Route at{to.address, length, 0};
      const auto it = index.find(key(to.address & at.mask(), length));
      if (it == index.end()) continue;
      if (!chosen[it->second]) taken_.push_back({routes[it->second], to});
      chosen[it->second] = true;
      break;
    }
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (!chosen[i]) others_.push_back({routes[i], {}});
  }
}

// Not back to where the traffic comes from: it would go through the host.
unsigned Updates::other_port(const Live& live) {
  auto port = static_cast<unsigned>(random_.below(config_.ports));
  if (live.taken && port == live.taken->from) port = (port + 1) % config_.ports;
  return port;
}

RouteChange Updates::draw() {
  if (!withdrawn_.empty() && random_.below(3) == 0) {
    Live live = take(withdrawn_, random_.below(withdrawn_.size()));
    live.route.port = other_port(live);
    (live.taken ? taken_ : others_).push_back(live);
    return {live.route};
  }
  std::vector<Live>& some =
      others_.empty() || (!taken_.empty() && random_.below(2) == 0) ? taken_ : others_;
  const std::size_t at = random_.below(some.size());
  switch (random_.below(3)) {
    case 0:
      if (taken_.size() + others_.size() > 1) {
        withdrawn_.push_back(take(some, at));
        return {withdrawn_.back().route, true};
      }
      [[fallthrough]];
    case 1:
      some[at].route.port = other_port(some[at]);
      return {some[at].route};
    default: {
      // A part of it.
      Live part = some[at];
      const std::uint32_t within =
          part.taken ? part.taken->address
                     : part.route.prefix |
                           (static_cast<std::uint32_t>(random_.next()) & ~part.route.mask());
      part.route.length = static_cast<unsigned>(
          std::min<std::uint64_t>(32, part.route.length + 1 + random_.below(8)));
      part.route.prefix = within & part.route.mask();
      part.route.port = other_port(part);
      some.push_back(part);
      return {part.route};
    }
  }
}

void Updates::poll(Time now, bool ending) {
  switch (state_) {
    case State::kIdle:
      if (due_ == 0) due_ = now;
      if (ending || now < due_) return;
      change_ = draw();
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
