// SPDX-License-Identifier: Apache-2.0
// The 2 x 2 grid as one model and as PartedChip, with the same at their pins: all outputs are the
// same in each clock. The boot writes to make come in a file (tests/test_mesh.py writes it); what
// comes by the wires and when they are ready is random.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <vector>

#include "Vtile_router.h"
#include "bench/sim/random.hpp"
#include "boot_formats.hpp"
#include "systems/tile_router/parted_chip.hpp"

namespace {

constexpr unsigned kTiles = 4, kSlots = 8, kLatency = 16;
using Parts = emery::tile_router::PartedChip;

[[noreturn]] void fail(std::uint64_t clock, const char* pin, unsigned index) {
  std::printf("clock %llu: %s[%u] differs\n", static_cast<unsigned long long>(clock), pin, index);
  std::exit(1);
}

class Both {
 public:
  Both() : whole_(&context_, "whole"), parts_(&context_, "parts") {
    parts_.lay_out(2, 2, {6});
    whole_.clk_i = 0;
    each([](auto& chip) {
      chip.rst_i = 1;
      chip.boot_req_i = 0;
    });
    whole_.eval();
    run(8);
    each([](auto& chip) { chip.rst_i = 0; });
    run(600);  // the caches clear themselves
  }
  ~Both() {
    whole_.final();
    parts_.final();
  }

  void run(unsigned clocks) {
    while (clocks--) tick();
  }

  void write(std::uint32_t address, std::uint32_t value) { access(address, true, value); }
  void read(std::uint32_t address) { access(address, false, 0); }

  std::uint64_t clock() const { return clock_; }
  unsigned dram_words() const { return dram_words_; }
  unsigned wire_words() const { return wire_words_; }

 private:
  template <class F>
  void each(F f) {
    f(whole_);
    f(parts_);
  }

  void access(std::uint32_t address, bool write, std::uint32_t value) {
    each([&](auto& chip) {
      chip.boot_req_i = 1;
      chip.boot_write_i = write;
      chip.boot_addr_i = address;
      chip.boot_wdata_i = value;
    });
    tick();
    each([](auto& chip) { chip.boot_req_i = 0; });
    for (unsigned i = 0; !whole_.boot_ack_o; ++i) {
      if (i == 100) fail(clock_, "boot_ack_o (never)", 0);
      tick();
    }
  }

  void tick() {
    for (unsigned s = 0; s < kSlots; ++s) {
      const std::uint64_t slot = std::uint64_t{s} << 32;
      std::vector<std::uint32_t>& pipe = pipe_[s];
      pipe.insert(pipe.begin(),
                  whole_.dram_rd_valid_o[s] ? memory_[slot | whole_.dram_rd_addr_o[s] >> 2] : 0);
      pipe.resize(kLatency);
      dram_words_ += whole_.dram_rd_valid_o[s] + whole_.dram_wr_valid_o[s];
      wire_words_ += whole_.wire_in_valid_i[s] && whole_.wire_in_ready_o[s];
      if (whole_.dram_wr_valid_o[s]) {
        std::uint32_t mask = 0;
        for (unsigned b = 0; b < 4; ++b)
          mask |= (whole_.dram_wr_be_o[s] >> b & 1) * (0xffu << 8 * b);
        std::uint32_t& at = memory_[slot | whole_.dram_wr_addr_o[s] >> 2];
        at = (at & ~mask) | (whole_.dram_wr_data_o[s] & mask);
      }
    }
    whole_.clk_i = parts_.clk_i = 1;
    each([](auto& chip) { chip.eval(); });
    whole_.clk_i = parts_.clk_i = 0;
    whole_.eval();
    ++clock_;
    compare();
    for (unsigned s = 0; s < kSlots; ++s) {
      const std::uint32_t data = pipe_[s].back();
      const bool valid = random_.below(4) != 0, sop = random_.below(20) == 0,
                 ready = random_.below(3) != 0;
      const std::uint32_t word = static_cast<std::uint32_t>(random_.next());
      each([&](auto& chip) {
        chip.dram_rd_data_i[s] = data;
        chip.wire_in_valid_i[s] = valid;
        chip.wire_in_sop_i[s] = sop;
        chip.wire_in_eop_i[s] = sop || word % 20 == 0;
        chip.wire_in_bytes_i[s] = 4;
        chip.wire_in_data_i[s] = word;
        chip.wire_out_ready_i[s] = ready;
      });
    }
  }

