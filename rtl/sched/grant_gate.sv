// SPDX-License-Identifier: Apache-2.0
/// Holds back the grants of a scheduler that knows nothing of lengths while `Window` bytes are between it and the wire.
///
/// Behind sched_rr: what is granted is sent in order, so what comes later waits for all of it, and of 9018-byte frames 512 packets are
/// 370 us of a 100G line. sched_window counts; a grant goes while there is room, of as many packets as there is room for. A grant on offer
/// is not taken back, nor changed. One a clock where packets have up to 1024 bytes in the mean, one in seven clocks where they have more.
/// Combinational where there is room. Reset: nothing is under way.
module grant_gate
  import queue_pkg::*;
#(
    parameter logic [19:0] Window = 131072  // bytes
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,  // grant_t
    stream_if.src out,  // grant_t
    input behind_grant_t behind_i
);
  logic [3:0] room, max, held_max_q;
  logic held_q, unused_begun;
  sent_t  unused_packet;
  grant_t grant;
  assign grant = in.data;
  sched_window #(
      .Mean(1)
  ) i_window (
      .clk_i,
      .rst_i,
      .window_i(Window),
      .grant_valid_i(out.valid),
      .grant_ready_i(out.ready),
      .grant_max_i(max),
      .behind_i,
      .room_o(room),
      .begun_o(unused_begun),
      .begun_packet_o(unused_packet)
  );

  wire open = held_q || room != '0;
  assign max = held_q ? held_max_q : grant.max < room ? grant.max : room;
  assign out.valid = in.valid && open;
  assign out.data = '{queue: grant.queue, max: max, granules: grant.granules};
  assign in.ready = out.ready && open;

  always_ff @(posedge clk_i) begin
    held_q <= out.valid && !out.ready;
    held_max_q <= max;
    if (rst_i) held_q <= 1'b0;
  end
endmodule
