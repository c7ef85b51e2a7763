// SPDX-License-Identifier: Apache-2.0
// The router's hardware as the bench sees it: put together from its modules, or the whole as one
// model (`flat=true`, waves).
#pragma once

#include <set>

#ifdef EMERY_PARTS
#include "systems/tile_router/parted_chip.hpp"

namespace emery::tile_router {
using Chip = PartedChip;
inline void lay_out(Chip& chip, unsigned columns, unsigned rows, const std::set<unsigned>& lines) {
  chip.lay_out(columns, rows, lines);
}
}  // namespace emery::tile_router
#else
#include "Vtile_router.h"

namespace emery::tile_router {
using Chip = Vtile_router;
// Its model has a size, and all of a slot everywhere.
inline void lay_out(Chip&, unsigned, unsigned, const std::set<unsigned>&) {}
}  // namespace emery::tile_router
#endif
