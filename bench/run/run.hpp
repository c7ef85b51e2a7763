// SPDX-License-Identifier: Apache-2.0
// One run of one system, whatever the system: out of reset, traffic, drain, account, result.
//
// A system's bench derives from Run. Its constructor connects its models to the simulation, names
// its streams and makes its sources; open() gets the device ready; sample(), as a component on the
// clock of its choice, is what the host does at each clock. Every offered frame, every delivery and
// every end of a source passes through offer(), deliver() and source_ended() here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/debug/debugger.hpp"
#include "bench/live/live.hpp"
#include "bench/run/output.hpp"
#include "bench/run/trace.hpp"
#include "bench/run/watch.hpp"
#include "bench/run/workload.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/simulation.hpp"
#include "bench/sim/waves.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "bench/tcp/load.hpp"

namespace emery {

class Run : public Component {
 public:
  /// `step`: between looks at how the run goes. `patience`: when nothing has moved for so long
  /// after the sources have ended, nothing more is coming.
  Run(const Options& options, Time step, Time patience);

  void run();
  /// The result; the object is opened and closed here.
  void write(JsonWriter& json, double wall_seconds) const;
  /// What does not add up; empty when all is well.
  std::vector<std::string> failures() const;
  virtual void close();
  /// The exit status is known: whoever debugs the run is told.
  void end(int status) {
    if (debugger_) debugger_->end(status);
  }

  void sample(Time) override {}
  void drive() override {}

 protected:
  // ---- what a system says of itself

  /// From reset to ready for traffic. Advances simulated time.
  virtual void open() = 0;
  /// After each step, with the simulation at rest.
  virtual void look() {}
  /// Something has moved: what is reported of the time until the last of it is looked at.
  virtual void at_move() {}
  /// Everything has been offered.
  virtual bool offered() { return sources_finished(); }
  /// Everything has come out that will; asked after each step once everything has been offered.
  virtual bool settled() { return score_.under_way() == 0 || quiet() > patience_; }
  /// What became of the frames that did not come out. Advances simulated time.
  virtual void account() {}
  /// Until when somebody outside of the device works on what has come, or keeps it waiting, for a
  /// time that is known: the run is not quiet before.
  virtual Time busy_until() const { return 0; }
  /// Nothing is under way in the bench any more: what the system was lent is back. Asked after
  /// account(), for as long as `patience` at the most; check() then says what is not back.
  virtual bool at_rest() const { return true; }
  /// What connections of TCP that have stalled wait for, with the setting that would mend it; empty
  /// where that is not known.
  virtual std::string stalled_for() const { return ""; }
  /// A look at the system when all that is over: it takes simulated time that no longer counts as
  /// the run's.
  virtual void inspect() {}
  /// More findings than those of the scoreboard.
  virtual void check(Findings&) const {}
  /// The fields of `resources`, which is open.
  virtual void report(JsonWriter& json) const = 0;
  /// How much of the traffic has been offered, 0 ... 1.
  virtual double progress() const;

  // ---- frames

