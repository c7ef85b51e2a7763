// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/studies.hpp"

#include <string>

namespace emery::core_nic {
namespace {

// Which registers an instruction reads and writes, and what it is, by its opcode.
IssueInstruction decode(const Retired& r) {
  IssueInstruction i;
  const unsigned opcode = r.insn & 127, rd = r.insn >> 7 & 31, rs1 = r.insn >> 15 & 31,
                 rs2 = r.insn >> 20 & 31;
  i.rd = rd;
  i.rs1 = rs1;
  i.word = r.mem_addr;
  switch (opcode) {
    case 0x37:  // lui
    case 0x17:  // auipc
      i.rs1 = 0;
      break;
    case 0x6f:  // jal
      i.rs1 = 0;
      i.branch = true;
      break;
    case 0x67:  // jalr
      i.branch = true;
      break;
    case 0x63:  // branches
      i.rd = 0;
      i.rs2 = rs2;
      i.branch = true;
      break;
    case 0x03:  // loads
      i.load = true;
      break;
    case 0x23:  // stores
      i.rd = 0;
      i.rs2 = rs2;
      i.store = true;
      break;
    case 0x33:  // register with register
      i.rs2 = rs2;
      break;
    case 0x2f:  // atomics
    case 0x0b:  // set, update
      i.rs2 = rs2;
      i.load = rd != 0;
      i.store = true;
      break;
    case 0x0f:  // fence
      i.rd = i.rs1 = 0;
      break;
    default:
      break;
  }
  return i;
}

}  // namespace

Studies::Studies(const Image& image, unsigned cores)
    : cores_(cores), stacks_(image.symbol("stacks")) {
  for (const bool in_order : {true, false}) {
    for (const unsigned width : {1u, 2u, 4u}) {
      for (const bool stalls : {false, true}) {
        for (const auto prediction :
             {BranchPrediction::kPerfect, BranchPrediction::kOneAClock, BranchPrediction::kNone})
          issue_.emplace_back(IssueStudy::Config{in_order, width, stalls, prediction});
      }
    }
  }
  for (std::size_t bytes = 16; bytes <= 32768; bytes *= 2) caches_.emplace_back(cores + 2, bytes);
}

void Studies::access(unsigned master, std::uint32_t address, bool write) {
  if (address < Image::kScratchBase || address - Image::kScratchBase >= Image::kScratchBytes)
    return;
  if (stacks_ != 0 && address >= stacks_) return;
  ++accesses_;
  for (CacheStudy& cache : caches_) cache.access(master, address, write);
}

void Studies::retired(unsigned core, const Retired& r) {
  if (r.trap) return;
  if (r.mem_rmask || r.mem_wmask) access(core, r.mem_addr, r.mem_wmask != 0);
  if (core != 0 || instructions_ == kInstructions) return;
  ++instructions_;
  const IssueInstruction i = decode(r);
  for (IssueStudy& study : issue_) study.issue(i);
}

void Studies::write(JsonWriter& json) const {
  json.begin_object().field("instructions", instructions_).field("accesses", accesses_);
  json.object("issue");
  for (const IssueStudy& study : issue_) json.field(study.config().name(), study.ipc());
  json.end_object();
  json.object("cache");
  for (const CacheStudy& cache : caches_) {
    json.object(std::to_string(cache.bytes()))
        .field("hit_ratio", cache.hit_ratio())
        .field("invalidating_writes", cache.invalidating())
        .end_object();
  }
  json.end_object().end_object();
}

}  // namespace emery::core_nic
