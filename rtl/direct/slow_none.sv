// SPDX-License-Identifier: Apache-2.0
/// Stands in for the slow path in a card that has none: frames that need the host are dropped and counted.
///
/// Takes one word a clock, of the lowest class that has one; `dropped_o` is high a clock for each frame. Its two channels and
/// the frames from the host stay silent. Needs no reset.
module slow_none
  import direct_pkg::*;
#(
    parameter int Classes = 2
) (
    // Frames in stored form (stored_word_t).
    stream_if.snk frame[Classes],
    output logic dropped_o,

    // Frames from the host (stored_word_t), channels of the bus.
    stream_if.src out,
    stream_if.src cmd  [2],  // channel_cmd_t
    stream_if.src wdata[2],  // logic [63:0]
    stream_if.snk rdata[2],  // channel_word_t
    stream_if.snk done [2]   // channel_result_e
);
  assign out.valid = 1'b0;
  assign out.data  = '0;
  wire unused_out = &{1'b0, out.ready};
  for (genvar i = 0; i < 2; i++) begin : g_channel
    assign cmd[i].valid = 1'b0;
    assign cmd[i].data = '0;
    assign wdata[i].valid = 1'b0;
    assign wdata[i].data = '0;
    assign rdata[i].ready = 1'b1;
    assign done[i].ready = 1'b1;
    wire unused = &{1'b0, cmd[i].ready, wdata[i].ready, rdata[i].valid, rdata[i].data, done[i].valid, done[i].data};
  end
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
