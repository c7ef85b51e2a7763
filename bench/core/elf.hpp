// SPDX-License-Identifier: Apache-2.0
// A RISC-V program in an ELF file of 32 bits: what is to be loaded, and its symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/options.hpp"

namespace emery {

class Elf {
 public:
  struct Part {
    std::uint32_t address;
    std::uint32_t memory;  // bytes there; those beyond `bytes` begin as zeros
    std::vector<std::uint8_t> bytes;

    /// The bytes as words, the last one filled up with zeros.
    std::vector<std::uint32_t> words() const {
      std::vector<std::uint32_t> all((bytes.size() + 3) / 4);
      std::memcpy(all.data(), bytes.data(), bytes.size());
      return all;
    }
  };
  struct Symbol {
    std::string name;
    std::uint32_t value, size;
    bool function;
  };

  /// `what` the file is for, as in messages. Throws OptionError when it is not such a program.
  Elf(std::string path, std::string what) : path_(std::move(path)), what_(std::move(what)) {
    std::ifstream in(path_, std::ios::binary);
    if (!in) fail("cannot be read");
    file_.assign(std::istreambuf_iterator<char>(in), {});
    static constexpr std::uint8_t kIdent[] = {0x7f, 'E', 'L', 'F', 1, 1};
    const auto header = at<Header>(0);
    if (std::memcmp(header.ident, kIdent, sizeof kIdent) != 0 || header.machine != kRiscv)
      fail("is no RISC-V program (ELF, 32 bits)");
    for (unsigned i = 0; i < header.phnum; ++i)
      add_part(at<ProgramHeader>(header.phoff + std::size_t{i} * header.phentsize));
    for (unsigned i = 0; i < header.shnum; ++i) {
      const auto section = at<SectionHeader>(header.shoff + std::size_t{i} * header.shentsize);
      if (section.type != kSymbolTable) continue;
      add_symbols(section,
                  at<SectionHeader>(header.shoff + std::size_t{section.link} * header.shentsize));
    }
  }

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw OptionError(what_ + ": " + path_ + ": " + why);
  }

 private:
  // As they lie in a little-endian file.
  struct Header {
    std::uint8_t ident[16];
    std::uint16_t type, machine;
    std::uint32_t version, entry, phoff, shoff, flags;
    std::uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
  };
  struct ProgramHeader {
    std::uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
  };
  struct SectionHeader {
    std::uint32_t name, type, flags, addr, offset, size, link, info, addralign, entsize;
  };
  struct SymbolEntry {
    std::uint32_t name, value, size;
    std::uint8_t info, other;
    std::uint16_t section;
  };
  static constexpr std::uint16_t kRiscv = 243;
  static constexpr std::uint32_t kLoad = 1, kSymbolTable = 2;
  static constexpr unsigned kFunction = 2;

  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T)), sizeof(T));
    return value;
  }
  const char* range(std::size_t offset, std::size_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset) fail("is cut short");
    return file_.data() + offset;
  }
  std::string text(std::size_t offset) const {
    std::size_t end = offset;
    while (end < file_.size() && file_[end] != 0) ++end;
    return {range(offset, end - offset), end - offset};
  }

  void add_part(const ProgramHeader& part) {
    if (part.type != kLoad || part.filesz == 0) return;
    const char* bytes = range(part.offset, part.filesz);
    parts_.push_back({part.vaddr, part.memsz, {bytes, bytes + part.filesz}});
  }
  void add_symbols(const SectionHeader& section, const SectionHeader& names) {
    for (std::uint32_t i = 0; i + sizeof(SymbolEntry) <= section.size; i += sizeof(SymbolEntry)) {
      const auto symbol = at<SymbolEntry>(section.offset + i);
      const std::string name =
          symbol.name != 0 ? text(std::size_t{names.offset} + symbol.name) : std::string();
      symbols_.push_back({name, symbol.value, symbol.size, (symbol.info & 15) == kFunction});
    }
  }

  std::string path_, what_;
  std::vector<char> file_;
  std::vector<Part> parts_;
  std::vector<Symbol> symbols_;
};

}  // namespace emery
