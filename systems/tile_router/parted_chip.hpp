// SPDX-License-Identifier: Apache-2.0
// The grid put together from its modules, each compiled once: what tile_router.sv is, pin for pin
// and clock for clock. Its size is said (`lay_out`) before its first clock (the hub's model has it,
// too), and which slots are linecards: there are two models of a slot, each with what the other
// leaves out.
//
// Nothing combinational leads through a tile, a slot or the hub of the boot port (link_out.sv says
// why), so all of them can be evaluated once a clock, in any order, on what the others showed
// before the edge. The code of one tile serves all tiles and stays in the simulating machine's
// caches. tests/mesh/parts_test.cpp holds both against each other.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "Vboot_hub.h"
#include "Vline_slot.h"
#include "Vmemory_slot.h"
#include "Vtile.h"
#include "bench/sim/verilated_model.hpp"

namespace emery::tile_router {

class PartedChip {
 public:
  static constexpr unsigned kMostTiles = 64, kMostSlots = 32;
  template <class T>
  using Slots = std::array<T, kMostSlots>;

  // The pins of tile_router.sv.
  std::uint8_t clk_i = 0, rst_i = 0;
  std::uint8_t boot_req_i = 0, boot_write_i = 0, boot_ack_o = 0, boot_unmapped_o = 0;
  std::uint32_t boot_addr_i = 0, boot_wdata_i = 0, boot_rdata_o = 0;
  Slots<std::uint8_t> dram_rd_valid_o{}, dram_wr_valid_o{}, dram_wr_be_o{};
  Slots<std::uint32_t> dram_rd_addr_o{}, dram_rd_data_i{}, dram_wr_addr_o{}, dram_wr_data_o{};
  Slots<std::uint8_t> wire_in_valid_i{}, wire_in_ready_o{}, wire_in_sop_i{}, wire_in_eop_i{},
      wire_in_bytes_i{}, wire_out_valid_o{}, wire_out_ready_i{}, wire_out_sop_o{}, wire_out_eop_o{},
      wire_out_bytes_o{};
  Slots<std::uint32_t> wire_in_data_i{}, wire_out_data_o{};
  std::array<std::uint8_t, kMostTiles> use_o{}, trap_o{};

  PartedChip(VerilatedContext* context, const std::string& name)
      : context_(context),
        name_(name),
        hub_(std::make_unique<Vboot_hub>(context, (name + ".hub").c_str())) {}

  /// `lines`: the slots that linecards are at.
  void lay_out(unsigned columns, unsigned rows, const std::set<unsigned>& lines) {
    columns_ = columns;
    rows_ = rows;
    for (unsigned t = 0; t < columns * rows; ++t) {
      tiles_.push_back(
          std::make_unique<Vtile>(context_, (name_ + ".tile" + std::to_string(t)).c_str()));
      tiles_[t]->x_i = t % columns;
      tiles_[t]->y_i = t / columns;
      tiles_[t]->number_i = t;
    }
    for (unsigned s = 0; s < 2 * (columns + rows); ++s) {
      const std::string name = name_ + ".slot" + std::to_string(s);
      if (lines.contains(s))
        slots_.emplace_back(std::make_unique<Vline_slot>(context_, name.c_str()));
      else
        slots_.emplace_back(std::make_unique<Vmemory_slot>(context_, name.c_str()));
      const Place place = place_of(s);
      at_slot(s, [place](auto& part) {
        part.place_i = (place.side + 1) << 8 | place.y << 4 | place.x;
      });
      beside_.push_back({tiles_[place.y * columns_ + place.x].get(), place.side});
    }
    for (unsigned t = 0; t < tiles_.size(); ++t) {
      const unsigned x = t % columns, y = t / columns;
      beyond_.push_back({y > 0 ? tile(t - columns, kSouth) : slot(x),
                         x < columns - 1 ? tile(t + 1, kWest) : slot(columns + y),
                         y < rows - 1 ? tile(t + columns, kNorth) : slot(columns + rows + x),
                         x > 0 ? tile(t - 1, kEast) : slot(2 * columns + rows + y)});
    }
  }

