// SPDX-License-Identifier: Apache-2.0
// Driver model of host-nic: the driver core (sw/lib/host_nic) as an operating system or a
// user-space stack would use it, and what those have around it: CPUs that serve queues, doorbells
// gathered in a round, an answer to errors.
//
// Approximation: CPU cost is a stated time for each packet on the CPU that serves the queue (0 by
// default); caches and memory bandwidth are not modelled, and reading or writing host memory takes
// no time of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/pcie/host_if.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "sw/lib/host_nic/emnic.h"
#include "systems/host_nic/aggregates.hpp"
#include "systems/host_nic/queue_counts.hpp"
#include "systems/host_nic/scheduling.hpp"
#include "systems/host_nic/tx_load.hpp"
#include "systems/nic_core/machine.hpp"

namespace emery::host_nic {

struct DriverConfig {
  unsigned tx_queues;     // transmit queues opened on each interface
  unsigned rx_queues;     // receive queues opened on each interface
  bool shared;            // by all its ports
  unsigned tx_ring;       // slots, a power of two from 8 to 32768
  unsigned rx_ring;       // likewise, or granules of 16 bytes
  bool tx_stream;         // transmit rings hold the frames; tx_ring counts granules of 16 bytes
  bool rx_stream;         // receive queues are streams
  unsigned header_bytes;  // of a buffer for the headers of each frame received; 0: there are none
  unsigned coalesce_bytes, coalesce_clocks;  // of TCP segments under one record; 0: none are
  unsigned max_frame;                        // bytes without FCS
  unsigned segments;    // descriptors a transmitted packet is spread over: 1, 2, 4 or 8
  unsigned tx_burst;    // packets a queue sends in its turn
  bool tx_checksum;     // the device computes TCP and UDP checksums
  unsigned tso_bytes;   // longest packet that the device cuts into frames; 0: it cuts none
  bool vlan_tags;       // the device puts in and takes out the outermost tag of a frame
  emnic_push tx_push;   // what goes with the doorbell of a frame that finds the device idle
  bool recover;         // sets up anew what the device has stopped for an error
  bool interrupts;      // wait for MSI-X instead of polling
  unsigned cpus;        // each serves its share of the queues
  Time cpu_per_packet;  // for each packet received or completed
  unsigned dma_timeout_clocks, dma_overtaken_clocks;
  Scheduling scheduling;
  unsigned doorbell_batch = 8;  // packets gathered for one doorbell of a queue busy with as many
  unsigned refill_batch = 32;   // received packets for one doorbell, or a quarter of the ring
  unsigned budget = 64;         // packets served before the next queue has its turn
  unsigned cpl_delay_clocks;    // completion coalescing
  unsigned interrupt_interval_clocks;
  unsigned functions = 0;       // whose queues received frames are dealt to
  unsigned counted_queues = 0;  // whose counters are compared at the end, a way of each interface
};

// A frame that arrived, valid during the callback only.
struct Received {
  std::span<const std::uint8_t> frame;
  std::span<const std::uint8_t> record;
  unsigned interface;
  unsigned queue;
  std::uint64_t timestamp;  // PTP, ns, 40 bits
  std::uint32_t hash;
  std::uint16_t csum;
  std::uint8_t flags;
  unsigned tag;  // that was taken out of `frame`: EMNIC_C_TAG, EMNIC_S_TAG; 0: none
  std::uint16_t tci;
  unsigned headers;  // bytes that lay in a buffer of their own
};

// An error the device reported through an event queue.
struct DeviceError {
  unsigned interface;
  unsigned kind;  // queue_pkg::event_e
  unsigned queue;
  unsigned code;  // queue_pkg::error_e
  Time when;
  // What the queue's control register says at the end of the run.
  bool stopped = false;
  unsigned register_code = 0;
};

class Driver {
 public:
  Driver(HostInterface& host, DriverConfig config);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Finds the device and reads its registers; throws std::runtime_error when it is not there or not
  // understood.
  void probe();
  // Sets up all queues and lets traffic in. Advances simulated time.
  void open();
  // Both once more, after the device was reset and all memory lent to it was given back: what was
  // with it is forgotten.
  void reopen();

