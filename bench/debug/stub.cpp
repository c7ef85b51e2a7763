// SPDX-License-Identifier: Apache-2.0
#include "bench/debug/stub.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/debug/packet.hpp"

namespace emery {
namespace {

constexpr char kOk[] = "OK";
constexpr char kNone[] = "";          // there is no such packet
constexpr char kMalformed[] = "E16";  // EINVAL of gdb's file protocol; gdb shows the number only
constexpr char kNoMemory[] = "E0e";
constexpr char kFull[] = "E1c";
constexpr char kCannot[] = "E01";
constexpr std::uint32_t kMostRead = PacketReader::kMost / 2;

constexpr std::array kNames = {"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp",
                               "s1",   "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
                               "s2",   "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
                               "s11",  "t3", "t4", "t5", "t6", "pc"};

constexpr char kHelp[] =
    "monitor cycles      simulated time, clocks and instructions of each core\n"
    "monitor stop TIME   when everything runs next, it stops after so long (10us, 500ns, 2ms)\n"
    "monitor help        these lines\n";

std::string description() {
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
      "<architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (unsigned n = 0; n < kNames.size(); ++n) {
    const std::string_view name = kNames[n];
    const bool data = name == "sp" || name == "gp" || name == "tp" || name == "fp";
    const bool code = name == "ra" || name == "pc";
    text += "<reg name=\"" + std::string(name) + "\" bitsize=\"32\" regnum=\"" + std::to_string(n) +
            "\" type=\"" +
            (code   ? "code_ptr"
             : data ? "data_ptr"
                    : "int") +
            "\"/>";
  }
  return text + "</feature></target>";
}

std::string number(std::uint32_t value) {
  char text[12];
  std::snprintf(text, sizeof text, "%x", value);
  return text;
}

// A count with its unit; false when it is none.
bool time_of(std::string_view text, Time& time) {
  constexpr std::array<std::pair<std::string_view, Time>, 4> kUnits = {
      {{"ns", kNanosecond}, {"us", kMicrosecond}, {"ms", 1000 * kMicrosecond}, {"s", 0}}};
  std::uint64_t count = 0;
  std::size_t used = 0;
  for (; used < text.size() && used < 7 && text[used] >= '0' && text[used] <= '9'; ++used)
    count = count * 10 + static_cast<std::uint64_t>(text[used] - '0');
  for (const auto& [unit, one] : kUnits) {
    if (text.substr(used) != unit || one == 0) continue;
    time = static_cast<Time>(count) * one;
    return time != 0;
  }
  return false;
}

}  // namespace

std::optional<std::string> DebugStub::answer(std::string_view packet) {
  wish_ = Wish::kStay;
  if (packet.empty()) return kNone;
  std::string_view rest = packet.substr(1);
  switch (packet.front()) {
    case '?':
      return last_;
    case 'g':
      return registers();
    case 'p': {
      std::uint32_t n;
      if (!take_number(rest, n) || !rest.empty() || n >= DebugTarget::kRegisters) return kMalformed;
      return text_of(chosen_, n);
    }
    case 'G':
    case 'P':
      return kCannot;  // what is in the pipeline has read them already
    case 'm':
      return read(rest);
    case 'M':
    case 'X':
      return write(rest, packet.front() == 'X');
    case 'Z':
      return insert(rest);
    case 'z':
      return remove(rest);
    case 'H':
      return choose(rest);
    case 'T': {
      unsigned core;
      return core_of(rest, core) ? kOk : kCannot;
    }
    case 'c':
    case 's':
      if (!rest.empty()) return kMalformed;  // from another place
      return resume(packet);
    case 'C':
    case 'S':
      return resume(packet.front() == 'C' ? "c" : "s");
    case 'D':
      wish_ = Wish::kDetach;
      return kOk;
    case 'k':
      wish_ = Wish::kKill;
      return std::nullopt;
    case 'q':
    case 'Q':
    case 'v':
      if (take(packet, "vCont;")) return resume(packet);
      return query(packet);
    default:
      return kNone;
  }
}

std::string DebugStub::query(std::string_view packet) {
  std::string_view rest = packet;
  if (take(rest, "qSupported"))
    return "PacketSize=" + number(PacketReader::kMost) +
           ";qXfer:features:read+;qXfer:threads:read+;vContSupported+;QStartNoAckMode+;swbreak+;"
           "hwbreak+";
  if (packet == "vCont?") return "vCont;c;C;s;S";
  if (packet == "QStartNoAckMode") {
    silent_ = true;
    return kOk;
  }
  if (take(rest, "qXfer:")) return object(rest);
  if (packet == "qfThreadInfo") {
    std::string text;
    for (unsigned core = 0; core < target_.cores(); ++core)
      text += (core == 0 ? "m" : ",") + number(core + 1);
    return text;
  }
  if (packet == "qsThreadInfo") return "l";
  unsigned core;
  if (take(rest, "qThreadExtraInfo,"))
    return core_of(rest, core) ? hex(target_.state(core)) : kCannot;
  if (packet == "qC") return "QC" + number(chosen_ + 1);
  if (take(rest, "qAttached")) return "1";
  if (take(rest, "qSymbol")) return kOk;
  if (take(rest, "vKill")) {
    wish_ = Wish::kKill;
    return kOk;
  }
  if (take(rest, "qRcmd,")) {
    std::string command;
    return unhex(rest, command) ? monitor(command) : kMalformed;
  }
  return kNone;
}

