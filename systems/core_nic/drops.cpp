// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/drops.hpp"

#include <cstddef>
#include <utility>

#include "core_nic.h"

namespace emery::core_nic {

std::uint64_t Drops::gone(Scoreboard& score, int stream, std::uint64_t unseen) {
  if (stream < 0) return 0;
  const std::uint64_t frames = score.missing(stream) - unseen;
  score.dropped(stream, "reset", frames);
  return frames;
}

bool Drops::read(Driver& driver) {
#define EMERY_COUNT(name) driver.read(offsetof(core_nic_regs_t, name))
  // A descriptor that did not come is an empty frame to the firmware: each of a frame's.
  const std::uint32_t empty = EMERY_COUNT(tx_empty);
  const Drop all[] = {{rx_, "bad_fcs", EMERY_COUNT(rx_bad_fcs)},
                      {rx_, "runt", EMERY_COUNT(rx_runt)},
                      {rx_, "oversize", EMERY_COUNT(rx_oversize)},
                      {rx_, "no_buffer", EMERY_COUNT(rx_no_buffer)},
                      {rx_, "fifo_full", EMERY_COUNT(rx_fifo_full)},
                      {rx_, "firmware", EMERY_COUNT(rx_firmware)},
                      {rx_, "bad_length", driver.bad_lengths()},
                      {tx_, "firmware", EMERY_COUNT(tx_firmware)},
                      {rx_, "descriptor_error", driver.descriptor_errors()},
                      {tx_, "tx_error", EMERY_COUNT(tx_lost) + empty / driver.segments()},
                      {tx_, "bad_command", EMERY_COUNT(tx_bad_commands) - empty}};
#undef EMERY_COUNT
  std::vector<Drop> some;
  for (const Drop& drop : all)
    if (drop.frames != 0 && drop.stream >= 0) some.push_back(drop);
  std::swap(some, drops_);
  return some != drops_;
}

std::string Drops::missing(const Scoreboard& score) const {
  std::string text;
  for (const auto& [stream, name] : {std::pair(rx_, "rx"), std::pair(tx_, "tx")}) {
    if (stream < 0) continue;
    std::uint64_t counted = 0;
    for (const Drop& drop : drops_) counted += drop.stream == stream ? drop.frames : 0;
    const std::uint64_t frames = score.missing(stream);
    if (frames == counted) continue;
    text += (text.empty() ? "" : "; ") + std::to_string(frames) + " frames of " + name +
            " have not come out, " + std::to_string(counted) + " are counted as dropped";
  }
  return text;
}

void Drops::account(Scoreboard& score) const {
  for (const Drop& drop : drops_) score.dropped(drop.stream, drop.reason, drop.frames);
}

}  // namespace emery::core_nic
