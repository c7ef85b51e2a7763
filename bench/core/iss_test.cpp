// SPDX-License-Identifier: Apache-2.0
// Tests of the instruction-set model: the self-checking programs of tests/isa pass on it (their
// expected results were worked out elsewhere), and each lie about a retired instruction is found.
#include "bench/core/iss.hpp"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bench/stats/check.hpp"

namespace {

using namespace emery;
using Words = std::map<std::uint32_t, std::uint32_t>;

/// The programs of a file of tests/isa.
std::map<std::string, Words> load(const std::string& path) {
  std::map<std::string, Words> programs;
  std::ifstream file(path);
  std::string line, name;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (line.starts_with("program ")) {
      words >> name >> name;
      continue;
    }
    std::uint32_t address = 0, word = 0;
    words >> std::hex >> address;
    for (; words >> word; address += 4) programs[name][address] = word;
  }
  return programs;
}

/// Does at the memory what the core asks; gives the answer.
std::uint32_t memory(Words& words, const Retired& r) {
  std::uint32_t& word = words[r.mem_addr];
  const std::uint32_t old = word, data = r.mem_wdata;
  const auto signed_less = [](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
  };
  if ((r.insn & 127) == 0x23) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t mask = 0xffu << (8 * i);
      if (r.mem_wmask >> i & 1) word = (word & ~mask) | (data & mask);
    }
  } else if ((r.insn & 127) == 0x0b) {
    if ((r.insn >> 12 & 7) == 0) {
      word |= data;
    } else {
      std::uint32_t count = 0;
      for (std::uint32_t bit = data; bit < 32 && (word >> bit & 1); ++bit, ++count)
        word &= ~(1u << bit);
      return count;
    }
  } else if ((r.insn & 127) == 0x2f) {
    switch (r.insn >> 27) {
      case 0x00:
        word += data;
        break;
      case 0x01:
        word = data;
        break;
      case 0x04:
        word ^= data;
        break;
      case 0x08:
        word |= data;
        break;
      case 0x0c:
        word &= data;
        break;
      case 0x10:
        word = signed_less(old, data) ? old : data;
        break;
      case 0x14:
        word = signed_less(old, data) ? data : old;
        break;
      case 0x18:
        word = old < data ? old : data;
        break;
      default:
        word = old < data ? data : old;
        break;
    }
  }
  return old;
}

