// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/boot.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "bench/sim/options.hpp"

namespace emery::tile_router {

BootImage BootImage::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw OptionError(path + ": cannot be read");
  BootImage image;
  std::string line, word;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream in(line);
    in >> word;
    if (word == "version") {
      in >> image.version;
    } else if (word == "grid") {
      in >> image.columns >> image.rows;
    } else if (word == "linecard") {
      unsigned port = 0;
      Linecard card{};
      in >> port >> card.in >> card.out >> std::hex >> card.mac;
      if (port != image.linecards.size()) in.setstate(std::ios::failbit);
      image.linecards.push_back(card);
    } else if (word == "host") {
      unsigned port = 0;
      Host host{};
      in >> port >> std::hex >> host.address >> host.next_hop;
      if (port != image.hosts.size()) in.setstate(std::ios::failbit);
      image.hosts.push_back(host);
    } else if (word == "rewrite") {
      unsigned port = 0;
      std::uint64_t next_hop = 0;
      in >> port >> std::hex >> next_hop;
      if (port < image.linecards.size())
        image.linecards[port].next_hop = next_hop;
      else
        in.setstate(std::ios::failbit);
    } else if (word == "changes") {
      Changes changes{};
      in >> std::hex >> changes.number >> changes.words;
      image.changes = changes;
    } else if (word == "memory") {
      unsigned slot = 0;
      in >> slot >> image.memories[slot];
    } else if (word == "tile") {
      Tile tile{};
      in >> tile.number >> tile.role >> tile.pipeline;
      image.tiles.push_back(tile);
    } else if (word == "function") {
      unsigned tile = 0;
      std::uint32_t address = 0;
      in >> tile >> std::hex >> address >> image.functions[{tile, address}];
    } else if (word == "counter") {
      Counter counter{};
      in >> counter.name >> counter.tile >> std::hex >> counter.address;
      image.counters.push_back(counter);
    } else if (word == "write") {
      std::uint32_t address = 0, value = 0;
      in >> std::hex >> address >> value;
      image.writes.emplace_back(address, value);
    } else {
      in.setstate(std::ios::failbit);
    }
    if (!in)
      throw OptionError(path + ":" + std::to_string(number) + ": not a line of a boot image");
  }
  if (!image.hosts.empty() && image.hosts.size() != image.linecards.size())
    throw OptionError(path + ": a boot image with hosts at some of its linecards");
  if (image.linecards.empty()) throw OptionError(path + ": a boot image without linecards");
  return image;
}

std::set<unsigned> BootImage::lines() const {
  std::set<unsigned> found;
  for (const Linecard& card : linecards) found.insert({card.in, card.out});
  return found;
}

unsigned BootImage::pipelines() const {
  return static_cast<unsigned>(std::count_if(
      tiles.begin(), tiles.end(), [](const Tile& tile) { return tile.role == "lookup"; }));
}

std::vector<std::uint32_t> BootImage::addresses() const {
  std::vector<std::uint32_t> all;
  for (const Host& host : hosts) all.push_back(host.address);
  return all;
}

std::uint32_t BootImage::counter(const std::string& name) const {
  return std::ranges::find(counters, name, &Counter::name)->address;
}

unsigned BootImage::port_of(unsigned pipeline) const {
  const auto ports = static_cast<unsigned>(linecards.size());
  return std::min(ports - 1, pipeline * ports / pipelines());
}

std::string BootImage::role(unsigned tile) const {
  for (const Tile& t : tiles) {
    if (t.number == tile) return t.role + " " + std::to_string(t.pipeline);
  }
  return "unused";
}

std::string BootImage::where(unsigned tile, std::uint32_t pc) const {
  auto after = functions.upper_bound({tile, pc});
  if (after == functions.begin() || (--after)->first.first != tile) return "";
  return after->second + "+" + std::to_string(pc - after->first.second);
}

}  // namespace emery::tile_router