// ANNEX:OFFSET,LENGTH behind the name of an object.
std::string DebugStub::object(std::string_view packet) const {
  std::string text;
  if (take(packet, "features:read:target.xml:")) {
    text = description();
  } else if (take(packet, "threads:read::")) {
    text = threads();
  } else {
    return packet.starts_with("features:read:") ? "E00" : kNone;
  }
  std::uint32_t from, length;
  if (!take_number(packet, from) || !take(packet, ",") || !take_number(packet, length) ||
      !packet.empty() || from > text.size())
    return kMalformed;
  const std::string part = text.substr(from, std::min(length, kMostRead));
  return (from + part.size() < text.size() ? 'm' : 'l') + part;
}

std::string DebugStub::threads() const {
  std::string text = "<?xml version=\"1.0\"?><threads>";
  for (unsigned core = 0; core < target_.cores(); ++core) {
    const std::string name = std::to_string(core);
    text += "<thread id=\"" + number(core + 1) + "\" core=\"" + name + "\" name=\"core " + name +
            "\">" + target_.state(core) + "</thread>";
  }
  return text + "</threads>";
}

std::string DebugStub::monitor(std::string_view command) {
  if (command == "cycles") return hex(target_.cycles());
  if (take(command, "stop ")) return hex(stop_after(command));
  if (command == "help" || command.empty()) return hex(kHelp);
  return hex("there is no such command; monitor help lists them\n");
}

std::string DebugStub::stop_after(std::string_view time) {
  if (!time_of(time, after_)) return "monitor stop: write the time as 10us, 500ns or 2ms\n";
  return "stops " + std::string(time) + " after it runs next\n";
}

// ---- registers and memory

std::string DebugStub::text_of(unsigned core, unsigned n) const {
  const std::optional<std::uint32_t> value = target_.reg(core, n);
  if (!value) return "xxxxxxxx";
  const std::array<std::uint8_t, 4> bytes = {
      static_cast<std::uint8_t>(*value), static_cast<std::uint8_t>(*value >> 8),
      static_cast<std::uint8_t>(*value >> 16), static_cast<std::uint8_t>(*value >> 24)};
  return hex(bytes);
}

std::string DebugStub::registers() const {
  std::string text;
  for (unsigned n = 0; n < DebugTarget::kRegisters; ++n) text += text_of(chosen_, n);
  return text;
}

// ADDRESS,LENGTH. Of a longer range it gives the beginning.
std::string DebugStub::read(std::string_view range) const {
  std::uint32_t address, length;
  if (!take_number(range, address) || !take(range, ",") || !take_number(range, length) ||
      !range.empty())
    return kMalformed;
  std::vector<std::uint8_t> bytes(std::min(length, kMostRead));
  return target_.read(address, bytes) ? hex(bytes) : kNoMemory;
}

// ADDRESS,LENGTH:BYTES
std::string DebugStub::write(std::string_view rest, bool binary) {
  std::uint32_t address, length;
  std::string bytes;
  if (!take_number(rest, address) || !take(rest, ",") || !take_number(rest, length) ||
      !take(rest, ":"))
    return kMalformed;
  if (binary) {
    bytes = rest;
  } else if (!unhex(rest, bytes)) {
    return kMalformed;
  }
  if (bytes.size() != length) return kMalformed;
  if (length == 0) return kOk;  // gdb asks whether there is X
  const std::span data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!target_.write(address, data)) return kNoMemory;
  ++writes_;
  const std::string what = std::to_string(now_) + " " + number(address) + " " + hex(data) + "\n";
  changes_.update(std::span(reinterpret_cast<const std::uint8_t*>(what.data()), what.size()));
  return kOk;
}

// ---- points

// KIND,ADDRESS,BYTES
std::string DebugStub::insert(std::string_view rest) {
  Point point;
  if (!take_number(rest, point.kind) || !take(rest, ",") || !take_number(rest, point.address) ||
      !take(rest, ",") || !take_number(rest, point.bytes) || !rest.empty() || point.bytes == 0)
    return kMalformed;
  if (point.kind > kAccess) return kNone;
  if (std::find(points_.begin(), points_.end(), point) != points_.end()) return kOk;
  if (points_.size() == kMostPoints) return kFull;
  std::erase(out_, point);
  points_.push_back(point);
  return kOk;
}

