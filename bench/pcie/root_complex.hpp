// SPDX-License-Identifier: Apache-2.0
// Root complex and host: memory behind the link, enumeration, MMIO, interrupts. Implements
// HostInterface.
//
// A request is accepted `ingress` (50 ns) after it arrived, in order: writes land in memory then;
// reads take `memory_latency` (350 ns) more and see every write before them. Completions end at
// multiples of the read completion boundary and carry up to the maximum payload. Writes and
// requests of the CPU and completions leave in the order in which they were ready. With the link's
// 2 x 175 ns a read takes about 0.8 us from the device's request to its last data. `jitter` adds a
// uniform random time to each read, `tail` a fixed one to one in so many, `wake` a uniform one to a
// read that finds no other in service; `reorder` lets reads overtake each other and interleaves
// their completions; all from `seed`. What servers were measured to do is in parameters.toml.
//
// Packets a real root complex would drop as malformed, and requests the specification forbids,
// count as protocol_errors (the first is kept in words) and change nothing. Writes to unmapped
// memory count as wild_writes.
//
// Behind a switch it serves the memory requests of several devices (`devices`), which a CPU model
// besides finds and speaks to (switch_cpu.hpp): `serve` in place of `enumerate`, and completions go
// to `on_completion`.
//
// A device with virtual functions (SR-IOV) has an IOMMU between it and memory (iommu.hpp), and each
// function a host of its own (function_host.hpp).
//
// Left out: memory bandwidth, caches, address translation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/pcie/config_space.hpp"
#include "bench/pcie/host_if.hpp"
#include "bench/pcie/iommu.hpp"
#include "bench/pcie/pcie_link.hpp"
#include "bench/pcie/tlp.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/random.hpp"
#include "bench/sim/ring.hpp"

namespace emery {

struct RootConfig {
  Time ingress = 50 * kNanosecond;
  Time memory_latency = 350 * kNanosecond;
  Time jitter = 0;
  Time tail = 0;
  double tail_chance = 0;
  Time wake = 0;
  bool reorder = false;
  bool random_split = false;  // completions end at random multiples of the boundary
  std::uint64_t seed = 1;
  int rcb = 64;
  int completion_payload = 0;  // most bytes a completion carries; 0: the maximum payload
  int completion_from = 0;     // shorter requests are completed `rcb` bytes at a time
  Time write_time = 0;         // least time between two writes that memory takes
  int max_payload = 256;       // asked for; the device may support less
  int max_read_request = 512;
  bool extended_tag = true;
  bool wide_tags = false;  // takes tags of 10 bits, and lets devices send them
  bool relaxed_ordering = true;
  std::size_t max_reads = 1024;  // reads in service; more wait, and block what is behind them
  Time mmio_latency = 50 * kNanosecond;  // from the CPU to the link
  // The specification (2.8) recommends no less: what a device answers late behind its own writes is
  // not given up. While the host is stalled no time runs.
  Time mmio_timeout = 10'000 * kMicrosecond;
  std::uint8_t bus = 1;                      // the device's
  unsigned devices = 1;                      // on this bus and the next ones
  std::uint64_t mmio_base = 0x20'0000'0000;  // where BAR 0 goes
  // What is written here is an interrupt message.
  std::uint64_t interrupt_base = 0xfee0'0000, interrupt_bytes = 0x10'0000;

  // The settings of parameters.toml that are the host's, and seed.
  static RootConfig from(const Options& options);
  void check() const;
};

// A fault in the answers to reads. Of the reads that touch [addr, addr + bytes) (bytes 0: all
// reads), the nth from now (1: the next) and the `count - 1` after it are hit.
struct ReadFault {
  enum class Kind {
    kDrop,         // no completion at all
    kDropLast,     // all but the last completion
    kPoison,       // first completion poisoned
    kUnsupported,  // UR
    kAbort,        // CA
    kDelay,        // completed `delay` later; others pass
  };
  Kind kind = Kind::kDrop;
  std::uint64_t nth = 1, count = 1;
  std::uint64_t addr = 0, bytes = 0;
  Time delay = 0;
};

struct RootStats {
  std::uint64_t writes = 0, write_bytes = 0;
  std::uint64_t reads = 0, read_bytes = 0, completions = 0;
  std::uint64_t unsupported = 0;  // reads of unmapped memory
  std::uint64_t wild_writes = 0;  // writes to unmapped memory
  std::uint64_t poisoned_writes = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t protocol_errors = 0;
  std::uint64_t faults = 0;      // injected
  std::uint64_t unanswered = 0;  // reads whose last completion was kept back for good
  std::uint64_t mmio_reads = 0, mmio_writes = 0, mmio_failed = 0;
  std::uint64_t reads_max = 0;
  std::uint64_t first_wild_addr = 0;
  std::string first_protocol_error;

