// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// turn_pace: every request once and in order, whatever is pressed; as many as its gap allows while turns are answered, one a clock
/// where nothing is pressed or queues have descriptors; what was shown stays; reset opens it.
module turn_pace_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Gap = 8;

  `STREAM_ON(queue_t, in, clk, rst)
  `STREAM_ON(queue_t, out, clk, rst)
  logic [1:0] pressed = '0;
  logic answer, turn = 0;
  turn_pace #(
      .T  (queue_t),
      .Gap(Gap)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .pressed_i(pressed),
      .answer_i(answer),
      .turn_i(turn),
      .*
  );

  int unsigned in_percent = 100, out_percent = 100, out_count = 0, since = 0;
  int unsigned wanted[$];
  logic shown = 0, was_turn = 0;
  logic [1:0] was_pressed = '0;
  queue_t shown_data;
  `STREAM_SOURCE(queue_t, i_in, in, in_percent)
  `STREAM_SINK(queue_t, i_out, out, out_percent)

  // Answers come a clock after their requests.
  always @(posedge clk) answer <= out.valid && out.ready && !rst;

  function automatic int unsigned gap(logic [1:0] p);
    return p[1] ? 4 * Gap : p[0] ? Gap : 1;
  endfunction

  always @(posedge clk) begin
    since++;
    if (!rst) begin
      if (shown) `CHECK(out.valid && out.data == shown_data, "what was shown has gone")
      // Of turns none comes too soon, and none is kept longer than it must be.
      if (out.valid && !shown && was_turn)
        `CHECK(since >= gap(was_pressed), $sformatf("after %0d clocks", since))
      if (in.valid && !out.valid)
        `CHECK(was_turn && since < gap(was_pressed), $sformatf("held for %0d clocks", since))
      shown = out.valid && !out.ready;
      shown_data = out.data;
      if (out.valid && out.ready) begin
        `CHECK(wanted.size() != 0 && out.data == queue_t'(wanted.pop_front()), "not in order")
        out_count++;
        since = 0;
      end
      if (answer) was_turn = turn;
      was_pressed = pressed;
    end else begin
      shown = 0;
      was_turn = 0;
      since = 0;
    end
    if (i_in.queue.size() < 4) begin
      automatic queue_t q = queue_t'($urandom());
      i_in.queue.push_back(q);
      wanted.push_back(int'(q));
    end
  end

  task automatic count(int clocks, output int unsigned n);
    automatic int unsigned from = out_count;
    repeat (clocks) @(posedge clk);
    n = out_count - from;
  endtask

  initial begin
    int unsigned n;
    @(negedge rst);
    // At full speed: descriptors whatever is pressed, turns where nothing is.
    for (int p = 0; p < 4; p++) begin
      pressed = 2'(p);
      turn = 0;
      repeat (8 * Gap) @(posedge clk);
      count(400, n);
      `CHECK(n >= 399, $sformatf("%0d of 400 with descriptors", n))
      turn = 1;
      repeat (8 * Gap) @(posedge clk);
      count(40 * Gap, n);
      `CHECK(n >= 40 * Gap / gap(2'(p)) - 1 && n <= 40 * Gap / gap(2'(p)) + 1, $sformatf(
             "%0d turns in %0d clocks at %0d", n, 40 * Gap, p))
    end
    repeat (400) begin
      pressed = 2'($urandom());
      turn = $urandom_range(3) != 0;
      in_percent = $urandom_range(100, 10);
      out_percent = $urandom_range(100, 10);
      repeat ($urandom_range(100)) @(posedge clk);
    end
    // In mid-traffic.
    {pressed, turn, in_percent, out_percent} = {2'b10, 1'b1, 32'd100, 32'd100};
    repeat (100) @(posedge clk);
    rst = 1;
    repeat (3) @(posedge clk);
    i_in.queue.delete();
    wanted.delete();
    rst = 0;
    repeat (2) @(posedge clk);
    turn = 0;
    count(100, n);
    `CHECK(n >= 95, "reset does not open it")
    `CHECK(out_count > 4000, "the test did not do its work")
    `TB_PASS
  end
endmodule
