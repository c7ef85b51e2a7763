// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/image.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "bench/sim/options.hpp"

namespace emery::core_nic {
namespace {

// The parts of ELF32 that are needed here, as they lie in a little-endian file.
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
struct Symbol {
  std::uint32_t name, value, size;
  std::uint8_t info, other;
  std::uint16_t section;
};
constexpr std::uint16_t kRiscv = 243;
constexpr std::uint32_t kLoad = 1, kSymbolTable = 2;
constexpr unsigned kFunction = 2;

class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw OptionError("firmware_image: " + path + ": cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T)), sizeof(T));
    return value;
  }
  const char* range(std::size_t offset, std::size_t bytes) const {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) fail("is cut short");
    return bytes_.data() + offset;
  }
  std::string text(std::size_t offset) const {
    std::size_t end = offset;
    while (end < bytes_.size() && bytes_[end] != 0) ++end;
    return {range(offset, end - offset), end - offset};
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw OptionError("firmware_image: " + path_ + ": " + what);
  }

 private:
  std::string path_;
  std::vector<char> bytes_;
};

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

Image Image::read(const std::string& path) {
  const File file(path);
  static constexpr std::uint8_t kIdent[] = {0x7f, 'E', 'L', 'F', 1, 1};
  const auto header = file.at<Header>(0);
  if (std::memcmp(header.ident, kIdent, sizeof kIdent) != 0 || header.machine != kRiscv)
    file.fail("is no RISC-V program (ELF, 32 bits)");

  Image image;
  image.program_.resize(kImemBytes / 4);
  for (unsigned i = 0; i < header.phnum; ++i) {
    const auto part = file.at<ProgramHeader>(header.phoff + std::size_t{i} * header.phentsize);
    if (part.type != kLoad || part.filesz == 0) continue;
    const bool scratch = part.vaddr >= kScratchBase;
    const std::uint64_t from = part.vaddr - (scratch ? kScratchBase : 0);
    if (part.vaddr % 4 || from + part.memsz > (scratch ? kScratchBytes : kImemBytes))
      file.fail("its part at " + hex(part.vaddr) + " has no place in the device");
    Segment segment{part.vaddr, std::vector<std::uint32_t>((part.filesz + 3) / 4)};
    std::memcpy(segment.words.data(), file.range(part.offset, part.filesz), part.filesz);
    if (!scratch)
      std::copy(segment.words.begin(), segment.words.end(), image.program_.begin() + from / 4);
    image.segments_.push_back(std::move(segment));
  }
  if (image.segments_.empty()) file.fail("has nothing to load");

  image.functions_.push_back({"(elsewhere)", 0, 0});
  for (unsigned i = 0; i < header.shnum; ++i) {
    const auto section = file.at<SectionHeader>(header.shoff + std::size_t{i} * header.shentsize);
    if (section.type != kSymbolTable) continue;
    const auto names =
        file.at<SectionHeader>(header.shoff + std::size_t{section.link} * header.shentsize);
    for (std::uint32_t at = 0; at + sizeof(Symbol) <= section.size; at += sizeof(Symbol)) {
      const auto symbol = file.at<Symbol>(section.offset + at);
      if (symbol.name != 0) image.symbols_[file.text(names.offset + symbol.name)] = symbol.value;
      if ((symbol.info & 15) != kFunction || symbol.value >= kImemBytes) continue;
      image.functions_.push_back(
          {file.text(names.offset + symbol.name), symbol.value, symbol.size});
    }
  }
  std::stable_sort(image.functions_.begin() + 1, image.functions_.end(),
                   [](const Function& a, const Function& b) { return a.address < b.address; });
  // Aliases: the first name stands for all.
  const auto last =
      std::unique(image.functions_.begin() + 1, image.functions_.end(),
                  [](const Function& a, const Function& b) { return a.address == b.address; });
  image.functions_.erase(last, image.functions_.end());
  // Assembly may not say how long a function is: then it is as long as there is room.
  for (std::size_t i = 1; i < image.functions_.size(); ++i) {
    Function& f = image.functions_[i];
    const std::uint32_t next =
        i + 1 < image.functions_.size() ? image.functions_[i + 1].address : kImemBytes;
    if (f.bytes == 0) f.bytes = next - f.address;
  }
  return image;
}

std::size_t Image::function_at(std::uint32_t pc) const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < functions_.size() && functions_[i].address <= pc; ++i) found = i;
  const Function& f = functions_[found];
  return found != 0 && pc - f.address < f.bytes ? found : 0;
}

std::uint32_t Image::symbol(const std::string& name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? 0 : it->second;
}

std::string Image::where(std::uint32_t pc) const {
  const std::size_t index = function_at(pc);
  if (index == 0) return "no function";
  return functions_[index].name + "+" + std::to_string(pc - functions_[index].address);
}

}  // namespace emery::core_nic