  template <class Json>
  void write(Json& json) const {
    json.begin_object()
        .field("writes", writes)
        .field("write_bytes", write_bytes)
        .field("reads", reads)
        .field("read_bytes", read_bytes)
        .field("completions", completions)
        .field("unsupported", unsupported)
        .field("wild_writes", wild_writes)
        .field("poisoned_writes", poisoned_writes)
        .field("interrupts", interrupts)
        .field("protocol_errors", protocol_errors)
        .field("first_protocol_error", first_protocol_error)
        .field("faults", faults)
        .field("mmio_reads", mmio_reads)
        .field("mmio_writes", mmio_writes)
        .field("mmio_failed", mmio_failed)
        .field("reads_max", reads_max)
        .end_object();
  }
};

class RootComplex : public Component, public SlotInterface {
 public:
  // Is told of what the device does to memory.
  class Observer {
   public:
    virtual ~Observer() = default;
    // A write has arrived and is in memory; a read has arrived.
    virtual void wrote(std::uint64_t addr, std::uint32_t bytes, Time arrived) = 0;
    virtual void asked(std::uint64_t addr, std::uint32_t bytes, Time arrived) = 0;
    // Part of a read will be back at the device then.
    virtual void answered(std::uint64_t addr, std::uint32_t bytes, Time back) = 0;
  };

  RootComplex(const RootConfig& config, Simulation& simulation, PcieLink& link, HostMemory& memory);

  // ---- Component
  void sample(Time now) override;
  void drive() override {}

  // ---- HostInterface
  const PciDevice& device() const override { return device_; }
  std::uint32_t config_read(std::uint16_t offset) override;
  void config_write(std::uint16_t offset, std::uint32_t value, unsigned byte_enables) override;
  void config_read_async(std::uint16_t offset, ReadDone done) override;
  void config_write_async(std::uint16_t offset, std::uint32_t value, unsigned byte_enables,
                          ReadDone done) override;
  void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) override;
  void mmio_write(std::uint64_t addr, const void* from, unsigned bytes) override;
  HostMemory& memory() override { return memory_; }
  Simulation& simulation() const override { return simulation_; }
  MsixMessage msix_message(unsigned vector) const override {
    return {config_.interrupt_base, vector};
  }
  void on_vector(VectorHandler handler) override { on_vector_ = std::move(handler); }
  void on_message(MessageHandler handler) override { on_message_ = std::move(handler); }

  // ---- virtual functions
  // After enumerate(): makes so many functions, the physical one among them, and gives them BARs
  // side by side. What they ask goes through `iommu` from now on.
  void enable_functions(unsigned functions, Iommu& iommu);
  std::uint64_t virtual_bar0() const { return virtual_bar0_; }
  void on_function_vector(unsigned function, VectorHandler handler) {
    function_vector_.at(function) = std::move(handler);
  }
  // Of one of them, by its place on the bus.
  std::uint32_t config_read_of(std::uint16_t id, std::uint16_t offset) {
    return static_cast<std::uint32_t>(blocking(make_config(false, id, offset, 0xf, 0, 0), 0, 4));
  }
  void config_write_of(std::uint16_t id, std::uint16_t offset, std::uint32_t value,
                       unsigned byte_enables) {
    blocking(make_config(true, id, offset, byte_enables, 0, 0), value, 0);
  }
  void config_async_of(std::uint16_t id, bool write, std::uint16_t offset, std::uint32_t value,
                       unsigned byte_enables, ReadDone done) {
    cpu_request(make_config(write, id, offset, byte_enables, 0, 0), value, write ? 0 : 4,
                std::move(done));
  }
  std::size_t mmio_room() const override {
    return kPostedRoom - std::min(kPostedRoom, posted_.size());
  }

  // Finds the device, assigns BAR 0, sets payload and request sizes: what a machine has done before
  // any driver comes.
  const PciDevice& enumerate();
  // Someone else has done that, and set these sizes.
  void serve(int max_payload, int max_read_request) {
    device_.max_payload = max_payload;
    device_.max_read_request = max_read_request;
  }
  // Completions are for someone else.
  void on_completion(std::function<void(const Tlp&)> callback) {
    on_completion_ = std::move(callback);
  }

  // ---- faults
  void inject(const ReadFault& fault) { faults_.push_back({fault, 0}); }
  // Neither accepts requests nor completes reads in [from, until).
  void stall(Time from, Time until) {
    stall_from_ = from;
    stall_until_ = until;
  }

  // The link was lost: what the CPU waits for fails, what it sent is gone. Requests while the link
  // is lost fail at once (reads give all ones). Follow with enumerate() when it is back. Reads of
  // the device are forgotten, or kept until answer_kept().
  void link_lost(bool keep_reads = false);
  void answer_kept();
  // What the CPU waits for fails: the device has forgotten it.
  void fail_requests();

