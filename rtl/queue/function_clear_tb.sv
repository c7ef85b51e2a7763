// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// function_clear: of a function that is reset every register of its share that could make it do something is written, of the others
/// none; it waits until its queues have finished, but not for ever; several at once are done one after the other, each told once.
module function_clear_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Functions = 4, AddrW = 20, Ports = 2, Tx = 16, Rx = 8, Ev = 8, Vec = 32;
  localparam int Settle = 64, Patience = 2048;
  localparam int Regions = 9;
  localparam int Bases[Regions] = '{
      'h4000,
      'h10000,
      'h20000,
      'h30000,
      'h40000,
      'h50000,
      'h60000,
      'h70000,
      'h74000
  };
  localparam int Count[Regions] = '{Vec, Vec, Tx, Rx, Tx, Rx, Ev, Tx, Tx};
  localparam int Stride[Regions] = '{4, 16, 32, 32, 32, 32, 32, 4, 4};
  localparam int Word[Regions] = '{0, 3, 2, 2, 2, 2, 2, 0, 0};
  functions_t in_reset = '0;
  function_done_t done;
  reg_if #(.AddrW(AddrW)) regs ();
  function_clear #(
      .Functions(Functions),
      .AddrW(AddrW),
      .Ports(Ports),
      .TxQueues(Tx),
      .RxQueues(Rx),
      .EventQueues(Ev),
      .Vectors(Vec),
      .Settle(Settle),
      .Patience(Patience),
      .Base({
        32'h74000,
        32'h70000,
        32'h60000,
        32'h50000,
        32'h40000,
        32'h30000,
        32'h20000,
        32'h10000,
        32'h4000
      })
  ) dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .reset_i(in_reset),
      .done_o (done),
      .regs
  );
  reg_memory #(
      .Words(2 ** (AddrW - 2))
  ) i_slave (
      .clk,
      .rst,
      .on(regs),
      .percent(70)
  );

  localparam logic [31:0] Mark = 32'hffff_ffff;
  function automatic int index_of(int region, int n);
    return (Bases[region] + n * Stride[region]) / 4 + Word[region];
  endfunction
  function automatic int consumer_of(int region, int n);
    return (Bases[region] + n * 32) / 4 + 5;
  endfunction
  task automatic enable_all();
    for (int r = 0; r < Regions; r++)
      for (int n = 0; n < Count[r]; n++) i_slave.words[index_of(r, n)] = Mark;
    for (int r = 2; r < 4; r++)
      for (int n = 0; n < Count[r]; n++) i_slave.words[consumer_of(r, n)] = 32'h0007_0007;
  endtask
  task automatic check_cleared(functions_t which);
    for (int r = 0; r < Regions; r++)
      for (int n = 0; n < Count[r]; n++) begin
        logic [31:0] now;
        now = i_slave.words[index_of(r, n)];
        if (which[6'(n/(Count[r]/Functions))])
          `CHECK(now != Mark && now[0] == (r == 1), "what is the function's is off, vectors masked")
        else `CHECK(now == Mark, "what is another's stays")
      end
  endtask

  int unsigned told[Functions], now = 0, told_at;
  always @(posedge clk) begin
    now++;
    if (!rst && regs.req)
      `CHECK(regs.addr[1:0] == 2'd0 && (!regs.write || regs.wstrb == '1), "whole words")
    if (!rst && done.valid) begin
      `CHECK(done.which != 0 && in_reset[6'(done.which)], "it was to be reset")
      told[done.which]++;
      told_at = now;
    end
  end
  task automatic run(functions_t which);
    int unsigned earlier[Functions];
    earlier  = told;
    in_reset = which;
    for (int f = 1; f < Functions; f++) if (which[f]) while (told[f] == earlier[f]) @(posedge clk);
    repeat (200) @(posedge clk);
    for (int f = 1; f < Functions; f++) `CHECK(told[f] == earlier[f] + 32'(which[f]), "told once")
    in_reset = '0;
    repeat (4) @(posedge clk);
  endtask

  // Not a fork: Verilator's C++ of one that counts coverage cannot be compiled.
  event later;
  int unsigned finished;
  always @(later) begin
    repeat (900) @(posedge clk);
    i_slave.words[consumer_of(2, 2*4+3)] = 32'h0009_0009;
    finished = now;
  end

  initial begin
    int unsigned began;
    foreach (told[f]) told[f] = 0;
    @(negedge rst);
    for (int f = 1; f < Functions; f++) begin
      enable_all();
      run(functions_t'(1) << f);
      check_cleared(functions_t'(1) << f);
    end
    enable_all();
    run(functions_t'('b1010));
    check_cleared(functions_t'('b1010));
    // A queue that has not finished is waited for,
    enable_all();
    i_slave.words[consumer_of(2, 2*4+3)] = 32'h0009_0007;
    ->later;
    run(functions_t'('b100));
    `CHECK(told_at > finished + Settle && told_at < finished + Settle + 100, "as soon as it has")
    // that of another is not, and one that never finishes not for ever.
    enable_all();
    i_slave.words[consumer_of(3, 0)] = 32'h0001_0000;
    began = now;
    run(functions_t'('b10));
    `CHECK(told_at - began < Patience / 2, "another's is not")
    i_slave.words[consumer_of(3, 3)] = 32'h0001_0000;
    began = now;
    run(functions_t'('b10));
    `CHECK(told_at - began > Patience && told_at - began < 2 * Patience, "not for ever")
    `TB_PASS
  end
endmodule
