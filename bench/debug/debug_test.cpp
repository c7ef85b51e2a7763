// SPDX-License-Identifier: Apache-2.0
// Test of the debugger without a system: packets cut and spoilt in every way; what a stub answers
// and when it has cores stop; connections that come, go, and are lost.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/debug/debugger.hpp"
#include "bench/debug/packet.hpp"
#include "bench/debug/stub.hpp"
#include "bench/stats/check.hpp"

namespace emery {
namespace {

Checks checks;

constexpr std::uint32_t kMemory = 0x100;  // bytes, from 0

class Two final : public DebugTarget {
 public:
  unsigned cores() const override { return 2; }
  std::string state(unsigned core) const override { return core == 0 ? "works" : "asleep"; }
  std::optional<std::uint32_t> reg(unsigned core, unsigned number) const override {
    if (number == 5) return std::nullopt;
    return core << 16 | number;
  }
  bool read(std::uint32_t address, std::span<std::uint8_t> bytes) const override {
    if (address > kMemory || bytes.size() > kMemory - address) return false;
    for (auto& x : bytes) x = memory[address++];
    return true;
  }
  bool write(std::uint32_t address, std::span<const std::uint8_t> bytes) override {
    if (address > kMemory || bytes.size() > kMemory - address) return false;
    for (auto x : bytes) memory[address++] = x;
    return true;
  }
  std::string cycles() const override { return "7 clocks\n"; }

  std::array<std::uint8_t, kMemory> memory{};
};

std::vector<PacketEvent> read_all(PacketReader& reader, std::string_view bytes) {
  reader.feed(bytes);
  std::vector<PacketEvent> events;
  while (!reader.empty()) events.push_back(reader.next());
  return events;
}

void test_packets() {
  PacketReader reader;
  const std::vector<std::string> payloads = {"", "g", "a#b$c}d*e", "m0,4", {'X', 0, 3}};
  for (const std::string& payload : payloads) {
    const std::string packet = packet_of(payload);
    for (std::size_t cut = 0; cut <= packet.size(); ++cut) {
      auto events = read_all(reader, packet.substr(0, cut));
      for (const auto& x : read_all(reader, packet.substr(cut))) events.push_back(x);
      checks.equal(events.size(), std::size_t{1}, "one packet");
      checks.equal(events[0].payload, payload, "its payload, cut at " + std::to_string(cut));
    }
  }
  auto events = read_all(reader, "+-\3x$g#68$g#zz$g#67");
  checks.equal(events.size(), std::size_t{5}, "what lies between counts too");
  const std::array kinds = {PacketEvent::kAgain, PacketEvent::kInterrupt, PacketEvent::kBadChecksum,
                            PacketEvent::kBadChecksum, PacketEvent::kPacket};
  for (std::size_t i = 0; i < events.size() && i < kinds.size(); ++i)
    checks.equal(int{events[i].kind}, int{kinds[i]}, "event " + std::to_string(i));
  events = read_all(reader, "$never ended" + packet_of("?"));
  checks.equal(events.size(), std::size_t{1}, "a packet that was cut off");
  const std::string most(PacketReader::kMost, 'x');
  checks.equal(int{read_all(reader, packet_of(most)).at(0).kind}, int{PacketEvent::kPacket},
               "16 k");
  checks.equal(int{read_all(reader, packet_of(most + "x")).at(0).kind}, int{PacketEvent::kTooLong},
               "a byte more");
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string noise;
    for (unsigned n = random() % 40; n != 0; --n) noise += "$#+-}\3q0a"[random() % 9];
    read_all(reader, noise);
  }
  checks.equal(read_all(reader, packet_of("k")).back().payload, std::string("k"), "after noise");
}

struct Session {
  Two target;
  DebugStub stub{target};

