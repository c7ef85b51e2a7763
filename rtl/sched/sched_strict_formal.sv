// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=22 timeout=400
`include "formal.svh"
`include "reg_master_formal.svh"
`include "rmw_ram_model.svh"
`include "stream.svh"
/// sched_strict, in its first clocks: no priority is served while a higher one has a queue that can be taken, and none without room; a
/// queue never has two grants on their way. Relies on: `granted` only for grants on their way, one register access at a time. Two queues.
module sched_strict_formal
  import queue_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       req_i,
    input logic [2:0] share_i,
    input logic       enable_i,
    input logic       req_queue_i,
    input logic       ring_i,
    input logic       ring_queue_i,
    input logic       granted_i,
    input logic       granted_queue_i,
    input logic       granted_more_i,
    input logic       grant_ready_i,
    input logic       room_i
);
  `FORMAL_BEGIN
  localparam int Queues = 2;
  reg_if #(.AddrW(4)) regs ();
  `STREAM(queue_t, doorbell)
  `STREAM(grant_t, grant)
  `STREAM(granted_t, granted)
  sched_strict #(
      .Queues(Queues)
  ) dut (
      .clk_i,
      .rst_i,
      .max_burst_i(4'd8),
      .room_i({room_i, 3'd0}),
      .regs,
      .doorbell,
      .grant,
      .granted
  );
  assign doorbell.valid = ring_i;
  assign doorbell.data = 16'(ring_queue_i);
  assign granted.valid = granted_i;
  assign granted.data = '{
          queue: 16'(granted_queue_i),
          status: granted_more_i ? DeqOk : DeqEmpty,
          count: '0,
          more: granted_more_i
      };
  assign grant.ready = grant_ready_i;
  `FORMAL_STREAM(assert, grant, grant_t)

  logic [Queues-1:0] out_q;
  logic busy, write;
  logic [ 3:0] addr;
  logic [31:0] wdata;
  reg_master_formal #(
      .AddrW(4)
  ) i_host (
      .clk_i,
      .rst_i,
      .req_i,
      .write_i(1'b1),
      .whole_i(1'b1),
      .addr_i ({1'b0, req_queue_i, 2'b00}),
      .wdata_i({21'd0, share_i, 7'd0, enable_i}),
      .regs,
      .busy_o (busy),
      .write_o(write),
      .addr_o (addr),
      .wdata_o(wdata)
  );
  wire grants = grant.valid && grant.ready;
  always_ff @(posedge clk_i) begin
    if (grants) out_q[grant.data.queue[0]] <= 1'b1;
    if (granted_i && granted.ready) out_q[granted_queue_i] <= 1'b0;
    if (rst_i) out_q <= '0;
  end

  // A class is chosen: none above it has a queue.
  wire chosen = dut.i_classes.served_o;
  wire [2:0] highest = dut.i_classes.chosen_i;
  always_comb begin
    if (started_q) begin
      if (granted_i) assume (out_q[granted_queue_i]);
      if (grants) assert (grant.data.queue < Queues && !out_q[grant.data.queue[0]]);
      if (grant.valid) assert (grant.data.max == 8);
      if (chosen) begin
        assert (room_i);
        for (int c = 0; c < 8; c++)
        if (3'(c) < highest)
          assert (!dut.i_classes.i_lists.some_q[c] || dut.i_classes.i_lists.moving_q[c]);
      end
      cover (chosen && highest == 3'd5);
      cover (&out_q);
    end
  end
endmodule
