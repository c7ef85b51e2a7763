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
// `delivered` counts matched frames only. Reordering within a flow is counted; it fails the run
// where order is promised. A device that promises it only among those frames of a flow that take
// the same way through it offers them with the number of that way (`lane`): the run then fails by
// what is out of order within a lane, and `reordered` still counts all that is within the flow.
//
// Rates are measured in one window of time for all streams and the totals (meter.hpp). Latency is
// over all frames, delivery minus offering.
//
// Memory: 32 ... 64 bytes a frame under way (a dropped frame stays so, but for the rule of 16) and
// 21 ... 43 bytes a content ever offered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/score/meter.hpp"
#include "bench/sim/time.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/json.hpp"
#include "bench/stats/sha256.hpp"

namespace emery {

class Scoreboard {
 public:
  struct Config {
    bool order_promised = true;  // reordering within a flow is a failure
  };

  struct Counts {
    std::uint64_t offered = 0, delivered = 0;
    std::uint64_t corrupted = 0, duplicated = 0, misdelivered = 0, reordered = 0;
    std::uint64_t out_of_lane_order = 0;
    std::uint64_t strayed = 0;  // delivered on another stream
    std::map<std::string, std::uint64_t> dropped;

    std::uint64_t dropped_total() const;
    Counts& operator+=(const Counts& other);
  };

  static constexpr std::uint32_t kNobody = ~0u;

  /// Is told of each frame. `entry` names one while it is under way, another afterwards.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void offered(std::uint32_t entry, int stream, std::span<const std::uint8_t> bytes,
                         std::uint32_t flow, Time time) = 0;
    /// kNobody: what came out was none that was under way.
    virtual void delivered(std::uint32_t entry, Time time) = 0;
    /// Came out on another stream.
    virtual void strayed(std::uint32_t entry) = 0;
    virtual void dropped(int stream, const std::string& reason, std::uint64_t frames) = 0;
  };

  Scoreboard() = default;
  explicit Scoreboard(const Config& config) : config_(config) {}

  void observe(Observer* observer) { observer_ = observer; }

  /// The number of the stream of that name, made if it is new.
  int stream(const std::string& name);

  /// A frame (without FCS) enters the device's care. Flows and lanes are small dense numbers.
  /// Before its delivery, in simulated order.
  void offered(int stream, std::span<const std::uint8_t> bytes, std::uint32_t flow, Time time,
               std::uint32_t lane = 0);
  /// A frame came out.
  void delivered(int stream, std::span<const std::uint8_t> bytes, Time time);
  /// A delivery that matched: which stream and flow, bytes with FCS, since when it was under way.
  std::function<void(int stream, std::uint32_t flow, std::uint32_t bytes, Time inside, Time time)>
      on_matched;
  /// Which of these streams has waited longest for such a frame; -1: none of them waits for it. For
  /// outputs that several streams share.
  int waiting_for(std::span<const int> streams, std::span<const std::uint8_t> bytes) const;
  /// Of the frames of that content that are under way, oldest first, the first one that is
  /// `wanted(entry, stream)`; kNobody: none.
  template <class Wanted>
  std::uint32_t find_under_way(std::span<const std::uint8_t> bytes, Wanted wanted) const {
    std::uint32_t e = first_of(bytes);
    while (e != kNil && !wanted(e, entries_[e].stream)) e = entries_[e].next;
    return e;
  }
  /// Frames come out in blocks (meter.hpp).
  void in_blocks() { meter_.in_blocks(); }
  /// The first source has stopped: deliveries from now on count for no rate.
  void end_rates(Time time) { meter_.end(time); }
  /// Adds to the device's own count of frames lost for that reason.
  void dropped(int stream, const std::string& reason, std::uint64_t frames);

  /// Frames offered on a stream (on all) and not yet delivered; dropped ones are among them.
  std::uint64_t under_way(int stream) const;
  std::uint64_t under_way() const;
  /// Of those of a stream, such as nobody has said were dropped.
  std::uint64_t missing(int stream) const {
    return under_way(stream) - counts(stream).dropped_total();
  }

  const std::string& name(int stream) const { return at(stream).name; }
  const Counts& counts(int stream) const { return at(stream).counts; }
  const Histogram& latency(int stream) const { return at(stream).latency; }
  const Meter& meter() const { return meter_; }
  Counts totals() const;

  /// What does not add up, one line a finding, streams in name order; empty when all is well.
  std::vector<std::string> failures() const;
  bool passed() const { return failures().empty(); }

  /// SHA-256 of the streams in name order: name, zero byte, SHA-256 of its deliveries in order,
  /// each as a 32-bit little-endian length and its bytes. Everything delivered counts, matched or
  /// not.
  std::string digest() const;

  /// The fields `window`, `streams`, `totals` and `digest` of the open object.
  void write(JsonWriter& json) const;

 private:
  static constexpr std::uint32_t kNil = kNobody;
  static constexpr int kMaxLeftBehind = 16;

  struct Stream {
    std::string name;
    Counts counts;
    Histogram latency;
    Sha256 sha;
    // By lane and flow: 1 + highest sequence number delivered.
    std::vector<std::vector<std::uint64_t>> newest;

    std::uint64_t newest_of(std::uint32_t lane, std::uint32_t flow) const {
      return lane < newest.size() && flow < newest[lane].size() ? newest[lane][flow] : 0;
    }
    bool in_order(std::uint32_t lane, std::uint32_t flow, std::uint64_t sequence);
  };

  /// A frame under way; those of equal content are a list, oldest first.
  struct Entry {
    Time time;
    std::uint64_t sequence;  // in its stream
    std::uint32_t flow, lane;
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
  /// The oldest frame of that content that is under way; kNil when none is.
  std::uint32_t first_of(std::span<const std::uint8_t> bytes) const;
  Slot& find(std::uint64_t hash) { return slots_[place(hash)]; }
  void grow();
  std::uint32_t allocate();
  Choice choose(const Slot& slot, int stream) const;
  void unlink(Slot& slot, const Place& place);
  static void write_one(JsonWriter& json, const Counts& counts, const Histogram& latency,
                        const std::optional<Meter::Rates>& rates);

  Config config_;
  Observer* observer_ = nullptr;
  std::map<std::string, int> names_;
  std::vector<Stream> streams_;
  Meter meter_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t used_ = 0;
  std::vector<Entry> entries_;
  std::uint32_t free_ = kNil;
};

}  // namespace emery