  std::string ask(std::string_view packet) { return stub.answer(packet).value_or("(none)"); }
  bool runs(std::string_view packet) {
    return !stub.answer(packet) && stub.wish() == DebugStub::Wish::kGo;
  }
};

void test_answers() {
  Session s;
  const auto says = [&](std::string_view packet, const std::string& answer) {
    checks.equal(s.ask(packet), answer, std::string(packet));
  };
  says("?", "T05thread:1;");
  says("qfThreadInfo", "m1,2");
  says("qsThreadInfo", "l");
  says("T2", "OK");
  for (const char* packet : {"T0", "T3", "T", "Tx", "Hg3", "Hgffffffffff"}) says(packet, "E01");
  says("Hg2", "OK");
  says("p20", "20000100");
  says("p5", "xxxxxxxx");
  says("qThreadExtraInfo,2", "61736c656570");
  for (const char* packet :
       {"p21",          "p",          "px",     "m",
        "m0",           "m0,",        "m,4",    "m0,4x",
        "m0,100000000", "M0,1",       "M0,1:0", "M0,2:00",
        "M0,1:xx",      "Z0,0,0",     "Z0",     "Z0,4",
        "z0,0",         "qRcmd,0",    "vCont;", "vCont;x",
        "vCont;s:3",    "vCont;s:0x", "c10",    "qXfer:features:read:target.xml:fffff,1"})
    says(packet, "E16");
  for (const char* packet : {"", "!", "vMustReplyEmpty", "qOffsets", "Z5,0,4", "bc", "x0,0"})
    says(packet, "");
  for (const char* packet : {"m101,1", "mffffffff,2", "mfe,4", "M100,1:00"}) says(packet, "E0e");
  says("P1=00000000", "E01");
  says("X10,0:", "OK");
  checks.equal(s.stub.writes(), std::uint64_t{0}, "nothing was written");
  const std::string clean = s.stub.changes();
  says("M10,2:abcd", "OK");
  says("X12,1:\x7f", "OK");
  says("m10,4", "abcd7f00");
  checks.equal(s.stub.writes(), std::uint64_t{2}, "writes");
  checks.that(s.stub.changes() != clean, "their digest");
  const std::string xml = s.ask("qXfer:features:read:target.xml:0,ffff");
  checks.that(xml.starts_with("l<?xml") && xml.find("org.gnu.gdb.riscv.cpu") != xml.npos,
              "target.xml");
  std::string parts;
  for (unsigned at = 0; parts.empty() || parts.size() < xml.size() - 1; at += 100) {
    char packet[64];
    std::snprintf(packet, sizeof packet, "qXfer:features:read:target.xml:%x,64", at);
    parts += s.ask(packet).substr(1);
  }
  checks.equal(parts, xml.substr(1), "in parts");
  says("QStartNoAckMode", "OK");
  checks.that(s.stub.silent(), "without acknowledgements");
}

void test_stops() {
  Session s;
  const auto at = [&](unsigned core, std::uint32_t pc, DebugAccess access = {}) {
    s.stub.retired(core, pc, access);
    return s.stub.stopped(0) ? s.stub.stop() : std::string();
  };
  checks.equal(s.ask("Z0,40,4"), std::string("OK"), "a breakpoint");
  checks.that(s.runs("vCont;c"), "runs");
  checks.equal(at(0, 0x44), std::string(), "elsewhere");
  checks.equal(at(1, 0x40), std::string("T05thread:2;swbreak:;"), "there");
  checks.equal(s.ask("?"), std::string("T05thread:2;swbreak:;"), "what was reported last");

  // gdb steps core 1 over it, and has taken it out: core 0 stops there all the same.
  s.ask("z0,40,4");
  checks.that(s.runs("vCont;s:2"), "steps one");
  checks.equal(at(0, 0x40), std::string("T05thread:1;swbreak:;"), "the other comes there");
  checks.that(s.runs("vCont;s:2"), "steps one");
  checks.equal(at(0, 0x44), std::string(), "the other runs on");
  checks.equal(at(1, 0x44), std::string("T05thread:2;"), "the step");
  checks.that(s.runs("vCont;c"), "runs");
  checks.equal(at(0, 0x40), std::string(), "it is out now");

  // Two at once: the second is reported when everything is to run, if it holds then.
  s.ask("Z1,40,4");
  checks.that(s.runs("c"), "runs");
  s.stub.retired(0, 0x40, {});
  checks.equal(at(1, 0x40), std::string("T05thread:1;hwbreak:;"), "the first");
  checks.equal(s.ask("vCont;c"), std::string("T05thread:2;hwbreak:;"), "the second");
  checks.that(s.runs("vCont;c"), "runs");
  s.stub.retired(0, 0x40, {});
  checks.equal(at(1, 0x40), std::string("T05thread:1;hwbreak:;"), "the first");
  s.ask("z1,40,4");
  checks.that(s.runs("vCont;c"), "the second was taken out");

  const DebugAccess load{0x80, 4, true, false}, store{0x82, 2, false, true},
      swap{0x80, 4, true, true};
  const auto hits = [&](const char* kind, std::uint32_t address, const DebugAccess& access) {
    char point[32];
    std::snprintf(point, sizeof point, "%s,%x,2", kind, address);
    s.ask(std::string("Z") + point);
    s.runs("vCont;c");
    const std::string answer = at(0, 0, access);
    s.ask(std::string("z") + point);
    s.runs("vCont;c");
    return answer;
  };
  checks.equal(hits("2", 0x82, store), std::string("T05thread:1;watch:82;"), "written");
  checks.equal(hits("2", 0x82, swap), std::string("T05thread:1;watch:82;"), "swapped");
  checks.equal(hits("2", 0x82, load), std::string(), "only read");
  checks.equal(hits("3", 0x82, load), std::string("T05thread:1;rwatch:82;"), "read");
  checks.equal(hits("3", 0x82, store), std::string(), "only written");
  checks.equal(hits("4", 0x82, store), std::string("T05thread:1;awatch:82;"), "accessed");
  checks.equal(hits("2", 0x80, store), std::string(), "beside it");
  checks.equal(hits("2", 0x84, store), std::string(), "behind it");
  checks.equal(hits("4", 0xffff'ffff, {0, 4, true, false}), std::string(), "at the other end");

  s.stub.trapped(1, 11);
  checks.that(s.stub.stopped(0), "a trap");
  checks.equal(s.stub.stop(), std::string("T0bthread:2;"), "its signal");
  s.stub.interrupt();
  checks.that(s.stub.stopped(0) && s.stub.stop() == "T02thread:2;", "Ctrl-C");
  checks.equal(s.ask("qRcmd," + hex(std::string_view("stop 2us"))),
               hex(std::string_view("stops 2us after it runs next\n")), "monitor stop");
  checks.that(s.runs("vCont;c"), "runs");
  checks.that(!s.stub.stopped(2 * kMicrosecond - 1), "not yet");
  checks.that(s.stub.stopped(2 * kMicrosecond) && s.stub.stop() == "T05thread:2;", "time is up");
  for (const char* time :
       {"stop", "stop ", "stop 5", "stop us", "stop -1us", "stop 99999999us", "stop 0us"})
    checks.that(
        s.ask("qRcmd," + hex(std::string_view(time))).find(hex(std::string_view("stops "))) ==
            std::string::npos,
        time);
  for (unsigned i = 0; i < 2000; ++i) {
    char point[32];
    std::snprintf(point, sizeof point, "Z0,%x,4", 4 * i);
    checks.equal(s.ask(point), std::string(i < 1024 ? "OK" : "E1c"), point);
  }
}

// A socket that listens, and calls to it.
struct Place {
  int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};

  Place() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listening, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listening, 1) != 0 ||
        ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      std::abort();
  }
  int call() const {
    const int file = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return -1;
    return file;
  }
};