/// A core that does as the model says, with a memory of its own.
struct Machine {
  explicit Machine(const Words& program)
      : words(program), model(3, [this](std::uint32_t address, std::uint32_t& word) {
          const auto found = words.find(address);
          if (address >= 0x1000'0000 || found == words.end()) return false;
          word = found->second;
          return true;
        }) {}

  /// What the next instruction does, without a step.
  Retired next() {
    Retired counters;
    ++clock;
    const auto insn = words.find(model.pc());
    if (insn != words.end()) counters.rd_wdata = insn->second >> 20 == 0xb00 ? clock : 0;
    Retired r = model.expected(counters);
    if (!r.trap && (r.mem_rmask || r.mem_wmask)) {
      // Only once: next() is asked once for each instruction.
      const std::uint32_t answer = memory(words, r);
      Retired answered;
      answered.mem_rdata = answer;
      answered.rd_wdata = answer;
      r = model.expected(answered);
      r.mem_rdata = r.mem_rmask ? answer : 0;
    }
    return r;
  }

  Words words;
  InstructionModel model;
  std::uint32_t clock = 0;
};

void test_programs(Checks& check, const std::map<std::string, Words>& programs) {
  check.that(programs.size() > 40, "programs");
  for (const auto& [name, words] : programs) {
    Machine machine(words);
    bool ended = false;
    std::string wrong;
    for (int n = 0; n < 20000 && !ended && wrong.empty(); ++n) {
      const Retired r = machine.next();
      wrong = machine.model.check(r);
      ended = r.trap;
    }
    check.equal(wrong, "", name);
    check.that(ended && machine.model.reg(3) == 1, name + " does not pass");
  }
}

/// Each field of each instruction of a program is changed in its turn.
void test_lies(Checks& check, const std::map<std::string, Words>& programs) {
  using Field = std::uint32_t Retired::*;
  const std::vector<std::pair<const char*, Field>> fields = {
      {"insn", &Retired::insn},           {"pc_rdata", &Retired::pc_rdata},
      {"pc_wdata", &Retired::pc_wdata},   {"rd_addr", &Retired::rd_addr},
      {"rd_wdata", &Retired::rd_wdata},   {"mem_addr", &Retired::mem_addr},
      {"mem_rmask", &Retired::mem_rmask}, {"mem_wmask", &Retired::mem_wmask},
  };
  for (const char* name : {"add", "lb", "sh", "beq", "jalr", "amoadd.w", "set_update", "div"}) {
    Machine machine(programs.at(name));
    int found = 0, told = 0;
    for (int n = 0; n < 200; ++n) {
      const Retired r = machine.next();
      for (const auto& [what, field] : fields) {
        Retired lie = r;
        lie.*field ^= 4;
        InstructionModel copy = machine.model;
        ++told;
        found += !copy.check(lie).empty();
      }
      Retired lie = r;
      lie.trap = !lie.trap;
      InstructionModel copy = machine.model;
      ++told;
      found += !copy.check(lie).empty();
      if (r.mem_wmask) {
        lie = r;
        lie.mem_wdata ^= 0x80;
        copy = machine.model;
        ++told;
        found += !copy.check(lie).empty();
      }
      check.equal(machine.model.check(r), "", name);
      if (r.trap) break;
    }
    check.equal(found, told, std::string(name) + ": lies found");
  }
}

void test_traps(Checks& check) {
  const auto trap = [&](std::uint32_t insn, const char* what) {
    Machine machine(Words{{0, insn}});
    Retired r = machine.model.expected({});
    check.that(r.trap, what);
    check.equal(machine.model.check(r), "", what);
    check.equal(machine.model.pc(), 0u, "stays");
    r.trap = false;
    check.that(!machine.model.check(r).empty(), what);
  };
  trap(0x0000'0000, "all zeros");
  trap(0xffff'ffff, "all ones");
  trap(0x1000'202f, "lr.w");
  trap(0x0000'0073, "ecall");
  trap(0x0020'2003, "misaligned load");
  trap(0x0000'1123 | 1u << 7, "misaligned store");
  trap(0x0020'006f, "jump into an instruction");
  trap(0xb002'9073, "write of a counter");
  trap(0x0000'0173 | 1u << 12, "no such counter");
  // A load from nowhere: only the memory knows.
  Machine machine(Words{{0, 0x0000'2083}});
  Retired r = machine.model.expected({});
  r.trap = true;
  r.rd_addr = r.rd_wdata = r.pc_wdata = 0;
  check.equal(machine.model.check(r), "", "load from nowhere");
  Machine gone(Words{{0, 0x0100'006f}});
  check.equal(gone.model.check(gone.next()), "", "jump");
  check.that(gone.next().trap && gone.model.pc() == 16, "fetch from nowhere");
}

void test_unpack(Checks& check) {
  // Each field in its place: packed by hand, most significant first.
  std::vector<int> bits;
  const auto put = [&](std::uint32_t value, int width) {
    for (int i = width - 1; i >= 0; --i) bits.push_back(static_cast<int>(value >> i & 1));
  };
  put(1, 1);
  put(0, 1);
  put(0x12345678, 32);
  put(17, 5);
  put(18, 5);
  put(0xdeadbeef, 32);
  put(0xcafef00d, 32);
  put(19, 5);
  put(0x01020304, 32);
  put(0x00000100, 32);
  put(0x00000104, 32);
  put(0x10000008, 32);
  put(0xf, 4);
  put(0x3, 4);
  put(0xaaaa5555, 32);
  put(0x80000001, 32);
  check.equal(static_cast<int>(bits.size()), Retired::kBits, "width");
  for (const int at : {0, 313, 5}) {
    std::vector<std::uint32_t> words(22);
    for (int i = 0; i < Retired::kBits; ++i) {
      const int bit = at + i;
      words[static_cast<std::size_t>(bit / 32)] |=
          static_cast<std::uint32_t>(bits[static_cast<std::size_t>(Retired::kBits - 1 - i)])
          << bit % 32;
    }
    const Retired r = Retired::unpack(words.data(), at);
    check.that(r.valid && !r.trap && r.insn == 0x12345678 && r.rs1_addr == 17 && r.rs2_addr == 18,
               "head");
    check.that(r.rs1_rdata == 0xdeadbeef && r.rs2_rdata == 0xcafef00d && r.rd_addr == 19 &&
                   r.rd_wdata == 0x01020304 && r.pc_rdata == 0x100 && r.pc_wdata == 0x104,
               "registers");
    check.that(r.mem_addr == 0x10000008 && r.mem_rmask == 15 && r.mem_wmask == 3 &&
                   r.mem_rdata == 0xaaaa5555 && r.mem_wdata == 0x80000001,
               "memory");
  }
}

}  // namespace

int main() {
  Checks check;
  const auto programs = load("tests/isa/programs.hex");
  test_programs(check, programs);
  test_lies(check, programs);
  test_traps(check);
  test_unpack(check);
  return check.finish();
}
