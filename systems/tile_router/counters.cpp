// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/counters.hpp"

#include <algorithm>
#include <set>

#include "mesh_formats.hpp"

namespace emery::tile_router {

std::uint64_t Counters::read() {
  values_.clear();
  std::uint64_t drops = 0;
  for (const BootImage::Counter& counter : image_.counters) {
    values_.push_back(boot_.read(simulation_, counter.address));
    if (counter.name.starts_with("drop_")) drops += values_.back();
  }
  return drops;
}

void Counters::look(const std::function<std::uint64_t()>& entered) {
  if (every_ == 0 || simulation_.now() - last_ < every_) return;
  last_ = simulation_.now();
  const std::vector<std::uint32_t> before = values_;
  read();
  ++reads_;
  ahead_ += sum("frames_in") > entered();
  for (std::size_t i = 0; i < before.size(); ++i) fell_ += values_[i] < before[i];
}

void Counters::read_slots() {
  std::set<unsigned> used = image_.lines();
  for (const auto& [slot, use] : image_.memories) used.insert(slot);
  for (const unsigned slot : used) {
    for (unsigned i = 0; i < kNames.size(); ++i) {
      slots_[slot][i] = boot_.read(simulation_, slot_address(slot, mesh_pkg::SlotMemReads + i));
    }
  }
}

const BootImage::Tile& Counters::tile_of(const BootImage::Counter& counter) const {
  return *std::find_if(image_.tiles.begin(), image_.tiles.end(),
                       [&](const BootImage::Tile& tile) { return tile.number == counter.tile; });
}

// What inputs and lookups drop was to be dropped; an output drops what was to be forwarded.
void Counters::account(Crossings& crossings, Findings& findings) const {
  std::vector<std::map<std::string, std::uint64_t>> drops(crossings.ports());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const BootImage::Counter& counter = image_.counters[i];
    if (values_[i] == 0 || !counter.name.starts_with("drop_")) continue;
    const std::string reason = counter.name.substr(5);
    const BootImage::Tile& tile = tile_of(counter);
    if (tile.role == "output") {
      crossings.dropped(crossings.to(tile.pipeline), reason, values_[i], findings);
    } else {
      drops[image_.port_of(tile.pipeline)][reason] += values_[i];
    }
  }
  for (unsigned p = 0; p < drops.size(); ++p) {
    for (const auto& [reason, count] : drops[p]) crossings.dropped(p, reason, count, findings);
  }
  crossings.settle();
}

std::uint64_t Counters::dropped(unsigned port, const std::string& reason) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const BootImage::Counter& counter = image_.counters[i];
    if (counter.name == "drop_" + reason && image_.port_of(tile_of(counter).pipeline) == port)
      total += values_[i];
  }
  return total;
}

std::uint64_t Counters::sum(const std::string& name) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (image_.counters[i].name == name) total += values_[i];
  }
  return total;
}

std::uint64_t Counters::sum_of(const std::string& prefix) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (image_.counters[i].name.starts_with(prefix)) total += values_[i];
  }
  return total;
}

void Counters::check(Findings& findings) const {
  findings.add(fell_, "counters of tiles that fell while it ran");
  findings.add(ahead_, "times tiles had counted more frames than had come in");
  for (const auto& [slot, counts] : slots_) {
    const std::string where = " at slot " + std::to_string(slot);
    findings.add(counts[2], "malformed messages to the memory" + where);
    findings.add(counts[4], "frames too long or malformed messages" + where);
    findings.add(counts[6], "malformed messages or failed reads" + where);
    findings.add(counts[7], "stray words" + where);
  }
}

void Counters::write(JsonWriter& json) const {
  json.object("counters");
  std::set<std::string> names;
  for (const BootImage::Counter& counter : image_.counters) names.insert(counter.name);
  for (const std::string& name : names) json.field(name, sum(name));
  json.end_object();
  std::map<unsigned, std::vector<std::size_t>> by_tile;
  for (std::size_t i = 0; i < values_.size(); ++i) by_tile[image_.counters[i].tile].push_back(i);
  json.object("tile_counters");
  for (const auto& [tile, mine] : by_tile) {
    json.object(std::to_string(tile));
    for (const std::size_t i : mine) json.field(image_.counters[i].name.c_str(), values_[i]);
    json.end_object();
  }
  json.end_object();
  json.field("counter_reads", reads_);
  json.object("slots");
  for (const auto& [slot, counts] : slots_) {
    json.object(std::to_string(slot));
    for (unsigned i = 0; i < kNames.size(); ++i) json.field(kNames[i], counts[i]);
    json.end_object();
  }
  json.end_object();
}

}  // namespace emery::tile_router
