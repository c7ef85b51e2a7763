// SPDX-License-Identifier: Apache-2.0
// What a live run has besides: interfaces at places of the system, and somebody who ends it.
//
// Settings: `live`, a file descriptor that can be read (or has ended) when the run is to end,
// `tap.PLACE`, that of the interface at a place, and for a router `rtnetlink`, that of a socket in
// the namespace of the kernel that is its control plane. While the system has nothing to do the run
// waits here for the next frame, and simulated time stands still: an idle run costs nothing.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bench/live/rtnetlink.hpp"
#include "bench/live/tap.hpp"
#include "bench/sim/options.hpp"
#include "bench/stats/json.hpp"

namespace emery {

class Live {
 public:
  /// Null when the run is not live.
  static std::unique_ptr<Live> of(const Options& options);

  explicit Live(const Options& options);

  /// The interface at a place; null where there is none.
  Tap* tap(const std::string& place);
  /// The control plane's kernel; null where there is none.
  Rtnetlink* rtnetlink() { return rtnetlink_ ? &*rtnetlink_ : nullptr; }
  /// Takes what frames have come. `idle`: waits until there is one, or the end.
  void look(bool idle);
  /// Frames that were read, or changes of the kernel's tables, that the system has not taken yet.
  bool pending() const;
  /// Nothing more is read: somebody has ended the run, or an interface has gone.
  bool ended() const { return ended_; }

  /// The fields of the open object: `idle_s`, the time waited; `gone`, where there was an
  /// interface; `places`.
  void write(JsonWriter& json) const;

 private:
  using Clock = std::chrono::steady_clock;

  int control_;
  std::map<std::string, Tap> taps_;
  std::optional<Rtnetlink> rtnetlink_;
  bool ended_ = false;
  std::string gone_;
  Clock::duration idle_{};
};

}  // namespace emery
