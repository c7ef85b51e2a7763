// SPDX-License-Identifier: Apache-2.0
// What the firmware prints, line by line: `[12.345 us core 3] text` in a file when there is one
// (setting `firmware_log`), else on the standard error. The time is that of the line's first
// character. What is not printable is a dot.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/time.hpp"

namespace emery::core_nic {

class FirmwareLog {
 public:
  FirmwareLog(const Options& options, unsigned cores) : lines_(cores) {
    const std::string path = options.get("firmware_log", "");
    if (path.empty()) return;
    file_.open(path, std::ios::binary);
    if (!file_) throw OptionError("firmware_log: " + path + ": cannot be written");
  }
  ~FirmwareLog() {
    for (unsigned core = 0; core < lines_.size(); ++core)
      if (!lines_[core].text.empty()) end(core);
  }
  FirmwareLog(const FirmwareLog&) = delete;
  FirmwareLog& operator=(const FirmwareLog&) = delete;

  /// 'R' at the start of a line says that the firmware is ready; all else, and what comes after
  /// that, is for people.
  void print(unsigned core, char c, Time now) {
    if (core >= lines_.size()) return;
    Line& line = lines_[core];
    if (!ready_ && line.text.empty() && c == 'R') {
      ready_ = true;
      return;
    }
    if (line.text.empty()) line.begun = now;
    if (c == '\n') return end(core);
    line.text += c >= ' ' && c <= '~' ? c : '.';
    if (line.text.size() == kLongest) end(core);
  }
  bool ready() const { return ready_; }
  void restart() { ready_ = false; }

 private:
  static constexpr std::size_t kLongest = 4096;
  struct Line {
    std::string text;
    Time begun = 0;
  };

  void end(unsigned core) {
    Line& line = lines_[core];
    char head[48];
    std::snprintf(head, sizeof head, "[%.3f us core %u] ",
                  static_cast<double>(line.begun) / kMicrosecond, core);
    if (file_.is_open()) {
      file_ << head << line.text << '\n';
    } else {
      std::fprintf(stderr, "firmware: %s%s\n", head, line.text.c_str());
    }
    line.text.clear();
  }

  std::vector<Line> lines_;  // of the cores
  std::ofstream file_;
  bool ready_ = false;
};

}  // namespace emery::core_nic
