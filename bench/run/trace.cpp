// SPDX-License-Identifier: Apache-2.0
#include "bench/run/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "bench/stats/parquet.hpp"
#include "bench/traffic/frame.hpp"

namespace emery {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kRows = 1 << 16,
                      kOfGroup = 1 << 24;  // rows of a group, bytes of frames in it

void put(std::string& text, std::integral auto value) {
  std::array<char, 24> digits;
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

// Picoseconds as nanoseconds, without loss.
void put_ns(std::string& text, Time time) {
  put(text, time / kNanosecond);
  const auto rest = static_cast<unsigned>(time % kNanosecond);
  if (rest == 0) return;
  const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  text.append(digits, rest % 10 ? 4 : rest % 100 ? 3 : 2);
}

// Base64 (RFC 4648).
void put_base64(std::string& text, std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = std::uint32_t{bytes[at]} << 16;
    if (left > 1) word |= std::uint32_t{bytes[at + 1]} << 8;
    if (left > 2) word |= bytes[at + 2];
    const char digits[] = {kDigits[word >> 18], kDigits[word >> 12 & 63],
                           left > 1 ? kDigits[word >> 6 & 63] : '=',
                           left > 2 ? kDigits[word & 63] : '='};
    text.append(digits, 4);
  }
}

}  // namespace

Trace::Trace(const std::string& path, const Scoreboard& score, std::uint32_t bytes, Known known)
    : score_(score), path_(path), kept_(path.empty() ? 0 : bytes), known_(known) {
  if (known_ == Known::kAll) look_until_ = std::numeric_limits<Time>::max();
  if (path.empty()) return;
  file_.open(path, std::ios::binary);
  if (!file_) throw std::invalid_argument(path + ": cannot be written");
  if (kept_ == 0) return;
  bytes_.reset(std::tmpfile());
  if (!bytes_) throw std::runtime_error("no temporary file for the bytes of the trace's frames");
}

unsigned Trace::add_way(std::vector<std::string> stages) {
  if (stages.size() < 2 || stages.size() > kMostStages || !frames_.empty())
    throw std::logic_error("trace: a way has 2 to 32 stages and is there before the first frame");
  depth_ = std::max(depth_, stages.size());
  ways_.push_back(std::move(stages));
  return static_cast<unsigned>(ways_.size() - 1);
}

Trace::Stream& Trace::at(int stream) {
  const auto index = static_cast<std::size_t>(stream);
  if (index >= streams_.size()) streams_.resize(index + 1);
  return streams_[index];
}

void Trace::takes(int stream, unsigned way) { at(stream).way = way; }

std::int32_t Trace::reason(const std::string& name) {
  const auto found = std::find(reasons_.begin(), reasons_.end(), name);
  if (found == reasons_.end()) {
    reasons_.push_back(name);
    return static_cast<std::int32_t>(reasons_.size() - 1);
  }
  return static_cast<std::int32_t>(found - reasons_.begin());
}

void Trace::keep(std::span<const std::uint8_t> bytes) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), kept_);
  if (std::fwrite(bytes.data(), 1, size, bytes_.get()) != size)
    throw std::runtime_error("no room for the bytes of the trace's frames");
}

bool Trace::to_follow(Time time) {
  if (known_ == Known::kAll) return true;
  if (time >= follow_next_) {
    follow_next_ = time + kFollowEvery;
    follow_ = kFollowed;
  }
  if (follow_ == 0) return false;
  --follow_;
  look_until_ = time + kFollowFor;
  return true;
}

void Trace::offered(std::uint32_t entry, int stream, std::span<const std::uint8_t> bytes,
                    std::uint32_t flow, Time time) {
  if (ways_.empty()) add_way({"offered", "delivered"});
  at(stream);
  newest_ = static_cast<Number>(known_ == Known::kNewest ? made_ % kKept : made_);
  offered_last_ = newest_;
  if (newest_ == frames_.size()) {
    frames_.emplace_back();
    times_.resize(times_.size() + depth_);
  }
  ++made_;
  frames_[newest_] = {static_cast<std::uint32_t>(bytes.size()) + kFcsBytes, flow, stream};
  if (bytes_) keep(sent_as_.size() == bytes.size() ? sent_as_ : bytes);
  sent_as_ = {};
  frames_[newest_].followed = to_follow(time);
  if (frames_[newest_].followed) {
    std::fill_n(&when(newest_, 0), depth_, kNotYet);
    when(newest_, 0) = time;
  }
  if (entry >= of_entry_.size()) of_entry_.resize(std::max<std::size_t>(2 * entry, 64));
  of_entry_[entry] = newest_;
}

