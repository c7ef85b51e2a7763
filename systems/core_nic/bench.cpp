// SPDX-License-Identifier: Apache-2.0
// core-nic on the bench: the NIC's RTL with its firmware between a PCIe link with its host, an
// Ethernet wire and a frame memory.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "Vcore_nic.h"
#include "Vcore_nic___024root.h"
#include "bench/core/iss.hpp"
#include "bench/dram/ddr.hpp"
#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/root_complex.hpp"
#include "bench/run/main.hpp"
#include "bench/score/scoreboard.hpp"
#include "bench/sim/member.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/verilated_model.hpp"
#include "bench/traffic/pcap.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/wire/mac.hpp"
#include "core_formats.hpp"
#include "core_nic.h"
#include "systems/core_nic/driver.hpp"
#include "systems/core_nic/image.hpp"
#include "systems/core_nic/profile.hpp"
#include "systems/core_nic/studies.hpp"

namespace emery::core_nic {
namespace {

constexpr double kLineRate = 10e9;
constexpr unsigned kMostFrame = 1514;     // without FCS
constexpr Time kStep = 2 * kMicrosecond;  // between looks at how the run goes
constexpr Time kSettled =
    30 * kMicrosecond;  // without a delivery: see whether all is accounted for
constexpr Time kBoot = 5'000 * kMicrosecond;  // for the firmware to get ready
constexpr double kMeasureFrom = 0.1;          // of the traffic
#define EMERY_REG(name) offsetof(core_nic_regs_t, name)

// 166 stands for 166 2/3 MHz and so on: whole MHz or thirds.
std::uint64_t thirds_of_mhz(unsigned mhz) {
  const unsigned rest = mhz % 100;
  return 3ull * mhz + (rest == 33 ? 1 : rest == 66 ? 2 : 0);
}

// Watches the cores: what they do, what they print, whether they trap; checks each retired
// instruction against the model when that is asked for.
class Observer final : public Component {
 public:
  Observer(Vcore_nic& model, const Image& image, unsigned cores, bool check, bool study)
      : model_(model), image_(image), cores_(cores), profile_(image, cores) {
    if (study && !check) throw OptionError("studies: they need cosim=true");
    if (study) studies_ = std::make_unique<Studies>(image, cores);
    for (unsigned c = 0; check && c < cores; ++c) {
      models_.emplace_back(static_cast<int>(c), [this](std::uint32_t address, std::uint32_t& word) {
        if (address >= Image::kImemBytes) return false;
        word = image_.program()[address / 4];
        return true;
      });
    }
  }

  void sample(Time now) override {
    if (measuring_) {
      for (unsigned c = 0; c < cores_; ++c)
        profile_.clock(c, model_.seen_o[c].EMERY_MEMBER(use_), model_.seen_o[c].EMERY_MEMBER(pc));
      for (unsigned a = 0; a < 4; ++a) {
        if (!model_.access_o[a].EMERY_MEMBER(taken)) continue;
        ++assist_accesses_;
        if (studies_)
          studies_->assist(a, model_.access_o[a].EMERY_MEMBER(addr),
                           model_.access_o[a].EMERY_MEMBER(op) == core_pkg::Store);
      }
    }
    if (model_.print_valid_o) print(model_.print_char_o);
    if (model_.exit_valid_o) {
      exited_ = true;
      exit_code_ = model_.exit_code_o;
    }
    for (unsigned c = 0; c < models_.size(); ++c) {
      if (model_.seen_o[c].EMERY_MEMBER(rvfi).EMERY_MEMBER(valid)) check(c, now);
    }
  }
  void drive() override {}

  // The first core that has trapped, in words; empty when none has.
  std::string trap() const {
    for (unsigned c = 0; c < cores_; ++c) {
      if (model_.seen_o[c].EMERY_MEMBER(trap) == 0) continue;
      char pc[16];
      std::snprintf(pc, sizeof pc, "0x%08x", model_.seen_o[c].EMERY_MEMBER(trap_pc));
      return "core " + std::to_string(c) +
             " trapped: " + std::string(trap_name(model_.seen_o[c].EMERY_MEMBER(trap))) +
             " at pc " + pc + " in " + image_.where(model_.seen_o[c].EMERY_MEMBER(trap_pc));
    }
    return "";
  }
  bool ready() const { return ready_; }
  bool exited() const { return exited_; }
  std::uint32_t exit_code() const { return exit_code_; }
  const std::string& mismatch() const { return mismatch_; }
  std::uint64_t checked() const { return checked_; }

