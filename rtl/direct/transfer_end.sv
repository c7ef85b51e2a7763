// SPDX-License-Identifier: Apache-2.0
/// Tells when a transfer on a DMA channel is over: its last word has moved and its result has come, in either order.
///
/// `busy_i` is high from the command on until `over_o`, which comes combinationally with the later of the two; `failed_o` then
/// says how it ended. `moved_o`: the last word has moved in a clock before. One transfer at a time. Reset forgets it.
module transfer_end
  import channel_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         busy_i,
    input  logic         last_i,   // the last word moves now
           stream_if.snk done,     // channel_result_e, always ready
    output logic         moved_o,
    output logic         over_o,
    output logic         failed_o
);
  logic ended_q, failed_q;
  assign done.ready = 1'b1;
  assign over_o = busy_i && (moved_o || last_i) && (ended_q || done.valid);
  assign failed_o = failed_q || (done.valid && done.data != ChannelOk);

  always_ff @(posedge clk_i) begin
    if (over_o) begin
      moved_o  <= 1'b0;
      ended_q  <= 1'b0;
      failed_q <= 1'b0;
    end else if (busy_i) begin
      moved_o  <= moved_o || last_i;
      ended_q  <= ended_q || done.valid;
      failed_q <= failed_o;
    end
    if (rst_i) begin
      moved_o  <= 1'b0;
      ended_q  <= 1'b0;
      failed_q <= 1'b0;
    end
  end
endmodule
