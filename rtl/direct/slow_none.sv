// SPDX-License-Identifier: Apache-2.0
/// Stands in for the slow path in a card that has none: frames that need the host are dropped and counted.
///
/// Takes one word a clock, of the lowest class that has one; `dropped_o` is high a clock for each frame. Needs no reset.
module slow_none
  import direct_pkg::*;
#(
    parameter int Classes = 2
) (
    // Frames in stored form (stored_word_t).
    stream_if.snk frame[Classes],
    output logic dropped_o
);
  logic [Classes-1:0] valid, last, taken;
  for (genvar c = 0; c < Classes; c++) begin : g_class
    wire stored_word_t word = frame[c].data;
    wire unused = &{1'b0, word};
    assign valid[c] = frame[c].valid;
    assign last[c] = word.last;
    assign frame[c].ready = taken[c];
  end
  assign taken = valid & (~valid + 1'b1);
  assign dropped_o = |(taken & last);
endmodule
