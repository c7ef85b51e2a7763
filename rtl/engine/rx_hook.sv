// SPDX-License-Identifier: Apache-2.0
/// Where a received frame can be looked at, on its way from the parser to the packet buffer: frames, and what was found out about
/// each. As it is it passes them on, in no time and at no cost.
///
/// One of the user's own takes its place (`--with`, docs/extend/hook.md). It may hold frames back, change what is known of one (the
/// queue that it goes to, its hash), and drop one: `err` with its last beat, and a clock of `dropped_o` (not for those that came
/// with it). It keeps frames and infos in order, and one info a frame. The info of a frame comes after its last beat, which the
/// packet buffer takes only together with it: so both are seen in the clock that decides.
module rx_hook
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    stream_if.snk frame_in,   // wide_beat_t
    stream_if.snk info_in,    // rx_info_t, one a frame
    stream_if.src frame_out,
    stream_if.src info_out,

    output logic dropped_o
);
  wide_beat_t beat;
  rx_info_t   info;
  assign beat = frame_in.data;
  assign info = info_in.data;

  // The frame that ends in this clock is not wanted.
  wire drop = 1'b0;

  wire known = !beat.eop || info_in.valid;
  always_comb begin
    wide_beat_t passed;
    passed = beat;
    passed.err = beat.err || (beat.eop && drop);
    frame_out.data = passed;
  end
  assign frame_out.valid = frame_in.valid && known;
  assign frame_in.ready = frame_out.ready && known;
  assign info_out.valid = info_in.valid;
  assign info_out.data = info;
  assign info_in.ready = info_out.ready;
  assign dropped_o = frame_in.valid && frame_in.ready && beat.eop && drop && !beat.err;

  wire unused = &{1'b0, clk_i, rst_i};
endmodule
