// SPDX-License-Identifier: Apache-2.0
// What the tiles do: how their cores spend the clocks of the measured time, what their networks
// carried in it, which of them has trapped or waits, and for what.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/sim/simulation.hpp"
#include "bench/stats/json.hpp"
#include "core_formats.hpp"
#include "mesh_formats.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/chip.hpp"

namespace emery::tile_router {

class Tiles final : public Component {
 public:
  /// The sum of a counter of the programs.
  using Sum = std::function<std::uint64_t(const std::string& counter)>;

  Tiles(const Chip& pins, const BootImage& image, Simulation& simulation, int clock, BootPort& boot)
      : pins_(pins),
        image_(image),
        simulation_(simulation),
        clock_(clock),
        boot_(boot),
        uses_(image.columns * image.rows),
        counts_(image.columns * image.rows) {}

  void sample(Time) override {
    if (!measuring_) return;
    for (std::size_t t = 0; t < uses_.size(); ++t) ++uses_[t][pins_.use_o[t] & 15];
  }
  void drive() override {}

  /// The measured time begins; it ends, and what the tiles have sent in it is read.
  void begin() {
    measuring_ = true;
    start_ = simulation_.cycles(clock_);
  }
  void end();
  bool measuring() const { return measuring_; }
  /// Its clocks, so far.
  std::uint64_t clocks() const { return (measuring_ ? simulation_.cycles(clock_) : end_) - start_; }

  /// A line for each tile that has trapped.
  std::vector<std::string> traps();
  /// Which switches and cores wait, and for what; each text begins with a blank.
  std::string waiting();

  /// Fields of the open object. Clocks are shared out over so many frames; with `timed` programs
  /// say how long their tasks took.
  void write_stages(JsonWriter& json, std::uint64_t frames, bool timed, const Sum& sum) const;
  void write(JsonWriter& json) const;

 private:
  static constexpr unsigned kUses = core_pkg::ClockUses;
  static constexpr unsigned kLinks = 4 * mesh_pkg::RouterPorts;  // of each network, by side
  struct Counts {
    std::uint64_t clock = 0;  // when they were read, from the start of traffic
    std::array<std::uint32_t, 3> cache{};
    std::array<std::uint32_t, kLinks> words{};
  };

  std::string waiting(const BootImage::Tile& tile);
  std::uint32_t read(std::size_t tile, unsigned reg);
  double busy(std::size_t tile) const;
  double link_use(std::size_t tile, unsigned link) const;

  const Chip& pins_;
  const BootImage& image_;
  Simulation& simulation_;
  int clock_;
  BootPort& boot_;
  bool measuring_ = false;
  std::uint64_t start_ = 0, end_ = 0;
  std::vector<std::array<std::uint64_t, kUses>> uses_;  // clocks
  std::vector<Counts> counts_;
};

}  // namespace emery::tile_router
