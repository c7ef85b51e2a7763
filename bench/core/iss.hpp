// SPDX-License-Identifier: Apache-2.0
// Instruction-set model of the core (RV32IM, amo*.w, `set`, `update`, wfi): checks what retires,
// one instruction after the other.
//
// It follows pc and registers on its own and works out what each instruction must do; loaded words
// (and the answers of atomics and `update`) are taken from the trace, and so are registers that
// nothing has written yet and the clock counter. So it needs no memory and checks a core whose
// memory others write. What memory answers is thus not checked, nor which addresses exist: a trap
// of an access in its place is believed.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace emery {

/// rvfi_t of rtl/core/core_pkg.sv.
struct Retired {
  bool valid = false;
  bool trap = false;
  std::uint32_t insn = 0;
  std::uint32_t rs1_addr = 0;
  std::uint32_t rs2_addr = 0;
  std::uint32_t rs1_rdata = 0;
  std::uint32_t rs2_rdata = 0;
  std::uint32_t rd_addr = 0;
  std::uint32_t rd_wdata = 0;
  std::uint32_t pc_rdata = 0;
  std::uint32_t pc_wdata = 0;
  std::uint32_t mem_addr = 0;
  std::uint32_t mem_rmask = 0;
  std::uint32_t mem_wmask = 0;
  std::uint32_t mem_rdata = 0;
  std::uint32_t mem_wdata = 0;

  static constexpr int kBits = 313;

  /// From the packed struct, least significant word first; it begins at bit `at`.
  template <typename Words>
  static Retired unpack(const Words& words, int at = 0) {
    const auto take = [&](int width) {
      std::uint64_t both = words[at / 32];
      if (at % 32 + width > 32) both |= static_cast<std::uint64_t>(words[at / 32 + 1]) << 32;
      const std::uint64_t value = (both >> (at % 32)) & ((std::uint64_t{1} << width) - 1);
      at += width;
      return static_cast<std::uint32_t>(value);
    };
    Retired r;
    r.mem_wdata = take(32);
    r.mem_rdata = take(32);
    r.mem_wmask = take(4);
    r.mem_rmask = take(4);
    r.mem_addr = take(32);
    r.pc_wdata = take(32);
    r.pc_rdata = take(32);
    r.rd_wdata = take(32);
    r.rd_addr = take(5);
    r.rs2_rdata = take(32);
    r.rs1_rdata = take(32);
    r.rs2_addr = take(5);
    r.rs1_addr = take(5);
    r.insn = take(32);
    r.trap = take(1) != 0;
    r.valid = take(1) != 0;
    return r;
  }
};

class InstructionModel {
 public:
  /// The word of the program at an address; false if there is no instruction memory.
  using Fetch = std::function<bool(std::uint32_t address, std::uint32_t& word)>;

  InstructionModel(int hart, Fetch fetch, std::uint32_t reset_pc = 0)
      : hart_(static_cast<std::uint32_t>(hart)),
        fetch_(std::move(fetch)),
        reset_pc_(reset_pc),
        pc_(reset_pc) {
    known_[0] = true;
  }

  /// The core was stopped and starts anew; registers keep what they hold.
  void restart() { pc_ = reset_pc_; }

  std::uint64_t retired() const { return retired_; }
  std::uint32_t pc() const { return pc_; }
  std::uint32_t reg(int n) const { return regs_[static_cast<std::size_t>(n)]; }
  /// Whether an instruction has read or written it.
  bool known(int n) const { return known_[static_cast<std::size_t>(n)]; }

  /// Takes the next retired instruction. What is wrong with it, or nothing.
  std::string check(const Retired& r) {
    learn(r);
    const Retired want = expected(r);
    std::string wrong;
    const auto compare = [&](const char* what, std::uint32_t got, std::uint32_t wanted) {
      if (got == wanted) return;
      char line[96];
      std::snprintf(line, sizeof line, "%s%s %x instead of %x", wrong.empty() ? "" : ", ", what,
                    got, wanted);
      wrong += line;
    };
    compare("pc", r.pc_rdata, want.pc_rdata);
    compare("instruction", r.insn, want.insn);
    if (wrong.empty()) {
      compare("trap", r.trap, want.trap);
      compare("next pc", r.pc_wdata, want.pc_wdata);
      compare("rd", r.rd_addr, want.rd_addr);
      compare("result", r.rd_wdata, want.rd_wdata);
      if (!want.trap || want.mem_rmask || want.mem_wmask) {
        compare("read mask", r.mem_rmask, want.mem_rmask);
        compare("write mask", r.mem_wmask, want.mem_wmask);
        compare("address", r.mem_addr, want.mem_addr);
        if (want.mem_wmask) compare("data", r.mem_wdata, want.mem_wdata);
      }
      if (reads_rs1_) compare("rs1", r.rs1_rdata, want.rs1_rdata);
      if (reads_rs2_) compare("rs2", r.rs2_rdata, want.rs2_rdata);
    }
    if (!wrong.empty()) {
      char line[64];
      std::snprintf(line, sizeof line, "pc %08x, instruction %08x: ", want.pc_rdata, want.insn);
      wrong = line + wrong;
    }
    if (want.rd_addr) {
      regs_[want.rd_addr] = want.rd_wdata;
      known_[want.rd_addr] = true;
    }
    pc_ = want.pc_wdata;
    if (!want.trap) ++retired_;
    return wrong;
  }

