// SPDX-License-Identifier: Apache-2.0
// The integrity scoreboard: every frame offered must be delivered once, unchanged, on its stream,
// in its flow's order, or be among the drops the device itself reports.
//
// Frames are matched by a 64-bit hash of their content. Equal contents may be under way several
// times (a looped capture): a delivery takes the oldest copy of its stream that its flow's order
// allows, else the oldest. Copies the order has left behind were most likely dropped: beyond 16 of
// them the oldest is forgotten (its delivery after all would be called duplicated, not reordered).
// Frames are compared as they are: what a MAC would pad has to be offered padded. A delivery that
// matches nothing is
//   corrupted     no such content was ever offered,
//   duplicated    the content was offered, but every copy has been delivered already,
//   misdelivered  the content is under way, but on other streams; that copy counts as strayed
//   there, so both streams fail.
// `delivered` counts matched frames only. Reordering is counted, and fails the run where order is
// promised.
//
// Rates are measured from the delivery of 10 % of a stream's frames to that of 90 %, which leaves
// out warm-up and drain; the window is part of the result. Its ends are taken from at most 8192
// checkpoints, so they are off by up to 0.03 % of the frames, while frames, bytes and time between
// them are exact. Latency is over all frames, delivery minus offering.
//
// Memory: 32 ... 64 bytes a frame under way (a dropped frame stays so, but for the rule of 16) and
// 21 ... 43 bytes a content ever offered.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"
#include "bench/stats/sha256.hpp"

namespace emery {

/// Frames and line bytes over time, in bounded memory: a checkpoint every so many frames, thinned
/// out when there are too many.
class RateMeter {
 public:
  struct Window {
    Time from = 0, to = 0;
    std::uint64_t frames = 0, bytes = 0;  // bytes with FCS

    double mpps() const { return per_second(static_cast<double>(frames)) / 1e6; }
    double l2_gbps() const { return per_second(8.0 * static_cast<double>(bytes)) / 1e9; }
    double l1_gbps() const {
      return per_second(8.0 * static_cast<double>(bytes + 20 * frames)) / 1e9;
    }

   private:
    double per_second(double n) const {
      return to > from ? n * 1e12 / static_cast<double>(to - from) : 0;
    }
  };

  void add(Time time, std::uint64_t bytes);
  /// Between the deliveries of the frames at these shares of all; empty when nothing lies between.
  Window window(double from, double to) const;

 private:
  static constexpr std::size_t kMaxPoints = 8192;
  struct Point {
    Time time;
    std::uint64_t frames, bytes;
  };
  std::vector<Point> points_;
  Point total_{};
  std::uint64_t every_ = 1;
};

class Scoreboard {
 public:
  struct Config {
    double window_from = 0.1;  // of the delivered frames
    double window_to = 0.9;
    bool order_promised = true;  // reordering within a flow is a failure
  };

  struct Counts {
    std::uint64_t offered = 0, delivered = 0;
    std::uint64_t corrupted = 0, duplicated = 0, misdelivered = 0, reordered = 0;
    std::uint64_t strayed = 0;  // delivered on another stream
    std::map<std::string, std::uint64_t> dropped;

    std::uint64_t dropped_total() const;
    Counts& operator+=(const Counts& other);
  };

  Scoreboard() = default;
  explicit Scoreboard(const Config& config) : config_(config) {}

  /// The number of the stream of that name, made if it is new.
  int stream(const std::string& name);

  /// A frame (without FCS) enters the device's care. Flows are small dense numbers. Before its
  /// delivery, in simulated order.
  void offered(int stream, std::span<const std::uint8_t> bytes, std::uint32_t flow, Time time);
  /// A frame came out.
  void delivered(int stream, std::span<const std::uint8_t> bytes, Time time);
  /// Which of these streams has waited longest for such a frame; -1: none of them waits for it. For
  /// outputs that several streams share.
  int waiting_for(std::span<const int> streams, std::span<const std::uint8_t> bytes) const;
  /// Deliveries from now on do not count for rates: what an overloaded device still had when its
  /// sources ended is no measure of it.
  void end_rates() { metering_ = false; }
  /// Adds to the device's own count of frames lost for that reason.
  void dropped(int stream, const std::string& reason, std::uint64_t frames);

  /// Frames offered on a stream (on all) and not yet delivered; dropped ones are among them.
  std::uint64_t under_way(int stream) const;
  std::uint64_t under_way() const;

  const Counts& counts(int stream) const { return at(stream).counts; }
  const Histogram& latency(int stream) const { return at(stream).latency; }
  RateMeter::Window window(int stream) const;
  /// Rates of all streams together, over one window of their own.
  RateMeter::Window window() const;
  Counts totals() const;

  /// What does not add up, one line a finding, streams in name order; empty when all is well.
  std::vector<std::string> failures() const;
  bool passed() const { return failures().empty(); }

  /// SHA-256 of the streams in name order: name, zero byte, SHA-256 of its deliveries in order,
  /// each as a 32-bit little-endian length and its bytes. Everything delivered counts, matched or
  /// not.
  std::string digest() const;

  /// The fields `streams`, `totals` and `digest` of the open object.
  void write(JsonWriter& json) const;

 private:
  static constexpr std::uint32_t kNil = ~0u;
  static constexpr int kMaxLeftBehind = 16;

  struct Stream {
    std::string name;
    Counts counts;
    Histogram latency;
    RateMeter meter;
    Sha256 sha;
    std::vector<std::uint64_t> newest;  // by flow: 1 + highest sequence number delivered
  };

  /// A frame under way; those of equal content are a list, oldest first.
  struct Entry {
    Time time;
    std::uint64_t sequence;  // in its stream
    std::uint32_t flow;
    std::int32_t stream;
    std::uint32_t next;
  };

  /// A content; head and tail are kNil when no copy is under way.
  struct Slot {
    std::uint64_t hash = 0;  // 0: free
    std::uint32_t head = kNil, tail = kNil;
  };

  /// An entry of a list and the one before it, or kNil.
  struct Place {
    std::uint32_t entry = kNil, before = kNil;
  };
  struct Choice {
    Place taken, forgotten;
  };

  Stream& at(int stream) { return streams_.at(static_cast<std::size_t>(stream)); }
  const Stream& at(int stream) const { return streams_.at(static_cast<std::size_t>(stream)); }
  std::vector<const Stream*> by_name() const;
  std::size_t place(std::uint64_t hash) const;
  Slot& find(std::uint64_t hash) { return slots_[place(hash)]; }
  void grow();
  std::uint32_t allocate();
  Choice choose(const Slot& slot, int stream) const;
  void unlink(Slot& slot, const Place& place);
  void write_one(JsonWriter& json, const Counts& counts, const Histogram& latency,
                 const RateMeter::Window& window) const;

  Config config_;
  std::map<std::string, int> names_;
  std::vector<Stream> streams_;
  RateMeter meter_;
  bool metering_ = true;
  Time latest_ = 0;
  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t used_ = 0;
  std::vector<Entry> entries_;
  std::uint32_t free_ = kNil;
};

}  // namespace emery
