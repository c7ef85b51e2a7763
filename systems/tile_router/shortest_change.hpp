// SPDX-License-Identifier: Apache-2.0
// Routes of less bits than this do not change: 65,536 entries of the tables would.
#pragma once

namespace emery::tile_router {

constexpr unsigned kShortestChange = 8;

}  // namespace emery::tile_router
