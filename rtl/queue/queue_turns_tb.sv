// SPDX-License-Identifier: Apache-2.0
// of: queue_manager
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// queue_manager with queues that are streams beside one that is none: every turn up to the doorbell, the ring's end or a multiple of
/// TurnGranules, at its address and index; doorbells outside the ring; a ring that becomes a stream and an ordinary one again.
module queue_turns_tb;
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 4;

  reg_if regs ();
  `STREAM_ON(rung_t, rung, clk, rst)
  `STREAM_ON(deq_req_t, deq_req, clk, rst)
  `STREAM_ON(deq_rsp_t, deq_rsp, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  logic refused, streams;
  queue_manager #(
      .Queues (Queues),
      .Streams(StreamsEmptied)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .refused_o(refused),
      .streams_o(streams),
      .deq_port_i('0),
      .*
  );
  assign doorbell.ready = 1'b1;
  assign error.ready = 1'b1;
  `STREAM_SOURCE(rung_t, i_rung, rung, 100)
  `STREAM_SOURCE(deq_req_t, i_deq_req, deq_req, 100)
  `STREAM_SINK(deq_rsp_t, i_deq_rsp, deq_rsp, 100)
  `STREAM_SOURCE(commit_t, i_commit, commit, 100)
  `STREAM_SOURCE(queue_error_t, i_stop, stop, 100)
  reg_master i_host (
      .clk,
      .rst,
      .on(regs)
  );

  deq_rsp_t answer;
  int unsigned answers = 0, errors = 0;
  always @(posedge clk)
    if (!rst) begin
      if (deq_rsp.valid && deq_rsp.ready) begin
        answer = deq_rsp.data;
        answers++;
      end
      errors += 32'(error.valid);
    end

  function automatic logic [63:0] base(int unsigned q);
    return 64'h12_0000_0000 * 64'(q + 1) + 64'h5000;
  endfunction

  task automatic register(int unsigned q, logic [2:0] word, logic [31:0] value);
    i_host.write(16'(q * 32 + 32'(word) * 4), value);
  endtask

  task automatic set_up(int unsigned q, int unsigned log_size, bit stream);
    logic [31:0] got;
    register(q, QRegControl, 0);
    register(q, QRegBaseHi, 32'(base(q) >> 32));
    register(q, QRegBaseLo, 32'(base(q)) | 32'(stream));
    register(q, QRegCq, 32'(q + 7));
    register(q, QRegControl, 32'(log_size << 4 | 1));
    i_host.read(16'(q * 32), got);
    `CHECK(got == (32'(base(q)) | 32'(stream)), "the base reads otherwise")
    i_host.read(16'(q * 32 + 4), got);
    `CHECK(got == 32'(base(q) >> 32), "the base's upper half reads otherwise")
  endtask

  task automatic dequeue(int unsigned q);
    int unsigned seen = answers;
    i_deq_req.queue.push_back('{queue: 16'(q), max: 4'd8, granules: '0});
    while (answers == seen) @(posedge clk);
    `CHECK(answer.queue == 16'(q) && answer.cq == 16'(q + 7), "an answer for another queue")
  endtask

  /// A queue that is a stream, from its beginning on.
  task automatic stream(int unsigned q, int unsigned log_size, int unsigned rounds);
    int unsigned ring = 1 << log_size, turn = ring < TurnGranules ? ring : TurnGranules, turns = 0;
    logic [15:0] producer = 0, taken = 0;
    set_up(q, log_size, 1);
    repeat (rounds) begin
      int unsigned room = ring - 32'(16'(producer - taken)), left, count;
      if (room != 0) begin
        producer += 16'($urandom_range(3) == 0 ? room : $urandom_range(room, 1));
        i_rung.queue.push_back('{queue: 16'(q), producer: producer});
        repeat (8) @(posedge clk);
      end
      while (producer != taken) begin
        left  = turn - 32'(taken) % turn;
        count = 32'(16'(producer - taken)) < left ? 32'(16'(producer - taken)) : left;
        dequeue(q);
        `CHECK(answer.status == DeqOk && answer.stream && answer.count == 1 && answer.ahead == 0,
               "no turn")
        `CHECK(32'(answer.granules) == count && answer.index == taken, $sformatf(
               "%0d granules from %0d on, not %0d from %0d",
               answer.granules,
               answer.index,
               count,
               taken
               ))
        `CHECK(answer.addr == base(q) + 64'(16 * (32'(taken) % ring)), "at another address")
        taken += 16'(count);
        `CHECK(answer.more == (producer != taken), "there is more, or not")
        turns++;
        // In pieces, as the engine gives them back.
        while (count != 0) begin
          int unsigned piece = count < 256 ? count : 256;
          i_commit.queue.push_back('{queue: 16'(q), count: 9'(piece)});
          count -= piece;
        end
        if ($urandom_range(2) == 0) break;
      end
      while (i_commit.queue.size() != 0 || commit.valid) @(posedge clk);
      repeat (8) @(posedge clk);
    end
    `CHECK(turns > rounds / 3, "few turns")
  endtask

  initial begin

    @(negedge rst);
    repeat (20) @(posedge clk);
    stream(1, 5, 150);
    stream(2, 15, 150);
    stream(1, 12, 100);
    stream(3, 14, 100);
    `CHECK(errors == 0, "a good doorbell is an error")
    // A doorbell beyond the ring stops the queue.
    set_up(2, 9, 1);
    i_rung.queue.push_back('{queue: 16'd2, producer: 16'd513});
    repeat (20) @(posedge clk);
    `CHECK(errors == 1, "a doorbell beyond the ring is no error")
    dequeue(2);
    `CHECK(answer.status == DeqStopped && answer.count == 0, "a stopped queue gives a turn")
    // An ordinary ring again.
    set_up(2, 9, 0);
    i_rung.queue.push_back('{queue: 16'd2, producer: 16'd5});
    repeat (20) @(posedge clk);
    dequeue(2);
    `CHECK(answer.status == DeqOk && !answer.stream && answer.count == 5 && !answer.more,
           "no slots of a ring that was a stream")
    `TB_PASS
  end
endmodule
