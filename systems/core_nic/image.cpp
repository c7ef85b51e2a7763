// SPDX-License-Identifier: Apache-2.0
#include "systems/core_nic/image.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench/sim/options.hpp"

namespace emery::core_nic {

Image Image::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw OptionError("firmware_image: " + path + ": cannot be read");
  Image image;
  image.program_.resize(kImemBytes / 4);
  image.functions_.push_back({"(elsewhere)", 0, 0});
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what;
    std::uint32_t address, bytes;
    if (!(words >> what >> std::hex >> address >> bytes))
      throw OptionError("firmware_image: " + path + ": " + line);
    if (what == "segment") {
      image.segments_.push_back({address, {std::istream_iterator<std::uint32_t>(words), {}}});
      image.place(image.segments_.back(), bytes);
      continue;
    }
    std::string kind, name;
    words >> kind >> name;
    image.symbols_[name] = address;
    if (kind == "function" && address < kImemBytes)
      image.functions_.push_back({name, address, bytes});
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

void Image::place(const Segment& segment, std::uint32_t bytes) {
  const bool scratch = segment.scratch();
  const std::uint64_t from = segment.address - (scratch ? kScratchBase : 0);
  if (from % 4 || from + bytes > (scratch ? kScratchBytes : kImemBytes)) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", segment.address);
    throw OptionError(std::string("firmware_image: the part at ") + text +
                      " has no place in the device");
  }
  if (!scratch) std::copy(segment.words.begin(), segment.words.end(), program_.begin() + from / 4);
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