void Trace::delivered(std::uint32_t entry, Time time) {
  newest_ = entry == Scoreboard::kNobody ? kNone : of_entry_[entry];
  if (newest_ == kNone) return;
  delivered_last_ = newest_;
  Frame& frame = frames_[newest_];
  frame.fate = Fate::kDelivered;
  if (follows(newest_)) when(newest_, static_cast<unsigned>(way_of(frame).size() - 1)) = time;
}

void Trace::strayed(std::uint32_t entry) {
  newest_ = kNone;
  frames_[of_entry_[entry]].fate = Fate::kStrayed;
}

void Trace::dropped(int stream, const std::string& name, std::uint64_t frames) {
  auto& known = at(stream).dropped;
  const std::int32_t r = reason(name);
  const auto found =
      std::find_if(known.begin(), known.end(), [r](const auto& x) { return x.first == r; });
  found == known.end() ? known.emplace_back(r, frames) : (found->second += frames, *found);
}

void Trace::lost(Number frame, const std::string& why) {
  if (frame != kNone) frames_[frame].reason = reason(why);
}

Trace::Number Trace::seen(std::span<const std::uint8_t> bytes, unsigned stage, Time time,
                          int stream) {
  const std::uint32_t entry =
      score_.find_under_way(bytes, [&](std::uint32_t candidate, int its_stream) {
        return (stream < 0 || its_stream == stream) && !marked(of_entry_[candidate], stage);
      });
  if (entry == Scoreboard::kNobody) return kNone;
  if (follows(of_entry_[entry])) when(of_entry_[entry], stage) = time;
  return of_entry_[entry];
}

unsigned Trace::furthest(Number frame) const {
  unsigned stage = static_cast<unsigned>(depth_ - 1);
  while (stage > 0 && !marked(frame, stage)) --stage;
  return stage;
}

// `missing`: the frames of the stream that did not come out, in the order of their offers.
void Trace::deal(int stream, std::vector<Number> missing) {
  std::vector<std::pair<std::int32_t, std::uint64_t>> left = at(stream).dropped;
  std::vector<Number> unknown;
  for (const Number n : missing) {
    const auto seen = std::find_if(left.begin(), left.end(), [&](const auto& x) {
      return x.first == frames_[n].reason && x.second != 0;
    });
    if (seen == left.end()) {
      frames_[n].reason = -1;  // the device counted it as something else
      unknown.push_back(n);
    } else {
      --seen->second;
    }
  }
  std::erase_if(left, [](const auto& x) { return x.second == 0; });
  const bool sure = left.size() == 1 && left.front().second >= unknown.size();
  std::stable_sort(unknown.begin(), unknown.end(),
                   [this](Number a, Number b) { return furthest(a) < furthest(b); });
  auto next = left.begin();
  for (const Number n : unknown) {
    if (next == left.end()) return;
    frames_[n].reason = next->first;
    frames_[n].sure = sure;
    if (--next->second == 0) ++next;
  }
}

unsigned Trace::place(const Frame& frame) {
  if (frame.fate != Fate::kUnderWay) return frame.fate == Fate::kDelivered ? 0 : 1;
  return frame.reason >= 0 ? 2 : 3;
}

std::uint64_t Trace::offered_before(Number number) const {
  return number + (made_ - 1 - number) / frames_.size() * frames_.size();
}

void Trace::append(std::string& text, Number number) const {
  const Frame& frame = frames_[number];
  text += "{\"frame\":";
  put(text, offered_before(number));
  text += ",\"stream\":\"";
  text += score_.name(frame.stream);
  text += "\",\"bytes\":";
  put(text, frame.bytes);
  text += ",\"flow\":";
  put(text, frame.flow);
  text += ",\"queue\":";
  frame.queue < 0 ? void(text += "null") : put(text, frame.queue);
  text += ",\"outcome\":\"";
  text += outcome(frame);
  text += "\",\"reason\":";
  if (frame.reason < 0 || frame.fate != Fate::kUnderWay) {
    text += "null";
  } else {
    text += '"' + reasons_[static_cast<std::size_t>(frame.reason)] + '"';
    if (!frame.sure) text += ",\"sure\":false";
  }
  text += ",\"at\":{";
  const auto& names = way_of(frame);
  std::array<unsigned, kMostStages> order;
  unsigned count = 0;
  for (unsigned s = 0; s < names.size(); ++s) {
    if (!marked(number, s)) continue;
    unsigned place = count++;
    for (; place > 0 && when(number, order[place - 1]) > when(number, s); --place)
      order[place] = order[place - 1];
    order[place] = s;
  }
  for (unsigned i = 0; i < count; ++i) {
    text += i == 0 ? "\"" : ",\"";
    text += names[order[i]];
    text += "\":";
    put_ns(text, when(number, order[i]));
  }
  text += '}';
}

std::string Trace::record(Number frame) const {
  std::string text;
  append(text, frame);
  return text + '}';
}