  void measure(bool on) { measuring_ = on; }
  const Profile& profile() const { return profile_; }
  const Studies* studies() const { return studies_.get(); }
  std::uint64_t assist_accesses() const { return assist_accesses_; }

 private:
  // 'R' at the start of a line says that the firmware is ready; all else is for people.
  void print(char c) {
    if (line_.empty() && c == 'R') {
      ready_ = true;
    } else if (c == '\n') {
      std::fprintf(stderr, "firmware: %s\n", line_.c_str());
      line_.clear();
    } else {
      line_ += c;
    }
  }

  void check(unsigned c, Time now) {
    const auto& insn = model_.seen_o[c].EMERY_MEMBER(rvfi);
    Retired r;
    r.valid = true;
    r.trap = insn.EMERY_MEMBER(trap);
    r.insn = insn.EMERY_MEMBER(insn);
    r.rs1_addr = insn.EMERY_MEMBER(rs1_addr);
    r.rs2_addr = insn.EMERY_MEMBER(rs2_addr);
    r.rs1_rdata = insn.EMERY_MEMBER(rs1_rdata);
    r.rs2_rdata = insn.EMERY_MEMBER(rs2_rdata);
    r.rd_addr = insn.EMERY_MEMBER(rd_addr);
    r.rd_wdata = insn.EMERY_MEMBER(rd_wdata);
    r.pc_rdata = insn.EMERY_MEMBER(pc_rdata);
    r.pc_wdata = insn.EMERY_MEMBER(pc_wdata);
    r.mem_addr = insn.EMERY_MEMBER(mem_addr);
    r.mem_rmask = insn.EMERY_MEMBER(mem_rmask);
    r.mem_wmask = insn.EMERY_MEMBER(mem_wmask);
    r.mem_rdata = insn.EMERY_MEMBER(mem_rdata);
    r.mem_wdata = insn.EMERY_MEMBER(mem_wdata);
    ++checked_;
    if (studies_ && measuring_) studies_->retired(c, r);
    const std::string wrong = models_[c].check(r);
    if (!wrong.empty() && mismatch_.empty())
      mismatch_ = "core " + std::to_string(c) + " departs from the instruction-set model at " +
                  std::to_string(now) + " ps: " + wrong;
  }

  Vcore_nic& model_;
  const Image& image_;
  unsigned cores_;
  Profile profile_;
  std::vector<InstructionModel> models_;
  std::unique_ptr<Studies> studies_;
  std::string line_, mismatch_;
  std::uint64_t checked_ = 0, assist_accesses_ = 0;
  std::uint32_t exit_code_ = 0;
  bool measuring_ = false, ready_ = false, exited_ = false;
};

class Bench final : public Component {
 public:
  explicit Bench(const Options& options);
  // The whole run: reset, firmware, driver, traffic, drain, counters.
  void run();
  void write(JsonWriter& json, double wall_seconds) const;
  std::vector<std::string> failures() const;
  void close();

  // Component, on the host clock: the driver and what feeds it.
  void sample(Time now) override;
  void drive() override {}

 private:
  // What is read at both ends of the time that is measured.
  struct Snapshot {
    Time time = 0;
    std::uint32_t scratch = 0, imem = 0;
    std::uint64_t ddr_busy = 0, ddr_masked = 0, core_clocks = 0, mem_clocks = 0;
    std::uint64_t sent = 0, received = 0;
    Time up = 0, down = 0;
  };

  void connect(const Options& options);
  void plan_traffic(const Options& options);
  void start_traffic();
  void feed(Time now);
  bool sources_done() const;
  double progress() const;
  // True when the run cannot go on: a core has ended, or nothing moves.
  bool ended_badly();
  void run_traffic();
  bool accounted_for();
  std::uint64_t read_drops();
  Snapshot snapshot();

