// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/tiles.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "bench/core/trap_name.hpp"
#include "mesh_formats.hpp"

namespace emery::tile_router {
namespace {

constexpr std::array kNetworks = {"static1", "static2", "gdn", "mdn"};

// What a core did in a clock, as the paper says it.
std::string_view use_name(unsigned use) {
  std::string_view name = core_pkg::clock_use_name(use);
  if (name.starts_with("stall_")) name.remove_prefix(6);
  return name;
}

}  // namespace

std::uint32_t Tiles::read(std::size_t tile, unsigned reg) {
  return boot_.read(simulation_, tile_address(static_cast<unsigned>(tile), reg));
}

void Tiles::end() {
  measuring_ = false;
  end_ = simulation_.cycles(clock_);
  for (std::size_t t = 0; t < counts_.size(); ++t) {
    Counts& counts = counts_[t];
    for (unsigned i = 0; i < 3; ++i) counts.cache[i] = read(t, boot_pkg::RegCache + i);
    for (unsigned i = 0; i < kLinks; ++i) counts.words[i] = read(t, boot_pkg::RegStatic + i);
    counts.clock = simulation_.cycles(clock_) - start_;
  }
}

std::vector<std::string> Tiles::traps() {
  std::vector<std::string> lines;
  for (unsigned t = 0; t < uses_.size(); ++t) {
    if (pins_.trap_o[t] == 0) continue;
    const std::uint32_t pc = read(t, boot_pkg::RegTrapPc);
    const std::string where = image_.where(t, pc);
    char at[16];
    std::snprintf(at, sizeof at, "0x%08x", pc);
    lines.push_back("tile " + std::to_string(t) + " (" + image_.role(t) +
                    ") trapped: " + std::string(trap_name(pins_.trap_o[t])) + " at pc " + at +
                    (where.empty() ? "" : " in " + where));
  }
  return lines;
}

std::string Tiles::waiting() {
  std::string text;
  for (const BootImage::Tile& tile : image_.tiles) text += waiting(tile);
  return text;
}

std::string Tiles::waiting(const BootImage::Tile& tile) {
  const std::uint32_t state = read(tile.number, boot_pkg::RegSwitch);
  const std::uint32_t needs = read(tile.number, boot_pkg::RegSwitchNeeds);
  const unsigned use = pins_.use_o[tile.number] & 15;
  std::string line;
  if (state & 1 << 16) {
    line = " switch at " + std::to_string(state & 0xffff) + " waits for";
    for (unsigned bit = 0; bit < 24; ++bit) {
      if (!(needs >> bit & 1)) continue;
      line += bit < 12 ? " a word from " : " room to ";
      line += std::string(mesh_pkg::port_name(bit % mesh_pkg::SwitchPorts)) + " on network " +
              (bit / mesh_pkg::SwitchPorts % 2 ? "2," : "1,");
    }
  }
  if (use == core_pkg::StallReceive) line += " core waits for a word,";
  if (use == core_pkg::StallSend) line += " core waits for room in a network,";
  if (line.empty()) return line;
  line.back() = ';';
  return " tile " + std::to_string(tile.number) + " (" + tile.role + " " +
         std::to_string(tile.pipeline) + "):" + line;
}

// Clocks a frame costs a tile of each role, but for waiting.
void Tiles::write_stages(JsonWriter& json, std::uint64_t frames, bool timed, const Sum& sum) const {
  struct Role {
    double working = 0, tiles = 0;
  };
  std::map<std::string, Role> roles;
  for (const BootImage::Tile& tile : image_.tiles) {
    Role& role = roles[tile.role];
    for (unsigned use = 0; use < core_pkg::Halted; ++use)
      role.working += static_cast<double>(uses_[tile.number][use]);
    role.tiles += 1;
  }
  const auto all = static_cast<double>(clocks()), entered = static_cast<double>(frames);
  json.object("stages");
  for (const auto& [name, role] : roles) {
    if (name == "path") continue;
    json.object(name)
        .field("clocks_per_frame", entered > 0 ? role.working / entered : 0.0)
        .field("busy", all > 0 ? role.working / (all * role.tiles) : 0.0);
    if (const auto in = static_cast<double>(sum("frames_in")); timed && in > 0)
      json.field("task_clocks", static_cast<double>(sum("clocks_" + name)) / in);
    json.end_object();
  }
  json.end_object();
}

double Tiles::busy(std::size_t t) const {
  const auto all = static_cast<double>(std::max<std::uint64_t>(clocks(), 1));
  return 1 - static_cast<double>(uses_[t][core_pkg::Halted] + uses_[t][core_pkg::StallReceive] +
                                 uses_[t][core_pkg::StallSend]) /
                 all;
}

double Tiles::link_use(std::size_t t, unsigned link) const {
  const Counts& counts = counts_[t];
  return counts.clock ? static_cast<double>(counts.words[link]) / static_cast<double>(counts.clock)
                      : 0.0;
}

void Tiles::write(JsonWriter& json) const {
  const auto all = static_cast<double>(std::max<std::uint64_t>(clocks(), 1));
  double busiest = 0, busiest_core = 0;
  std::string name, core;
  json.array("tiles");
  for (unsigned t = 0; t < counts_.size(); ++t) {
    json.begin_object().field("tile", t).field("role", image_.role(t));
    json.object("use");
    for (unsigned use = 0; use < kUses; ++use)
      json.field(use_name(use), static_cast<double>(uses_[t][use]) / all);
    json.end_object();
    if (busy(t) > busiest_core) {
      busiest_core = busy(t);
      core = image_.role(t) + " on tile " + std::to_string(t);
    }
    json.object("links");
    for (unsigned n = 0; n < kNetworks.size(); ++n) {
      json.array(kNetworks[n]);
      for (unsigned side = 0; side < 5; ++side) {
        const double use = link_use(t, 5 * n + side);
        json.value(use);
        if (use <= busiest) continue;
        busiest = use;
        name = std::string(kNetworks[n]) + " of tile " + std::to_string(t) + " to " +
               std::string(mesh_pkg::port_name(side));
      }
      json.end_array();
    }
    json.end_object();
    json.field("cache_accesses", counts_[t].cache[0])
        .field("cache_reads", counts_[t].cache[1])
        .field("cache_writes", counts_[t].cache[2])
        .end_object();
  }
  json.end_array();
  json.field("busiest_core", busiest_core)
      .field("busiest_core_is", core)
      .field("busiest_link", busiest)
      .field("busiest_link_is", name);
}

}  // namespace emery::tile_router
