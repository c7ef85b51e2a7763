// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/image.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bench/core/elf.hpp"

namespace emery::core_nic {
namespace {

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

Image Image::read(const std::string& path) {
  const Elf file(path, "firmware_image");
  Image image;
  image.program_.resize(kImemBytes / 4);
  for (const Elf::Part& part : file.parts()) {
    const bool scratch = part.address >= kScratchBase;
    const std::uint64_t from = part.address - (scratch ? kScratchBase : 0);
    if (part.address % 4 || from + part.memory > (scratch ? kScratchBytes : kImemBytes))
      file.fail("its part at " + hex(part.address) + " has no place in the device");
    Segment segment{part.address, part.words()};
    if (!scratch)
      std::copy(segment.words.begin(), segment.words.end(), image.program_.begin() + from / 4);
    image.segments_.push_back(std::move(segment));
  }
  if (image.segments_.empty()) file.fail("has nothing to load");

  image.functions_.push_back({"(elsewhere)", 0, 0});
  for (const Elf::Symbol& symbol : file.symbols()) {
    if (!symbol.name.empty()) image.symbols_[symbol.name] = symbol.value;
    if (!symbol.function || symbol.value >= kImemBytes) continue;
    image.functions_.push_back({symbol.name, symbol.value, symbol.size});
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
