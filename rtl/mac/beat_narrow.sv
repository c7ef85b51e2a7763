// SPDX-License-Identifier: Apache-2.0
/// Beats of a frame as two of half the width each (one where the frame ends in the first half), or as they are.
///
/// One narrow beat a clock, no bubbles, full back-pressure, no latency. `Wide` is `Beat` or twice as wide.
module beat_narrow
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,
    parameter type Wide = wide_beat_t
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk in,     // Wide
          stream_if.src out     // Beat
);
  assign out.valid = in.valid;
  if ($bits(Wide) == $bits(Beat)) begin : g_same
    wire unused = &{1'b0, clk_i, rst_i};
    assign out.data = in.data;
    assign in.ready = out.ready;
  end else begin : g_halves
    Beat half;
    Wide whole;
    localparam int HalfBits = $bits(half.data);
    localparam int LenW = $bits(half.len);
    if ($bits(whole.data) != 2 * HalfBits) begin : g_bad_parameter
      $fatal(1, "beat_narrow: Wide is not twice as wide as Beat");
    end
    assign whole = in.data;

    logic second_q;
    wire one = $bits(whole.len)'(HalfBits / 8) >= whole.len;
    wire last = second_q || one;
    wire [LenW-1:0] full = LenW'(HalfBits / 8);
    wire [LenW-1:0] rest = LenW'(second_q ? whole.len - $bits(whole.len)'(full) : whole.len);
    assign half = '{
            data: second_q ? whole.data[HalfBits+:HalfBits] : whole.data[0+:HalfBits],
            len: last ? rest : full,
            sop: whole.sop && !second_q,
            eop: whole.eop && last,
            err: whole.err && last
        };
    assign out.data = half;
    assign in.ready = out.ready && last;
    always_ff @(posedge clk_i) begin
      if (in.valid && out.ready) second_q <= !last;
      if (rst_i) second_q <= 1'b0;
    end
  end
endmodule
