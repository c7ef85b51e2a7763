// SPDX-License-Identifier: Apache-2.0
#include "bench/run/run.hpp"

#include <algorithm>
#include <cstdio>

namespace emery {
namespace {

// Of a live run: between looks at its interfaces, and after the last frame, for the driver to be
// through with it.
constexpr Time kLiveStep = 500 * kNanosecond;
constexpr Time kLinger = 5 * kMicrosecond;
// At the end, for what is lent to come back: the slowest host takes 0.4 ms for a read
// (bench/pcie/parameters.toml).
constexpr Time kRest = 2000 * kMicrosecond;

}  // namespace

Run::Run(const Options& options, Time step, Time patience)
    : step_(options.has("live") ? std::min(step, kLiveStep) : step),
      patience_(patience),
      closed_loop_(options.get("closed_loop", std::uint32_t{0})),
      output_folder_(options.get("pcap_out", "")),
      live_(Live::of(options)),
      debugger_(Debugger::of(options)) {
  const std::string path = options.get("trace", "");
  const auto kept = options.get("trace_bytes", std::uint32_t{0});
  const bool watched = options.get("watch", false);
  waves_.path = options.get("waves", "");
  waves_.from = options.get("waves_from_ps", waves_.from);
  waves_.to = options.get("waves_to_ps", waves_.to);
  if (path.empty() && waves_.path.empty() && !watched) return;
  const auto known =
      path.empty() && waves_.path.empty() ? Trace::Known::kNewest : Trace::Known::kAll;
  trace_ = std::make_unique<Trace>(path, score_, kept, known);
  score_.observe(trace_.get());
  waves_.offered = &trace_->offered_last();
  waves_.delivered = &trace_->delivered_last();
  if (!watched) return;
  watch_ = std::make_unique<Watch>(score_, *trace_);
  score_.observe(watch_.get());
}

Source& Run::add_source(TrafficConfig plan, std::function<bool()> played,
                        const std::string& place) {
  const auto ended = [this](const Source& source) { source_ended(source); };
  Source& source =
      *sources_.emplace_back(std::make_unique<Source>(std::move(plan), std::move(played), ended));
  const auto clock = [this] { return simulation_.now(); };
  if (closed_loop_ != 0) source.close(closed_loop_, clock);
  if (live_) source.play(*live_, live_->tap(place), clock);
  return source;
}

void Run::left(std::span<const std::uint8_t> bytes) {
  const auto origin = Traffic::origin(bytes);
  if (!origin) return;
  for (const auto& source : sources_) {
    if (source->plan().source == origin->source) source->left(origin->number);
  }
}

Output* Run::add_output(const std::string& name, Output::Order order, const std::string& also) {
  if (output_folder_.empty()) return nullptr;
  std::vector<std::string> paths = {output_folder_ + "/" + name};
  if (!also.empty()) paths.push_back(output_folder_ + "/" + also);
  return outputs_.emplace_back(std::make_unique<Output>(paths, order)).get();
}

bool Run::sources_finished() const {
  if (tcp_ && !tcp_->finished()) return false;
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source->finished(); });
}

void Run::source_ended(const Source&) {
  ++sources_ended_;
  score_.end_rates(simulation_.now());
}

double Run::progress() const {
  double least = tcp_ ? tcp_->progress(simulation_.now()) : 1;
  for (const auto& source : sources_) least = std::min(least, source->part(simulation_.now()));
  return least;
}

void Run::give_up(const std::string& why) {
  given_up_ = true;
  if (!why.empty()) trouble_.add(why);
}

void Run::step() {
  simulation_.run_for(step_);
  look();
  if (tcp_ && tcp_->ended() != kNever) score_.end_rates(tcp_->ended());
  if (const std::string why = tcp_ ? tcp_->failure(quiet()) : ""; !why.empty()) {
    const std::string more = stalled_for();
    give_up(more.empty() ? why : why + ": " + more);
  }
  show();
  if (live_) live_->look(resting());
}

// All that will come out has: simulated time may stand still until the next frame comes. What has
// been inside for as long as `patience` without anything coming out was dropped.
bool Run::resting() {
  const std::uint64_t inside = score_.under_way();
  const Time still = simulation_.now() - std::max(last_frame_, busy_until());
  given_up_on_ = still > patience_ ? inside : std::min(given_up_on_, inside);
  return inside == given_up_on_ && still > kLinger && !live_->pending() &&
         std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source->idle(); });
}

// How far it is, for whoever started it.
void Run::show() {
  if (watch_) {
    watch_->look(simulation_.now(), progress(), draining_ ? "drain" : "traffic",
                 [this](JsonWriter& json) { report(json); });
  }
  if (const double part = progress(); !live_ && part - shown_ >= 0.01)
    std::fprintf(stderr, "progress %.2f\n", shown_ = part);
}

void Run::run() {
  open();
  if (!given_up_) {
    traffic_start_ = last_move_ = simulation_.now();
    for (const auto& source : sources_) source->start(traffic_start_);
    running_ = true;
    if (live_) std::fputs("ready\n", stderr);
    while (!given_up_ && !offered()) step();
    score_.end_rates(simulation_.now());
    draining_ = true;
    while (!given_up_ && !settled()) step();
    running_ = false;
    drained_ = simulation_.now();
  }
  account();
  rest();
  ended_ = simulation_.now();
  for (int clock = 0; clock < simulation_.clocks(); ++clock)
    cycles_.push_back(simulation_.cycles(clock));
  inspect();
  rest();
}

void Run::rest() {
  simulation_.run_until([this] { return at_rest(); },
                        simulation_.now() + std::max(patience_, kRest));
}

std::vector<std::string> Run::failures() const {
  Findings findings = trouble_;
  findings.add(score_.failures());
  if (tcp_) tcp_->check(findings);
  check(findings);
  return findings.lines();
}

void Run::close() {
  for (const auto& output : outputs_) output->close();
  if (trace_) trace_->close();
}

void Run::write(JsonWriter& json, double wall_seconds) const {
  json.begin_object()
      .field("simulated_s", static_cast<double>(ended_) / 1e12)
      .field("traffic_s", static_cast<double>(drained_ - traffic_start_) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles");
  for (int clock = 0; clock < simulation_.clocks(); ++clock)
    json.field(simulation_.clock_name(clock), cycles_[static_cast<std::size_t>(clock)]);
  json.end_object();
  score_.write(json);
  Sent sent;
  for (const auto& source : sources_) source->add_to(sent);
  if (sent.frames != 0) sent.write(json.key("sent"));
  if (debugger_) debugger_->write(json);
  if (live_) {
    json.object("live");
    live_->write(json);
    json.end_object();
  }
  json.object("resources");
  if (tcp_) tcp_->write(json.key("tcp"), score_.meter().window());
  report(json);
  json.end_object().end_object();
}

}  // namespace emery
