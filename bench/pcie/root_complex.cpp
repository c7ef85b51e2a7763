// SPDX-License-Identifier: Apache-2.0
#include "bench/pcie/root_complex.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "bench/pcie/config_space.hpp"

namespace emery {
namespace {

// What a read of `bytes` that failed gives.
std::uint64_t all_ones(std::uint32_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
}

}  // namespace

RootConfig RootConfig::from(const Options& options) {
  RootConfig c;
  c.max_payload = options.get<int>("mps");
  c.max_read_request = options.get<int>("mrrs");
  c.seed = options.get<std::uint64_t>("seed");
  c.memory_latency = options.ns("read_latency_ns");
  c.jitter = options.ns("read_jitter_ns");
  c.tail = options.ns("read_tail_ns");
  c.tail_chance = options.get<int>("read_tail_ppm") / 1e6;
  c.wake = options.ns("read_wake_ns");
  c.reorder = c.jitter != 0 || c.tail_chance > 0;
  c.rcb = options.get<int>("rcb");
  c.completion_payload = options.get<int>("completion_bytes");
  c.completion_from = options.get<int>("completion_from");
  c.write_time = options.ns("write_ns");
  return c;
}

void RootConfig::check() const {
  const auto size_ok = [](int bytes) {
    return bytes >= 128 && bytes <= 4096 && std::has_single_bit(static_cast<unsigned>(bytes));
  };
  if (rcb != 64 && rcb != 128) throw OptionError("read completion boundary must be 64 or 128");
  if (!size_ok(max_payload))
    throw OptionError("maximum payload must be 128 to 4096, a power of two");
  if (!size_ok(max_read_request))
    throw OptionError("maximum read request must be 128 to 4096, a power of two");
  if (completion_payload != 0 && (completion_payload < rcb || completion_payload % rcb)) {
    throw OptionError("completion payload must be a multiple of the read completion boundary");
  }
  if (max_reads == 0) throw OptionError("max_reads must be at least 1");
}

RootComplex::RootComplex(const RootConfig& config, Simulation& simulation, PcieLink& link,
                         HostMemory& memory)
    : config_(config),
      simulation_(simulation),
      link_(link),
      memory_(memory),
      random_(config.seed),
      tag_used_(kTags * config.devices, false) {
  config.check();
}

void RootComplex::sample(Time now) {
  link_.down.service(now);
  if (now >= stall_from_) {
    if (now < stall_until_) return;
    stall_from_ = stall_until_ = kNever;
  }
  while (const Tlp* tlp = link_.up.front(now - config_.ingress)) {
    if (tlp->is_mem_read() && reads_.size() >= config_.max_reads) break;
    if (config_.write_time && tlp->is_mem_write()) {
      if (write_free_ > now) break;
      write_free_ = std::max(write_free_, tlp->time + config_.ingress) + config_.write_time;
    }
    accept(*tlp);
    const FcClass c = tlp->fc_class();
    const std::uint32_t data = tlp->data_credits();
    link_.up.pop();
    link_.up.release(c, data, now);
  }
  if ((!reads_.empty() && reads_.front().ready <= now) || !posted_.empty() ||
      !cpu_requests_.empty())
    launch(now);
}

// ---- what the device sends

void RootComplex::accept(const Tlp& tlp) {
  if (tlp.is_mem_write()) {
    if (check_request(tlp)) accept_write(tlp);
  } else if (tlp.is_mem_read()) {
    if (check_request(tlp)) accept_read(tlp);
  } else if (tlp.is_completion()) {
    on_completion_ ? on_completion_(tlp) : accept_completion(tlp);
  } else {
    protocol_error(tlp, "type of packet not expected from a device");
  }
}

bool RootComplex::protocol_error(const Tlp& tlp, const char* what) {
  if (stats_.protocol_errors++ == 0) {
    char text[160];
    std::snprintf(text, sizeof text, "%s: header %08x %08x %08x %08x, payload %u bytes, at %lld ps",
                  what, tlp.dw[0], tlp.dw[1], tlp.dw[2], tlp.dw[3], tlp.bytes,
                  static_cast<long long>(simulation_.now()));
    stats_.first_protocol_error = text;
  }
  return false;
}

// The rules of the Base Specification's chapter 2 for memory requests of an endpoint.
bool RootComplex::check_request(const Tlp& tlp) {
  const std::uint64_t addr = tlp.addr();
  const std::uint32_t span = 4 * tlp.length_dw();
  if ((addr & 0xfff) + span > 4096) return protocol_error(tlp, "request crosses a 4 kB border");
  if (tlp.four_dw() && addr >> 32 == 0)
    return protocol_error(tlp, "4DW header for an address below 4 GB");
  if (!known(tlp.requester())) return protocol_error(tlp, "wrong requester id");
  if (tlp.length_dw() == 1 ? tlp.last_be() != 0 : tlp.first_be() == 0 || tlp.last_be() == 0) {
    return protocol_error(tlp, "byte enables do not fit the length");
  }
  if (tlp.length_dw() > 2 && !ByteRange::of(tlp).contiguous)
    return protocol_error(tlp, "byte enables with holes");
  if (tlp.relaxed() && !config_.relaxed_ordering)
    return protocol_error(tlp, "relaxed ordering is off");
  if (tlp.is_mem_write()) {
    if (span > static_cast<std::uint32_t>(device_.max_payload))
      return protocol_error(tlp, "payload too large");
  } else {
    if (span > static_cast<std::uint32_t>(device_.max_read_request))
      return protocol_error(tlp, "read too large");
    const std::uint32_t most = config_.extended_tag ? 255 : 31;
    if (tlp.tag() > most && (tlp.tag() < 256 || !wide_tags_))
      return protocol_error(tlp, "tag out of range");
    if (tag_used(tlp)) return protocol_error(tlp, "tag in use");
  }
  return true;
}

void RootComplex::accept_write(const Tlp& tlp) {
  if (tlp.poisoned()) {
    ++stats_.poisoned_writes;
    return;
  }
  const ByteRange range = ByteRange::of(tlp);
  if (range.count == 0) return;
  const std::uint8_t* from = tlp.payload + (range.first - tlp.addr());
  if (range.first - config_.interrupt_base < config_.interrupt_bytes) {
    if (range.count != 4 || (range.first & 3)) {
      protocol_error(tlp, "interrupt message is not one DW");
      return;
    }
    std::uint32_t data;
    std::memcpy(&data, from, 4);
    if (iommu_) {
      const auto function = static_cast<unsigned>(function_of(tlp.requester()));
      if (!iommu_->interrupt(function, data)) return;
      ++stats_.interrupts;
      if (function_vector_[function]) function_vector_[function](data & 0xffff);
      return;
    }
    ++stats_.interrupts;
    if (on_vector_) on_vector_(data);
    if (on_message_) on_message_({range.first, data});
    return;
  }
  if (iommu_ &&
      !iommu_->write(static_cast<unsigned>(function_of(tlp.requester())), range.first, range.count))
    return;
  bool landed;
  if (range.contiguous) {
    landed = memory_.write(range.first, from, range.count);
  } else {
    landed = memory_.mapped(range.first, range.count);
    const std::uint32_t enables = tlp.first_be() | tlp.last_be() << 4;
    for (std::uint32_t i = 0; landed && i < 8; ++i) {
      if (enables >> i & 1) memory_.write(tlp.addr() + i, tlp.payload + i, 1);
    }
  }
  if (!landed) {
    if (stats_.wild_writes++ == 0) stats_.first_wild_addr = range.first;
    return;
  }
  ++stats_.writes;
  stats_.write_bytes += range.count;
  if (observer_) observer_->wrote(range.first, range.count, tlp.time);
  memory_.notify(range.first, range.count);
}

void RootComplex::accept_read(const Tlp& tlp) {
  const ByteRange range = ByteRange::of(tlp);
  Read read;
  read.request = tlp;
  read.request.payload = nullptr;
  read.at = range.first;
  read.left = range.count;
  Time ready = tlp.time + config_.ingress + config_.memory_latency;
  if (config_.jitter)
    ready += static_cast<Time>(random_.below(static_cast<std::uint64_t>(config_.jitter) + 1));
  if (config_.tail && random_.chance(config_.tail_chance)) ready += config_.tail;
  if (config_.wake && reads_.empty())
    ready += static_cast<Time>(random_.below(static_cast<std::uint64_t>(config_.wake) + 1));
  if (!config_.reorder) ready = last_ready_ = std::max(ready, last_ready_);
  read.ready = ready;
  tag_used(tlp) = true;
  ++stats_.reads;
  if (observer_) observer_->asked(range.first, range.count, tlp.time);
  if (iommu_ && range.count &&
      !iommu_->read(static_cast<unsigned>(function_of(tlp.requester())), range.first,
                    range.count)) {
    read.status = kStatusUR;
  } else if (range.count && !memory_.mapped(range.first, range.count)) {
    read.status = kStatusUR;
    ++stats_.unsupported;
  }
  if (!faults_.empty()) apply_faults(read);
  reads_.insert_sorted(read, [](const Read& a, const Read& b) { return a.ready > b.ready; });
  stats_.reads_max = std::max<std::uint64_t>(stats_.reads_max, reads_.size());
}

void RootComplex::apply_faults(Read& read) {
  for (std::size_t i = 0; i < faults_.size();) {
    ArmedFault& armed = faults_[i];
    const ReadFault& fault = armed.fault;
    const bool touches = fault.bytes == 0 ||
                         (read.at < fault.addr + fault.bytes && fault.addr < read.at + read.left);
    if (!touches || ++armed.seen < fault.nth) {
      ++i;
      continue;
    }
    ++stats_.faults;
    switch (fault.kind) {
      case ReadFault::Kind::kDrop:
        read.drop = true;
        break;
      case ReadFault::Kind::kDropLast:
        read.drop_last = true;
        break;
      case ReadFault::Kind::kPoison:
        read.poison = true;
        break;
      case ReadFault::Kind::kUnsupported:
        read.status = kStatusUR;
        break;
      case ReadFault::Kind::kAbort:
        read.status = kStatusCA;
        break;
      case ReadFault::Kind::kDelay:
        read.ready += fault.delay;
        break;
    }
    if (armed.seen >= fault.nth + fault.count - 1) {
      faults_.erase(faults_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void RootComplex::accept_completion(const Tlp& tlp) {
  const std::uint32_t tag = tlp.cpl_tag();
  if (tlp.cpl_requester() != 0 || tag >= kCpuTags || !cpu_pending_[tag].used) {
    protocol_error(tlp, "completion nobody waits for");
    return;
  }
  CpuPending& pending = cpu_pending_[tag];
  if (tlp.status() != kStatusSC || tlp.poisoned()) {
    cpu_finish(tag, false);
    return;
  }
  if (!tlp.has_data()) {
    if (pending.bytes != 0) protocol_error(tlp, "completion of a read without data");
    cpu_finish(tag, pending.bytes == 0);
    return;
  }
  const std::uint32_t skip = tlp.lower_addr() & 3;
  if (tlp.byte_count() != pending.left || skip >= tlp.bytes) {
    protocol_error(tlp, "completion with a wrong byte count");
    cpu_finish(tag, false);
    return;
  }
  const std::uint32_t got = std::min(pending.left, tlp.bytes - skip);
  std::memcpy(reinterpret_cast<std::uint8_t*>(&pending.value) + (pending.bytes - pending.left),
              tlp.payload + skip, got);
  pending.left -= got;
  if (pending.left == 0) cpu_finish(tag, true);
}

// ---- what the device gets

// In the order of the times at which they were ready. Neither completions nor requests pass a
// posted write that is older, so one without credits holds all that came after it; a request
// without credits holds nothing.
void RootComplex::launch(Time now) {
  while (link_.down.idle(now)) {
    const Time written = posted_.empty() ? kNever : posted_.front().time;
    const Time asked = cpu_requests_.empty() ? kNever : cpu_requests_.front().tlp.time;
    const Time ready = reads_.empty() ? kNever : reads_.front().ready;
    if (asked <= now && asked < written && asked <= ready && launch_cpu_request()) continue;
    if (ready <= now && ready < written) {
      send_completion();
      continue;
    }
    if (written > now) return;
    const Tlp& tlp = posted_.front();
    if (!link_.down.has_credit(kPosted, tlp.data_credits())) return;
    link_.down.send(tlp, tlp.time);
    posted_.pop();
  }
}

// Sends the next completion of the oldest read.
void RootComplex::send_completion() {
  Read& read = reads_.front();
  const Time ready = read.ready;
  const std::uint64_t from = read.at;
  const auto lower = static_cast<std::uint32_t>(read.at & 0x7f);
  std::uint32_t sent = 0;
  bool drop = read.drop;
  Tlp tlp;
  if (read.status == kStatusSC && read.left) {
    const auto rcb = static_cast<std::uint64_t>(config_.rcb);
    std::uint64_t most = config_.completion_payload
                             ? std::min(config_.completion_payload, device_.max_payload)
                             : device_.max_payload;
    if (4 * read.request.length_dw() < static_cast<std::uint32_t>(config_.completion_from))
      most = rcb;
    if (config_.random_split) most = rcb * random_.between(1, most / rcb);
    const std::uint64_t border = (read.at + most) & ~(rcb - 1);
    sent = static_cast<std::uint32_t>(std::min<std::uint64_t>(read.left, border - read.at));
    const std::uint32_t skip = read.at & 3;
    const std::uint32_t bytes = (skip + sent + 3) & ~3u;
    std::memset(buffer_, 0, 4);
    std::memset(buffer_ + bytes - 4, 0, 4);
    if (memory_.read(read.at, buffer_ + skip, sent)) {
      tlp = make_completion(read.request, 0, kStatusSC, bytes, read.left, lower);
      tlp.payload = buffer_;
      if (read.poison) tlp.dw[0] |= 1u << 14;
      read.poison = false;
    } else {
      read.status = kStatusCA;  // freed while it was read
    }
  } else if (read.status == kStatusSC) {
    std::memset(buffer_, 0, 4);
    tlp = make_completion(read.request, 0, kStatusSC, 4, 1, lower);
    tlp.payload = buffer_;
  }
  if (read.status != kStatusSC) {
    tlp = make_completion(read.request, 0, read.status, 0, std::max(read.left, 1u), lower);
    sent = read.left;
  }
  read.at += sent;
  read.left -= sent;
  if (read.drop_last && read.left == 0) drop = true;
  const bool last = read.left == 0;
  // A dropped completion leaves its tag in use as long as the read is in service; the device
  // decides when to give up.
  if (last) tag_used(read.request) = false;
  if (last) {
    reads_.pop();
  } else if (config_.reorder && reads_.size() > 1 && random_.chance(0.5)) {
    Read rest = read;
    rest.ready = std::max(rest.ready, reads_[1].ready);
    reads_.pop();
    reads_.insert_sorted(rest, [](const Read& a, const Read& b) { return a.ready > b.ready; });
  }
  if (drop) {
    stats_.unanswered += last;
    return;
  }
  ++stats_.completions;
  if (tlp.status() == kStatusSC) stats_.read_bytes += sent;
  const Time left = link_.down.send(tlp, ready);
  if (observer_ && tlp.status() == kStatusSC)
    observer_->answered(from, sent, left + link_.config().latency);
}

// ---- what the CPU asks

bool RootComplex::launch_cpu_request() {
  CpuRequest& request = cpu_requests_.front();
  if (!link_.down.has_credit(kNonPosted, request.tlp.data_credits()) || cpu_pending_[cpu_tag_].used)
    return false;
  const std::uint32_t tag = cpu_tag_;
  cpu_tag_ = (cpu_tag_ + 1) % kCpuTags;
  CpuPending& pending = cpu_pending_[tag];
  pending.used = true;
  pending.bytes = pending.left = request.bytes;
  pending.value = 0;
  pending.serial = ++cpu_serial_;
  pending.done = std::move(request.done);
  std::uint8_t data[4];
  std::memcpy(data, &request.data, 4);
  Tlp tlp = request.tlp;
  tlp.dw[1] |= tag << 8;
  tlp.payload = data;
  link_.down.send(tlp, tlp.time);
  cpu_requests_.pop();
  give_up_at(simulation_.now() + config_.mmio_timeout, tag, pending.serial);
  return true;
}

// Ends a request that has no answer by then. A host that takes no answers has not waited.
void RootComplex::give_up_at(Time when, std::uint32_t tag, std::uint64_t serial) {
  simulation_.at(when, [this, tag, serial](Time now) {
    if (!cpu_pending_[tag].used || cpu_pending_[tag].serial != serial) return;
    if (now >= stall_from_) return give_up_at(stall_until_ + config_.mmio_timeout, tag, serial);
    cpu_finish(tag, false);
  });
}

void RootComplex::cpu_request(const Tlp& tlp, std::uint32_t data, std::uint32_t bytes,
                              ReadDone done) {
  if (link_.lost()) {
    simulation_.at(simulation_.now() + config_.mmio_latency,
                   [this, bytes, done = std::move(done)](Time) {
                     ++stats_.mmio_failed;
                     if (done) done(all_ones(bytes), false);
                   });
    return;
  }
  CpuRequest request;
  request.tlp = tlp;
  request.tlp.time = simulation_.now() + config_.mmio_latency;
  request.data = data;
  request.bytes = bytes;
  request.done = std::move(done);
  cpu_requests_.push(std::move(request));
}

void RootComplex::link_lost(bool keep_reads) {
  posted_.clear();
  stats_.unanswered = 0;
  if (!keep_reads) forget_reads();
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    reads_[i].ready = kNever;
    reads_[i].drop = reads_[i].drop_last = false;
  }
  while (!cpu_requests_.empty()) {
    CpuRequest request = std::move(cpu_requests_.front());
    cpu_requests_.pop();
    ++stats_.mmio_failed;
    if (request.done) request.done(all_ones(request.bytes), false);
  }
  fail_requests();
}

void RootComplex::fail_requests() {
  for (std::uint32_t tag = 0; tag < kCpuTags; ++tag) {
    if (cpu_pending_[tag].used) cpu_finish(tag, false);
  }
}

void RootComplex::answer_kept() {
  for (std::size_t i = 0; i < reads_.size(); ++i)
    reads_[i].ready = std::min(reads_[i].ready, simulation_.now());
}

void RootComplex::cpu_finish(std::uint32_t tag, bool ok) {
  CpuPending& pending = cpu_pending_[tag];
  const ReadDone done = std::move(pending.done);
  const std::uint64_t value = ok ? pending.value : all_ones(pending.bytes);
  pending.used = false;
  if (!ok) ++stats_.mmio_failed;
  if (done) done(value, ok);
}

std::uint64_t RootComplex::blocking(const Tlp& tlp, std::uint32_t data, std::uint32_t bytes) {
  // Shared, because the answer may come after this call has been left by an exception.
  struct Answer {
    std::uint64_t value = 0;
    bool there = false;
  };
  const auto answer = std::make_shared<Answer>();
  cpu_request(tlp, data, bytes, [answer](std::uint64_t value, bool) { *answer = {value, true}; });
  while (!answer->there) simulation_.step();
  return answer->value;
}

std::uint32_t RootComplex::config_read(std::uint16_t offset) {
  const Tlp tlp = make_config(false, device_id(), offset, 0xf, 0, 0);
  return static_cast<std::uint32_t>(blocking(tlp, 0, 4));
}

void RootComplex::config_write(std::uint16_t offset, std::uint32_t value, unsigned byte_enables) {
  blocking(make_config(true, device_id(), offset, byte_enables, 0, 0), value, 0);
}

void RootComplex::config_read_async(std::uint16_t offset, ReadDone done) {
  cpu_request(make_config(false, device_id(), offset, 0xf, 0, 0), 0, 4, std::move(done));
}

void RootComplex::config_write_async(std::uint16_t offset, std::uint32_t value,
                                     unsigned byte_enables, ReadDone done) {
  cpu_request(make_config(true, device_id(), offset, byte_enables, 0, 0), value, 0,
              std::move(done));
}

void RootComplex::mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) {
  if (bytes == 0 || (addr & 7) + bytes > 8)
    throw std::invalid_argument("mmio_read: bad size or alignment");
  ++stats_.mmio_reads;
  cpu_request(make_memory(false, addr, bytes, 0, 0), 0, bytes, std::move(done));
}

void RootComplex::mmio_write(std::uint64_t addr, const void* from, unsigned bytes) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  while (bytes) {
    const unsigned here = std::min(bytes, static_cast<unsigned>(64 - addr % 64));
    std::uint8_t data[64] = {};
    std::memcpy(data + (addr & 3), source, here);
    Tlp tlp = make_memory(true, addr, here, 0, 0);
    tlp.payload = data;
    tlp.time = simulation_.now() + config_.mmio_latency;
    if (!link_.lost()) posted_.push(tlp);
    ++stats_.mmio_writes;
    addr += here;
    source += here;
    bytes -= here;
  }
}

void RootComplex::enable_functions(unsigned functions, Iommu& iommu) {
  constexpr std::uint16_t kCap = ConfigSpace::kSriovCap;
  const auto at = [](unsigned offset) { return static_cast<std::uint16_t>(kCap + offset); };
  if ((config_read(kCap) & 0xffff) != 0x10) throw std::runtime_error("device has no SR-IOV");
  function_vector_.assign(functions, nullptr);
  iommu_ = &iommu;
  // Above BAR 0 of the physical one.
  virtual_bar0_ = device_.bar0 + device_.bar0_bytes;
  config_write(at(0x24), static_cast<std::uint32_t>(virtual_bar0_), 0xf);
  config_write(at(0x28), static_cast<std::uint32_t>(virtual_bar0_ >> 32), 0xf);
  config_write(at(0x10), functions - 1, 0x3);
  config_write(at(0x08), 0x9, 0x3);
}

const PciDevice& RootComplex::enumerate() {
  PciDevice d;
  d.id = device_id();
  config_write(0x04, 0, 0x3);  // gives the device its number
  const std::uint32_t ids = config_read(0x00);
  if (ids == 0xffff'ffff || ids == 0) throw std::runtime_error("no PCIe device answers");
  d.vendor = ids & 0xffff;
  d.device = static_cast<std::uint16_t>(ids >> 16);
  d.class_code = config_read(0x08) >> 8;
  const std::uint32_t subsystem = config_read(0x2c);
  d.subsystem_vendor = subsystem & 0xffff;
  d.subsystem = static_cast<std::uint16_t>(subsystem >> 16);

  config_write(0x10, 0xffff'ffff, 0xf);
  config_write(0x14, 0xffff'ffff, 0xf);
  const std::uint32_t low = config_read(0x10), high = config_read(0x14);
  if ((low & 7) != 4) throw std::runtime_error("BAR 0 is not a 64-bit memory BAR");
  d.bar0_bytes = ~(std::uint64_t{high} << 32 | (low & ~0xfu)) + 1;
  d.bar0 = (config_.mmio_base + d.bar0_bytes - 1) & ~(d.bar0_bytes - 1);
  config_write(0x10, static_cast<std::uint32_t>(d.bar0), 0xf);
  config_write(0x14, static_cast<std::uint32_t>(d.bar0 >> 32), 0xf);

  for (std::uint32_t at = config_read(0x34) & 0xfc, steps = 0; at != 0 && steps < 48; ++steps) {
    const auto offset = static_cast<std::uint16_t>(at);
    const std::uint32_t head = config_read(offset);
    if ((head & 0xff) == 0x10) {
      d.pcie_cap = offset;
    } else if ((head & 0xff) == 0x11) {
      d.msix_cap = offset;
      d.msix_vectors = static_cast<int>(head >> 16 & 0x7ff) + 1;
      d.msix_table = config_read(static_cast<std::uint16_t>(offset + 4)) & ~7u;
      d.msix_pba = config_read(static_cast<std::uint16_t>(offset + 8)) & ~7u;
    }
    at = head >> 8 & 0xfc;
  }
  if (d.pcie_cap == 0) throw std::runtime_error("device has no PCI Express capability");
  const int supported = 128 << (config_read(static_cast<std::uint16_t>(d.pcie_cap + 4)) & 7);
  d.max_payload = std::min(config_.max_payload, supported);
  d.max_read_request = config_.max_read_request;
  const std::uint32_t link = config_read(static_cast<std::uint16_t>(d.pcie_cap + 16)) >> 16;
  d.link_gen = link & 0xf;
  d.link_lanes = link >> 4 & 0x3f;
  const auto log = [](int bytes) {
    return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(bytes) / 128) - 1);
  };
  const std::uint32_t control = log(d.max_payload) << 5 | log(d.max_read_request) << 12 |
                                std::uint32_t{config_.extended_tag} << 8 |
                                std::uint32_t{config_.relaxed_ordering} << 4;
  config_write(static_cast<std::uint16_t>(d.pcie_cap + 8), control, 0x3);
  wide_tags_ =
      config_.wide_tags && config_read(static_cast<std::uint16_t>(d.pcie_cap + 0x24)) >> 17 & 1;
  if (wide_tags_) config_write(static_cast<std::uint16_t>(d.pcie_cap + 0x28), 1u << 12, 0x3);
  const std::uint32_t link_control = config_.rcb == 128 ? 8 : 0;
  config_write(static_cast<std::uint16_t>(d.pcie_cap + 16), link_control, 0x3);
  config_write(0x04, 0x2, 0x3);  // memory space on; bus mastering is the driver's to enable
  device_ = d;
  return device_;
}

}  // namespace emery
