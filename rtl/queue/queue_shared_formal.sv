// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=18 timeout=300
`include "formal.svh"
`include "reg_master_formal.svh"
`include "rmw_ram_model.svh"
`include "stream.svh"
/// queue_manager with queues that two ports send from: slots of a queue are never under way with both, whatever the host does to it
/// meanwhile; and a port that was told that there is nothing, where there was something, has the queue's doorbell rung for it: when the
/// last slot under way is finished, or at once where none is. Relies on: commits only of slots handed out; a ring moved only when all
/// of its slots are finished; one register access at a time.
module queue_shared_formal
  import queue_pkg::*;
(
    input logic        clk_i,
    input logic        rst_i,
    input logic        req_i,
    input logic        write_i,
    input logic        whole_i,
    input logic [ 2:0] word_i,
    input logic        req_queue_i,
    input logic [31:0] wdata_i,
    input logic        rung_valid_i,
    input logic        rung_queue_i,
    input logic [15:0] rung_producer_i,
    input logic        deq_valid_i,
    input logic        deq_queue_i,
    input logic        deq_port_i,
    input logic [ 3:0] deq_max_i,
    input logic        commit_valid_i,
    input logic        commit_queue_i,
    input logic        commit_port_i,
    input logic [ 3:0] commit_count_i,
    input logic        stop_valid_i,
    input logic        stop_queue_i,
    input logic        rsp_ready_i,
    input logic        doorbell_ready_i,
    input logic        error_ready_i,
    input logic        watched_i
);
  `FORMAL_BEGIN
  reg_if #(.AddrW(6)) regs ();
  `STREAM(rung_t, rung)
  `STREAM(deq_req_t, deq_req)
  `STREAM(deq_rsp_t, deq_rsp)
  `STREAM(commit_t, commit)
  `STREAM(queue_error_t, stop)
  `STREAM(queue_t, doorbell)
  `STREAM(queue_error_t, error)
  queue_manager #(
      .Queues (2),
      .Streams(StreamsNone),
      .Shared (1'b1)
  ) dut (
      .clk_i,
      .rst_i,
      .regs,
      .rung,
      .deq_req,
      .deq_port_i({1'b0, deq_port_i}),
      .deq_rsp,
      .commit,
      .stop,
      .doorbell,
      .error
  );
  assign rung.valid = rung_valid_i;
  assign rung.data = '{queue: 16'(rung_queue_i), producer: rung_producer_i};
  assign deq_req.valid = deq_valid_i;
  assign deq_req.data = '{queue: 16'(deq_queue_i), max: deq_max_i, granules: '0};
  assign commit.valid = commit_valid_i;
  assign commit.data = '{queue: 16'(commit_queue_i), count: 9'(commit_count_i)};
  assign stop.valid = stop_valid_i;
  assign stop.data = '{queue: 16'(stop_queue_i), code: ErrTimeout};
  assign deq_rsp.ready = rsp_ready_i;
  assign doorbell.ready = doorbell_ready_i;
  assign error.ready = error_ready_i;
  logic busy_q, write_q;
  logic [ 5:0] addr_q;
  logic [31:0] wdata_q;
  reg_master_formal #(
      .AddrW(6)
  ) i_host (
      .clk_i,
      .rst_i,
      .req_i,
      .write_i,
      .whole_i,
      .addr_i ({req_queue_i, word_i, 2'b00}),
      .wdata_i,
      .regs,
      .busy_o (busy_q),
      .write_o(write_q),
      .addr_o (addr_q),
      .wdata_o(wdata_q)
  );

  // Slots of the watched queue under way with each port, and those of them whose commit is on its way in.
  logic watched_q, owed_q;
  logic [1:0] commit_port_q;
  logic [1:0][15:0] under_q, coming_q;
  wire commits = commit.valid && commit.ready && commit_queue_i == watched_i;
  wire here = dut.update_q.known && dut.update_q.queue == 16'(watched_i);
  wire handed = here && dut.update_q.deq && dut.status == DeqOk;
  wire finishes = here && dut.update_q.commit;
  wire empties = here && dut.writing_q && dut.word == QRegBaseLo && !dut.now.enable;
  wire rings = dut.bell_valid_q && dut.bell_q == 16'(watched_i);
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    commit_port_q <= {commit_port_q[0], commit_port_i};
    for (int p = 0; p < 2; p++) begin
      under_q[p] <= under_q[p] + (handed && dut.update_q.port == 2'(p) ? 16'(dut.count) : '0) -
          (finishes && commit_port_q[1] == 1'(p) ? 16'(dut.commit_count_q) : '0);
      coming_q[p] <= coming_q[p] + (commits && commit_port_i == 1'(p) ? 16'(commit_count_i) : '0) -
          (finishes && commit_port_q[1] == 1'(p) ? 16'(dut.commit_count_q) : '0);
    end
    // Told that there is nothing, and no doorbell since.
    if (here && dut.update_q.deq && dut.kept) owed_q <= !dut.again;
    else if (here && (dut.ring || dut.again)) owed_q <= 1'b0;
    if (rst_i) {under_q, coming_q, owed_q} <= '0;
  end

  wire ring_ptr_t taken = dut.i_state.word_q[watched_i].taken;
  wire ring_ptr_t produced = dut.i_state.word_q[watched_i].producer;
  wire ring_ptr_t finished = dut.i_finished.word_q[watched_i];
  wire runs = dut.i_state.word_q[watched_i].enable && !dut.i_state.word_q[watched_i].stopped;
  logic rings_due_q;
  always_ff @(posedge clk_i) rings_due_q <= !rst_i && here && (dut.ring || dut.again);
  always_comb begin
    if (!started_q) assume (!dut.writing_q);
    if (started_q) begin
      assume (watched_i == watched_q);
      if (commits) assume (16'(commit_count_i) <= under_q[commit_port_i] - coming_q[commit_port_i]);
      if (empties) assume (taken == finished);

      assert (under_q[0] == 0 || under_q[1] == 0);
      if (rings_due_q) assert (rings);
      // Whoever was told that there is nothing waits for something that will come: a commit, or the host.
      if (owed_q) assert (taken != finished || !runs || produced == taken);

      // For the induction.
      assert (under_q[0] + under_q[1] == taken - finished);
      if (under_q[0] != 0) assert (dut.g_claim.i_claim.word_q[watched_i].owner == 0);
      if (under_q[1] != 0) assert (dut.g_claim.i_claim.word_q[watched_i].owner == 1);
      for (int p = 0; p < 2; p++) begin
        assert (under_q[p] <= 16'd32768 && coming_q[p] <= under_q[p]);
        assert (coming_q[p] == (dut.read_q.commit && dut.read_q.queue == 16'(watched_i) && commit_port_q[0] == 1'(p) ? 16'(dut.commit_count_read_q) : '0) +
            (dut.update_q.commit && dut.update_q.queue == 16'(watched_i) && commit_port_q[1] == 1'(p) ? 16'(dut.commit_count_q) : '0));
      end
      if (owed_q)
        assert (dut.g_claim.i_claim.word_q[watched_i].wanted || !runs || produced == taken);
      assert ($countones(
          {dut.read_q.access, dut.read_q.deq, dut.read_q.commit, dut.read_q.stop, dut.read_q.ring, dut.read_q.scan}
      ) <= 1);
      assert ($countones(
          {dut.update_q.access, dut.update_q.deq, dut.update_q.commit, dut.update_q.stop, dut.update_q.ring, dut.update_q.scan}
      ) <= 1);
      if (!dut.read_q.commit && dut.i_state.read_q) assert (dut.commit_count_read_q == 0);
      if (!dut.update_q.commit && dut.i_state.update_q) assert (dut.commit_count_q == 0);
      cover (owed_q && under_q[1] != 0);
      cover (rings && under_q == 0 && finished != 0);
    end
  end
endmodule