  Simulation simulation_;
  VerilatedModel<Vcore_nic> model_;
  unsigned cores_, banks_, core_thirds_;
  double mem_mhz_;
  int core_clock_, mem_clock_, host_clock_, mac_clock_;
  std::string direction_;
  Image image_;
  PcieLink link_;
  HostMemory memory_;
  RootComplex root_;
  Driver driver_;
  Observer observer_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Ddr> ddr_;
  std::unique_ptr<WordMac> mac_;
  Scoreboard score_;
  TrafficConfig send_plan_, receive_plan_;
  std::unique_ptr<Traffic> send_, receive_;
  std::unique_ptr<PcapWriter> host_capture_, wire_capture_;
  Frame frame_{};
  bool loaded_ = false, running_ = false;
  int tx_stream_ = 0, rx_stream_ = 0;
  Time stall_after_, stall_for_;
  Time patience_;
  Time last_activity_ = 0, traffic_start_ = 0, traffic_end_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;
  Snapshot from_, to_;
  std::vector<std::pair<std::string, std::uint64_t>> drops_;
  std::string trouble_;  // what ended the run
};

LinkConfig link_config(const Options& options) {
  LinkConfig c = LinkConfig::from(options);
  if (options.get("interconnect", "pcie") == "ideal") {
    c.gen = 5;
    c.lanes = 16;
    c.latency = 20 * kNanosecond;
  }
  return c;
}

RootConfig root_config(const Options& options) {
  RootConfig c;
  c.memory_latency = options.get("read_latency_ns", 350) * kNanosecond;
  c.jitter = options.get("read_jitter_ns", 0) * kNanosecond;
  c.reorder = c.jitter != 0;
  c.max_payload = options.get("mps", c.max_payload);
  c.max_read_request = options.get("mrrs", c.max_read_request);
  c.seed = options.get("seed", std::uint64_t{1});
  if (options.get("interconnect", "pcie") == "ideal") {
    c.ingress = c.memory_latency = c.jitter = 0;
    c.reorder = false;
  }
  return c;
}

DriverConfig driver_config(const Options& options) {
  DriverConfig c;
  c.cores = options.get("cores", c.cores);
  c.send_ring = options.get("send_ring", c.send_ring);
  c.receive_ring = options.get("receive_ring", c.receive_ring);
  c.segments = options.get("segments", c.segments);
  c.payload_offset = options.get("payload_offset", c.payload_offset);
  c.receive_slots = options.get("receive_slots", c.receive_slots);
  c.watchdog_clocks = static_cast<unsigned>(options.get("watchdog_us", 1000u) *
                                            thirds_of_mhz(options.get("core_mhz", 166u)) / 3);
  c.cpu_per_frame = options.get("cpu_ns_per_frame", 0) * kNanosecond;
  return c;
}

MacConfig mac_config(const Options& options) {
  MacConfig c;
  c.rate = kLineRate;
  c.clock_hz = 156'250'000;
  c.oversize_bytes = 1600;
  c.seed = options.get("seed", std::uint64_t{1}) + 1000;
  const auto plan = [&](const char* option) {
    const auto every = options.get(option, std::uint64_t{0});
    return FaultPlan{every ? 1.0 / static_cast<double>(every) : 0.0, 0};
  };
  c.bad_fcs = plan("bad_fcs_every");
  c.runt = plan("runt_every");
  c.oversize = plan("oversize_every");
  return c;
}

Bench::Bench(const Options& options)
    : model_("core_nic"),
      cores_(options.get("cores", 6u)),
      banks_(options.get("banks", 4u)),
      core_thirds_(static_cast<unsigned>(thirds_of_mhz(options.get("core_mhz", 166u)))),
      mem_mhz_(options.get("mem_mhz", 500u)),
      core_clock_(model_.add_clock(simulation_, "core", core_thirds_ * 1'000'000ull, 3,
                                   model_->core_clk_i)),
      mem_clock_(model_.add_clock(simulation_, "mem", options.get("mem_mhz", 500u) * 1'000'000ull,
                                  1, model_->mem_clk_i)),
      host_clock_(model_.add_clock(simulation_, "host", 125'000'000, 1, model_->host_clk_i)),
      mac_clock_(model_.add_clock(simulation_, "mac", 156'250'000, 1, model_->mac_clk_i)),
      direction_(options.get("direction", "both")),
      image_(Image::read(options.get("firmware_image", ""))),
      link_(link_config(options), PcieLink::root_credits(), PcieLink::device_credits()),
      root_(root_config(options), simulation_, link_, memory_),
      driver_(root_, driver_config(options)),
      observer_(*model_, image_, cores_, options.get("cosim", false),
                options.get("studies", false)),
      stall_after_(options.get("stall_after_us", 0) * kMicrosecond),
      stall_for_(options.get("stall_us", 0) * kMicrosecond),
      patience_(options.get("patience_us", 2000) * kMicrosecond) {
  options.get("firmware", "");  // the image is made from it
  if (const std::string waves = options.get("waves", ""); !waves.empty()) model_.open_waves(waves);
  connect(options);
  plan_traffic(options);
}

void Bench::connect(const Options& options) {
  Vcore_nic& m = *model_;
  EndpointConfig config;
  config.function.bar0_bytes = std::bit_ceil(sizeof(core_nic_t));
  config.function.msix_vectors = 0;
  endpoint_ = std::make_unique<Endpoint>(config, link_, EndpointPins::of(m.pcie_i, m.pcie_o));
  simulation_.add(host_clock_, *endpoint_);
  simulation_.add(host_clock_, root_);
  simulation_.add(host_clock_, *this);

  const DdrPins dram{&m.dram_cmd_o,      &m.dram_bank_o, &m.dram_addr_o,    &m.dram_dq_valid_o,
                     m.dram_dq_o.data(), &m.dram_dm_o,   m.dram_dq_i.data()};
  ddr_ = std::make_unique<Ddr>(DdrConfig{}, dram);
  simulation_.add(mem_clock_, *ddr_);
  simulation_.add(core_clock_, observer_);

  const FramePins wire_tx{&m.mac_tx_valid_o, &m.mac_tx_ready_i, &m.mac_tx_data_o, &m.mac_tx_len_o,
                          &m.mac_tx_sop_o,   &m.mac_tx_eop_o,   &m.mac_tx_err_o};
  const FramePins wire_rx{&m.mac_rx_valid_i, nullptr,         &m.mac_rx_data_i, &m.mac_rx_len_i,
                          &m.mac_rx_sop_i,   &m.mac_rx_eop_i, &m.mac_rx_err_i};
  mac_ = std::make_unique<WordMac>(mac_config(options), wire_tx, wire_rx);
  simulation_.add(mac_clock_, *mac_);
}

void Bench::plan_traffic(const Options& options) {
  TrafficConfig config;
  config.sizes = Sizes::parse(options.get("size", "1518"));
  config.frames = options.get("frames", std::uint64_t{0});
  config.duration = options.get("duration_ps", Time{0});
  config.flows = options.get("flows", 64u);
  config.seed = options.get("seed", std::uint64_t{1});
  config.rate = parse_rate(options.get("rate", "1.0"), kLineRate);
  if (config.sizes.high > kMostFrame + kFcsBytes) {
    throw OptionError("size " + std::to_string(config.sizes.high) +
                      ": the device takes frames of up to 1518 bytes");
  }
  std::string path = options.get("pcap", "");
  if (const std::string own = options.get("pcap.0", ""); !own.empty()) path = own;
  if (!path.empty()) {
    config.capture = Capture::read(path, kMostFrame, "the 1514 the device takes");
  }
  send_plan_ = receive_plan_ = config;
  send_plan_.source = 0;
  receive_plan_.source = 0x100;

  const std::string capture_dir = options.get("pcap_out", "");
  if (direction_ != "rx") {
    tx_stream_ = score_.stream("tx");
    if (!capture_dir.empty())
      wire_capture_ = std::make_unique<PcapWriter>(capture_dir + "/wire0.pcap");
  }
  if (direction_ != "tx") {
    rx_stream_ = score_.stream("rx");
    if (!capture_dir.empty())
      host_capture_ = std::make_unique<PcapWriter>(capture_dir + "/host.pcap");
  }
  mac_->on_transmitted([this](std::span<const std::uint8_t> bytes, Time arrived) {
    score_.delivered(tx_stream_, bytes, arrived);
    if (wire_capture_) wire_capture_->write(arrived, bytes);
    ++sent_;
    last_activity_ = simulation_.now();
  });
  mac_->on_receiving([this](const Frame& frame, WireFault, Time started, Time) {
    score_.offered(rx_stream_, frame.bytes(), frame.flow, started);
  });
  driver_.on_receive = [this](std::span<const std::uint8_t> bytes, Time now) {
    score_.delivered(rx_stream_, bytes, now);
    if (host_capture_) host_capture_->write(now, bytes);
    ++received_;
    last_activity_ = now;
  };
}

void Bench::start_traffic() {
  traffic_start_ = last_activity_ = simulation_.now();
  if (direction_ != "tx") {
    receive_plan_.start = traffic_start_;
    receive_ = std::make_unique<Traffic>(receive_plan_);
    mac_->set_source(receive_.get());
  }
  if (direction_ != "rx") {
    send_plan_.start = traffic_start_;
    send_ = std::make_unique<Traffic>(send_plan_);
  }
  if (stall_for_ != 0)
    root_.stall(traffic_start_ + stall_after_, traffic_start_ + stall_after_ + stall_for_);
}

// Hands the driver what is due, as far as its ring allows.
void Bench::feed(Time now) {
  if (!send_) return;
  for (;;) {
    if (!loaded_ && !(loaded_ = send_->next(frame_))) return;
    if (frame_.start > now || !driver_.transmit(frame_.bytes())) return;
    score_.offered(tx_stream_, frame_.bytes(), frame_.flow, now);
    loaded_ = false;
  }
}

void Bench::sample(Time now) {
  if (!running_) return;
  driver_.poll(now);
  feed(now);
  driver_.flush();
}

bool Bench::sources_done() const {
  if (send_ && (loaded_ || !send_->done())) return false;
  return !receive_ || (receive_->done() && mac_->rx_idle());
}

double Bench::progress() const {
  double least = 1;
  for (const Traffic* traffic : {send_.get(), receive_.get()}) {
    if (!traffic) continue;
    const TrafficConfig& config = traffic->config();
    const double frames = config.frames    ? static_cast<double>(config.frames)
                          : config.capture ? static_cast<double>(config.capture->packets().size())
                                           : 0;
    const double part = frames > 0 ? static_cast<double>(traffic->stats().frames) / frames
                                   : static_cast<double>(simulation_.now() - traffic_start_) /
                                         static_cast<double>(std::max<Time>(config.duration, 1));
    least = std::min(least, part);
  }
  return least;
}

bool Bench::ended_badly() {
  trouble_ = observer_.trap();
  if (trouble_.empty() && observer_.exited() && observer_.exit_code() != 0)
    trouble_ = "the firmware ended with exit code " + std::to_string(observer_.exit_code());
  if (trouble_.empty()) trouble_ = observer_.mismatch();
  if (trouble_.empty()) trouble_ = driver_.complaint();
  if (trouble_.empty() && simulation_.now() - last_activity_ > patience_ + stall_for_)
    trouble_ = "no frame has moved for " + std::to_string(patience_ / kMicrosecond) + " us";
  return !trouble_.empty();
}

Bench::Snapshot Bench::snapshot() {
  Snapshot s;
  s.scratch = driver_.read(EMERY_REG(scratch_accesses));
  s.imem = driver_.read(EMERY_REG(imem_reads));
  s.time = simulation_.now();
  s.ddr_busy = ddr_->stats().busy();
  s.ddr_masked = ddr_->stats().bytes_masked;
  s.core_clocks = simulation_.cycles(core_clock_);
  s.mem_clocks = simulation_.cycles(mem_clock_);
  s.sent = sent_;
  s.received = received_;
  s.up = link_.up.busy_time();
  s.down = link_.down.busy_time();
  return s;
}

void Bench::run() {
  Vcore_nic& m = *model_;
  m.core_rst_i = m.mem_rst_i = m.host_rst_i = m.mac_rst_i = 1;
  model_.keeps(mem_clock_, model_->rootp->__Vtrigprevexpr___TOP__mem_clk_i__0);
  model_.attach(simulation_);
  simulation_.run_for(200 * kNanosecond);
  m.core_rst_i = m.mem_rst_i = m.host_rst_i = m.mac_rst_i = 0;
  simulation_.run_for(1 * kMicrosecond);

  driver_.probe();
  driver_.load(image_);
  driver_.start();
  last_activity_ = simulation_.now();
  const Time deadline = simulation_.now() + kBoot;
  while (!observer_.ready() && trouble_.empty()) {
    simulation_.run_for(kStep);
    last_activity_ = simulation_.now();
    if (!ended_badly() && simulation_.now() > deadline)
      trouble_ = "the firmware has not got ready within " + std::to_string(kBoot / 1'000'000'000) +
                 " ms: it prints R when it is";
  }
  if (trouble_.empty()) {
    running_ = true;
    driver_.open();
    simulation_.run_for(10 * kMicrosecond);  // receive descriptors are fetched
    run_traffic();
    running_ = false;
  }
  read_drops();
  for (const auto& [reason, count] : drops_) score_.dropped(rx_stream_, reason, count);
}

void Bench::run_traffic() {
  start_traffic();
  double shown = 0;
  bool ended = false, offering = true;
  while (!ended) {
    simulation_.run_for(kStep);
    const double part = progress();
    if (from_.time == 0 && part >= kMeasureFrom) {
      from_ = snapshot();
      observer_.measure(true);
    }
    // Beyond this the load is no longer what was asked for.
    if (offering && ((send_ && !loaded_ && send_->done()) || (receive_ && receive_->done()))) {
      offering = false;
      score_.end_rates();
      observer_.measure(false);
      to_ = snapshot();
    }
    ended = ended_badly() || (sources_done() && accounted_for());
    if (part - shown >= 0.01) std::fprintf(stderr, "progress %.2f\n", shown = std::min(part, 1.0));
  }
  traffic_end_ = last_activity_;
}

// Whether every frame was delivered or is in a counter of the device. Reads the counters only when
// nothing has moved for a while.
bool Bench::accounted_for() {
  if (score_.under_way() == 0) return true;
  const Time quiet = simulation_.now() - last_activity_;
  return quiet > kSettled && score_.under_way() == read_drops();
}

std::uint64_t Bench::read_drops() {
  static constexpr struct {
    const char* name;
    std::size_t offset;
  } kReasons[] = {{"bad_fcs", EMERY_REG(rx_bad_fcs)},
                  {"runt", EMERY_REG(rx_runt)},
                  {"oversize", EMERY_REG(rx_oversize)},
                  {"no_buffer", EMERY_REG(rx_no_buffer)},
                  {"fifo_full", EMERY_REG(rx_fifo_full)}};
  drops_.clear();
  std::uint64_t sum = 0;
  for (const auto& reason : kReasons) {
    const std::uint64_t count = driver_.read(reason.offset);
    if (count != 0 && direction_ != "tx") drops_.emplace_back(reason.name, count);
    sum += count;
  }
  return sum;
}

std::vector<std::string> Bench::failures() const {
  std::vector<std::string> lines;
  if (!trouble_.empty()) lines.push_back(trouble_);
  for (std::string& line : score_.failures()) lines.push_back(std::move(line));
  const auto fail = [&](std::uint64_t count, const std::string& what) {
    if (count != 0) lines.push_back(std::to_string(count) + " " + what);
  };
  fail(endpoint_->stats().fc_violations, "TLPs sent without credit");
  fail(endpoint_->stats().tx_malformed, "malformed TLPs sent");
  fail(root_.stats().protocol_errors,
       "PCIe protocol errors: " + root_.stats().first_protocol_error);
  fail(root_.stats().wild_writes, "writes to host memory that nobody gave the device");
  fail(root_.stats().unsupported, "reads of host memory that nobody gave the device");
  fail(ddr_->stats().violations,
       "violations at the frame memory: " + ddr_->stats().first_violation);
  fail(mac_->stats().tx_underruns, "transmit underruns");
  fail(mac_->stats().tx_protocol_errors,
       "MAC protocol errors: " + mac_->stats().tx_first_protocol_error);
  return lines;
}

void Bench::close() {
  if (host_capture_) host_capture_->close();
  if (wire_capture_) wire_capture_->close();
}

void Bench::write(JsonWriter& json, double wall_seconds) const {
  json.begin_object().field("schema", 1).field("system", "core-nic");
  json.field("simulated_s", static_cast<double>(simulation_.now()) / 1e12)
      .field("wall_s", wall_seconds);
  json.object("cycles")
      .field("core", simulation_.cycles(core_clock_))
      .field("mem", simulation_.cycles(mem_clock_))
      .field("host", simulation_.cycles(host_clock_))
      .field("mac", simulation_.cycles(mac_clock_))
      .end_object();
  score_.write(json);

  const Profile& profile = observer_.profile();
  const Time span = to_.time - from_.time;
  const double seconds = static_cast<double>(std::max<Time>(span, 1)) / 1e12;
  const auto gbps = [&](std::uint64_t bits) { return 1e-9 * static_cast<double>(bits) / seconds; };
  const auto rate = [&](std::uint64_t n) { return static_cast<double>(n) / seconds; };
  const double sent = static_cast<double>(to_.sent - from_.sent),
               received = static_cast<double>(to_.received - from_.received);
  json.object("resources");
  json.object("measured")
      .field("from_us", static_cast<double>(from_.time - traffic_start_) / kMicrosecond)
      .field("to_us", static_cast<double>(to_.time - traffic_start_) / kMicrosecond)
      .field("core_clocks", to_.core_clocks - from_.core_clocks)
      .field("sent", to_.sent - from_.sent)
      .field("received", to_.received - from_.received)
      .end_object();
  json.field("core_mhz", core_thirds_ / 3.0);
  profile.write_use(json);
  json.field("instructions_a_second", rate(profile.total(kRetire)))
      .field("instructions_a_frame",
             sent + received > 0 ? static_cast<double>(profile.total(kRetire)) / (sent + received)
                                 : 0.0)
      .field("accesses_a_frame", sent + received > 0
                                     ? static_cast<double>(profile.accesses()) / (sent + received)
                                     : 0.0);
  json.object("instruction_memory")
      .field("gbps", gbps(128ull * (to_.imem - from_.imem)))
      .field("peak_gbps", core_thirds_ / 3.0 * 0.128)
      .end_object();
  json.object("scratchpad")
      .field("gbps", gbps(32ull * (to_.scratch - from_.scratch)))
      .field("peak_gbps", core_thirds_ / 3.0 * 0.032 * banks_)
      .field("core_accesses", profile.accesses())
      .field("assist_accesses", observer_.assist_accesses())
      .end_object();
  const std::uint64_t words = to_.ddr_busy - from_.ddr_busy;
  json.object("frame_memory")
      .field("gbps", gbps(128 * words))
      .field("peak_gbps", mem_mhz_ * 0.128)
      .field("busy", to_.mem_clocks > from_.mem_clocks
                         ? static_cast<double>(words) /
                               static_cast<double>(to_.mem_clocks - from_.mem_clocks)
                         : 0.0);
  json.key("device");
  ddr_->stats().write(json);
  json.end_object();
  const auto busy = [&](Time now, Time before) {
    return static_cast<double>(now - before) / 1e12 / seconds;
  };
  json.field("pcie_up_busy", busy(to_.up, from_.up))
      .field("pcie_down_busy", busy(to_.down, from_.down));
  json.key("pcie_up");
  link_.up.stats().write(json);
  json.key("pcie_down");
  link_.down.stats().write(json);
  json.key("endpoint");
  endpoint_->stats().write(json);
  json.key("root_complex");
  root_.stats().write(json);
  json.key("driver");
  driver_.write(json);
  json.key("mac");
  mac_->stats().write(json);
  json.field("instructions_checked", observer_.checked());
  if (const Studies* studies = observer_.studies()) {
    json.key("studies");
    studies->write(json);
  }
  profile.write_functions(json, sent + received);
  json.end_object();
  json.end_object();
}

}  // namespace
}  // namespace emery::core_nic

int main(int argc, char** argv) { return emery::run_simulator<emery::core_nic::Bench>(argc, argv); }
