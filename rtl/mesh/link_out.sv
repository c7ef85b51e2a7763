// SPDX-License-Identifier: Apache-2.0
/// The end of a link of the on-chip networks on the side of its sender: the last place before the border of a tile or an edge slot.
///
/// `valid_o` is high for a clock for each word. `room_i` is that of the link_fifo at the other end, through a register:
/// so no combinational path goes into a tile and out of it again, and a simulation evaluates a tile once a clock.
/// Latency 0, one word a clock.
module link_out
  import mesh_pkg::word_t;
(
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,

    output logic  valid_o,
    output word_t data_o,
    input  logic  room_i
);
  logic room_q;
  always_ff @(posedge clk_i) room_q <= room_i && !rst_i;
  assign in.ready = room_q;
  assign valid_o  = in.valid && room_q;
  assign data_o   = in.data;
endmodule
