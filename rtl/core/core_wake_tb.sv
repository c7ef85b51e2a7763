// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// core_wake with cores that look for work, find it or not, and sleep: work comes at any time, into queues they look at some clocks
/// after they wake, and take some pieces at a look, of few they rest; all of it is done, and soon, whoever is asleep; then everybody sleeps.
module core_wake_tb;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Cores = 4;
  logic comes = 0, come;
  logic [15:0] gap = 0;
  logic [Cores-1:0] sleeping = '0, wake, rests = '0;
  assign come = comes || |rests;
  core_wake #(
      .Cores(Cores)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .come_i(come),
      .gap_i(gap),
      .sleeping_i(sleeping),
      .wake_o(wake)
  );

  int unsigned waiting = 0, since = 0, wakes = 0, longest = 0, load = 0;
  // Work comes with its announcement.
  always @(posedge clk) begin
    comes <= 0;
    if (!rst && $urandom_range(999) < load) begin
      comes <= 1;
      waiting++;
    end
    since = waiting == 0 || rst ? 0 : since + 1;
    if (since > longest) longest = since;
  end
  for (genvar c = 0; c < Cores; c++) begin : g_core
    initial begin
      automatic int unsigned took;
      @(negedge rst);
      forever begin
        // A look takes some clocks; what is there at its end is taken.
        repeat ($urandom_range(12, 2)) @(posedge clk);
        took = waiting < 8 ? waiting : 8;
        waiting -= took;
        repeat (took * $urandom_range(8)) @(posedge clk);
        if (took == 8) continue;
        if (took != 0) begin
          rests[c] <= 1;
          @(posedge clk);
          rests[c] <= 0;
        end
        sleeping[c] <= 1;
        @(posedge clk);
        while (!wake[c]) @(posedge clk);
        sleeping[c] <= 0;
        wakes++;
        @(posedge clk);
      end
    end
  end

  initial begin
    automatic int unsigned loads[4] = '{1, 5, 30, 90}, gaps[3] = '{0, 20, 100};
    @(negedge rst);
    foreach (loads[l]) begin
      foreach (gaps[d]) begin
        load = loads[l];
        gap = 16'(gaps[d]);
        longest = 0;
        wakes = 0;
        repeat (10_000) @(posedge clk);
        load = 0;
        repeat (1000) @(posedge clk);
        `CHECK(waiting == 0, $sformatf("%0d left undone", waiting))
        `CHECK(&sleeping, "nobody sleeps though there is nothing to do")
        `CHECK(wakes > 0, "nobody was woken")
        // Everybody may be woken before the one who finds it.
        if (loads[l] < 90)
          `CHECK(longest <= Cores * (gaps[d] + 80) + 200, $sformatf(
                 "%0d clocks until it was done", longest))
        $display("load %0d gap %0d: %0d wake-ups, longest %0d", loads[l], gaps[d], wakes, longest);
      end
    end
    `TB_PASS
  end
endmodule
