// SPDX-License-Identifier: Apache-2.0
// The pins of the wires at the chip's slots.
#pragma once

#include "bench/wire/word_line.hpp"
#include "systems/tile_router/chip.hpp"

namespace emery::tile_router {

inline WordPins wire_in(Chip& m, unsigned slot) {
  return {&m.wire_in_valid_i[slot], &m.wire_in_ready_o[slot], &m.wire_in_data_i[slot],
          &m.wire_in_sop_i[slot],   &m.wire_in_eop_i[slot],   &m.wire_in_bytes_i[slot]};
}

inline WordPins wire_out(Chip& m, unsigned slot) {
  return {&m.wire_out_valid_o[slot], &m.wire_out_ready_i[slot], &m.wire_out_data_o[slot],
          &m.wire_out_sop_o[slot],   &m.wire_out_eop_o[slot],   &m.wire_out_bytes_o[slot]};
}

}  // namespace emery::tile_router
