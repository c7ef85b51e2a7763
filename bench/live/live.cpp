// SPDX-License-Identifier: Apache-2.0
#include "bench/live/live.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace emery {

std::unique_ptr<Live> Live::of(const Options& options) {
  return options.has("live") ? std::make_unique<Live>(options) : nullptr;
}

Live::Live(const Options& options) : control_(options.get<int>("live")) {
  for (const std::string& place : options.endings("tap."))
    taps_.try_emplace(place, options.get<int>("tap." + place));
  if (options.has("rtnetlink")) rtnetlink_.emplace(options.get<int>("rtnetlink")).subscribe();
}

Tap* Live::tap(const std::string& place) {
  const auto found = taps_.find(place);
  return found == taps_.end() ? nullptr : &found->second;
}

bool Live::pending() const {
  if (rtnetlink_ && rtnetlink_->changed()) return true;
  return std::any_of(taps_.begin(), taps_.end(), [](const auto& x) { return !x.second.empty(); });
}

void Live::look(bool idle) {
  if (ended_) return;
  std::vector<pollfd> all{{control_, POLLIN, 0}};
  for (const auto& [place, tap] : taps_) all.push_back({tap.full() ? -1 : tap.file(), POLLIN, 0});
  if (rtnetlink_) all.push_back({rtnetlink_->file(), POLLIN, 0});
  const auto from = Clock::now();
  if (::poll(all.data(), all.size(), idle ? -1 : 0) < 0) {
    if (errno == EINTR) return;
    throw std::runtime_error(std::string("live: poll: ") + std::strerror(errno));
  }
  if (idle) idle_ += Clock::now() - from;
  ended_ = all.front().revents != 0;
  auto polled = all.begin() + 1;
  for (auto& [place, tap] : taps_) {
    if ((polled++)->revents == 0 || ended_ || tap.read()) continue;
    gone_ = place;
    ended_ = true;
  }
  if (rtnetlink_ && all.back().revents != 0) rtnetlink_->read();
  for (auto& [place, tap] : taps_)
    if (ended_) tap.end();
}

void Live::write(JsonWriter& json) const {
  json.field("idle_s", std::chrono::duration<double>(idle_).count());
  if (!gone_.empty()) json.field("gone", gone_);
  json.object("places");
  for (const auto& [place, tap] : taps_) tap.write(json.key(place));
  json.end_object();
  if (rtnetlink_) rtnetlink_->write(json.key("rtnetlink"));
}

}  // namespace emery
