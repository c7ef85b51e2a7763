// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// usplus_share against the same sum in a loop, with what goes by chance and with one kind after the other alone; and two kinds that
/// always wait, of lengths that differ, of which the longer one would take the other's part: both carry the same. Nothing is left of
/// what goes in reset.
module usplus_share_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Most = 2047, Slack = 256;
  logic [10:0] asked = '0, wrote = '0;
  logic reads_yield, writes_yield;
  usplus_share #(
      .Most (Most),
      .Slack(Slack)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .asked_i(asked != '0),
      .asked_dws_i(asked != '0 ? asked : 11'($urandom())),
      .wrote_i(wrote != '0),
      .wrote_dws_i(wrote != '0 ? wrote : 11'($urandom())),
      .reads_yield_o(reads_yield),
      .writes_yield_o(writes_yield)
  );

  int lead = 0, step = 0, taken = 0, ends[2] = '{default: 0};
  int unsigned yields[2] = '{default: 0};
  task automatic clock(int asked_now, int wrote_now);
    int was = lead;
    asked = 11'(asked_now);
    wrote = 11'(wrote_now);
    @(posedge clk);
    #1;
    lead += step;
    if (lead > Most || lead < -Most - 1) begin
      ends[lead<0]++;
      lead = lead < 0 ? -Most - 1 : Most;
    end
    step  = taken;
    taken = asked_now - wrote_now;
    `CHECK(reads_yield == (was > Slack) && writes_yield == (was < -Slack),
           $sformatf("a lead of %0d Dwords", was))
    yields[0] += 32'(reads_yield);
    yields[1] += 32'(writes_yield);
  endtask

  /// Both wait all the time, and only one goes in a clock: in turn, but for who is to yield.
  task automatic both_wait(int read_dws, int write_dws);
    int all[2] = '{default: 0};
    bit turn = 0;
    for (int n = 0; n < 4000; n++) begin
      turn = reads_yield ? 1 : writes_yield ? 0 : !turn;
      clock(turn ? 0 : read_dws, turn ? write_dws : 0);
      all[turn] += turn ? write_dws : read_dws;
      if (n == 1000) all = '{default: 0};
    end
    `CHECK(
        all[0] - all[1] < 2 * (Slack + 3 * 1024) && all[1] - all[0] < 2 * (Slack + 3 * 1024) && all[0] > 40 * Slack,
        $sformatf("reads of %0d and writes of %0d Dwords: %0d and %0d", read_dws, write_dws,
                  all[0], all[1]))
  endtask

  initial begin
    asked = 11'd700;
    @(negedge rst);
    asked = '0;
    @(posedge clk);
    #1;
    // What goes in reset is not counted: a Dword more than `Slack` is one too many, and one less is none.
    clock(Slack + 1, 0);
    clock(0, 1);
    repeat (3) clock(0, 0);
    `CHECK(yields[0] == 1 && yields[1] == 0, "a lead in reset")
    for (int n = 0; n < 20000; n++) begin
      automatic int of_reads = n / 1000 % 3, most = n / 3000 % 2 ? 1024 : 40;
      clock(of_reads != 1 && $urandom_range(3) == 0 ? int'($urandom_range(most)) : 0,
            of_reads != 0 && $urandom_range(3) == 0 ? int'($urandom_range(most)) : 0);
    end
    `CHECK(ends[0] > 100 && ends[1] > 100 && yields[0] > 1000 && yields[1] > 1000,
           "both ends were reached")
    both_wait(128, 15);
    both_wait(15, 64);
    both_wait(1024, 64);
    `TB_PASS
  end
endmodule
