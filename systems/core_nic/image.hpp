// SPDX-License-Identifier: Apache-2.0
// A firmware image: what a program puts into instruction memory and scratchpad, and where its
// functions are. firmware.py makes it of an ELF file.
//
// Segments are loaded where they are linked: from 0 on into the instruction memory, from
// core_pkg::ScratchBase on into the scratchpad. What a segment has beyond its bytes in the file
// (.bss) is left to the program's start-up code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core_formats.hpp"
#include "core_nic.h"

namespace emery::core_nic {

class Image {
 public:
  static constexpr std::uint32_t kScratchBase = core_pkg::ScratchBase;
  static constexpr std::uint32_t kImemBytes = sizeof(core_nic_t::imem);
  static constexpr std::uint32_t kScratchBytes = sizeof(core_nic_t::scratch);

  struct Segment {
    std::uint32_t address;
    std::vector<std::uint32_t> words;
    bool scratch() const { return address >= kScratchBase; }
  };
  struct Function {
    std::string name;
    std::uint32_t address, bytes;
  };

  // Lines as firmware.py writes them. Throws OptionError when the program is none for this device.
  static Image read(const std::string& path);

  const std::vector<Segment>& segments() const { return segments_; }
  // Sorted by address; the first stands for whatever is in none.
  const std::vector<Function>& functions() const { return functions_; }
  // Index of the function that an instruction is in.
  std::size_t function_at(std::uint32_t pc) const;
  // The function and the distance from its start, for people.
  std::string where(std::uint32_t pc) const;
  // The address of a symbol of any kind, 0 if there is none of that name.
  std::uint32_t symbol(const std::string& name) const;
  // The instruction memory as loaded, 0 where nothing was.
  const std::vector<std::uint32_t>& program() const { return program_; }

 private:
  void place(const Segment& segment, std::uint32_t bytes);

  std::vector<Segment> segments_;
  std::vector<Function> functions_;
  std::map<std::string, std::uint32_t> symbols_;
  std::vector<std::uint32_t> program_;
};

}  // namespace emery::core_nic