  // An edge of the clock, when it is high; otherwise nothing that could be seen.
  void eval() {
    if (!started_) {
      each([](auto& part) { part.eval(); });
      started_ = true;
    }
    if (!clk_i) return;
    gather_hub();
    for (unsigned t = 0; t < tiles_.size(); ++t) gather_tile(t);
    for (unsigned s = 0; s < slots_.size(); ++s)
      at_slot(s, [this, s](auto& part) { gather_slot(s, part); });
    each([this](auto& part) {
      part.rst_i = rst_i;
#ifdef EMERY_ASSERTIONS
      part.eval();  // assertions look at what was there before the edge
#endif
      part.clk_i = 1;
      part.eval();
      part.clk_i = 0;
      part.seen_clk_i() = 0;  // it need not be evaluated to see it low
    });
    show();
  }

  void final() {
    each([](auto& part) { part.final(); });
  }

 private:
  static constexpr unsigned kNorth = 0, kEast = 1, kSouth = 2, kWest = 3;
  struct Place {
    unsigned side, x, y;
  };
  // A slot's pins towards its tile.
  struct Link {
    const CData *valid, *room, *way;
    const IData* data;
  };
  // What is beyond a side of a tile: a slot, or a tile and the side of it that is towards us.
  struct Beyond {
    Vtile* tile;
    Link slot;
    unsigned back;
  };

  // A tile's bits of a side stand four apart, one for each network; a slot's side by side.
  static constexpr unsigned kOfSide = 0x1111;
  static unsigned spread(unsigned bits) {
    return (bits | bits << 3 | bits << 6 | bits << 9) & kOfSide;
  }
  static unsigned together(unsigned bits) {
    bits &= kOfSide;
    return (bits | bits >> 3 | bits >> 6 | bits >> 9) & 15;
  }

  Place place_of(unsigned slot) const {
    if (slot < columns_) return {kNorth, slot, 0};
    if (slot < columns_ + rows_) return {kEast, columns_ - 1, slot - columns_};
    if (slot < 2 * columns_ + rows_) return {kSouth, slot - columns_ - rows_, rows_ - 1};
    return {kWest, 0, slot - 2 * columns_ - rows_};
  }
  Beyond tile(unsigned number, unsigned back) { return {tiles_[number].get(), {}, back}; }
  Beyond slot(unsigned number) {
    Link link{};
    at_slot(number, [&link](auto& part) {
      link = {&part.out_valid_o, &part.in_room_o, &part.out_way_o, &part.out_data_o[0]};
    });
    return {nullptr, link, 0};
  }
  template <class F>
  void at_slot(unsigned number, F f) {
    std::visit([&f](auto& part) { f(*part); }, slots_[number]);
  }

  template <class F>
  void each(F f) {
    f(*hub_);
    for (auto& part : tiles_) f(*part);
    for (unsigned s = 0; s < slots_.size(); ++s) at_slot(s, f);
  }

  // A bit of a port of the hub for each unit: up to 64 are a number, more are words.
  template <class Bits>
  static unsigned bit(const Bits& bits, unsigned n) {
    if constexpr (std::is_integral_v<Bits>)
      return bits >> n & 1;
    else
      return bits[n / 32] >> n % 32 & 1;
  }
  template <class Bits>
  static void set(Bits& bits, unsigned n) {
    if constexpr (std::is_integral_v<Bits>)
      bits |= Bits{1} << n;
    else
      bits[n / 32] |= 1u << n % 32;
  }

  template <class Part>
  void boot_from_hub(Part& part, unsigned unit) {
    part.boot_req_i = bit(hub_->unit_req_o, unit);
    part.boot_write_i = hub_->unit_write_o;
    part.boot_addr_i = hub_->unit_addr_o;
    part.boot_wdata_i = hub_->unit_wdata_o;
  }

  void gather_hub() {
    hub_->boot_req_i = boot_req_i;
    hub_->boot_write_i = boot_write_i;
    hub_->boot_addr_i = boot_addr_i;
    hub_->boot_wdata_i = boot_wdata_i;
    hub_->unit_ack_i = {};
    const auto answer = [this](const auto& part, unsigned unit) {
      if (!part.boot_ack_o) return;
      set(hub_->unit_ack_i, unit);
      hub_->unit_rdata_i[unit] = part.boot_rdata_o;
    };
    for (unsigned t = 0; t < tiles_.size(); ++t) answer(*tiles_[t], t);
    for (unsigned s = 0; s < slots_.size(); ++s)
      at_slot(s, [&](const auto& part) { answer(part, tiles_.size() + s); });
  }

