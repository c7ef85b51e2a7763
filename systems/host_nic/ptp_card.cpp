// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/ptp_card.hpp"

#include <stdexcept>
#include <string>

#include "sw/lib/host_nic/clock.h"
#include "systems/host_nic/settings.hpp"

namespace emery::host_nic {

namespace {

MacConfig line_config(const Options& options, const PtpSettings& settings, unsigned number) {
  MacConfig config;
  config.rate = line_rate(options);
  config.propagation = settings.cable;
  config.seed = options.get<std::uint64_t>("seed") + 1000 + number;
  return config;
}

}  // namespace

PtpCard::PtpCard(unsigned number, const Options& options, const PtpSettings& settings,
                 const DriverConfig& config, VerilatedModel<Vhost_nic>& models,
                 Simulation& simulation, int line_clock)
    : crystal(number == 0 ? settings.master_ppb : settings.slave_ppb, settings.wander_ppb,
              options.get<std::uint64_t>("seed") * 3 + number),
      host(slot(options), simulation, memory),
      driver(host.root, config),
      port(line_config(options, settings, number), port_gbps(options), models[number], 0),
      model_(models[number]) {
  const std::string name = number == 0 ? "" : std::to_string(number);
  const auto clock = [&](const char* what, std::uint64_t hz, std::uint8_t& pin) {
    const int made = models.add_clock(simulation, what + name, crystal.scaled(hz),
                                      Oscillator::kBillion, {&pin}, 1u << number);
    crystal.follows(made, hz);
    return made;
  };
  const int core = clock("core", kCoreHz, model_.clk_i);
  const int mac = clock("mac", mac_hz(port_gbps(options)), model_.mac_tx_clk_i[0]);
  host.attach(core, function(options),
              EndpointPins::of(model_.pcie_i, model_.pcie_o,
                               options.get<std::string>("pcie_interface"), 128));
  simulation.add(core, *this);
  simulation.add(mac, port.tx);
  simulation.add(line_clock, port.rx);

  const ptp_config side = settings.port(number == 0, static_cast<std::uint8_t>(1 + number));
  ptp_ops ops{};
  ops.context = this;
  ops.send = [](void* context, const std::uint8_t* frame, unsigned bytes, int event) {
    PtpCard& self = *static_cast<PtpCard*>(context);
    if (!self.driver.transmit(0, self.queues(), {frame, bytes})) return -1;
    self.sent_.push(event != 0);
    self.driver.flush();
    return 0;
  };
  ops.step = [](void* context, std::int64_t ns) {
    return emnic_clock_step(static_cast<PtpCard*>(context)->driver.core(), ns);
  };
  ops.adjust = [](void* context, std::int64_t rate) {
    emnic_clock_adjust(static_cast<PtpCard*>(context)->driver.core(), rate);
  };
  if (ptp_init(&ptp, &side, &ops) != 0) throw std::logic_error("PTP port");

  driver.on_sent = [this](unsigned, unsigned queue, bool error, std::uint64_t stamp, Time) {
    if (queue == queues()) stamped(error, stamp);
  };
  driver.on_receive = [this](const Received& r, Time now) {
    const auto bytes = static_cast<unsigned>(r.frame.size());
    if (!ptp_is(r.frame.data(), bytes)) return on_frame(r, now);
    ptp_received(&ptp, r.frame.data(), bytes, whole(r.timestamp));
  };
}

std::uint64_t PtpCard::whole(std::uint64_t stamp) { return last_ = emnic_stamp_near(last_, stamp); }

void PtpCard::stamped(bool error, std::uint64_t stamp) {
  if (sent_.empty()) throw std::logic_error("a completion of no frame of PTP");
  const bool event = sent_.front() != 0;
  sent_.pop();
  if (event) error ? ptp_unsent(&ptp) : ptp_sent(&ptp, whole(stamp));
}

void PtpCard::open() {
  host.root.enumerate();
  driver.probe();
  driver.open();
  emnic_clock_adjust(driver.core(), 0);
  last_ = emnic_time_ns(driver.core());
  open_ = true;
}

void PtpCard::sample(Time now) {
  const bool high = model_.ptp_out_o != 0;
  if (high && !high_) on_rise(now);
  high_ = high;
  if (!open_ || !host.root.mmio_room()) return;
  if (running_) ptp_tick(&ptp, static_cast<std::uint64_t>(now / kNanosecond));
  driver.poll(now);
  on_clock(now);
  driver.flush();
}

void PtpCard::write(JsonWriter& json) const {
  json.begin_object();
  json.field("crystal_ppb", crystal.ppb());
  json.field("syncs", ptp.syncs).field("exchanges", ptp.exchanges).field("steps", ptp.steps);
  json.field("delay_ns", static_cast<double>(ptp.delay) / 256);
  json.key("mac");
  port.stats().write(json);
  json.end_object();
}

}  // namespace emery::host_nic
