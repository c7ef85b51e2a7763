// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// reg_merge: accesses of both masters reach a memory one at a time and in the order in which they came, and their answers the one who asked;
/// writes of `main` go one a clock where the slave answers at once, and however many there are, `side` has its turn.
module reg_merge_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int AddrW = 8;
  reg_if #(.AddrW(AddrW)) main ();
  reg_if #(.AddrW(AddrW)) side ();
  reg_if #(.AddrW(AddrW)) out ();
  reg_merge #(
      .AddrW(AddrW)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .main,
      .side,
      .out
  );

  int unsigned percent = 100, main_percent = 25, side_percent = 25, write_percent = 50;
  bit prompt = 0;
  reg_memory #(
      .AtOnce(1)
  ) i_slave (
      .clk,
      .rst,
      .on(out),
      .percent
  );
  always @(negedge clk) if (prompt) i_slave.at_once = 1;
  // Each master has half of the words to itself.
  reg_traffic #(
      .AddrW(AddrW),
      .Words(32)
  ) i_main (
      .clk,
      .rst,
      .on(main),
      .percent(main_percent),
      .write_percent
  );
  reg_traffic #(
      .AddrW(AddrW),
      .Words(32),
      .Base (8'd128)
  ) i_side (
      .clk,
      .rst,
      .on(side),
      .percent(side_percent),
      .write_percent(50)
  );

  // What has come and not gone: the highest bit says whose.
  logic [AddrW:0] came[$];
  int unsigned waited = 0, longest = 0, gone = 0;
  always @(posedge clk) begin
    if (rst) came.delete();
    else begin
      if (out.req) begin
        // One of `main` that came while `side` waited may go before it.
        automatic int at = came[0] == {out.write, out.addr} ? 0 : 1;
        `CHECK(came.size() > at && came[at] == {out.write, out.addr}, "not what came")
        `CHECK(at == 0 || (came[0][7] && !out.addr[7]), "not in the order in which they came")
        came.delete(at);
        gone++;
        if (!out.addr[7] && waited != 0) waited++;
        if (out.addr[7]) waited = 0;
        if (waited > longest) longest = waited;
      end
      if (main.req) came.push_back({main.write, main.addr});
      if (side.req) begin
        came.push_back({side.write, side.addr});
        waited = 1;
      end
    end
  end

  task automatic flood(int unsigned clocks, output int unsigned served, output int unsigned aside);
    int unsigned mains = i_main.writes, sides = i_side.reads + i_side.writes;
    repeat (clocks) @(posedge clk);
    served = i_main.writes - mains;
    aside  = i_side.reads + i_side.writes - sides;
  endtask

  int unsigned served, aside;
  initial begin
    @(negedge rst);
    for (int round = 0; round < 20; round++) begin
      percent = 100 / (1 + round / 2);
      main_percent = round % 3 == 0 ? 100 : 25;
      side_percent = round % 5 == 0 ? 100 : 25;
      repeat (1000) @(posedge clk);
    end
    `CHECK(i_main.reads > 500 && i_main.writes > 500, "main is served")
    `CHECK(i_side.reads > 500 && i_side.writes > 500, "so is side")
    `CHECK(longest <= 3, "side waits for two of main's at the most")
    // Writes without end.
    prompt = 1;
    percent = 100;
    main_percent = 100;
    write_percent = 100;
    side_percent = 0;
    repeat (200) @(posedge clk);
    flood(1000, served, aside);
    $display("%0d writes in 1000 clocks", served);
    `CHECK(served >= 999 && aside == 0, "a write a clock")
    side_percent = 100;
    flood(1000, served, aside);
    $display("%0d writes and %0d of the other in 1000 clocks", served, aside);
    `CHECK(aside >= 150 && served >= 400, "the other between them")
    prompt  = 0;
    percent = 50;
    flood(2000, served, aside);
    `CHECK(aside >= 150 && served >= 150, "of a slow slave each has its part")
    `TB_PASS
  end
endmodule