  /// A source of the run. `played`: what it gave has left whatever plays it. `place`: where it is,
  /// to the command line; in a live run its frames come from the interface there.
  Source& add_source(TrafficConfig plan, std::function<bool()> played = {},
                     const std::string& place = "");
  /// Reads the settings of traffic that is TCP (bench/tcp/load.hpp), on a line of that rate;
  /// `packet` bytes are cut into segments by the card. Then tcp() is not null, and takes the place
  /// of sources.
  void speak_tcp(const Options& options, double line_rate, std::uint32_t packet) {
    tcp_ = tcp::Load::of(options, line_rate, packet);
  }
  tcp::Load* tcp() { return tcp_.get(); }
  /// The interface that is given what comes out at a place; null unless the run is live.
  Tap* tap(const std::string& place) { return live_ ? live_->tap(place) : nullptr; }
  /// The kernel that is a router's control plane in a live run; null: there is none.
  Rtnetlink* rtnetlink() { return live_ ? live_->rtnetlink() : nullptr; }
  /// Null unless somebody debugs the run: a system with cores shows it those.
  Debugger* debugger() { return debugger_.get(); }
  /// Where frames of a place are captured to, and a file of another form with the same; null when
  /// no captures are wanted.
  Output* add_output(const std::string& name, Output::Order order = Output::Order::kAsItComes,
                     const std::string& also = "");
  /// A frame enters the system's care.
  void offer(int stream, std::span<const std::uint8_t> bytes, std::uint32_t flow, Time when,
             std::uint32_t lane = 0) {
    score_.offered(stream, bytes, flow, when, lane);
    last_frame_ = simulation_.now();
  }
  /// The same of one that comes over a wire, and is at a stage of its way when all of it has come.
  /// What the wire has spoilt will not come out.
  void offer_from_wire(int stream, const Frame& frame, const char* spoilt, Time started,
                       unsigned number, Time arrives) {
    offer(stream, frame.bytes(), frame.flow, started);
    stage(number, arrives);
    lost(spoilt);
    if (spoilt) refused(frame.bytes());
  }
  /// A frame has come out. `stamp` is its time in the capture, when that is another.
  void deliver(int stream, std::span<const std::uint8_t> bytes, Time when, Output* output,
               Time stamp) {
    score_.delivered(stream, bytes, when);
    if (output) output->write(stamp, bytes);
    if (closed_loop_ != 0) left(bytes);
    last_frame_ = simulation_.now();
    moved();
  }
  void deliver(int stream, std::span<const std::uint8_t> bytes, Time when, Output* output) {
    deliver(stream, bytes, when, output, when);
  }

  /// Null unless the run is traced.
  Trace* trace() { return trace_.get(); }
  /// The frame offered or delivered last was at that stage of its way then; was for that queue;
  /// will be dropped for that reason.
  void stage(unsigned number, Time when) {
    if (trace_) trace_->mark(trace_->newest(), number, when);
  }
  void queue(unsigned number) {
    if (trace_) trace_->queue(trace_->newest(), number);
  }
  /// What was sent, where the frame that is offered next is told as it is to come out.
  void sent_as(std::span<const std::uint8_t> bytes) {
    if (trace_) trace_->sent_as(bytes);
  }
  void lost(const char* reason) {
    if (trace_ && reason) trace_->lost(trace_->newest(), reason);
  }

  /// A frame that was offered will not come out, as is known beforehand: a closed loop does not
  /// wait for it.
  void refused(std::span<const std::uint8_t> bytes) {
    if (closed_loop_ != 0) left(bytes);
  }

  /// Something has moved.
  void moved() {
    last_move_ = simulation_.now();
    at_move();
  }
  /// Time since something moved and nobody was busy any more.
  Time quiet() const {
    const Time busy = std::max(busy_until(), tcp_ ? tcp_->busy_until() : 0);
    return std::max<Time>(simulation_.now() - std::max(last_move_, busy), 0);
  }
  Time last_move() const { return last_move_; }
  Time traffic_start() const { return traffic_start_; }
  bool running() const { return running_; }
  bool sources_finished() const;
  /// How many sources have given their last frame.
  std::size_t sources_ended() const { return sources_ended_; }
  /// Everything has been offered; what is still inside comes out.
  bool draining() const { return draining_; }
  /// The run cannot go on; `why` is among its findings.
  void give_up(const std::string& why = "");
  bool given_up() const { return given_up_; }
  /// Findings of the run itself; they come first.
  Findings& trouble() { return trouble_; }

  const Waves& waves() const { return waves_; }

  Time patience() const { return patience_; }

  Simulation simulation_;
  Scoreboard score_;

 private:
  void step();
  void show();
  void rest();
  bool resting();
  void left(std::span<const std::uint8_t> bytes);
  void source_ended(const Source& source);

  Time step_, patience_;
  std::uint32_t closed_loop_;  // frames of a source inside, at the most; 0: any
  Waves waves_;
  std::string output_folder_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::unique_ptr<tcp::Load> tcp_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::size_t sources_ended_ = 0;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Live> live_;
  std::unique_ptr<Debugger> debugger_;
  std::uint64_t given_up_on_ = 0;  // frames under way that will not come out, of a live run
  bool running_ = false, draining_ = false, given_up_ = false;
  Time traffic_start_ = 0, last_move_ = 0, last_frame_ = 0, drained_ = 0, ended_ = 0;
  std::vector<std::uint64_t> cycles_;  // until then, of each clock
  double shown_ = 0;
  Findings trouble_;
};

}  // namespace emery
