// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/tables.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace emery::direct_router {
namespace {

using route::skip_blanks, route::take_address, route::take_number;

std::string_view word(std::string_view& text) {
  skip_blanks(text);
  const std::string_view first = text.substr(0, text.find_first_of(" \t\r"));
  text.remove_prefix(first.size());
  return first;
}

/// The whole of a text as a number, decimal or 0x; nothing when it is none or above `most`, or has
/// a 0 before others, which some programs read as octal.
std::optional<unsigned> whole(std::string_view text, unsigned most) {
  unsigned value = 0;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (!hex && text.size() > 1 && text.front() == '0') return std::nullopt;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

/// A value under a mask of 8 bits, all of them without a /.
bool masked(std::string_view text, std::uint8_t& value, std::uint8_t& mask) {
  const std::size_t slash = text.find('/');
  const auto v = whole(text.substr(0, slash), 255);
  const auto m = slash == std::string_view::npos ? 255u : whole(text.substr(slash + 1), 255);
  if (!v || !m || (*v & ~*m) != 0) return false;
  value = static_cast<std::uint8_t>(*v);
  mask = static_cast<std::uint8_t>(*m);
  return true;
}

bool prefix(std::string_view text, Route& route) {
  if (!take_address(text, route.prefix) || !text.starts_with('/')) return false;
  text.remove_prefix(1);
  return take_number(text, 32, route.length) && text.empty() && (route.prefix & ~route.mask()) == 0;
}

class Lines {
 public:
  Lines(unsigned ports, unsigned classes, Tables& tables)
      : ports_(ports), classes_(classes), tables_(tables) {}

  std::string take(std::string_view line) {
    const std::string_view kind = word(line);
    if (kind == "address") return address(line);
    if (kind == "class") return cls(line);
    return "not a line like '10.1.0.0/16 3', 'address 10.1.0.1 1' or 'class 0 tos 0xb8'";
  }

 private:
  std::string port(std::string_view text, unsigned& port) const {
    const auto found = whole(text, ports_ - 1);
    if (!found) {
      return "port " + std::string(text) + ": there are " + std::to_string(ports_) + ", from 0";
    }
    port = *found;
    return "";
  }

  std::string address(std::string_view line) {
    constexpr const char* kExample = "not a line like 'address 10.1.0.1 1'";
    std::string_view text = word(line);
    const std::string_view number = word(line);
    std::uint32_t own = 0;
    unsigned at = 0;
    if (!take_address(text, own) || !text.empty() || number.empty() || !word(line).empty())
      return kExample;
    if (const std::string wrong = port(number, at); !wrong.empty()) return wrong;
    if (route::martian(own)) return "an address that no host has";
    tables_.addresses.resize(ports_);
    if (std::ranges::find(tables_.addresses, own) != tables_.addresses.end())
      return "an address that the router has already";
    if (tables_.addresses[at] != 0) return "port " + std::to_string(at) + " has an address already";
    tables_.addresses[at] = own;
    return "";
  }

  std::string cls(std::string_view line) {
    ClassRule rule;
    const auto number = whole(word(line), ~0u);
    if (!number) return "not a line like 'class 0 tos 0xb8/0xfc protocol 17'";
    if (*number + 1 >= classes_) {
      return "class " + std::to_string(*number) + ": there are " + std::to_string(classes_) +
             ", and the last takes what no other does";
    }
    rule.cls = *number;
    std::vector<std::string_view> said;
    for (std::string_view name = word(line); !name.empty(); name = word(line)) {
      if (std::ranges::find(said, name) != said.end()) return std::string(name) + " is there twice";
      said.push_back(name);
      const std::string_view value = word(line);
      bool good = !value.empty();
      if (name == "to") {
        unsigned at = 0;
        if (const std::string wrong = port(value, at); !wrong.empty()) return wrong;
        rule.port = at;
      } else if (name == "tos") {
        good = masked(value, rule.tos, rule.tos_mask);
      } else if (name == "protocol") {
        good = masked(value, rule.protocol, rule.protocol_mask);
      } else if (name == "src") {
        good = prefix(value, rule.source);
      } else if (name == "dst") {
        good = prefix(value, rule.destination);
      } else {
        return "'" + std::string(name) + "' is none of to, tos, src, dst, protocol";
      }
      if (!good) return std::string(name) + " " + std::string(value) + ": not a value of its kind";
    }
    const auto same = [&](const ClassRule& other) {
      return other.cls == rule.cls && other.port == rule.port;
    };
    if (std::ranges::any_of(tables_.classes, same))
      return "a card has one mask for a port and class, and there was one before";
    tables_.classes.push_back(rule);
    return "";
  }

  unsigned ports_, classes_;
  Tables& tables_;
};

void refuse(const Options& options, const Tables& tables) {
  const std::string file = options.get("routes", "");
  if (tables.own_classes && !options.get<bool>("qos"))
    throw OptionError(file + ": lines of classes do nothing with qos=false");
  if (tables.addresses.empty()) return;
  if (options.has("host_path") && !options.get<bool>("host_path"))
    throw OptionError(file +
                      ": these cards have no slow path: a router with addresses needs "
                      "host_path=true");
  if (options.get<double>("updates_per_s") > 0)
    throw OptionError(file + ": updates_per_s: not with a router that has addresses");
}

}  // namespace

Tables Tables::make(const Options& options, unsigned ports, bool everything) {
  const std::string file = options.get("routes", "");
  const auto classes = options.get<unsigned>("classes");
  Tables tables;
  Lines lines(ports, classes, tables);
  const auto other = [&](std::string_view line) { return lines.take(line); };
  tables.routes =
      file.empty() ? default_routes(ports, everything) : route::read_routes(file, ports, other);
  tables.own_classes = !tables.classes.empty();
  for (unsigned k = 0; !tables.own_classes && k + 1 < classes; ++k) {
    ClassRule rule;
    rule.cls = k;
    rule.tos = kTos[k];
    rule.tos_mask = kTosMask;
    tables.classes.push_back(rule);
  }
  std::ranges::stable_sort(
      tables.classes, {}, [](const ClassRule& rule) { return 2 * rule.cls + (rule.port ? 0 : 1); });
  refuse(options, tables);
  if (!options.get<bool>("own_addresses")) return tables;
  tables.addresses.resize(ports);
  for (const Route& route : tables.routes) {
    std::uint32_t& own = tables.addresses[route.port];
    const std::uint32_t first = route.prefix | (route.length < 31 ? 1 : 0);
    const bool free = std::ranges::find(tables.addresses, first) == tables.addresses.end();
    if (own == 0 && free && !route::martian(first)) own = first;
  }
  return tables;
}

}  // namespace emery::direct_router