  void compare() {
    const auto same = [&](const char* pin, const auto& a, const auto& b, unsigned count) {
      for (unsigned i = 0; i < count; ++i) {
        if (a[i] != b[i]) fail(clock_, pin, i);
      }
    };
    if (whole_.boot_ack_o != parts_.boot_ack_o) fail(clock_, "boot_ack_o", 0);
    if (whole_.boot_rdata_o != parts_.boot_rdata_o) fail(clock_, "boot_rdata_o", 0);
    if (whole_.boot_unmapped_o != parts_.boot_unmapped_o) fail(clock_, "boot_unmapped_o", 0);
    same("use_o", whole_.use_o, parts_.use_o, kTiles);
    same("trap_o", whole_.trap_o, parts_.trap_o, kTiles);
    same("dram_rd_valid_o", whole_.dram_rd_valid_o, parts_.dram_rd_valid_o, kSlots);
    same("dram_wr_valid_o", whole_.dram_wr_valid_o, parts_.dram_wr_valid_o, kSlots);
    same("wire_in_ready_o", whole_.wire_in_ready_o, parts_.wire_in_ready_o, kSlots);
    same("wire_out_valid_o", whole_.wire_out_valid_o, parts_.wire_out_valid_o, kSlots);
    for (unsigned s = 0; s < kSlots; ++s) {
      if (whole_.dram_rd_valid_o[s] && whole_.dram_rd_addr_o[s] != parts_.dram_rd_addr_o[s])
        fail(clock_, "dram_rd_addr_o", s);
      if (whole_.dram_wr_valid_o[s] && (whole_.dram_wr_addr_o[s] != parts_.dram_wr_addr_o[s] ||
                                        whole_.dram_wr_data_o[s] != parts_.dram_wr_data_o[s] ||
                                        whole_.dram_wr_be_o[s] != parts_.dram_wr_be_o[s]))
        fail(clock_, "dram_wr", s);
      if (whole_.wire_out_valid_o[s] && (whole_.wire_out_data_o[s] != parts_.wire_out_data_o[s] ||
                                         whole_.wire_out_eop_o[s] != parts_.wire_out_eop_o[s]))
        fail(clock_, "wire_out", s);
    }
  }

  VerilatedContext context_;
  Vtile_router whole_;
  Parts parts_;
  std::uint64_t clock_ = 0;
  unsigned dram_words_ = 0, wire_words_ = 0;
  emery::Random random_{1};
  std::map<std::uint64_t, std::uint32_t> memory_;  // slot and word
  std::vector<std::uint32_t> pipe_[kSlots];
};

}  // namespace

namespace boot_pkg = emery::boot_pkg;

int main(int, char** argv) {
  Both chips;
  std::ifstream writes(argv[1]);
  std::uint32_t address = 0, value = 0;
  while (writes >> std::hex >> address >> value) chips.write(address, value);
  chips.run(60'000);
  for (std::uint32_t unit = 0; unit < 256; ++unit) {
    if (unit >= kTiles && unit < boot_pkg::FirstSlot) continue;
    if (unit >= boot_pkg::FirstSlot + kSlots && unit < boot_pkg::WholeUnit) continue;
    const std::uint32_t registers = unit < boot_pkg::FirstSlot ? boot_pkg::TileRegs : 0;
    for (std::uint32_t i = 0; i < 52; ++i)
      chips.read(unit << boot_pkg::UnitW | (registers + 4 * i));
  }
  chips.read(100 << boot_pkg::UnitW);  // nobody's
  std::printf("PASS %llu clocks, %u words moved by DRAMs, %u by wires\n",
              static_cast<unsigned long long>(chips.clock()), chips.dram_words(),
              chips.wire_words());
}
