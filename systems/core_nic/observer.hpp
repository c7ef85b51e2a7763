// SPDX-License-Identifier: Apache-2.0
// Observer of the cores: what they do, what they print, whether they trap; checks each retired
// instruction against the model when that is asked for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "Vcore_nic.h"
#include "bench/core/iss.hpp"
#include "bench/core/trap_name.hpp"
#include "bench/sim/member.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "systems/core_nic/debug.hpp"
#include "systems/core_nic/firmware_log.hpp"
#include "systems/core_nic/image.hpp"
#include "systems/core_nic/profile.hpp"
#include "systems/core_nic/studies.hpp"

namespace emery::core_nic {

class Observer final : public Component {
 public:
  Observer(Vcore_nic& model, const Image& image, const Options& options)
      : model_(model),
        image_(image),
        cores_(options.get<unsigned>("cores")),
        profile_(image, cores_),
        log_(options, cores_) {
    const bool check = options.get<bool>("cosim"), study = options.get<bool>("studies");
    if (study && !check) throw OptionError("studies: they need cosim=true");
    if (study) studies_ = std::make_unique<Studies>(image, cores_);
    for (unsigned c = 0; check && c < cores_; ++c) {
      models_.emplace_back(static_cast<int>(c), [this](std::uint32_t address, std::uint32_t& word) {
        if (address >= Image::kImemBytes) return false;
        word = image_.program()[address / 4];
        return true;
      });
    }
  }

  void sample(Time now) override {
    if (measuring_) {
      for (unsigned c = 0; c < cores_; ++c)
        profile_.clock(c, model_.seen_o[c].EMERY_MEMBER(use_), model_.seen_o[c].EMERY_MEMBER(pc));
      for (unsigned a = 0; a < 4; ++a) {
        if (!model_.access_o[a].EMERY_MEMBER(taken)) continue;
        ++assist_accesses_;
        if (studies_)
          studies_->assist(a, model_.access_o[a].EMERY_MEMBER(addr),
                           model_.access_o[a].EMERY_MEMBER(op) == core_pkg::Store);
      }
    }
    if (model_.print_valid_o)
      log_.print(model_.print_core_o, static_cast<char>(model_.print_char_o), now);
    if (model_.exit_valid_o) {
      exited_ = true;
      exit_code_ = model_.exit_code_o;
    }
    for (unsigned c = 0; c < models_.size(); ++c) {
      if (model_.seen_o[c].EMERY_MEMBER(rvfi).EMERY_MEMBER(valid)) check(c, now);
    }
    if (debug_) debug_->clock(now);
  }
  void drive() override {}

  /// Has gdb, if there is one, say what the cores are to do when they start.
  void debug(Debugger* debugger, std::span<const std::uint8_t> frames, const Options& options) {
    if (debugger)
      debug_ = std::make_unique<Debug>(*debugger, model_, image_, models_, frames, options);
  }
  void halt(Time now) {
    if (debug_) debug_->halt(now);
  }

  // The first core that has trapped, in words; empty when none has.
  std::string trap() const {
    for (unsigned c = 0; c < cores_; ++c) {
      if (model_.seen_o[c].EMERY_MEMBER(trap) == 0) continue;
      char pc[16];
      std::snprintf(pc, sizeof pc, "0x%08x", model_.seen_o[c].EMERY_MEMBER(trap_pc));
      return "core " + std::to_string(c) +
             " trapped: " + std::string(trap_name(model_.seen_o[c].EMERY_MEMBER(trap))) +
             " at pc " + pc + " in " + image_.where(model_.seen_o[c].EMERY_MEMBER(trap_pc));
    }
    return "";
  }
  bool ready() const { return log_.ready(); }
  /// The firmware starts again.
  void restart() { log_.restart(); }
  bool exited() const { return exited_; }
  std::uint32_t exit_code() const { return exit_code_; }
  const std::string& mismatch() const { return mismatch_; }
  std::uint64_t checked() const { return checked_; }

  void measure(bool on) { measuring_ = on; }
  const Profile& profile() const { return profile_; }
  const Studies* studies() const { return studies_.get(); }
  std::uint64_t assist_accesses() const { return assist_accesses_; }

 private:
  void check(unsigned c, Time now) {
    const auto& insn = model_.seen_o[c].EMERY_MEMBER(rvfi);
    Retired r;
    r.valid = true;
    r.trap = insn.EMERY_MEMBER(trap);
    r.insn = insn.EMERY_MEMBER(insn);
    r.rs1_addr = insn.EMERY_MEMBER(rs1_addr);
    r.rs2_addr = insn.EMERY_MEMBER(rs2_addr);
    r.rs1_rdata = insn.EMERY_MEMBER(rs1_rdata);
    r.rs2_rdata = insn.EMERY_MEMBER(rs2_rdata);
    r.rd_addr = insn.EMERY_MEMBER(rd_addr);
    r.rd_wdata = insn.EMERY_MEMBER(rd_wdata);
    r.pc_rdata = insn.EMERY_MEMBER(pc_rdata);
    r.pc_wdata = insn.EMERY_MEMBER(pc_wdata);
    r.mem_addr = insn.EMERY_MEMBER(mem_addr);
    r.mem_rmask = insn.EMERY_MEMBER(mem_rmask);
    r.mem_wmask = insn.EMERY_MEMBER(mem_wmask);
    r.mem_rdata = insn.EMERY_MEMBER(mem_rdata);
    r.mem_wdata = insn.EMERY_MEMBER(mem_wdata);
    ++checked_;
    if (studies_ && measuring_) studies_->retired(c, r);
    const std::string wrong = models_[c].check(r);
    if (debug_) debug_->retired(c, r);
    if (!wrong.empty() && mismatch_.empty())
      mismatch_ = "core " + std::to_string(c) + " departs from the instruction-set model at " +
                  std::to_string(now) + " ps: " + wrong;
  }

  Vcore_nic& model_;
  const Image& image_;
  unsigned cores_;
  Profile profile_;
  std::vector<InstructionModel> models_;
  std::unique_ptr<Studies> studies_;
  std::unique_ptr<Debug> debug_;
  FirmwareLog log_;
  std::string mismatch_;
  std::uint64_t checked_ = 0, assist_accesses_ = 0;
  std::uint32_t exit_code_ = 0;
  bool measuring_ = false, exited_ = false;
};

}  // namespace emery::core_nic