  // The core's own, for settings, steering and counters. Reading registers takes simulated time.
  emnic* core() { return core_; }
  const emnic_interface& interface(unsigned i) const { return *emnic_get_interface(core_, i); }
  unsigned tx_queues() const { return config_.tx_queues; }
  unsigned rx_queues() const { return config_.rx_queues; }

  // Packets handed to the device and not completed, but for those in queues that it has stopped.
  unsigned tx_outstanding() const { return tx_outstanding_; }
  // Packets for a port that lie in queues which the device has stopped: they will not be sent.
  unsigned tx_stranded(unsigned interface, unsigned port) const;
  // The device has reported that it stopped the queue.
  bool tx_stopped(unsigned interface, unsigned queue) const {
    return emnic_tx_stopped(tx(interface, queue)) != 0;
  }
  // Puts a frame into the ring. Its doorbell comes with the next flush, or in a batch if the queue
  // is busy. False when full. With an MSS it is a packet that becomes frames of so many bytes of
  // payload: of TCP, whose header is at `tcp` and has the sum of the pseudo header without length.
  struct Cut {
    unsigned mss = 0, tcp = 0;
  };
  bool transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame, Cut cut);
  bool transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame) {
    return transmit(interface, queue, frame, Cut());
  }

  // One round of the driver's work at this time.
  void poll(Time now);
  // When the last CPU is through with the packets it has taken.
  Time busy_until() const;
  // Rings the doorbells that are due; call it after transmitting.
  void flush();
  // Queues whose doorbell may be due.
  std::size_t due() const { return touched_.size(); }

  std::function<void(const Received&, Time now)> on_receive;
  // A packet was completed; `error` when the device did not send it.
  std::function<void(unsigned interface, unsigned queue, bool error, std::uint64_t timestamp,
                     Time now)>
      on_sent;

  // Likewise, before that, with the record.
  std::function<void(const emnic_completion&)> on_sent_record;

  // A transmit queue's doorbell was rung, or the queue set up anew, for all of the `packets` that
  // it was given since the device was opened.
  std::function<void(unsigned interface, unsigned queue, std::uint32_t packets)> on_doorbell;

  // Which queue the device has told that it has stopped, and what would set it up anew; empty when
  // none is, or that is done.
  std::string stopped_for() const;
  // Reads back what the registers say of the errors. Takes simulated time.
  void read_error_registers();
  // What the device holds and will give back when it is idle: adds a finding for each register that
  // still says so. Takes simulated time.
  void find_levels(Findings& findings);
  // Values written that the device has not taken as they were, all counters together. Takes
  // simulated time.
  std::uint64_t settings_refused();

  // Compares the card's counters of some queues of so many interfaces with what was seen of them,
  // once the last records are taken. Takes simulated time.
  void compare_counts(unsigned interfaces);
  // Of a virtual function, whose counters another one reads: of `most` queues each way.
  void compare_counts(const QueueCounts::Read& read, unsigned most);
  const QueueCounts& counts() const { return counts_; }
  // What is wrong with what the card has done to rings and has counted.
  void check(Findings& findings) const;

  // Ports by which a queue's frames leave from now on, a bit each.
  void set_tx_ports(unsigned interface, unsigned queue, unsigned ports) {
    expect(emnic_set_tx_ports(core_, interface, queue, ports));
  }
  // Takes a queue out of use and sets it up anew in other memory, while all others go on.
  void restart_tx(unsigned interface, unsigned queue);
  void restart_rx(unsigned interface, unsigned queue);
  bool restarting() const { return !restarts_.empty(); }
  // Writes of the device to memory of a ring that was no longer in use.
  std::uint64_t stale_writes() const { return machine_.stale_writes(); }

  // For tests of how the device meets a bad driver: raw access to a transmit or receive ring.
  struct TxSlot {
    std::uint64_t buffer, descriptor;  // bus addresses
  };
  // Where the frame put into the ring last lies.
  TxSlot newest_tx(unsigned interface, unsigned queue) const;
  // Makes its (first) descriptor point to `addr`; before its doorbell is rung.
  void poison_tx_descriptor(unsigned interface, unsigned queue, std::uint64_t addr);
  void ring_tx_doorbell(unsigned interface, unsigned queue, std::uint16_t producer);
  std::uint16_t tx_producer(unsigned interface, unsigned queue) const;
  // Of the receive queue of the frame that is being taken: makes the descriptor `ahead` places
  // behind its own point to `addr`.
  void poison_rx_descriptor(unsigned interface, unsigned queue, unsigned ahead, std::uint64_t addr);
  // Where that descriptor lies.
  std::uint64_t rx_descriptor(unsigned interface, unsigned queue, unsigned ahead) const;
  // The CPU that serves the receive queue does nothing else until then.
  void stop_cpu(unsigned interface, unsigned rx_queue, Time until);

  void write(JsonWriter& json) const;
  // What the card counted of the queues that were compared.
  void write_counts(JsonWriter& json) const;
  std::size_t error_count() const { return errors_.size(); }
  // The errors reported, as an array of objects; and what the registers say of them, an object an
  // interface.
  void write_errors(JsonWriter& json) const;

 private:
  struct Completions {
    emnic_cq* queue;
    bool pending = false;
  };
  struct Events {
    emnic_eq* queue;
    bool pending = false;
  };
  struct Restart {
    bool transmit;
    unsigned interface, queue;
  };
  struct Cpu {
    Ring<std::uint32_t> work;  // completion queues with something in them; kStream: stream queues
    Time busy_until = 0;
  };

  static constexpr std::uint32_t kStream = 1u << 31;

  emnic_tx* tx(unsigned interface, unsigned queue) const {
    return emnic_tx_queue(core_, interface, queue);
  }
  emnic_rx* rx(unsigned interface, unsigned queue) const {
    return emnic_rx_queue(core_, interface, queue);
  }
  emnic_queue_state tx_state(unsigned interface, unsigned queue) const;
  emnic_queue_state rx_state(unsigned interface, unsigned queue) const;
  // Throws std::runtime_error for an error of the core.
  static void expect(int status);
  emnic_config core_config() const;
  // A polling CPU finds work where the device has written.
  void watch_rings(HostInterface& host, emnic_memory what, unsigned first, unsigned count,
                   std::uint64_t bus, std::size_t stride);
  void forget_queues();
  // A run is over when its frames have come out: their records may still wait for a CPU.
  void take_last_records(unsigned interfaces);
  void schedule(std::uint32_t completion_queue);
  void schedule_stream(std::uint32_t rx_queue);
  void wake(std::uint32_t event_queue);
  unsigned serve(std::uint32_t completion_queue, Time now);
  unsigned serve_stream(std::uint32_t rx_queue, Time now);
  void complete_tx(const emnic_completion& completion, Time now);
  void complete_rx(const emnic_completion& completion, Time now);
  // Makes one piece of a frame whose headers lie in a buffer of their own, and looks whether there
  // is nothing else in that buffer.
  void join(emnic_completion& completion);
  void serve_events(std::uint32_t index, Time now);
  void recover(unsigned interface, unsigned kind, unsigned queue);
  void go_on_restarting();
  void touch(unsigned interface, unsigned queue);
  void ring_if_due(unsigned interface, unsigned queue, bool now);
  void say_rung(unsigned interface, unsigned queue) const;

  nic::Machine machine_;
  DriverConfig config_;
  emnic* core_ = nullptr;
  std::vector<Completions> completions_;
  std::vector<Events> events_;
  std::vector<bool> stream_pending_;    // of each receive queue
  std::vector<bool> touched_already_;   // of each transmit queue
  std::vector<std::uint32_t> touched_;  // transmit queues whose doorbell may be due
  std::vector<std::uint32_t> pending_events_;
  std::vector<Cpu> cpus_;
  std::vector<Restart> restarts_;  // under way
  std::vector<std::uint8_t> scratch_, untagged_, joined_;
  std::vector<DeviceError> errors_;
  std::vector<emnic_last_error> last_errors_;  // of each interface
  QueueCounts counts_;
  TxLoad load_;
  Aggregates aggregates_;
  unsigned tx_outstanding_ = 0;
  std::uint64_t checksums_ = 0, tags_ = 0;  // left to the device
  std::uint64_t stripped_ = 0;
  std::uint64_t split_ = 0, not_split_ = 0, beyond_headers_ = 0;
  std::uint64_t doorbells_ = 0, interrupts_ = 0, polls_ = 0, tx_errors_ = 0, rx_errors_ = 0;
  std::uint64_t pushes_ = 0, restarted_ = 0;
};

}  // namespace emery::host_nic
