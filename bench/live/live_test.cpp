// SPDX-License-Identifier: Apache-2.0
// Test of live traffic: sockets that keep frames apart stand for the interfaces. What is read,
// padded, refused and left where it is; what cannot be written; waiting, and how a run ends.
#include "bench/live/live.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/run/workload.hpp"
#include "bench/stats/check.hpp"

namespace emery {
namespace {

Checks checks;

// Both ends of an interface.
struct Cable {
  int bench = -1, machine = -1;

  Cable() {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, both) != 0) std::abort();
    bench = both[0];
    machine = both[1];
  }
  ~Cable() {
    ::close(bench);
    unplug();
  }
  void unplug() {
    if (machine >= 0) ::close(machine);
    machine = -1;
  }
  bool send(std::size_t bytes, std::uint8_t fill) {
    const std::vector<std::uint8_t> frame(bytes, fill);
    return ::send(machine, frame.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  std::size_t receive() {
    std::uint8_t frame[10000];
    const ssize_t got = ::recv(machine, frame, sizeof frame, 0);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
};

std::uint64_t dropped(const Tap::Way& way, const std::string& reason) {
  const auto found = way.dropped.find(reason);
  return found == way.dropped.end() ? 0 : found->second;
}

void what_is_read() {
  Cable cable;
  Tap tap(cable.bench);
  tap.limit(1518);
  for (const std::size_t bytes : {13, 14, 59, 60, 1518, 1519}) cable.send(bytes, 7);
  checks.that(tap.read(), "the interface is there");
  Frame frame;
  std::vector<std::uint32_t> sizes, flows;
  frame.data.fill(0xee);
  while (tap.next(frame)) {
    sizes.push_back(frame.size);
    flows.push_back(frame.flow);
    if (sizes.size() == 1) {
      checks.equal(frame.data[13] + 0, 7, "the last byte that was given");
      for (std::size_t i = 14; i < 60; ++i) checks.equal(frame.data[i] + 0, 0, "padding");
    }
  }
  checks.that(sizes == std::vector<std::uint32_t>{60, 60, 60, 1518}, "short frames are padded");
  checks.that(flows == std::vector<std::uint32_t>{0, 0, 0, 0}, "between two stations: one flow");
  checks.equal(tap.in().frames, 4u, "frames read");
  checks.equal(tap.in().bytes, 14u + 59 + 60 + 1518, "bytes without padding");
  checks.equal(dropped(tap.in(), "too_short"), 1u, "without a header");
  checks.equal(dropped(tap.in(), "too_long"), 1u, "longer than the line's");
  cable.send(60, 9);
  tap.read();
  checks.that(tap.next(frame) && frame.flow == 1, "other stations: another flow");
}

// What there is no room for stays in the interface.
void no_more_than_there_is_room_for() {
  Cable cable;
  Tap tap(cable.bench);
  constexpr unsigned kSent = Tap::kMostRead + 3;
  for (unsigned i = 0; i < kSent; ++i) checks.that(cable.send(60, 1), "sent");
  tap.read();
  checks.that(tap.full(), "full");
  checks.equal(tap.in().frames, Tap::kMostRead, "read at once");
  Frame frame;
  unsigned got = 0;
  for (; tap.next(frame); ++got) tap.read();
  checks.equal(got, kSent, "none is lost");
}

void what_is_written() {
  Cable cable;
  Tap tap(cable.bench);
  const std::vector<std::uint8_t> frame(1000, 3);
  tap.write(frame);
  checks.equal(cable.receive(), frame.size(), "bytes that arrived");
  std::uint64_t tries = 0;
  for (; tap.out().dropped.empty() && tries < 100'000; ++tries) tap.write(frame);
  checks.equal(dropped(tap.out(), "queue_full"), 1u, "an interface that takes no more");
  checks.equal(tap.out().frames, tries, "written before");
  checks.equal(tap.out().bytes, 1000 * tries, "bytes written");
}

void an_interface_goes() {
  Cable here, other;
  Options options;
  int control[2];
  if (::pipe(control) != 0) std::abort();
  options.set("live", std::to_string(control[0]));
  options.set("tap.wire0", std::to_string(here.bench));
  options.set("tap.host0", std::to_string(other.bench));
  Live live(options);
  checks.that(live.tap("wire1") == nullptr, "a place without an interface");
  checks.equal(live.tap("wire0")->file(), here.bench, "the interface of a place");
  here.send(60, 1);
  here.unplug();
  live.look(true);
  live.look(true);
  checks.that(live.ended(), "a run without one of its interfaces ends");
  Frame frame;
  checks.that(live.tap("wire0")->next(frame), "what was read before is still sent");
  JsonWriter json;
  json.begin_object();
  live.write(json);
  json.end_object();
  checks.that(json.text().find("\"gone\": \"wire0\"") != std::string::npos, "which one");
  for (const int file : control) ::close(file);
}

// Until a frame comes, and until the end: neither is missed, and no time is lost on the way.
void waiting() {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  Cable cable;
  int control[2];
  if (::pipe(control) != 0) std::abort();
  Options options;
  options.set("live", std::to_string(control[0]));
  options.set("tap.host0", std::to_string(cable.bench));
  const auto live = Live::of(options);
  checks.that(live != nullptr && Live::of(Options()) == nullptr, "which runs are live");
  TrafficConfig plan;
  plan.line_longest = 1514;
  unsigned ends = 0;
  Time now = 5;
  Source source(plan, {}, [&ends](const Source&) { ++ends; });
  Source silent(plan, {}, [&ends](const Source&) { ++ends; });
  source.play(*live, live->tap("host0"), [&now] { return now; });
  silent.play(*live, live->tap("wire0"), [&now] { return now; });
  source.start(0);
  live->look(false);
  Frame frame;
  checks.that(!source.next(frame) && !source.over() && source.idle(), "nothing yet");

  const auto from = steady_clock::now();
  std::thread machine([&cable] {
    std::this_thread::sleep_for(milliseconds(50));
    cable.send(1515, 1);
    cable.send(100, 1);
  });
  while (!live->pending()) live->look(true);
  checks.that(steady_clock::now() - from >= milliseconds(50), "it has waited for the frame");
  machine.join();
  live->look(false);
  now = 77;
  const Frame* due = source.due(now);
  checks.that(due && due->start == 77 && due->size == 100, "the frame is due when it is asked for");
  checks.that(!source.idle() && !live->pending(), "it is held until the driver has room");
  source.pop();
  checks.equal(dropped(live->tap("host0")->in(), "too_long"), 1u, "by the plan's line");

  std::thread user([&control] {
    std::this_thread::sleep_for(milliseconds(50));
    ::close(control[1]);
  });
  while (!live->ended()) live->look(true);
  user.join();
  cable.send(100, 2);
  live->look(true);
  checks.that(!live->pending(), "nothing is read after the end");
  live->tap("host0")->end();
  checks.equal(dropped(live->tap("host0")->in(), "ended"), 1u, "what is left is counted");
  checks.that(!source.next(frame) && source.finished(), "the source has ended");
  checks.that(!silent.next(frame) && silent.finished(), "and the one without an interface");
  checks.that(!source.next(frame), "for good");
  checks.equal(ends, 2u, "each once");
  ::close(control[0]);
}

}  // namespace
}  // namespace emery

int main() {
  using namespace emery;
  what_is_read();
  no_more_than_there_is_room_for();
  what_is_written();
  an_interface_goes();
  waiting();
  return checks.finish();
}
