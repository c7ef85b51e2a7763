// SPDX-License-Identifier: Apache-2.0
// host-nic behind a socket: a driver in user space (bench/guest/user_driver.hpp) on one side, an
// Ethernet line with generated or captured traffic on the other.
//
// The line's traffic begins when the driver polls for the first time. The run ends when all of it
// has come and nothing has moved for a while, or, if what the driver sends never ends, a while
// after: then the driver is told to send no more. At the end simulated time stands still.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "Vhost_nic.h"
#include "bench/guest/beside.hpp"
#include "bench/guest/user_driver.hpp"
#include "bench/run/output.hpp"
#include "bench/run/workload.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "systems/host_nic/card.hpp"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {
namespace {

constexpr Time kQuiet = 10 * kMicrosecond;       // longer than the card lets anything wait
constexpr std::uint64_t kQuietPolls = 256;       // more than there are queues to look at
constexpr Time kDrain = 200 * kMicrosecond;      // for full rings of the longest frames
constexpr Time kPatience = 2000 * kMicrosecond;  // for the card to come to rest after that

// What has crossed the line in one direction.
struct Way {
  std::uint64_t frames = 0, bytes = 0;  // with FCS
  std::optional<Output> capture;

  void open(const std::string& folder, const char* name) {
    if (!folder.empty())
      capture.emplace(std::vector<std::string>{folder + "/" + name}, Output::Order::kAsItComes);
  }
  void count(std::span<const std::uint8_t> frame, Time when) {
    ++frames;
    bytes += frame.size() + kFcsBytes;
    if (capture) capture->write(when, frame);
  }
  void write(JsonWriter& json) const {
    json.begin_object().field("frames", frames).field("bytes", bytes).end_object();
  }
};

class Bench {
 public:
  explicit Bench(const Options& options);
  void run();
  void write(JsonWriter& json) const;
  Findings findings() const;

 private:
  Card& card() { return *cards_.front(); }
  const Card& card() const { return *cards_.front(); }
  void poll(Time time);
  void start();
  void look();

  Listener listener_;
  Simulation simulation_;
  VerilatedModel<Vhost_nic> model_;
  std::vector<std::unique_ptr<Card>> cards_;
  std::optional<Source> source_;
  std::optional<UserDriver> driver_;
  Way to_card_, from_card_;
  Time duration_;  // of a silent line
  bool started_ = false, ending_ = false, still_ = false, restless_ = false;
  Time start_ = 0, over_at_ = 0, moved_ = 0, end_ = 0;
  std::uint64_t seen_ = 0, polls_ = 0;
};

Bench::Bench(const Options& options)
    : listener_(options.get<std::string>("socket")),
      model_("host_nic"),
      duration_(options.get("duration_ps", Time{0})) {
  const CardClocks clocks = CardClocks::add(model_, simulation_, port_gbps(options), 1);
  model_.open_waves({.path = options.get("waves", "")});
  cards_.push_back(
      std::make_unique<Card>(options, slot(options), simulation_, clocks, model_[0], 0));
  const std::string folder = options.get("pcap_out", "");
  to_card_.open(folder, "to_card.pcap");
  from_card_.open(folder, "from_card.pcap");
  const auto plan = Workload(options, line(options), 1).port(0);
  MacEnd& mac = card().port.rx;
  if (plan && !options.get("silent", false)) {
    source_.emplace(*plan, [&mac] { return mac.rx_idle(); }, [](const Source&) {});
    mac.set_source(&*source_);
  }
  mac.on_receiving([this](const Frame& frame, WireFault, Time started, Time) {
    to_card_.count(frame.bytes(), started);
  });
  card().on_transmitted([this](std::span<const std::uint8_t> bytes, Time arrived) {
    from_card_.count(bytes, arrived);
  });
  const UserDriver::Facts facts{0x0200'0000'0001, static_cast<std::uint64_t>(line_rate(options))};
  driver_.emplace(simulation_, card().host.root, card().memory, facts);
  driver_->on_poll = [this](Time time) { poll(time); };
  driver_->ends = [this] { return ending_; };
  Card::start(model_, simulation_, options, cards_);
}

void Bench::run() {
  const Descriptor socket = listener_.accept();
  std::fputs("connected\n", stderr);
  driver_->serve(socket);
  if (!still_) end_ = simulation_.now();
  for (Way* way : {&to_card_, &from_card_})
    if (way->capture) way->capture->close();
}

void Bench::start() {
  std::fputs("polling\n", stderr);
  started_ = true;
  start_ = moved_ = simulation_.now();
  if (source_) source_->start(start_);
}

void Bench::poll(Time time) {
  if (!started_) start();
  if (still_) return;
  simulation_.run_for(time);
  look();
}

void Bench::look() {
  const Time now = simulation_.now();
  const std::uint64_t activity = card().activity();
  ++polls_;
  if (activity != seen_ || !card().idle(now)) {
    moved_ = now;
    polls_ = 0;
  }
  seen_ = activity;
  if (!(source_ ? source_->finished() : now - start_ >= duration_)) {
    over_at_ = now;
    return;
  }
  const bool quiet = now - moved_ >= kQuiet && polls_ >= kQuietPolls;
  ending_ = ending_ || quiet || !source_ || now - over_at_ >= kDrain;
  restless_ = !quiet && now - over_at_ >= kDrain + kPatience;
  if (!quiet && !restless_) return;
  still_ = true;
  end_ = now;
  std::fputs("finished\n", stderr);
}

Findings Bench::findings() const {
  Findings findings;
  card().check(findings);
  findings.add(card().host.root.stats().unsupported, "reads of memory that is not the driver's");
  if (restless_) findings.add("the card has not come to rest");
  return findings;
}

void Bench::write(JsonWriter& json) const {
  json.begin_object()
      .field("simulated_ns", (end_ - start_) / kNanosecond)
      .field("core_clocks", simulation_.cycles(0))
      .field("finished", still_ && !restless_);
  json.object("wire");
  to_card_.write(json.key("to_card"));
  from_card_.write(json.key("from_card"));
  json.end_object();
  const UserDriver::Stats& stats = driver_->stats();
  json.object("driver")
      .field("register_reads", stats.reads)
      .field("register_writes", stats.writes)
      .field("interrupts", stats.wakes)
      .end_object();
  json.key("card");
  card().write(json);
  json.end_object();
}

}  // namespace
}  // namespace emery::host_nic

int main(int argc, char** argv) { return emery::run_beside<emery::host_nic::Bench>(argc, argv); }
