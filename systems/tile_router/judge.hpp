// SPDX-License-Identifier: Apache-2.0
// What this router is to do with a frame: what the judge of all routers says, and the one thing
// its programs cannot do. Ethernet addresses are left as they came (the paper's routers do not
// touch them).
#pragma once

#include <cstdint>
#include <span>

#include "bench/route/judge.hpp"
#include "bench/route/routes.hpp"
#include "systems/tile_router/boot.hpp"

namespace emery::tile_router {

struct Verdict {
  const char* drop = nullptr;  // why; else the frame leaves at `port`
  unsigned port = 0;
};

class Judge {
 public:
  /// The null router passes everything from a port to the same port, unchanged.
  Judge(const route::Routes& routes, route::Judge::Station station, const BootImage& image)
      : judge_(routes, station, image.addresses()), null_(image.version == "null") {}

  /// Judges a frame that came in at `port`, whose address is `own`; `frame` becomes what is to go
  /// out.
  Verdict forward(unsigned port, std::uint64_t own, std::span<std::uint8_t> frame) const {
    if (null_) return {nullptr, port};
    const route::Verdict judged = judge_.judge(frame, own);
    const bool header_seen =
        judged.drop == route::Reason::kNone || judged.drop >= route::Reason::kChecksum;
    if (judged.header > kMostHeader && header_seen) return {"options"};
    if (judged.drop != route::Reason::kNone) return {name(judged.drop)};
    route::Judge::hop(frame);
    return {nullptr, judged.port};
  }

 private:
  static constexpr unsigned kMostHeader = 48;  // the head that the stages see holds no more

  route::Judge judge_;
  bool null_;
};

}  // namespace emery::tile_router
