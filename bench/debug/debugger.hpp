// SPDX-License-Identifier: Apache-2.0
// The debugger of a run (`./emery run --gdb`): one gdb at a socket that Emery listens at.
//
// Setting: `gdb`, the listening socket's file descriptor. The run waits at halt() until somebody
// has come, and whenever gdb has stopped the cores it waits in clock(): simulated time stands
// still, of all hardware. When gdb has detached or gone, the run goes on to its end as if there
// were none. A second gdb is sent away while there is one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/debug/packet.hpp"
#include "bench/debug/stub.hpp"
#include "bench/debug/target.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/json.hpp"

namespace emery {

/// gdb has killed the run: there is no result.
class DebuggerEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Debugger {
 public:
  /// Null when the run has none.
  static std::unique_ptr<Debugger> of(const Options& options);

  explicit Debugger(int listening) : listening_(listening) {}
  ~Debugger();
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  /// What it is shown; outlives all that follows.
  void attach(DebugTarget& target) { stub_ = std::make_unique<DebugStub>(target); }
  /// The cores are about to start: waits for gdb and for what it wants.
  void halt(Time now);
  /// Whether the cores have to be told of: gdb is there.
  bool watches() const { return connection_ >= 0; }
  DebugStub& stub() { return *stub_; }
  /// A clock has passed, and all that retired in it has been told.
  void clock(Time now) {
    if (connection_ < 0) return;
    if (++clocks_ % kClocksBetweenLooks == 0) look();
    if (stub_->stopped(now)) report();
  }
  /// The run is over, with that exit status.
  void end(int status);

  /// A field of the open object, when gdb has changed something.
  void write(JsonWriter& json) const;

 private:
  static constexpr unsigned kClocksBetweenLooks = 1024;  // at the socket, while the cores run

  void accept();
  void refuse_others();
  void look();
  void report();
  void serve();
  bool wait(int milliseconds);
  void receive();
  void handle(const PacketEvent& event);
  void send(const std::string& bytes);
  void answer(const std::string& payload);
  void lost(const char* why);
  void farewell();
  void leave();

  int listening_, connection_ = -1;
  std::unique_ptr<DebugStub> stub_;
  PacketReader reader_;
  std::deque<PacketEvent> waiting_;  // that came while the cores ran
  std::string sent_;                 // the last packet
  std::uint64_t clocks_ = 0;
  bool stays_ = false;  // the cores stand
};

}  // namespace emery
