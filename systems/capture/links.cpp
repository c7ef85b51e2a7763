// SPDX-License-Identifier: Apache-2.0
#include "systems/capture/links.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "capture.h"
#include "ids_formats.hpp"

namespace emery::capture {
namespace {

constexpr std::uint64_t kSerial = 0x0011'22ff'fe33'4455;

FunctionConfig function(unsigned link) {
  FunctionConfig f;
  f.vendor = ids_pkg::IdVendor;
  f.device = static_cast<std::uint16_t>(ids_pkg::IdCapture + link);
  f.class_code = ids_pkg::ClassNetwork;
  f.bar0_bytes = std::bit_ceil(sizeof(capture_t));
  f.msix_vectors = 0;
  f.serial = kSerial;
  return f;
}

PcieSettings slot(const Options& options, unsigned link) {
  PcieSettings s(options);
  s.root.seed += link;
  s.root.bus = static_cast<std::uint8_t>(1 + link);
  s.root.mmio_base += std::uint64_t{link} << 32;
  return s;
}

}  // namespace

LinkFaults::LinkFaults(const Options& options, unsigned links)
    : link(options.get<unsigned>("fault_link")),
      rate(options.get<double>("link_rate")),
      lost_at(options.fine_us("link_lost_at_us")),
      back_at(options.fine_us("link_back_at_us")),
      stall_at(options.fine_us("link_stall_at_us")),
      stall_for(options.fine_us("link_stall_us")) {
  if ((rate < 1 || lost_at || stall_for) && link >= links)
    throw OptionError("fault_link: there is no link " + std::to_string(link));
  if (lost_at && links < 2)
    throw OptionError("link_lost_at_us: with one link nothing is left to go on with");
  if (back_at && back_at <= lost_at)
    throw OptionError("link_back_at_us: must be later than link_lost_at_us");
}

Links::Links(const Options& options, Simulation& simulation, HostMemory& memory, int clock,
             const Pins& pins)
    : simulation_(simulation),
      faults_(options, options.get<unsigned>("links")),
      service_every_(options.us("service_us")) {
  for (unsigned l = 0; l < options.get<unsigned>("links"); ++l) {
    PcieSettings settings = slot(options, l);
    if (l == faults_.link) settings.link.speed = faults_.rate;
    link_.push_back(std::make_unique<PcieHost>(settings, simulation, memory));
    link_[l]->attach(clock, function(l), pins(l));
  }
}

void Links::start(emcap* device) {
  device_ = device;
  const Time now = start_ = simulation_.now();
  next_service_ = now + service_every_;
  if (faults_.lost_at) {
    simulation_.at(now + faults_.lost_at, [this](Time when) { event(true, when); });
    if (faults_.back_at)
      simulation_.at(now + faults_.back_at, [this](Time when) { event(false, when); });
  }
  if (faults_.stall_for) {
    const Time from = now + faults_.stall_at;
    link_[faults_.link]->root.stall(from, from + faults_.stall_for);
  }
}

void Links::event(bool lost, Time now) {
  PcieHost& link = *link_[faults_.link];
  link.endpoint->set_link_lost(lost, true, now);
  if (lost) link.root.link_lost();
  link.endpoint->show_up(!lost);
  back_ = !lost;
}

bool Links::look() {
  if (back_) {
    // As the operating system does when a device is there again.
    back_ = false;
    if (!emcap_link_lost(device_, faults_.link)) emcap_link_disable(device_, faults_.link);
    link_[faults_.link]->root.enumerate();
  }
  if (count() < 2 || simulation_.now() < next_service_) return false;
  next_service_ = simulation_.now() + service_every_;
  emcap_service(device_);
  for (unsigned l = 0; l < count(); ++l) {
    if (emcap_link_lost(device_, l) && !link_[l]->link.lost()) emcap_link_restore(device_, l);
  }
  return true;
}

Time Links::stalled_until() const {
  const Time from = start_ + faults_.stall_at, until = from + faults_.stall_for;
  return simulation_.now() >= from && simulation_.now() < until ? until : 0;
}

void Links::mark(Time now) {
  Point point{now, {0, 0}};
  for (unsigned l = 0; l < count(); ++l) point.payload[l] = link_[l]->link.up.stats().payload_bytes;
  points_.push_back(point);
}

double Links::payload_gbps(unsigned link) const {
  if (points_.size() < 4) return 0;
  const Point &a = points_[points_.size() / 4], &b = points_[points_.size() - 2];
  return 8e3 * static_cast<double>(b.payload[link] - a.payload[link]) /
         static_cast<double>(b.time - a.time);
}

bool Links::at_rest() const {
  return std::all_of(link_.begin(), link_.end(), [](const auto& link) { return link->at_rest(); });
}

void Links::check_rules(Findings& findings) const {
  for (const auto& link : link_) {
    link->check_rules(findings);
    findings.add(link->root.stats().wild_writes, "writes outside of the rings");
  }
}

void Links::check(Findings& findings) const {
  check_rules(findings);
  for (const auto& link : link_) link->check_open(findings);
}

void Links::write(JsonWriter& json, const emcap_counters& counters) const {
  json.array("links");
  for (unsigned l = 0; l < count(); ++l) {
    json.begin_object()
        .field("blocks", counters.link_blocks[l])
        .field("entries", counters.link_entries[l]);
    link_[l]->write(json, "");
    json.end_object();
  }
  json.end_array();
}

}  // namespace emery::capture
