// SPDX-License-Identifier: Apache-2.0
// What the router is to do with a frame, by a second opinion: the rules of RFC 1812 as the programs
// say they keep them, with a checksum computed anew over the whole header and a longest-prefix
// match that knows nothing of DIR-24-8. Ethernet addresses are left as they came (the paper's
// routers do not touch them).
#pragma once

#include <cstdint>
#include <span>

#include "bench/route/routes.hpp"

namespace emery::tile_router {

struct Verdict {
  const char* drop = nullptr;  // why; else the frame leaves at `port`
  unsigned port = 0;
};

class Judge {
 public:
  /// `null`: the null router, which passes everything from a port to the same port, unchanged.
  Judge(const route::Routes& routes, bool null) : tables_(routes), null_(null) {}

  /// Judges a frame that came in at `port`; `frame` becomes what is to go out.
  Verdict forward(unsigned port, std::span<std::uint8_t> frame) const;

 private:
  route::PrefixTables tables_;
  bool null_;
};

}  // namespace emery::tile_router
