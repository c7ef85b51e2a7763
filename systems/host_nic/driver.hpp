// SPDX-License-Identifier: Apache-2.0
// Driver model of host-nic, on the host interface alone: it finds the device, reads from its
// registers what it is made of, sets up rings, rings doorbells and polls completions, as a kernel
// or user-space driver would.
//
// The queues of a CPU share its completion queues, as few as hold a record for every slot: records
// then come in full blocks.
//
// Approximation: CPU cost is a stated time for each packet on the CPU that serves the queue (0 by
// default); caches and memory bandwidth are not modelled, and reading or writing host memory takes
// no time of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/pcie/host_calls.hpp"
#include "bench/sim/ring.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/findings.hpp"
#include "bench/stats/json.hpp"
#include "queue_formats.hpp"
#include "systems/host_nic/steering.hpp"

namespace emery::host_nic {

// What the CPU writes to the device itself with the doorbell of a frame that finds the device idle.
enum class TxPush { kNone, kDescriptor, kFrame };

struct DriverConfig {
  unsigned tx_queues;   // transmit queues opened on each interface
  unsigned rx_queues;   // receive queues opened on each interface
  unsigned tx_ring;     // slots, a power of two from 8 to 32768
  unsigned rx_ring;     // likewise, or granules of 16 bytes
  bool tx_stream;       // transmit rings hold the frames; tx_ring counts granules of 16 bytes
  bool rx_stream;       // receive queues are streams
  unsigned max_frame;   // bytes without FCS
  unsigned segments;    // descriptors a transmitted packet is spread over: 1, 2, 4 or 8
  unsigned tx_burst;    // packets a queue sends in its turn
  bool tx_checksum;     // the device computes TCP and UDP checksums
  TxPush tx_push;       // and the frame only if it is short
  bool recover;         // sets up anew what the device has stopped for an error
  bool interrupts;      // wait for MSI-X instead of polling
  unsigned cpus;        // each serves its share of the queues
  Time cpu_per_packet;  // for each packet received or completed
  unsigned dma_timeout_clocks, dma_overtaken_clocks;
  unsigned doorbell_batch = 8;     // packets gathered for one doorbell of a queue busy with as many
  unsigned refill_batch = 32;      // received packets for one doorbell, or a quarter of the ring
  unsigned budget = 64;            // packets served before the next queue has its turn
  unsigned cpl_delay_clocks = 64;  // completion coalescing
  unsigned interrupt_interval_clocks = 0;
};

// A frame that arrived, valid during the callback only.
struct Received {
  std::span<const std::uint8_t> frame;
  unsigned interface;
  unsigned queue;
  std::uint64_t timestamp;  // PTP, ns, 40 bits
  std::uint32_t hash;
  std::uint16_t csum;
  std::uint8_t flags;
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

// What an interface's registers say of errors, at the end of the run.
struct ErrorRegisters {
  std::uint32_t errors = 0;
  unsigned kind = 0, queue = 0, code = 0;  // of the last one
};

class Driver {
 public:
  // Receive-side scaling: the Toeplitz key of Microsoft's specification, and the queue of an entry
  // of a port's table, of which there are `rss_entries`. Each port has queues of its own: records
  // carry no slot number, so one queue's must come from one engine.
  static constexpr std::uint32_t kRssKey[10] = {0x6d5a56da, 0x255b0ec2, 0x4167253d, 0x43a38fb0,
                                                0xd0ca2bcb, 0xae7b30b4, 0x77cb2da3, 0x8030f20c,
                                                0x6a42b73b, 0xbeac01fa};
  static unsigned rss_queue(unsigned entry, unsigned port, unsigned ports, unsigned rx_queues) {
    return (entry * ports + port) % rx_queues;
  }

  // A checksum left to the device: it sums from `start` on and stores the result `offset` bytes
  // behind it, where the sum of the pseudo header stands.
  struct Checksum {
    unsigned start, offset;
    std::uint16_t pseudo;
  };

  // What the device says of itself.
  struct Interface {
    std::uint64_t base = 0;
    unsigned ports = 0, tx_queues = 0, rx_queues = 0, event_queues = 0, max_frame = 0, features = 0;
    std::uint64_t txq = 0, rxq = 0, txcq = 0, rxcq = 0, eq = 0, sched = 0, sched_stride = 0,
                  port = 0, port_stride = 0, rss = 0, rss_stride = 0, rss_entries = 0;
    std::uint64_t flow = 0, flow_stride = 0;  // read when something is to be steered
  };

  Driver(HostInterface& host, DriverConfig config);

  // Finds the device and reads its registers; throws std::runtime_error when it is not there or not
  // understood.
  void probe();
  // Sets up all queues and lets traffic in. Advances simulated time.
  void open();
  // Both once more, after the device was reset and all memory lent to it was given back: what was
  // with it is forgotten. In restart.cpp.
  void reopen();

  // Frames of this flow go to this receive queue, whatever its hash says. How many entries of the
  // port's table were written: more than one where others had to move, 0 when there is no place for
  // it. Takes simulated time.
  unsigned steer(unsigned interface, unsigned port, const Flow& flow, unsigned queue);
  // And go by their hash again. False when the flow was not steered.
  bool unsteer(unsigned interface, unsigned port, const Flow& flow);

