// SPDX-License-Identifier: Apache-2.0
/// Where a frame can be looked at on its way from the transmit engine to the checksum and the MAC. As it is it passes frames on, in
/// no time and at no cost.
///
/// One of the user's own takes its place (`--with`, docs/extend/hook.md). It may hold frames back and change their bytes: the
/// checksum is put in behind it, where `csum_o` asks for one. It keeps frames in order and every frame that it was given: the MAC
/// stamps each. `csum_i` is the command of a frame while its first beat is offered.
module tx_hook
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    stream_if.snk frame_in,  // wide_beat_t
    input tx_csum_t csum_i,
    stream_if.src frame_out,
    output tx_csum_t csum_o
);
  // No beat moves in this clock. Once offered, one stays: only what comes before a frame's first beat may decide.
  wire hold = 1'b0;

  assign frame_out.valid = frame_in.valid && !hold;
  assign frame_out.data = frame_in.data;
  assign frame_in.ready = frame_out.ready && !hold;
  assign csum_o = csum_i;

  wire unused = &{1'b0, clk_i, rst_i};
endmodule
