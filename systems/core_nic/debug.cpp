// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/debug.hpp"

#include <csignal>
#include <cstdio>

#include "bench/core/trap_name.hpp"
#include "bench/sim/member.hpp"
#include "core_formats.hpp"
#include "systems/core_nic/profile.hpp"

namespace emery::core_nic {
namespace {

// As gdb has the signals.
unsigned signal_of(unsigned trap) {
  constexpr unsigned kBus = 10;
  switch (trap) {
    case core_pkg::TrapIllegal:
      return SIGILL;
    case core_pkg::TrapLoadAlign:
    case core_pkg::TrapStoreAlign:
      return kBus;
    case core_pkg::TrapBreak:
    case core_pkg::TrapCall:
      return SIGTRAP;
    case core_pkg::TrapWatchdog:
      return SIGALRM;
    default:
      return SIGSEGV;
  }
}

}  // namespace

Debug::Debug(Debugger& debugger, const Vcore_nic& model, const Image& image, const Models& models,
             std::span<const std::uint8_t> frames, const Options& options)
    : debugger_(debugger),
      model_(model),
      image_(image),
      models_(models),
      frames_(frames),
      scratchpad_(model, options.get<unsigned>("banks"), cores()),
      trapped_(cores()) {
  debugger.attach(*this);
}

unsigned Debug::trap(unsigned core) const { return model_.seen_o[core].EMERY_MEMBER(trap); }

void Debug::clock(Time now) {
  now_ = now;
  ++clocks_;
  if (!debugger_.watches()) return;
  for (unsigned core = 0; core < cores(); ++core) {
    if (trap(core) == 0 || trapped_[core]) continue;
    trapped_[core] = true;
    debugger_.stub().trapped(core, signal_of(trap(core)));
  }
  debugger_.clock(now);
}

// What is exact to the byte of a load stands in the instruction only.
DebugAccess Debug::access(const Retired& r) {
  if (r.trap || (r.mem_rmask | r.mem_wmask) == 0) return {};
  DebugAccess a{r.mem_addr, 4, r.mem_rmask != 0, r.mem_wmask != 0};
  const unsigned opcode = r.insn & 127, size = 1u << (r.insn >> 12 & 3);
  const auto offset = static_cast<std::uint32_t>(static_cast<std::int32_t>(r.insn) >> 20);
  if (opcode == 0x03) {
    a.address = r.rs1_rdata + offset;
    a.bytes = size;
  } else if (opcode == 0x23) {
    while ((r.mem_wmask >> (a.address & 3) & 1) == 0) ++a.address;
    a.bytes = size;
  }
  return a;
}

std::string Debug::state(unsigned core) const {
  const std::uint32_t pc = *reg(core, kPc);
  std::string what = "at " + image_.where(pc);
  if (trap(core) != 0) return "trapped: " + std::string(trap_name(trap(core))) + ", " + what;
  const unsigned use = model_.seen_o[core].EMERY_MEMBER(use_);
  if (use == core_pkg::Sleep) return "asleep, " + what;
  return models_[core].retired() == 0 ? "to start " + what : what;
}

std::optional<std::uint32_t> Debug::reg(unsigned core, unsigned number) const {
  if (number == kPc)
    return trap(core) != 0 ? model_.seen_o[core].EMERY_MEMBER(trap_pc) : models_[core].pc();
  if (!models_[core].known(static_cast<int>(number))) return std::nullopt;
  return models_[core].reg(static_cast<int>(number));
}

std::optional<std::uint8_t> Debug::byte(std::uint32_t address) const {
  const auto of = [&](std::uint32_t word) {
    return static_cast<std::uint8_t>(word >> 8 * (address & 3));
  };
  if (address < Image::kImemBytes) return of(image_.program()[address / 4]);
  if (const std::uint32_t at = address - Image::kScratchBase; at < Image::kScratchBytes)
    return of(scratchpad_.read(at / 4));
  if (const std::uint32_t at = address - core_pkg::FrameBase; at < frames_.size())
    return frames_[at];
  return std::nullopt;
}

bool Debug::read(std::uint32_t address, std::span<std::uint8_t> bytes) const {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto found = byte(address + static_cast<std::uint32_t>(i));
    if (!found) return false;
    bytes[i] = *found;
  }
  return true;
}

bool Debug::write(std::uint32_t address, std::span<const std::uint8_t> bytes) {
  const std::uint32_t at = address - Image::kScratchBase;
  if (at >= Image::kScratchBytes || bytes.size() > Image::kScratchBytes - at) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!scratchpad_.quiet((at + static_cast<std::uint32_t>(i)) / 4)) return false;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint32_t place = at + static_cast<std::uint32_t>(i), shift = 8 * (place & 3);
    const std::uint32_t word = scratchpad_.read(place / 4) & ~(0xffu << shift);
    scratchpad_.write(place / 4, word | std::uint32_t{bytes[i]} << shift);
  }
  return true;
}

std::string Debug::cycles() const {
  char line[96];
  std::snprintf(line, sizeof line, "%.3f us, %llu clocks of the cores\n",
                static_cast<double>(now_) / kMicrosecond, static_cast<unsigned long long>(clocks_));
  std::string text = line;
  for (unsigned core = 0; core < cores(); ++core) {
    text += "core " + std::to_string(core) + ": " + std::to_string(models_[core].retired()) +
            " instructions, " + state(core) + "\n";
  }
  return text;
}

}  // namespace emery::core_nic