  /// What the instruction at pc must do, given the loaded word and the trap of an access in
  /// `trace`.
  Retired expected(const Retired& trace) {
    Retired w;
    w.valid = true;
    w.pc_rdata = w.pc_wdata = pc_;
    reads_rs1_ = reads_rs2_ = false;
    if (!fetch_(pc_, w.insn)) {  // there is nothing: whatever was fetched
      w.insn = trace.insn;
      w.trap = true;
      return w;
    }
    const std::uint32_t i = w.insn;
    w.rs1_addr = i >> 15 & 31;
    w.rs2_addr = i >> 20 & 31;
    w.rs1_rdata = regs_[w.rs1_addr];
    w.rs2_rdata = regs_[w.rs2_addr];
    if (!execute(w, trace)) {
      w.trap = true;
      w.pc_wdata = pc_;
      w.rd_addr = w.rd_wdata = 0;
    }
    if (w.rd_addr == 0) w.rd_wdata = 0;
    return w;
  }

 private:
  static std::uint32_t sign(std::uint32_t x, int bits) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x << (32 - bits)) >> (32 - bits));
  }
  static bool less(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
  }

  /// Registers that nothing has written are what the trace says they are.
  void learn(const Retired& r) {
    const auto see = [&](std::uint32_t n, std::uint32_t value) {
      if (known_[n]) return;
      known_[n] = true;
      regs_[n] = value;
    };
    std::uint32_t i = 0;
    if (!fetch_(pc_, i) || r.insn != i) return;
    see(i >> 15 & 31, r.rs1_rdata);
    see(i >> 20 & 31, r.rs2_rdata);
  }

  static std::uint32_t arithmetic(std::uint32_t funct3, bool other, std::uint32_t a,
                                  std::uint32_t b) {
    switch (funct3) {
      case 0:
        return other ? a - b : a + b;
      case 1:
        return a << (b & 31);
      case 2:
        return less(a, b);
      case 3:
        return a < b;
      case 4:
        return a ^ b;
      case 5:
        return other ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> (b & 31))
                     : a >> (b & 31);
      case 6:
        return a | b;
      default:
        return a & b;
    }
  }

  static std::uint32_t product_or_quotient(std::uint32_t funct3, std::uint32_t a, std::uint32_t b) {
    const std::int64_t sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
    const std::int64_t ua = a, ub = b;
    switch (funct3) {
      case 0:
        return a * b;
      case 1:
        return static_cast<std::uint32_t>((sa * sb) >> 32);
      case 2:
        return static_cast<std::uint32_t>((sa * ub) >> 32);
      case 3:
        return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
      case 4:
        return b == 0 ? ~0u : static_cast<std::uint32_t>(sa / sb);
      case 5:
        return b == 0 ? ~0u : static_cast<std::uint32_t>(ua / ub);
      case 6:
        return b == 0 ? a : static_cast<std::uint32_t>(sa % sb);
      default:
        return b == 0 ? a : static_cast<std::uint32_t>(ua % ub);
    }
  }

  /// An access of `w.mem_addr`. `answered`: somebody waits for the word.
  bool access(Retired& w, const Retired& trace, std::uint32_t address, bool answered,
              std::uint32_t mask, std::uint32_t data) {
    w.mem_addr = address & ~3u;
    w.mem_rmask = answered ? 15 : 0;
    w.mem_wmask = mask;
    w.mem_wdata = data;
    return !(answered && trace.trap);
  }

  /// False: it is a trap.
  bool execute(Retired& w, const Retired& trace) {
    const std::uint32_t i = w.insn, pc = w.pc_rdata, funct3 = i >> 12 & 7, funct7 = i >> 25;
    const std::uint32_t a = w.rs1_rdata, b = w.rs2_rdata, rd = i >> 7 & 31;
    const std::uint32_t imm_i = sign(i >> 20, 12);
    w.pc_wdata = pc + 4;
    const auto uses = [&](bool one, bool two) {
      reads_rs1_ = one;
      reads_rs2_ = two;
    };
    const auto give = [&](std::uint32_t value) {
      w.rd_addr = rd;
      w.rd_wdata = value;
      return true;
    };
    switch (i & 127) {
      case 0x37:
        return give(i & ~0xfffu);
      case 0x17:
        return give(pc + (i & ~0xfffu));
      case 0x6f:
        w.pc_wdata = pc + (sign(i >> 31, 1) << 20 | (i & 0xff000) | (i >> 20 & 1) << 11 |
                           (i >> 21 & 0x3ff) << 1);
        return (w.pc_wdata & 2) == 0 && give(pc + 4);
      case 0x67:
        if (funct3 != 0) return false;
        uses(true, false);
        w.pc_wdata = (a + imm_i) & ~1u;
        return (w.pc_wdata & 2) == 0 && give(pc + 4);
      case 0x63: {
        if (funct3 == 2 || funct3 == 3) return false;
        uses(true, true);
        bool taken = funct3 < 2 ? a == b : funct3 < 6 ? less(a, b) : a < b;
        if (funct3 & 1) taken = !taken;
        if (taken)
          w.pc_wdata = pc + (sign(i >> 31, 1) << 12 | (i >> 7 & 1) << 11 | (i >> 25 & 0x3f) << 5 |
                             (i >> 8 & 15) << 1);
        return (w.pc_wdata & 2) == 0;
      }
      case 0x03: {
        if (funct3 == 3 || funct3 > 5) return false;
        uses(true, false);
        const std::uint32_t address = a + imm_i, size = 1u << (funct3 & 3);
        if (address & (size - 1)) return false;
        if (!access(w, trace, address, true, 0, 0)) return false;
        std::uint32_t word = trace.mem_rdata >> (8 * (address & 3));
        if (size < 4) {
          const int bits = static_cast<int>(8 * size);
          word = funct3 & 4 ? word & ((1u << bits) - 1) : sign(word, bits);
        }
        return give(word);
      }
      case 0x23: {
        if (funct3 > 2) return false;
        uses(true, true);
        const std::uint32_t address = a + (sign(funct7, 7) << 5 | rd), size = 1u << funct3;
        if (address & (size - 1)) return false;
        const std::uint32_t data = size == 1   ? (b & 0xff) * 0x01010101u
                                   : size == 2 ? (b & 0xffff) * 0x00010001u
                                               : b;
        return access(w, trace, address, false, ((1u << size) - 1) << (address & 3), data);
      }
      case 0x13:
        if (funct3 == 1 && funct7 != 0) return false;
        if (funct3 == 5 && (funct7 & 0x5f) != 0) return false;
        uses(true, false);
        return give(arithmetic(funct3, funct3 == 5 && funct7 != 0, a, imm_i));
      case 0x33:
        if (funct7 > 1 && !(funct7 == 0x20 && (funct3 == 0 || funct3 == 5))) return false;
        uses(true, true);
        return give(funct7 == 1 ? product_or_quotient(funct3, a, b)
                                : arithmetic(funct3, funct7 != 0, a, b));
      case 0x0f:
        return funct3 < 2;
      case 0x2f: {
        // swap, add, xor, or, and, min, max, minu, maxu; neither lr nor sc.
        constexpr std::uint32_t kKnown = 1u << 0 | 1u << 1 | 1u << 4 | 1u << 8 | 1u << 12 |
                                         1u << 16 | 1u << 20 | 1u << 24 | 1u << 28;
        if (funct3 != 2 || !(kKnown >> (i >> 27) & 1)) return false;
        uses(true, true);
        if (a & 3 || !access(w, trace, a, rd != 0, 15, b)) return false;
        return give(trace.mem_rdata);
      }
      case 0x0b: {
        if (funct3 > 1 || funct7 != 0 || (funct3 == 0 && rd != 0)) return false;
        uses(true, true);
        const std::uint32_t address = a + (b >> 5) * 4;
        if (address & 3) return false;
        const std::uint32_t data = funct3 == 0 ? 1u << (b & 31) : b & 31;
        if (!access(w, trace, address, rd != 0, 15, data)) return false;
        // The bits are counted at the bank; there are not more than up to the word's end.
        return rd == 0 || give(trace.mem_rdata <= 32 - (b & 31) ? trace.mem_rdata : ~0u);
      }
      case 0x73:
        if (i == 0x1050'0073) return true;  // wfi
        return counter(w, trace);
      default:
        return false;
    }
  }

  bool counter(Retired& w, const Retired& trace) {
    const std::uint32_t i = w.insn, funct3 = i >> 12 & 7, rd = i >> 7 & 31;
    if ((funct3 & 2) == 0 || (i >> 15 & 31) != 0) return false;  // nothing may be written
    w.rd_addr = rd;
    switch (i >> 20) {
      case 0xf14:
        w.rd_wdata = hart_;
        return true;
      case 0xb00:
      case 0xb80:
      case 0xc00:
      case 0xc80:
        w.rd_wdata = rd ? trace.rd_wdata : 0;
        return true;
      case 0xb02:
      case 0xc02:
        w.rd_wdata = static_cast<std::uint32_t>(retired_);
        return true;
      case 0xb82:
      case 0xc82:
        w.rd_wdata = static_cast<std::uint32_t>(retired_ >> 32);
        return true;
      default:
        return false;
    }
  }

  std::uint32_t hart_;
  Fetch fetch_;
  std::uint32_t reset_pc_;
  std::uint32_t pc_;
  std::uint64_t retired_ = 0;
  std::array<std::uint32_t, 32> regs_{};
  std::array<bool, 32> known_{};
  bool reads_rs1_ = false;
  bool reads_rs2_ = false;
};

}  // namespace emery