  // When the device is reset: forgets its reads. Follow with enumerate().
  void forget_reads() {
    reads_.clear();
    tag_used_.assign(tag_used_.size(), false);
  }

  void observe(Observer* observer) { observer_ = observer; }
  const RootStats& stats() const { return stats_; }
  std::size_t reads_open() const { return reads_.size(); }
  // Tags of the device's reads in use.
  std::size_t tags_in_use() const {
    return static_cast<std::size_t>(std::count(tag_used_.begin(), tag_used_.end(), true));
  }
  // Of one of the devices, which count from 0.
  std::size_t tags_in_use(unsigned device) const {
    const auto first = tag_used_.begin() + static_cast<std::ptrdiff_t>(kTags * device);
    return static_cast<std::size_t>(std::count(first, first + kTags, true));
  }
  // Writes and requests of the CPU that have not left yet.
  std::size_t cpu_waits() const { return posted_.size() + cpu_requests_.size(); }

 private:
  struct Read {
    Tlp request;
    std::uint64_t at = 0;    // next byte
    std::uint32_t left = 0;  // bytes; 0 for a zero-length read
    Time ready = 0;
    CplStatus status = kStatusSC;
    bool drop = false, drop_last = false, poison = false, started = false;
  };
  struct ArmedFault {
    ReadFault fault;
    std::uint64_t seen;
  };
  // A read or configuration request of the CPU.
  struct CpuRequest {
    Tlp tlp;
    std::uint32_t data = 0;
    std::uint32_t bytes = 0;
    ReadDone done;
  };
  struct CpuPending {
    bool used = false;
    std::uint32_t bytes = 0, left = 0;
    std::uint64_t value = 0;
    std::uint64_t serial = 0;
    ReadDone done;
  };
  static constexpr std::size_t kTags = 1024;  // of a device
  static constexpr std::uint32_t kCpuTags = 64;
  static constexpr std::size_t kPostedRoom = 64;  // writes on their way from CPUs to the link

  void accept(const Tlp& tlp);
  void accept_write(const Tlp& tlp);
  void accept_read(const Tlp& tlp);
  void accept_completion(const Tlp& tlp);
  bool check_request(const Tlp& tlp);
  bool protocol_error(const Tlp& tlp, const char* what);
  void apply_faults(Read& read);
  void launch(Time now);
  void send_completion();
  bool launch_cpu_request();
  void give_up_at(Time when, std::uint32_t tag, std::uint64_t serial);
  void cpu_request(const Tlp& tlp, std::uint32_t data, std::uint32_t bytes, ReadDone done);
  void cpu_finish(std::uint32_t tag, bool ok);
  std::uint64_t blocking(const Tlp& tlp, std::uint32_t data, std::uint32_t bytes);
  bool known(std::uint16_t requester) const {
    const unsigned bus = requester >> 8;
    return function_of(requester) >= 0 && bus >= config_.bus && bus - config_.bus < config_.devices;
  }
  int function_of(std::uint16_t requester) const {
    const unsigned place = requester & 0xff;
    if (place == 0) return 0;
    const unsigned number = place - ConfigSpace::kFirstVirtual + 1;
    return place >= ConfigSpace::kFirstVirtual && number < function_vector_.size()
               ? static_cast<int>(number)
               : -1;
  }
  // Of the tag of a known device's read.
  std::vector<bool>::reference tag_used(const Tlp& tlp) {
    return tag_used_[kTags * ((tlp.requester() >> 8) - config_.bus) + tlp.tag()];
  }
  std::uint16_t device_id() const { return static_cast<std::uint16_t>(config_.bus << 8); }

  RootConfig config_;
  Simulation& simulation_;
  PcieLink& link_;
  HostMemory& memory_;
  Random random_;
  PciDevice device_;
  bool wide_tags_ = false;

  Ring<Read> reads_{64};  // by ready time
  Time last_ready_ = 0;
  Time write_free_ = 0;  // when memory takes the next write
  Iommu* iommu_ = nullptr;
  std::uint64_t virtual_bar0_ = 0;
  std::vector<VectorHandler> function_vector_;
  std::vector<bool> tag_used_;
  std::vector<ArmedFault> faults_;
  Time stall_from_ = kNever, stall_until_ = kNever;

  TlpFifo posted_{4096};
  Ring<CpuRequest> cpu_requests_;
  CpuPending cpu_pending_[kCpuTags];
  std::uint32_t cpu_tag_ = 0;
  std::uint64_t cpu_serial_ = 0;

  VectorHandler on_vector_;
  MessageHandler on_message_;
  std::function<void(const Tlp&)> on_completion_;
  Observer* observer_ = nullptr;
  std::uint8_t buffer_[4096 + 8];
  RootStats stats_;
};

}  // namespace emery