// The frames' bytes are read in the order in which they were kept.
std::vector<std::uint8_t> Trace::kept_bytes(const Frame& frame) {
  std::vector<std::uint8_t> bytes(std::min(frame.bytes - kFcsBytes, kept_));
  if (std::fread(bytes.data(), 1, bytes.size(), bytes_.get()) != bytes.size())
    throw std::runtime_error("the bytes of the trace's frames cannot be read again");
  return bytes;
}

void Trace::close() {
  if (path_.empty()) return;
  std::vector<std::vector<Number>> missing(streams_.size());
  for (Number n = 0; n < frames_.size(); ++n) {
    if (frames_[n].fate == Fate::kUnderWay)
      missing[static_cast<std::size_t>(frames_[n].stream)].push_back(n);
  }
  for (std::size_t s = 0; s < missing.size(); ++s) deal(static_cast<int>(s), std::move(missing[s]));
  if (bytes_) std::rewind(bytes_.get());
  path_.ends_with(".parquet") ? write_parquet() : write_lines();
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}

void Trace::write_lines() {
  std::string text;
  for (Number n = 0; n < frames_.size(); ++n) {
    append(text, n);
    if (bytes_) {
      text += ",\"data\":\"";
      put_base64(text, kept_bytes(frames_[n]));
      text += '"';
    }
    text += "}\n";
    if (text.size() < kChunk) continue;
    file_ << text;
    text.clear();
  }
  file_ << text;
}

void Trace::write_parquet() {
  using Kind = Parquet::Kind;
  enum { kFrame, kStream, kBytes, kFlow, kQueue, kOutcome, kReason, kSure, kData, kAt };
  std::vector<std::string> streams, reasons = reasons_;
  for (std::size_t s = 0; s < streams_.size(); ++s)
    streams.push_back(score_.name(static_cast<int>(s)));
  if (reasons.empty()) reasons.emplace_back();  // a dictionary is not empty
  std::vector<Parquet::Column> columns = {
      {"frame", Kind::kInt64},
      {"stream", Kind::kWord, false, streams},
      {"bytes", Kind::kInt32},
      {"flow", Kind::kInt32},
      {"queue", Kind::kInt32, true},
      {"outcome", Kind::kWord, false, {std::begin(kOutcomes), std::end(kOutcomes)}},
      {"reason", Kind::kWord, true, reasons},
      {"sure", Kind::kBool},
      {"data", Kind::kBytes, true},
  };
  std::vector<std::vector<std::size_t>> column_of(ways_.size());  // of each way's stages
  for (std::size_t w = 0; w < ways_.size(); ++w) {
    for (const std::string& stage : ways_[w]) {
      const auto named = [&](const Parquet::Column& x) { return x.name == stage; };
      const auto found = std::find_if(columns.begin() + kAt, columns.end(), named);
      column_of[w].push_back(static_cast<std::size_t>(found - columns.begin()));
      if (found == columns.end()) columns.push_back({stage, Kind::kDouble, true, {}, "at"});
    }
  }
  const std::size_t all = columns.size();
  Parquet table(file_, std::move(columns),
                std::clamp<std::size_t>(kOfGroup / (kept_ + 1), 1, kRows));
  std::vector<Time> times(all);
  for (Number n = 0; n < frames_.size(); ++n) {
    const Frame& frame = frames_[n];
    table.put(kFrame, static_cast<std::int64_t>(offered_before(n)));
    table.put(kStream, std::int64_t{frame.stream});
    table.put(kBytes, std::int64_t{frame.bytes});
    table.put(kFlow, std::int64_t{frame.flow});
    frame.queue < 0 ? table.put_null(kQueue) : table.put(kQueue, std::int64_t{frame.queue});
    table.put(kOutcome, std::int64_t{place(frame)});
    const bool dropped = frame.fate == Fate::kUnderWay && frame.reason >= 0;
    dropped ? table.put(kReason, std::int64_t{frame.reason}) : table.put_null(kReason);
    table.put(kSure, std::int64_t{!dropped || frame.sure});
    bytes_ ? table.put(kData, kept_bytes(frame)) : table.put_null(kData);
    const auto& stages = column_of[streams_[static_cast<std::size_t>(frame.stream)].way];
    std::fill(times.begin() + kAt, times.end(), kNotYet);
    for (unsigned s = 0; s < stages.size(); ++s)
      if (marked(n, s)) times[stages[s]] = when(n, s);
    for (std::size_t c = kAt; c < all; ++c) {
      if (times[c] == kNotYet) {
        table.put_null(c);
      } else {
        table.put(c, static_cast<double>(times[c]) / kNanosecond);
      }
    }
    table.end_row();
  }
  table.close();
}

}  // namespace emery
