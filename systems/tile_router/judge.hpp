// SPDX-License-Identifier: Apache-2.0
// What this router is to do with a frame: what the judge of all routers says, and the one thing
// its programs cannot do. Ethernet addresses are left as they came (the paper's routers do not
// touch them), or are those of the next hop and the port (`rewrite` of the boot image).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/route/judge.hpp"
#include "bench/route/routes.hpp"
#include "bench/traffic/network_order.hpp"
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
      : judges_({routes, station, image.addresses()}, image.changes.has_value()),
        cards_(image.linecards),
        null_(image.version == "null") {}

  /// A change of the routes is under way: frames may be forwarded by those before or after it.
  void begin(const route::RouteChange& change) { judges_.begin(change); }
  void end() { judges_.end(); }
  void undo() { judges_.undo(); }
  bool changing() const { return judges_.changing(); }

  /// Judges a frame that came in at `port`, by the routes before or `after` the change under way;
  /// `frame` becomes what is to go out.
  Verdict forward(unsigned port, std::span<std::uint8_t> frame, bool after = false) const {
    if (null_) return {nullptr, port};
    const route::Verdict judged = judges_.judge(after).judge(frame, cards_[port].mac);
    const bool header_seen =
        judged.drop == route::Reason::kNone || judged.drop >= route::Reason::kChecksum;
    if (judged.header > kMostHeader && header_seen) return {"options"};
    if (judged.drop != route::Reason::kNone) return {name(judged.drop)};
    route::Judge::hop(frame);
    const BootImage::Linecard& card = cards_[judged.port];
    if (card.next_hop != 0) {
      put48(&frame[0], card.next_hop);
      put48(&frame[6], card.mac);
    }
    return {nullptr, judged.port};
  }

 private:
  static constexpr unsigned kMostHeader = 48;  // the head that the stages see holds no more

  route::ChangingJudge judges_;
  std::vector<BootImage::Linecard> cards_;
  bool null_;
};

}  // namespace emery::tile_router
