// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// reset_sequencer with three clocks of any ratio and requests of any length at any time: all resets come at once, none goes
/// before each domain had its clocks in reset, they go in order and with their clocks, and they do go.
module reset_sequencer_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Domains = 3, Stages = 3;
  int unsigned half[Domains] = '{5, 3, 8};
  logic [Domains-1:0] clks = '0, ask = '0, rsts;
  logic stopped = 0;  // the clock of domain 2 stands
  logic begun = 0;  // before the first request the registers hold anything
  for (genvar i = 0; i < Domains; i++) begin : g_clock
    initial forever #(half[i]) clks[i] = !clks[i] && !(i == 2 && stopped);
  end
  reset_sequencer #(
      .Domains(Domains),
      .Stages (Stages)
  ) dut (
      .clk_i(clks),
      .rst_i(ask),
      .rst_o(rsts)
  );

  // Clocks of each domain since the last request went.
  int unsigned had[Domains];
  int unsigned released = 0;
  for (genvar i = 0; i < Domains; i++) begin : g_check
    time edge_at;
    always @(posedge clks[i]) begin
      edge_at = $time;
      if (ask == '0) had[i]++;
    end
    always @(negedge rsts[i])
      if (begun) begin
        `CHECK(ask == '0, "a reset went while one was asked for")
        `CHECK(edge_at == $time, "a reset went without its clock")
        for (int k = 0; k < Domains; k++)
          `CHECK(had[k] >= Stages, "a domain had not its clocks in reset")
        if (i > 0) `CHECK(!rsts[i==0?0 : i-1], "not in order")
        released++;
      end
  end
  always @(ask) begin
    if (ask != '0) had = '{default: 0};
  end

  task automatic settle();
    repeat (12 * Domains * Stages) @(posedge clks[0]);
    #0.5;  // away from edges, as a reset that comes with one may be seen by it or not
  endtask

  initial begin
    #1.5 ask = '1;
    #1 begun = 1;
    #7 ask = '0;
    settle();
    `CHECK(rsts == '0, "the first reset does not go")
    for (int round = 0; round < 300; round++) begin
      int unsigned which = $urandom_range(Domains - 1);
      for (int i = 0; i < Domains; i++) half[i] = $urandom_range(9, 2);
      #($urandom_range(40, 1));
      released   = 0;
      ask[which] = 1;
      #1;
      `CHECK(rsts == '1, "not all resets come at once")
      #($urandom_range(60, 0));
      // Another request comes before, or some time after, the first has gone.
      if ($urandom_range(1) == 1) begin
        ask = '0;
        #($urandom_range(200, 1));
        ask[$urandom_range(Domains-1)] = 1;
        #1;
        `CHECK(rsts == '1, "not all resets come at once")
        released = 0;
      end
      ask = '0;
      settle();
      `CHECK(rsts == '0 && released == Domains, "not each reset goes once")
    end
    stopped = 1;
    ask[0]  = 1;
    #1 ask[0] = 0;
    settle();
    `CHECK(rsts == '1, "a reset went although a clock stands")
    stopped = 0;
    settle();
    `CHECK(rsts == '0, "they do not go when it runs again")
    `TB_PASS
  end
endmodule