  const std::vector<Interface>& interfaces() const { return interfaces_; }
  unsigned tx_queues() const { return config_.tx_queues; }
  unsigned rx_queues() const { return config_.rx_queues; }

  // True when transmit(queue) would take a packet.
  bool tx_room(unsigned interface, unsigned queue) const;
  // Packets handed to the device and not completed, but for those in queues that it has stopped.
  unsigned tx_outstanding() const { return tx_outstanding_; }
  // Packets for a port that lie in queues which the device has stopped: they will not be sent.
  unsigned tx_stranded(unsigned interface, unsigned port) const;
  // The device has reported that it stopped the queue.
  bool tx_stopped(unsigned interface, unsigned queue) const {
    return tx_[tx_index(interface, queue)].stopped;
  }
  // Puts a frame into the ring. Its doorbell comes with the next flush, or in a batch if the queue
  // is busy. False when full.
  bool transmit(unsigned interface, unsigned queue, std::span<const std::uint8_t> frame);

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

  // Registers at a byte offset of nic_port_regs and so on. Reading takes simulated time.
  std::uint32_t port_register(unsigned interface, unsigned port, std::size_t offset);
  std::uint32_t device_register(std::size_t offset);
  std::uint32_t interface_register(unsigned interface, std::size_t offset);
  const std::vector<DeviceError>& errors() const { return errors_; }
  // Reads back what the registers say of the errors. Takes simulated time.
  void read_error_registers();

  // What the device holds and will give back when it is idle: adds a finding for each register that
  // still says so. Takes simulated time.
  void find_levels(Findings& findings);
  // Values written that the device has not taken as they were, all counters together. Takes
  // simulated time.
  std::uint64_t settings_refused();

  // Takes a queue out of use and sets it up anew in other memory, while all others go on; what the
  // device has not taken of a transmit queue is transmitted from the new ring. In restart.cpp.
  void restart_tx(unsigned interface, unsigned queue);
  void restart_rx(unsigned interface, unsigned queue);
  void recover(unsigned interface, unsigned kind, unsigned queue);
  bool restarting() const { return !restarts_.empty(); }
  // Writes of the device to memory of a ring that was no longer in use.
  std::uint64_t stale_writes() const { return stale_writes_; }

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
  // Makes the receive queue's descriptor `ahead` places after the newest used one point to `addr`.
  void poison_rx_descriptor(unsigned interface, unsigned queue, unsigned ahead, std::uint64_t addr);
  // The CPU that serves the receive queue does nothing else until then.
  void stop_cpu(unsigned interface, unsigned rx_queue, Time until);
  // Where that descriptor lies.
  std::uint64_t rx_descriptor(unsigned interface, unsigned queue, unsigned ahead) const;

  void write(JsonWriter& json) const;
  // The errors reported, as an array of objects; and what the registers say of them, an object an
  // interface.
  void write_errors(JsonWriter& json) const;
  void write_error_registers(JsonWriter& json) const;

 private:
  struct TxQueue {
    std::uint64_t buffers = 0, descriptors = 0, regs = 0, doorbell = 0, window = 0;
    std::uint8_t *ring = nullptr, *buffer_bytes = nullptr;
    std::uint16_t producer = 0, rung = 0, done = 0;  // slots
    std::uint32_t made = 0, told = 0, sent = 0;      // packets: in the ring, with a doorbell, done
    std::uint16_t newest = 0;                        // slot of the packet made last
    bool stopped = false, touched = false, restarting = false;
  };
  struct RxQueue {
    std::uint64_t buffers = 0, descriptors = 0, regs = 0, doorbell = 0;
    std::uint8_t *ring = nullptr, *buffer_bytes = nullptr;
    unsigned interface = 0;
    std::uint16_t producer = 0, rung = 0, done = 0;
    bool stopped = false, pending = false, restarting = false;
  };
  struct Restart {
    std::uint32_t index;
    bool transmit;
    std::uint64_t regs;
    bool asked = false, idle = false;
    std::uint16_t taken = 0;
  };
  struct CplQueue {
    std::uint64_t doorbell = 0;
    std::uint8_t* ring = nullptr;
    unsigned interface = 0, cpu = 0;
    std::uint16_t consumer = 0, rung = 0;
    bool transmit = false, pending = false;
  };
  struct EventQueue {
    std::uint8_t* ring = nullptr;
    std::uint64_t doorbell = 0;
    std::uint16_t consumer = 0;
    bool pending = false;
  };
  struct Cpu {
    Ring<std::uint32_t> work;  // completion queues with something in them; kStream: stream queues
    Time busy_until = 0;
  };

  static constexpr std::uint32_t kStream = 1u << 31;

