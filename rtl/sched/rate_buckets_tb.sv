// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// rate_buckets with clocks that wrap soon: a bucket that nothing was sent from for a long time is full whatever the clocks say, each
/// queue's; one that was just emptied waits for as long as its rate says, across the wrap too; charges and accesses all the while.
module rate_buckets_tb
  import queue_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(3_000_000)
  localparam int Queues = 7, ClockW = 18;  // wraps after 262,144 clocks
  localparam int Burst = 1500, Bytes = 996, Period = 4;  // bytes, bytes without FCS, clocks a byte
  localparam int Answer = 8;

  reg_if regs ();
  logic ready, refused, charge = 0, ask = 0;
  sent_t charged = '{default: '0};
  logic [2:0] ask_queue = '0;
  logic [15:0] ask_granted = '0;
  logic [3:0] packets;
  logic [ClockW-1:0] wake, now;
  rate_buckets #(
      .Queues(Queues),
      .ClockW(ClockW)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .ready_o(ready),
      .regs,
      .refused_o(refused),
      .longest_i(14'd1500),
      .charge_i(charge),
      .charged_i(charged),
      .ask_i(ask),
      .ask_queue_i(ask_queue),
      .ask_granted_i(ask_granted),
      .packets_o(packets),
      .wake_o(wake),
      .now_o(now)
  );
  `REG_MASTER(24, i_regs, regs)
  int unsigned charges[Queues];

  task automatic charge_one(int q);
    @(negedge clk);
    charge = 1;
    charged.queue = 16'(q);
    charged.bytes = 14'(Bytes);
    @(negedge clk);
    charge = 0;
    charges[q]++;
    repeat (8) @(negedge clk);
  endtask

  // What is charged is all that was granted.
  task automatic question(int q, output logic [3:0] may, output logic [ClockW-1:0] after);
    @(negedge clk);
    ask = 1;
    ask_queue = 3'(q);
    @(negedge clk);
    ask = 0;
    ask_granted = 16'(charges[q]);
    repeat (Answer - 1) @(negedge clk);
    may   = packets;
    after = wake - now;
  endtask

  // Others are charged and their registers read meanwhile.
  bit busy = 0;
  logic [31:0] got;
  always @(posedge clk)
    if (busy && i_regs.posts.size() == 0 && $urandom_range(20) == 0)
      i_regs.post(24'((Queues - 1) * 8 + 4), Burst);

  initial begin
    logic [3:0] may;
    logic [ClockW-1:0] after;
    int q;
    @(negedge rst);
    while (!ready) @(negedge clk);
    for (int i = 0; i < Queues - 1; i++) begin
      i_regs.access(1, 24'(i * 8 + 4), Burst, 4'hF);
      i_regs.access(1, 24'(i * 8), Period << 20, 4'hF);
      question(i, may, after);
      `CHECK(may == 1, $sformatf("queue %0d may send %0d packets at first", i, may))
    end
    busy = 1;
    // Each is emptied at another time of the clocks' round, and looked at again after half of one and more.
    for (int n = 0; n < 4 * (Queues - 1); n++) begin
      q = n % (Queues - 1);
      charge_one(q);
      charge_one(q);
      question(q, may, after);
      // 2,000 bytes of 1,500 are gone: there is no byte for 500 * Period clocks.
      `CHECK(may == 0 && 32'(after) > 400 * Period && 32'(after) <= 501 * Period, $sformatf(
             "queue %0d: %0d packets, after %0d clocks", q, may, after))
      repeat (int'(after) + 100) @(negedge clk);
      question(q, may, after);
      `CHECK(may == 1, $sformatf("queue %0d waits for longer than it was told", q))
      repeat ($urandom_range(60_000, 30_000)) @(negedge clk);
      for (int i = 0; i < Queues - 1; i++) begin
        question(i, may, after);
        `CHECK(may == 1, $sformatf("queue %0d, idle for long, waits for %0d clocks", i, after))
      end
    end
    i_regs.read(24'h4, got);
    `CHECK(got == Burst && !refused, "its burst is another")
    `TB_PASS
  end
endmodule