  void gather_tile(unsigned t) {
    Vtile& part = *tiles_[t];
    boot_from_hub(part, t);
    part.go_i = hub_->tiles_go_o;
    unsigned valid = 0, room = 0, way = 0;
    for (unsigned side = 0; side < 4; ++side) {
      const Beyond& from = beyond_[t][side];
      unsigned has, takes;
      if (from.tile) {
        has = from.tile->out_valid_o >> from.back & kOfSide;
        takes = from.tile->in_room_o >> from.back & kOfSide;
      } else {
        has = spread(*from.slot.valid);
        takes = spread(*from.slot.room);
      }
      valid |= has << side;
      room |= takes << side;
      for (; has != 0; has &= has - 1) {
        const auto at = static_cast<unsigned>(std::countr_zero(has)), n = at / 4;
        const unsigned here = at + side, there = from.tile ? at + from.back : n;
        part.in_data_i[here] = from.tile ? from.tile->out_data_o[there] : from.slot.data[there];
        if (n < 2) continue;
        const unsigned ways = from.tile ? from.tile->out_way_o : *from.slot.way;
        way |= (ways >> 3 * (there - (from.tile ? 8 : 2)) & 7) << 3 * (here - 8);
      }
    }
    part.in_valid_i = valid;
    part.in_way_i = way;
    part.out_room_i = room;
  }

  template <class Slot>
  void gather_slot(unsigned s, Slot& part) {
    boot_from_hub(part, tiles_.size() + s);
    part.run_i = hub_->slots_go_o;
    const auto [tile, side] = beside_[s];
    const Vtile& from = *tile;
    const unsigned valid = together(from.out_valid_o >> side),
                   room = together(from.in_room_o >> side);
    for (unsigned has = valid; has != 0; has &= has - 1) {
      const auto n = static_cast<unsigned>(std::countr_zero(has));
      part.in_data_i[n] = from.out_data_o[4 * n + side];
    }
    part.in_valid_i = valid;
    part.out_room_i = room;
    part.dram_rd_data_i = dram_rd_data_i[s];
    part.wire_in_valid_i = wire_in_valid_i[s];
    part.wire_in_data_i = wire_in_data_i[s];
    part.wire_in_sop_i = wire_in_sop_i[s];
    part.wire_in_eop_i = wire_in_eop_i[s];
    part.wire_in_bytes_i = wire_in_bytes_i[s];
    part.wire_out_ready_i = wire_out_ready_i[s];
  }

  void show() {
    boot_ack_o = hub_->boot_ack_o;
    boot_rdata_o = hub_->boot_rdata_o;
    boot_unmapped_o = hub_->unmapped_o;
    for (unsigned t = 0; t < tiles_.size(); ++t) {
      use_o[t] = tiles_[t]->use_o;
      trap_o[t] = tiles_[t]->trap_o;
    }
    for (unsigned s = 0; s < slots_.size(); ++s)
      at_slot(s, [this, s](const auto& part) { show_slot(s, part); });
  }
  template <class Slot>
  void show_slot(unsigned s, const Slot& part) {
    dram_rd_valid_o[s] = part.dram_rd_valid_o;
    dram_rd_addr_o[s] = part.dram_rd_addr_o;
    dram_wr_valid_o[s] = part.dram_wr_valid_o;
    dram_wr_addr_o[s] = part.dram_wr_addr_o;
    dram_wr_data_o[s] = part.dram_wr_data_o;
    dram_wr_be_o[s] = part.dram_wr_be_o;
    wire_in_ready_o[s] = part.wire_in_ready_o;
    wire_out_valid_o[s] = part.wire_out_valid_o;
    wire_out_data_o[s] = part.wire_out_data_o;
    wire_out_sop_o[s] = part.wire_out_sop_o;
    wire_out_eop_o[s] = part.wire_out_eop_o;
    wire_out_bytes_o[s] = part.wire_out_bytes_o;
  }

  VerilatedContext* context_;
  std::string name_;
  unsigned columns_ = 0, rows_ = 0;
  std::unique_ptr<Vboot_hub> hub_;
  std::vector<std::unique_ptr<Vtile>> tiles_;
  std::vector<std::variant<std::unique_ptr<Vmemory_slot>, std::unique_ptr<Vline_slot>>> slots_;
  std::vector<std::array<Beyond, 4>> beyond_;
  struct Beside {
    Vtile* tile;
    unsigned side;  // of it
  };
  std::vector<Beside> beside_;
  bool started_ = false;
};

}  // namespace emery::tile_router
