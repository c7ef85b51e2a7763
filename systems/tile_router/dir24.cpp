// SPDX-License-Identifier: Apache-2.0
#include "systems/tile_router/dir24.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace emery {
namespace {

[[noreturn]] void fail(const std::string& name, std::size_t line, const std::string& what) {
  throw RoutesError(name + ":" + std::to_string(line) + ": " + what);
}

/// A decimal number up to `most` at the front of `text`, which is taken off; false if there is
/// none.
bool number(std::string_view& text, unsigned most, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > most) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool prefix(std::string_view& text, Route& route) {
  unsigned part = 0;
  route.prefix = 0;
  for (int i = 0; i < 4; ++i) {
    if (!number(text, 255, part) || !take(text, i == 3 ? '/' : '.')) return false;
    route.prefix = route.prefix << 8 | part;
  }
  if (!number(text, 32, part)) return false;
  route.length = static_cast<std::uint8_t>(part);
  return true;
}

std::string written(const Route& route) {
  std::string text;
  for (int i = 24; i >= 0; i -= 8)
    text += std::to_string(route.prefix >> i & 255) + (i ? "." : "/");
  return text + std::to_string(route.length);
}

std::uint64_t key(const Route& route) { return std::uint64_t{route.prefix} << 8 | route.length; }

}  // namespace

std::vector<Route> Dir24::parse(std::string_view text, const std::string& name, unsigned ports) {
  if (text.substr(0, 2) == "\x1f\x8b") throw RoutesError(name + ": compressed; unpack it first");
  std::vector<Route> routes;
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view whole = rest;
    rest = rest.substr(0, rest.find('#'));
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!rest.empty() && blank(rest.back())) rest.remove_suffix(1);
    while (!rest.empty() && blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) continue;

    Route route{};
    unsigned port = 0;
    if (!prefix(rest, route) || rest.empty() || !blank(rest.front()))
      fail(name, line,
           "no prefix and port, as in `1.0.0.0/24 2`: " + std::string(whole.substr(0, 60)));
    while (!rest.empty() && blank(rest.front())) rest.remove_prefix(1);
    if (!number(rest, 1'000'000, port) || !rest.empty())
      fail(name, line, "no port after the prefix: " + std::string(whole.substr(0, 60)));
    if (port >= ports)
      fail(name, line,
           "port " + std::to_string(port) + ": there are " + std::to_string(ports) + ", from 0");
    if (route.length < 32 && (route.prefix << route.length) != 0)
      fail(name, line, written(route) + " has bits set beyond its length");
    route.port = static_cast<std::uint8_t>(port);
    route.line = static_cast<std::uint32_t>(line);
    routes.push_back(route);
  }
  if (routes.empty()) throw RoutesError(name + ": no routes");

  std::vector<const Route*> sorted;
  sorted.reserve(routes.size());
  for (const Route& route : routes) sorted.push_back(&route);
  std::sort(sorted.begin(), sorted.end(), [](const Route* a, const Route* b) {
    return key(*a) != key(*b) ? key(*a) < key(*b) : a->line < b->line;
  });
  const Route* again = nullptr;
  const Route* first = nullptr;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (key(*sorted[i]) == key(*sorted[i - 1]) && (!again || sorted[i]->line < again->line)) {
      again = sorted[i];
      first = sorted[i - 1];
    }
  }
  if (again)
    fail(name, again->line, written(*again) + " was on line " + std::to_string(first->line));
  return routes;
}

std::vector<Route> Dir24::read(const std::string& path, unsigned ports) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw RoutesError(path + ": " + std::strerror(errno));
  std::string text;
  char buffer[65536];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get()))
    text.append(buffer, n);
  if (std::ferror(file.get())) throw RoutesError(path + ": " + std::strerror(errno));
  return parse(text, path, ports);
}

std::vector<std::uint32_t> Dir24::build(const std::vector<Route>& routes) {
  // Short prefixes first: a longer one overwrites.
  std::vector<const Route*> by_length;
  by_length.reserve(routes.size());
  for (const Route& route : routes) by_length.push_back(&route);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const Route* a, const Route* b) { return a->length < b->length; });
  std::vector<std::uint16_t> first(std::size_t{1} << 24, kNoRoute), blocks;
  for (const Route* route : by_length) {
    const std::uint32_t at = route->prefix >> 8;
    if (route->length <= 24) {
      std::fill_n(first.begin() + at, std::size_t{1} << (24 - route->length), route->port);
      continue;
    }
    if (!(first[at] & kLong)) {
      const std::size_t block = blocks.size() / 256;
      if (block >= kLong)
        throw RoutesError(
            "the routes have prefixes longer than 24 bits in more than 32768 networks of 24 bits");
      blocks.resize(blocks.size() + 256, first[at]);
      first[at] = static_cast<std::uint16_t>(kLong | block);
    }
    const std::size_t base = std::size_t{first[at] & 0x7fffu} * 256 + (route->prefix & 255);
    std::fill_n(blocks.begin() + static_cast<std::ptrdiff_t>(base),
                std::size_t{1} << (32 - route->length), route->port);
  }
  for (std::uint32_t net = 0; net < 256; ++net) {
    if (martian(net << 24)) std::fill_n(first.begin() + (net << 16), 1 << 16, kMartian);
  }
  first.insert(first.end(), blocks.begin(), blocks.end());
  std::vector<std::uint32_t> words(first.size() / 2);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = first[2 * i] | std::uint32_t{first[2 * i + 1]} << 16;
  return words;
}

}  // namespace emery
