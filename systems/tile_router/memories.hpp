// SPDX-License-Identifier: Apache-2.0
// The DRAMs behind the chip's memory slots: what each holds, and how busy it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/dram/word_dram.hpp"
#include "bench/route/routes.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/tile_router/boot.hpp"
#include "systems/tile_router/chip.hpp"
#include "systems/tile_router/dir24.hpp"

namespace emery::tile_router {

class Memories {
 public:
  /// Those that hold the routing table are loaded with it. `latency` is in clocks.
  Memories(Chip& chip, const BootImage& image, const route::Routes& routes, unsigned latency) {
    std::optional<Dir24> tables;
    std::vector<std::uint32_t> entries;
    if (image.version != "null") entries = tables.emplace(routes, image.addresses()).image();
    for (const auto& [slot, use] : image.memories) {
      Memory& memory = memories_[slot];
      memory.holds = use;
      memory.dram = std::make_unique<WordDram>(pins(chip, slot), latency);
      if (use.starts_with("table")) memory.dram->load(entries);
      if (tables && use == "table_lengths") {
        memory.dram->load(tables->lengths(), tile_pkg::TableLengths);
        memory.dram->load(std::array{tables->blocks()}, tile_pkg::TableUsed);
      }
    }
  }
  void connect(Simulation& simulation, int clock) {
    for (auto& [slot, memory] : memories_) simulation.add(clock, *memory.dram);
  }

  /// The measurement has ended, which took so many clocks.
  void measured(std::uint64_t clocks) {
    for (auto& [slot, memory] : memories_) {
      memory.reading = static_cast<double>(memory.dram->reads()) / static_cast<double>(clocks);
      memory.writing = static_cast<double>(memory.dram->writes()) / static_cast<double>(clocks);
    }
  }
  /// Lookup tables that are not those of these routes.
  void check(Findings& findings, const route::Routes& routes) const {
    const Dir24 tables(routes, {});
    for (const auto& [slot, memory] : memories_) {
      if (!memory.holds.starts_with("table")) continue;
      findings.add(tables.differ([&](std::uint32_t address) { return memory.dram->word(address); }),
                   "entries of the table at slot " + std::to_string(slot) +
                       " that are not what the routes say");
    }
  }
  void check(Findings& findings) const {
    for (const auto& [slot, memory] : memories_) {
      findings.add(memory.dram->outside(),
                   "accesses beyond the memory at slot " + std::to_string(slot));
    }
  }
  /// Words a clock at the busiest port of a memory, each way.
  double busiest() const {
    double most = 0;
    for (const auto& [slot, memory] : memories_)
      most = std::max({most, memory.reading, memory.writing});
    return most;
  }
  void write(JsonWriter& json) const {
    json.begin_object();
    for (const auto& [slot, memory] : memories_) {
      json.object(std::to_string(slot))
          .field("holds", memory.holds)
          .field("reading", memory.reading)
          .field("writing", memory.writing)
          .end_object();
    }
    json.end_object();
  }

 private:
  struct Memory {
    std::string holds;
    std::unique_ptr<WordDram> dram;
    double reading = 0, writing = 0;  // words a clock, while measured
  };

  static WordDramPins pins(Chip& m, unsigned slot) {
    return {&m.dram_rd_valid_o[slot], &m.dram_rd_addr_o[slot], &m.dram_rd_data_i[slot],
            &m.dram_wr_valid_o[slot], &m.dram_wr_addr_o[slot], &m.dram_wr_data_o[slot],
            &m.dram_wr_be_o[slot]};
  }

  std::map<unsigned, Memory> memories_;  // by slot
};

}  // namespace emery::tile_router
