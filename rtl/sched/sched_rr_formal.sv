// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=26 suite=no
`include "formal.svh"
`include "reg_master_formal.svh"
`include "rmw_ram_model.svh"
`include "stream.svh"
/// sched_rr, turns of any one queue while none is at its limit: a queue that is enabled and has work gets its grant within
/// a fixed number of clocks in which `grant` is not held up, and each other queue passes it at most once meanwhile; it never
/// has two turns, nor a turn and a grant on its way; a burst is within its bounds. Relies on: `granted` only for grants on
/// their way, one register access at a time. (Limits, and more than three queues,
/// are left to the block test.)
module sched_rr_formal
  import queue_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       req_i,
    input logic       write_i,
    input logic       wdata_i,
    input logic [1:0] req_queue_i,
    input logic       ring_i,
    input logic [1:0] ring_queue_i,
    input logic       granted_i,
    input logic [1:0] granted_queue_i,
    input logic       granted_more_i,
    input logic       grant_ready_i,
    input logic [1:0] watched_i,        // the queue looked at
    input logic [1:0] other_i           // another one
);
  `FORMAL_BEGIN
  localparam int Queues = 3;  // number 3 does not exist
  // From the doorbell, or the answer with more: 3 clocks to the offer of a grant, and one because of the others.
  localparam int Bound = 4;

  reg_if #(.AddrW(4)) regs ();
  `STREAM(queue_t, doorbell)
  `STREAM(grant_t, grant)
  `STREAM(granted_t, granted)
  `STREAM(sent_t, sent)
  sched_rr #(
      .Queues(Queues)
  ) dut (
      .clk_i,
      .rst_i,
      .max_burst_i(4'd8),
      .max_inflight_i(16'd16),
      .regs,
      .doorbell,
      .grant,
      .granted,
      .sent
  );
  assign doorbell.valid = ring_i;
  assign doorbell.data = 16'(ring_queue_i);
  assign granted.valid = granted_i;
  // Nothing is ever in flight.
  assign granted.data = '{
          queue: 16'(granted_queue_i),
          status: granted_more_i ? DeqOk : DeqEmpty,
          count: '0,
          more: granted_more_i
      };
  assign sent.valid = 1'b0;
  assign sent.data = '0;
  assign grant.ready = grant_ready_i;
  `FORMAL_STREAM(assert, grant, grant_t)

  // Outside view: which grants are on their way, and what is owed to the watched queue.
  logic [3:0] outstanding_q;
  logic busy, write, enable_q, owed_q, waits_q;
  logic [ 3:0] addr;
  logic [31:0] wdata;
  logic [1:0] watched_q, other_q, passed_q;
  reg_master_formal #(
      .AddrW(4)
  ) i_host (
      .clk_i,
      .rst_i,
      .req_i,
      .write_i,
      .whole_i(1'b1),
      .addr_i ({req_queue_i, 2'b00}),
      .wdata_i(32'(wdata_i)),
      .regs,
      .busy_o (busy),
      .write_o(write),
      .addr_o (addr),
      .wdata_o(wdata)
  );
  logic [3:0] age_q;
  wire grants = grant.valid && grant.ready;
  wire answers = granted.valid && granted.ready;
  wire grants_watched = grants && grant.data.queue == 16'(watched_i);
  wire rings_watched = doorbell.valid && doorbell.ready && ring_queue_i == watched_i;
  wire answers_watched = answers && granted_queue_i == watched_i;
  // Turns of the watched queue inside.
  logic [2:0] turns;
  always_comb begin
    turns = 3'(dut.i_turns.head_full_q && dut.i_turns.head_q == watched_i) +
        3'(dut.head_valid_q && dut.head_q == watched_i) +
        3'(dut.grant_valid_q && dut.grant_q.queue == 16'(watched_i)) + 3'(outstanding_q[watched_i]);
    for (int i = 0; i < Queues; i++) begin
      int from_read;
      from_read = i - int'(dut.i_turns.read_q);
      if (from_read < 0) from_read = from_read + Queues;
      if (from_read < int'(dut.i_turns.stored_q) && dut.i_turns.mem[i] == watched_i)
        turns = turns + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    other_q   <= other_i;
    if (grants) outstanding_q[grant.data.queue[1:0]] <= 1'b1;
    if (answers) outstanding_q[granted_queue_i] <= 1'b0;
    // A queue counts as enabled from the answer to the write on, and as disabled as soon as that may begin.
    if (regs.ack && write && addr[3:2] == watched_i) enable_q <= wdata[0];
    if (req_i && write_i && !wdata_i && req_queue_i == watched_i) enable_q <= 1'b0;
    if (grants_watched) owed_q <= 1'b0;
    if (rings_watched || (answers_watched && granted_more_i)) owed_q <= 1'b1;
    if (grants_watched || outstanding_q[watched_i] || !owed_q || !enable_q) age_q <= '0;
    else if (!grant.valid || grant.ready) age_q <= age_q + 1'b1;
    // With a turn inside: how often the other one comes first.
    if (turns == 0 || outstanding_q[watched_i] || grants_watched) passed_q <= '0;
    else if (grants && grant.data.queue == 16'(other_i)) passed_q <= passed_q + 1'b1;
    if (rst_i) {outstanding_q, enable_q, owed_q, age_q, passed_q} <= '0;
  end

  always_comb begin
    assume (watched_i < 2'(Queues) && other_i < 2'(Queues) && other_i != watched_i);
    if (started_q) begin
      assume (watched_i == watched_q && other_i == other_q);
      if (granted_i) assume (outstanding_q[granted_queue_i]);

      assert (turns <= 1);
      if (dut.turn_in.valid) assert (dut.turn_in.ready);
      if (grant.valid) assert (grant.data.queue < Queues && grant.data.max == 8);
      assert (age_q <= Bound);
      assert (passed_q <= 1);
      cover (age_q == Bound);
      cover (passed_q == 1);
      cover (outstanding_q[watched_i] && outstanding_q[other_i]);
    end
  end
endmodule
