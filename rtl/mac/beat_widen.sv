// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Beats of a frame side by side, two in one of twice the width, each with the time of its first byte.
///
/// For a stream that cannot wait: a beat is taken in every clock, a wide one comes out with its second half, or with the frame's
/// end. A frame begins a new one. No latency of its own; reset forgets a first half.
module beat_widen
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,
    parameter type Wide = wide_beat_t
) (
    input  logic      clk_i,
    input  logic      rst_i,
    input  logic      valid_i,
    input  Beat       beat_i,
    input  ptp_time_t time_i,
    output logic      valid_o,
    output Wide       beat_o,
    output ptp_time_t time_o
);
  localparam int HalfBits = $bits(beat_i.data);
  localparam int LenW = $bits(beat_o.len);
  if ($bits(beat_o.data) != 2 * HalfBits) begin : g_bad_parameter
    $fatal(1, "beat_widen: Wide is not twice as wide as Beat");
  end

  logic half_q;  // the first half is here
  logic sop_q;
  logic [HalfBits-1:0] data_q;
  ptp_time_t time_q;

  assign valid_o = valid_i && (half_q || beat_i.eop);
  `WHILE(valid_o, beat_o, '{data: {beat_i.data, half_q ? data_q : beat_i.data},
                          len: half_q ? LenW'(HalfBits / 8) + LenW'(beat_i.len) : LenW'(beat_i.len
                          ), sop: half_q ? sop_q : beat_i.sop, eop: beat_i.eop, err: beat_i.err})
  assign time_o = half_q ? time_q : time_i;

  always_ff @(posedge clk_i) begin
    if (valid_i) half_q <= !half_q && !beat_i.eop;
    if (valid_i && !half_q) begin
      sop_q  <= beat_i.sop;
      data_q <= beat_i.data;
      time_q <= time_i;
    end
    if (rst_i) half_q <= 1'b0;
  end
endmodule
