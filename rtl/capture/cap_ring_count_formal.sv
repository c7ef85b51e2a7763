// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
/// cap_ring_count: whatever the consumer writes, returned, closed and opened never overtake each other and the ring never
/// holds more blocks than it has; a refused return changes nothing, and a start clears all unless a block is open.
module cap_ring_count_formal (
    input logic        clk_i,
    input logic        rst_i,
    input logic        start_i,
    input logic        open_i,
    input logic        close_i,
    input logic        return_i,
    input logic [31:0] count_i
);
  `FORMAL_BEGIN
  localparam logic [4:0] LogBlocks = 5'd2;
  logic room, refused;
  logic [31:0] opened, closed, returned;
  cap_ring_count dut (
      .clk_i,
      .rst_i,
      .start_i,
      .log_blocks_i(LogBlocks),
      .open_i,
      .close_i,
      .room_o(room),
      .return_i,
      .count_i,
      .refused_o(refused),
      .opened_o(opened),
      .closed_o(closed),
      .returned_o(returned)
  );
  always_comb begin
    if (open_i) assume (started_q && room && !close_i);
    if (close_i) assume (started_q && opened != closed);
    if (start_i) assume (!open_i && !close_i);
  end

  logic wrong_q = 1'b0, cleared_q = 1'b0, kept_q = 1'b0;
  logic [31:0] opened_q, returned_q;
  always_ff @(posedge clk_i) begin
    wrong_q <= started_q && return_i && count_i - returned > closed - returned && !start_i;
    returned_q <= returned;
    opened_q <= opened;
    cleared_q <= started_q && start_i && opened == closed;
    kept_q <= started_q && start_i && opened != closed;
  end

  always_comb begin
    if (started_q) begin
      held : assert (opened - returned <= 32'd1 << LogBlocks);
      closed_after_returned : assert (closed - returned <= opened - returned);
      one_open : assert (opened - closed <= 1);
      if (wrong_q) refused_is_refused : assert (refused && returned == returned_q);
      if (cleared_q) starts_anew : assert ({opened, closed, returned} == '0);
      if (kept_q) an_open_one_is_kept : assert (opened == opened_q && opened != closed);
      anew : cover (cleared_q && opened_q == 5);
      if (room) room_is_real : assert (opened - returned < 32'd1 << LogBlocks && opened == closed);
      full : cover (opened - returned == 32'd1 << LogBlocks);
      gone_round : cover (returned == 5);
      bad : cover (refused);
    end
  end
endmodule
