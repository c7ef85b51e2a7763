// SPDX-License-Identifier: Apache-2.0
// The trace of a run: a record for each offered frame, with when it reached which stage of its way
// and what became of it (DESIGN.md's `--trace`; docs/trace.md says what the fields mean).
//
// The scoreboard tells of offers, deliveries and drops. A system names the stages of its ways, in
// order: a frame is offered at the first and delivered at the last; what it sees of a frame in
// between, at pins, links and in memory, it marks. A run that is not traced has no Trace, and the
// scoreboard nobody to tell.
//
// Which frame it was that a counter of the device counted as dropped is not always known. A reason
// that was seen (`lost`) goes before; what the counters say beyond that is dealt to the frames that
// did not come out, in order: reasons as they were told, frames by how far they were seen to get.
// Where more than one reason was left to deal, the record says that it is not sure.
//
// Memory: 32 bytes a frame and 8 for each stage of the longest way. Bytes of frames, where they are
// wanted, wait in a file without a name.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/score/scoreboard.hpp"
#include "bench/sim/time.hpp"

namespace emery {

class Trace final : public Scoreboard::Observer {
 public:
  /// The number of a frame: how many were offered before it.
  using Number = std::uint32_t;
  static constexpr Number kNone = ~Number{0};
  static constexpr unsigned kMostStages = 32;
  static constexpr std::size_t kKept = std::size_t{1} << 18;
  static constexpr unsigned kFollowed = 32;
  static constexpr Time kFollowEvery = 100 * kMicrosecond, kFollowFor = 50 * kMicrosecond;

  /// Which frames are known: all, each followed from stage to stage; or, of runs that may be long,
  /// the newest kKept (one that is under way for longer is mistaken for another), of which
  /// kFollowed every kFollowEvery are followed.
  enum class Known { kAll, kNewest };

  /// Opens the file; throws std::invalid_argument when it cannot be written. Without one (an empty
  /// path) frames are numbered and followed, and nothing is written. `bytes`: how many of each
  /// frame's first bytes go with its record.
  Trace(const std::string& path, const Scoreboard& score, std::uint32_t bytes = 0,
        Known known = Known::kAll);

  // ---- before the first frame

  /// A way by the names of its stages; its number. Streams take way 0 unless told otherwise.
  unsigned add_way(std::vector<std::string> stages);
  void takes(int stream, unsigned way);

  // ---- frames

  /// The frame offered or delivered last; kNone when what came out was none that was offered.
  Number newest() const { return newest_; }
  /// The frames offered and delivered last; kNone before the first.
  const Number& offered_last() const { return offered_last_; }
  const Number& delivered_last() const { return delivered_last_; }
  /// These were the bytes of the frame that is offered next, which is to come out as so many
  /// others.
  void sent_as(std::span<const std::uint8_t> bytes) { sent_as_ = bytes; }
  bool under_way(Number frame) const { return frames_[frame].fate == Fate::kUnderWay; }
  /// When it is at which stage is kept.
  bool follows(Number frame) const { return frame != kNone && frames_[frame].followed; }
  /// Frames that are followed may be under way: where they are is worth a look.
  bool looks(Time now) const { return now < look_until_; }
  bool marked(Number frame, unsigned stage) const {
    return follows(frame) && when(frame, stage) != kNotYet;
  }
  /// A frame reached a stage then; not before it was offered.
  void mark(Number frame, unsigned stage, Time time) {
    if (follows(frame) && time >= when(frame, 0)) when(frame, stage) = time;
  }
  void mark_first(Number frame, unsigned stage, Time time) {
    if (!marked(frame, stage)) mark(frame, stage, time);
  }
  /// The frame of that content that is under way longest of those that had not been at that stage
  /// is there now; kNone when there is none. `stream` -1: of any.
  Number seen(std::span<const std::uint8_t> bytes, unsigned stage, Time time, int stream = -1);
  void queue(Number frame, unsigned queue) {
    if (frame != kNone) frames_[frame].queue = static_cast<std::int32_t>(queue);
  }
  /// The queue it is known to be for; -1: none.
  int queue_of(Number frame) const { return frame == kNone ? -1 : frames_[frame].queue; }
  /// Its record as it is now, a JSON object.
  std::string record(Number frame) const;
  /// It will not come out, for this reason.
  void lost(Number frame, const std::string& reason);

  // ---- Scoreboard::Observer

  void offered(std::uint32_t entry, int stream, std::span<const std::uint8_t> bytes,
               std::uint32_t flow, Time time) override;
  void delivered(std::uint32_t entry, Time time) override;
  void strayed(std::uint32_t entry) override;
  void dropped(int stream, const std::string& reason, std::uint64_t frames) override;

  /// Says what became of the frames that did not come out, and writes the file: Parquet when its
  /// name ends so, else a JSON object a line. Throws std::runtime_error when it cannot be written.
  void close();

 private:
  struct Closes {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static constexpr Time kNotYet = -1;
  static constexpr const char* kOutcomes[] = {"delivered", "misdelivered", "dropped", "missing"};

  enum class Fate : std::uint8_t { kUnderWay, kDelivered, kStrayed };

  struct Frame {
    std::uint32_t bytes, flow;
    std::int32_t stream;
    std::int32_t queue = -1;
    std::int32_t reason = -1;  // in reasons_
    Fate fate = Fate::kUnderWay;
    bool sure = true;
    bool followed = true;
  };
  struct Stream {
    unsigned way = 0;
    std::vector<std::pair<std::int32_t, std::uint64_t>> dropped;  // reason, frames; as told
  };

  Time& when(Number frame, unsigned stage) { return times_[std::size_t{frame} * depth_ + stage]; }
  Time when(Number frame, unsigned stage) const {
    return times_[std::size_t{frame} * depth_ + stage];
  }
  bool to_follow(Time time);
  Stream& at(int stream);
  const std::vector<std::string>& way_of(const Frame& frame) const {
    return ways_[streams_[static_cast<std::size_t>(frame.stream)].way];
  }
  std::int32_t reason(const std::string& name);
  unsigned furthest(Number frame) const;
  void deal(int stream, std::vector<Number> missing);
  void append(std::string& text, Number number) const;
  void keep(std::span<const std::uint8_t> bytes);
  const char* outcome(const Frame& frame) const { return kOutcomes[place(frame)]; }
  static unsigned place(const Frame& frame);
  std::uint64_t offered_before(Number number) const;
  std::vector<std::uint8_t> kept_bytes(const Frame& frame);
  void write_lines();
  void write_parquet();

  const Scoreboard& score_;
  std::string path_;
  std::ofstream file_;
  std::uint32_t kept_;  // bytes of a frame, at the most
  Known known_;
  unsigned follow_ = 0;  // so many more
  Time follow_next_ = 0, look_until_ = 0;
  std::unique_ptr<std::FILE, Closes> bytes_;
  std::span<const std::uint8_t> sent_as_;
  std::vector<std::vector<std::string>> ways_;
  std::size_t depth_ = 0;  // stages of the longest way
  std::vector<Stream> streams_;
  std::vector<std::string> reasons_;
  std::vector<Frame> frames_;
  std::uint64_t made_ = 0;  // frames, kept or not
  std::vector<Time> times_;
  std::vector<Number> of_entry_;  // of the scoreboard
  Number newest_ = kNone, offered_last_ = kNone, delivered_last_ = kNone;
};

}  // namespace emery