std::string DebugStub::remove(std::string_view rest) {
  Point point;
  if (!take_number(rest, point.kind) || !take(rest, ",") || !take_number(rest, point.address) ||
      !take(rest, ",") || !take_number(rest, point.bytes) || !rest.empty())
    return kMalformed;
  if (point.kind > kAccess) return kNone;
  const auto found = std::find(points_.begin(), points_.end(), point);
  if (found == points_.end()) return kOk;
  points_.erase(found);
  if (out_.size() < kMostPoints) out_.push_back(point);
  return kOk;
}

// ---- threads: number 1 is core 0

bool DebugStub::core_of(std::string_view thread, unsigned& core) const {
  std::uint32_t n;
  if (!take_number(thread, n) || !thread.empty() || n == 0 || n > target_.cores()) return false;
  core = n - 1;
  return true;
}

// OPERATION THREAD; 0 is any, -1 all.
std::string DebugStub::choose(std::string_view rest) {
  if (!take(rest, "g") && !take(rest, "c")) return kNone;
  if (rest == "0" || rest == "-1") return kOk;
  return core_of(rest, chosen_) ? kOk : kCannot;
}

// ACTION[:THREAD];...: the first that fits a core is the one for it. Old packets have one action,
// for the chosen core.
std::optional<std::string> DebugStub::resume(std::string_view actions) {
  std::vector<char> todo(target_.cores(), 0);
  bool all = false;
  const bool old = actions.size() == 1;
  if (actions.empty()) return kMalformed;
  while (!actions.empty()) {
    std::string_view one = actions.substr(0, actions.find(';'));
    actions.remove_prefix(std::min(actions.size(), one.size() + 1));
    const char action = one.empty()          ? '?'
                        : one.front() == 'C' ? 'c'
                        : one.front() == 'S' ? 's'
                                             : one.front();
    const std::size_t colon = one.find(':');
    if (action != 'c' && action != 's') return kMalformed;
    const std::string_view thread = colon == one.npos ? "-1" : one.substr(colon + 1);
    unsigned core;
    if (old && action == 's') {
      todo[chosen_] = 's';
      all = true;
    } else if (thread == "-1" || thread == "0") {
      std::replace(todo.begin(), todo.end(), '\0', action);
      all = true;
    } else if (!core_of(thread, core)) {
      return kMalformed;
    } else if (todo[core] == 0) {
      todo[core] = action;
    }
  }
  for (unsigned core = 0; core < todo.size(); ++core) stepping_[core] = todo[core] == 's';
  return go(all);
}

// `all`: gdb has said of each core what it is to do; else it believes that the others stand.
std::optional<std::string> DebugStub::go(bool all) {
  if (all) out_.clear();
  std::erase_if(stops_, [this](const Stop& x) { return !stands(x); });
  if (!stops_.empty()) return stop();
  until_ = after_ != 0 ? now_ + after_ : kNever;
  after_ = 0;
  wish_ = Wish::kGo;
  return std::nullopt;
}

bool DebugStub::stands(const Stop& stop) const {
  const auto among = [&](const std::vector<Point>& points) {
    return std::find(points.begin(), points.end(), *stop.at) != points.end();
  };
  return !stop.stepped && (!stop.at || among(points_) || among(out_));
}

void DebugStub::retired(unsigned core, std::uint32_t next_pc, const DebugAccess& access) {
  for (const auto* points : {&points_, &out_}) {
    for (const Point& x : *points) {
      if (!(x.kind <= kHardware ? x.address == next_pc : x.sees(access))) continue;
      stops_.push_back({core, kTrap, x});
      return;
    }
  }
  if (stepping_[core]) stops_.push_back({core, kTrap, {}, true});
}

bool DebugStub::Point::sees(const DebugAccess& access) const {
  const std::uint64_t end = std::uint64_t{address} + bytes;
  const std::uint64_t access_end = std::uint64_t{access.address} + access.bytes;
  return access.address < end && address < access_end &&
         ((access.writes && kind != kRead) || (access.reads && kind != kWrite));
}

void DebugStub::time_is_up() {
  until_ = kNever;
  stops_.push_back({chosen_, kTrap, {}});
}

std::string DebugStub::stop() {
  constexpr std::array kWhy = {"swbreak:", "hwbreak:", "watch:", "rwatch:", "awatch:"};
  const Stop stop = stops_.front();
  stops_.erase(stops_.begin());
  stepping_.assign(stepping_.size(), false);
  until_ = kNever;
  chosen_ = stop.core;
  char signal[4];
  std::snprintf(signal, sizeof signal, "T%02x", stop.signal & 0xff);
  last_ = signal + ("thread:" + number(stop.core + 1)) + ";";
  if (stop.at) {
    last_ += kWhy[stop.at->kind];
    if (stop.at->kind > kHardware) last_ += number(stop.at->address);
    last_ += ";";
  }
  return last_;
}

}  // namespace emery
