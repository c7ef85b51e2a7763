// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/scratchpad.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "core_formats.hpp"
#include "systems/core_nic/image.hpp"
#include "verilated.h"
#include "verilated_syms.h"

namespace emery::core_nic {
namespace {

// An access that waits in a core's buffer for its turn.
struct Request {
  std::uint32_t op, word, wdata, be;

  // From a mem_req_t, least significant word first.
  explicit Request(const std::uint32_t* x)
      : op(x[2] >> 4 & 15),
        word(((x[2] << 28 | x[1] >> 4) - Image::kScratchBase) / 4),
        wdata(x[1] << 28 | x[0] >> 4),
        be(x[0] & 15) {}

  // As rtl/core/bank.sv does it.
  std::uint32_t applied(std::uint32_t old) const {
    const auto less = [](std::uint32_t a, std::uint32_t b) {
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    };
    switch (op) {
      case core_pkg::Store: {
        std::uint32_t mask = 0;
        for (unsigned i = 0; i < 4; ++i) mask |= be >> i & 1 ? 0xffu << 8 * i : 0;
        return (old & ~mask) | (wdata & mask);
      }
      case core_pkg::Swap:
        return wdata;
      case core_pkg::Add:
        return old + wdata;
      case core_pkg::And:
        return old & wdata;
      case core_pkg::Or:
        return old | wdata;
      case core_pkg::Xor:
        return old ^ wdata;
      case core_pkg::Min:
        return less(wdata, old) ? wdata : old;
      case core_pkg::Max:
        return less(old, wdata) ? wdata : old;
      case core_pkg::MinU:
        return std::min(old, wdata);
      case core_pkg::MaxU:
        return std::max(old, wdata);
      case core_pkg::Update:
        return old & (old + (1u << (wdata & 31)));
      default:
        return old;
    }
  }
};

class Names {
 public:
  explicit Names(const Vcore_nic& model)
      : context_(*model.contextp()), top_(std::string(model.name()) + ".core_nic.i_cluster.") {}

  template <class T>
  T* find(const std::string& scope, const char* name) const {
    const VerilatedScope* found = context_.scopeFind((top_ + scope).c_str());
    const VerilatedVar* var = found ? found->varFind(name) : nullptr;
    if (!var) throw std::logic_error("the model does not show " + scope + "." + name);
    return static_cast<T*>(var->datap());
  }

 private:
  const VerilatedContext& context_;
  std::string top_;
};

}  // namespace

Scratchpad::Scratchpad(const Vcore_nic& model, unsigned banks, unsigned cores) {
  static_assert(Image::kScratchBytes / 4 / 8 > 256 && Image::kScratchBytes / 4 <= 65536,
                "index_q has 16 bits in the model, with any number of banks");
  const Names names(model);
  for (unsigned b = 0; b < banks; ++b) {
    const std::string bank = "g_bank[" + std::to_string(b) + "].i_bank";
    banks_.push_back(
        {names.find<std::uint32_t>(bank + ".i_ram", "mem"),
         names.find<std::uint8_t>(bank, "valid_q"), names.find<std::uint8_t>(bank, "op_q"),
         names.find<std::uint16_t>(bank, "index_q"), names.find<std::uint32_t>(bank, "next")});
  }
  for (unsigned c = 0; c < cores; ++c) {
    const std::string port = "g_core[" + std::to_string(c) + "].i_core.i_data_port";
    buffers_.push_back(
        {names.find<std::uint8_t>(port, "full_q"), names.find<std::uint32_t>(port, "buffer_q")});
  }
}

bool Scratchpad::busy(std::uint32_t word) const {
  const Bank& b = bank(word);
  return *b.valid && *b.index == place(word);
}

std::uint32_t Scratchpad::read(std::uint32_t word) const {
  const Bank& b = bank(word);
  std::uint32_t value = busy(word) && *b.op != core_pkg::Load ? *b.next : b.words[place(word)];
  for (const Buffer& x : buffers_) {
    if (!*x.full) continue;
    const Request request(x.request);
    if (request.word == word) value = request.applied(value);
  }
  return value;
}

bool Scratchpad::quiet(std::uint32_t word) const {
  return !busy(word) && std::none_of(buffers_.begin(), buffers_.end(), [&](const Buffer& x) {
    return *x.full && Request(x.request).word == word;
  });
}

void Scratchpad::write(std::uint32_t word, std::uint32_t value) {
  bank(word).words[place(word)] = value;
}

}  // namespace emery::core_nic
