// SPDX-License-Identifier: Apache-2.0
// The boot port: what an image writes through it, and reading back what the tiles have counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/ring.hpp"
#include "bench/sim/simulation.hpp"
#include "boot_formats.hpp"
#include "systems/tile_router/chip.hpp"

namespace emery::tile_router {

/// What makes the grid a router (boot.py writes it and says what its lines mean).
struct BootImage {
  struct Linecard {
    unsigned in, out;            // slots
    std::uint64_t mac;           // first byte in bits 47:40
    std::uint64_t next_hop = 0;  // what leaves here goes to; 0: to whom it came
  };
  struct Host {
    std::uint32_t address;
    std::uint64_t next_hop;  // as Linecard::mac
  };
  struct Tile {
    unsigned number;
    std::string role;
    unsigned pipeline;
  };
  struct Counter {
    std::string name;
    unsigned tile;
    std::uint32_t address;
  };

  struct Changes {
    std::uint32_t number, words;  // where a change's number is written, and before it the change
  };

  std::string version;
  unsigned columns = 0, rows = 0;
  std::vector<Linecard> linecards;           // by port
  std::vector<Host> hosts;                   // by port; empty: the router has no addresses
  std::optional<Changes> changes;            // routes may change
  std::map<unsigned, std::string> memories;  // what for, by slot
  std::vector<Tile> tiles;
  // By tile and address.
  std::map<std::pair<unsigned, std::uint32_t>, std::string> functions;
  std::vector<Counter> counters;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;  // address and value, in order

  /// Throws OptionError naming file and line.
  static BootImage read(const std::string& path);

  unsigned slots() const { return 2 * (columns + rows); }
  /// The slots that linecards are at.
  std::set<unsigned> lines() const;
  /// How many there are: each has a lookup of its own.
  unsigned pipelines() const;
  /// The router's own, by port.
  std::vector<std::uint32_t> addresses() const;
  /// Where a counter of that name is read that only one tile has.
  std::uint32_t counter(const std::string& name) const;
  /// Port whose frames a pipeline takes.
  unsigned port_of(unsigned pipeline) const;
  /// In words: the tile's role and number of its pipeline.
  std::string role(unsigned tile) const;
  /// Function and offset in it; empty where the tile's program has none so low.
  std::string where(unsigned tile, std::uint32_t pc) const;
};

/// Addresses at the boot port: of a register of a tile (boot_pkg::Reg*), of a word of a slot
/// (mesh_pkg::Slot*).
constexpr std::uint32_t tile_address(unsigned t, unsigned reg) {
  return (t << boot_pkg::UnitW) + boot_pkg::TileRegs + 4 * reg;
}
constexpr std::uint32_t slot_address(unsigned s, unsigned word) {
  return ((boot_pkg::FirstSlot + s) << boot_pkg::UnitW) + 4 * word;
}

class BootPort final : public Component {
 public:
  using Answer = std::function<void(std::uint32_t)>;

  explicit BootPort(Chip& pins) : pins_(pins) {}

  void write(std::uint32_t address, std::uint32_t value) {
    accesses_.push({address, value, true, {}});
  }
  void read(std::uint32_t address, Answer answer) {
    accesses_.push({address, 0, false, std::move(answer)});
  }
  /// Reads and waits for the answer. Throws std::runtime_error when there is none.
  std::uint32_t read(Simulation& simulation, std::uint32_t address) {
    std::optional<std::uint32_t> got;
    read(address, [&](std::uint32_t value) { got = value; });
    simulation.run_until([&] { return got.has_value(); }, simulation.now() + kMicrosecond);
    if (!got) throw std::runtime_error("the boot port does not answer");
    return *got;
  }
  bool idle() const { return accesses_.empty() && !waiting_; }
  /// Accesses to addresses that are not there.
  std::uint64_t unmapped() const { return unmapped_; }

  void sample(Time) override {
    unmapped_ += pins_.boot_unmapped_o;
    if (!waiting_ || !pins_.boot_ack_o) return;
    waiting_ = false;
    if (current_.answer) current_.answer(pins_.boot_rdata_o);
  }
  void drive() override {
    pins_.boot_req_i = 0;
    if (waiting_ || accesses_.empty()) return;
    current_ = std::move(accesses_.front());
    accesses_.pop();
    waiting_ = true;
    pins_.boot_req_i = 1;
    pins_.boot_write_i = current_.write;
    pins_.boot_addr_i = current_.address;
    pins_.boot_wdata_i = current_.value;
  }

 private:
  struct Access {
    std::uint32_t address = 0, value = 0;
    bool write = false;
    Answer answer;
  };

  Chip& pins_;
  Ring<Access> accesses_;
  Access current_;
  bool waiting_ = false;
  std::uint64_t unmapped_ = 0;
};

}  // namespace emery::tile_router
