// SPDX-License-Identifier: Apache-2.0
// The scratchpad as the cores left it, past all ports: words in the banks' RAMs, and over those
// what is on its way there from stores that have retired. Needs a model that shows them
// (debug.vlt).
//
// An atomic that is in its core's pipeline yet, and will retire next, may be seen done.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "Vcore_nic.h"

namespace emery::core_nic {

class Scratchpad {
 public:
  Scratchpad(const Vcore_nic& model, unsigned banks, unsigned cores);

  /// Of the word with this number.
  std::uint32_t read(std::uint32_t word) const;
  /// Whether it can be written now: nothing is on its way to it, or being done with it.
  bool quiet(std::uint32_t word) const;
  void write(std::uint32_t word, std::uint32_t value);

 private:
  struct Bank {
    std::uint32_t* words;
    const std::uint8_t *valid, *op;
    const std::uint16_t* index;
    const std::uint32_t* next;  // what the word at `index` is after this clock
  };
  struct Buffer {
    const std::uint8_t* full;
    const std::uint32_t* request;  // mem_req_t
  };

  const Bank& bank(std::uint32_t word) const { return banks_[word % banks_.size()]; }
  std::uint32_t place(std::uint32_t word) const {
    return word / static_cast<std::uint32_t>(banks_.size());
  }
  bool busy(std::uint32_t word) const;

  std::vector<Bank> banks_;
  std::vector<Buffer> buffers_;  // of the cores
};

}  // namespace emery::core_nic