void put(int file, const std::string& bytes) {
  if (::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) std::abort();
}

std::string rest_of(int file) {
  std::string all;
  char bytes[256];
  for (ssize_t got; (got = ::recv(file, bytes, sizeof bytes, 0)) > 0;)
    all.append(bytes, static_cast<std::size_t>(got));
  ::close(file);
  return all;
}

void test_connections() {
  {  // a session with a spoilt packet, one that is asked for again, and the end of the run
    const Place place;
    Two target;
    Debugger debugger(place.listening);
    debugger.attach(target);
    const int gdb = place.call();
    put(gdb, "+$g#00" + packet_of("qC") + "-" + packet_of("c"));
    debugger.halt(0);
    checks.that(debugger.watches(), "it is there");
    std::string said;
    std::thread reads([&] { said = rest_of(gdb); });
    debugger.end(1);
    reads.join();
    checks.equal(said, "-+" + packet_of("QC1") + packet_of("QC1") + "+" + packet_of("W01"),
                 "all of it");
    checks.that(place.call() < 0, "nobody else can come");
  }
  {  // Ctrl-C and a second one while the cores run; then it hangs up
    const Place place;
    Two target;
    Debugger debugger(place.listening);
    debugger.attach(target);
    const int gdb = place.call();
    put(gdb, packet_of("c"));
    debugger.halt(0);
    const int other = place.call();
    put(gdb, "\3" + packet_of("c"));
    for (int i = 0; i < 3000; ++i) debugger.clock(i);
    checks.that(rest_of(other).empty(), "the second one is sent away");
    ::shutdown(gdb, SHUT_WR);
    for (int i = 0; i < 3000 && debugger.watches(); ++i) debugger.clock(i);
    checks.that(!debugger.watches(), "it has gone");
    checks.equal(rest_of(gdb), "+" + packet_of("T02thread:1;") + "+", "what it heard");
  }
  {  // lost while the cores stand, in the middle of a packet
    const Place place;
    Two target;
    Debugger debugger(place.listening);
    debugger.attach(target);
    const int gdb = place.call();
    put(gdb, "$m0,");
    ::close(gdb);
    debugger.halt(0);
    checks.that(!debugger.watches(), "the run goes on");
  }
  for (const char* packet : {"k", "vKill;1"}) {
    const Place place;
    Two target;
    Debugger debugger(place.listening);
    debugger.attach(target);
    const int gdb = place.call();
    put(gdb, packet_of(packet));
    bool ended = false;
    try {
      debugger.halt(0);
    } catch (const DebuggerEnded&) {
      ended = true;
    }
    checks.that(ended, packet);
    ::close(gdb);
  }
}

}  // namespace
}  // namespace emery

int main() {
  emery::test_packets();
  emery::test_answers();
  emery::test_stops();
  emery::test_connections();
  return emery::checks.finish();
}