  void open_interface(unsigned interface);
  // Longest frame, and which queue a frame is for, at all ports.
  void deal_frames(const Interface& interface);
  // Receive queues of an interface: with descriptors, and in stream.cpp without.
  void open_receive(unsigned interface);
  void open_streams(unsigned interface);
  void schedule_stream(std::uint32_t rx_queue);
  void move_stream(RxQueue& queue, std::uint32_t index);
  unsigned serve_stream(std::uint32_t rx_queue, Time now);
  void write32(std::uint64_t addr, std::uint32_t value) { mmio_write(host_, addr, value, 4); }
  std::uint32_t read32(std::uint64_t addr) {
    return static_cast<std::uint32_t>(mmio_read(host_, addr, 4));
  }
  // Exact-match steering: steering.cpp.
  std::uint64_t flow_registers(unsigned interface, unsigned port);
  FlowTable& flow_table(unsigned interface, unsigned port);
  void write_flow(unsigned interface, unsigned port, unsigned entry);
  // What was steered before the device was reset.
  void restore_flows(unsigned interface);
  void set_up_cq(std::uint64_t regs, std::uint64_t ring, unsigned slots, unsigned target);
  void set_up_queue(std::uint64_t regs, std::uint64_t ring, bool transmit, unsigned cq);
  // Gives a receive queue's slots their buffers, once and for all.
  void fill_ring(const RxQueue& queue);
  // Completion queues for `queues` rings of `ring` slots, taken in turn; returns how many.
  unsigned open_completions(unsigned interface, bool transmit, unsigned queues, unsigned ring);
  void schedule(std::uint32_t cpl_queue);
  void wake(std::uint32_t event_queue);
  unsigned serve(std::uint32_t cpl_queue, Time now);
  void complete_tx(unsigned interface, const queue_pkg::cpl_t& record, Time now);
  void complete_rx(unsigned interface, const queue_pkg::cpl_t& record, Time now);
  void serve_events(std::uint32_t index, Time now);
  // Puts a frame and its descriptor into a ring that has room; or with its head into a stream,
  // false when there is none.
  bool put_in_ring(TxQueue& queue, std::span<const std::uint8_t> frame);
  bool put_in_stream(TxQueue& queue, std::span<const std::uint8_t> frame);
  // Leaves the checksum of a frame, just written to `bytes` with its descriptor, to the device, if
  // it has one.
  void leave_checksum(std::uint8_t* descriptor, std::uint8_t* bytes,
                      std::span<const std::uint8_t> frame);
  void arm(std::uint64_t cq_doorbell, std::uint16_t consumer, bool arm);
  void touch(std::uint32_t tx_queue);
  void stop_tx(unsigned interface, unsigned queue);
  void ring(TxQueue& queue);
  // Writes the descriptor put into the ring last, and with it its frame, to the queue's window.
  void push(const TxQueue& queue);
  void begin_restart(std::uint32_t index, bool transmit, std::uint64_t regs);
  void go_on_restarting();
  void finish_restart(TxQueue& queue, std::uint16_t taken);
  void finish_restart(RxQueue& queue, std::uint32_t index);
  void give_up_memory(std::uint64_t addr, std::uint64_t bytes);
  void start_ring(std::uint64_t regs, std::uint64_t ring, bool transmit, std::uint16_t producer);
  std::uint32_t queue_control(bool transmit, bool enable) const;
  std::uint32_t tx_index(unsigned interface, unsigned queue) const {
    return interface * config_.tx_queues + queue;
  }
  std::uint32_t rx_index(unsigned interface, unsigned queue) const {
    return interface * config_.rx_queues + queue;
  }

  HostInterface& host_;
  DriverConfig config_;
  std::uint64_t bar_ = 0;
  unsigned vectors_ = 0;
  bool again_ = false;  // the device was open before
  unsigned buffer_bytes_ = 0, log_block_ = 0;
  std::vector<Interface> interfaces_;
  std::vector<FlowTable> flows_;  // of each port
  std::vector<TxQueue> tx_;
  std::vector<RxQueue> rx_;
  std::vector<CplQueue> completions_;  // of each interface: transmit, then receive
  std::vector<std::uint32_t> first_tx_cq_, first_rx_cq_;  // of each interface, in completions_
  unsigned event_queues_ = 0;                             // of each interface
  std::vector<EventQueue> events_;
  std::vector<Cpu> cpus_;
  std::vector<std::uint32_t> touched_;  // transmit queues whose doorbell may be due
  std::vector<std::uint32_t> pending_events_;
  std::vector<DeviceError> errors_;
  std::vector<ErrorRegisters> error_registers_;  // of each interface
  unsigned tx_outstanding_ = 0;
  std::uint64_t checksums_ = 0;  // left to the device
  std::uint64_t doorbells_ = 0, interrupts_ = 0, polls_ = 0, tx_errors_ = 0, rx_errors_ = 0;
  std::uint64_t pushes_ = 0;
  std::vector<std::unique_ptr<Restart>> restarts_;  // under way
  std::uint64_t restarted_ = 0, stale_writes_ = 0;
  std::uint64_t foreign_ = 0;  // records and events of queues that are not the driver's
};

// Where the TCP or UDP checksum of a frame is to be left to the device; nothing when it has none
// that the device would make exactly so. In offloads.cpp.
std::optional<Driver::Checksum> transport_checksum(std::span<const std::uint8_t> frame);

}  // namespace emery::host_nic
