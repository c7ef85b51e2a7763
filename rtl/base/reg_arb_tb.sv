// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// reg_arb: accesses of two masters reach a memory one at a time and come back to their master, with any delay of the
/// slave; a master that is reset in the middle gets no answer and blocks no other.
module reg_arb_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int AddrW = 8;
  reg_if #(.AddrW(AddrW)) in[2] ();
  reg_if #(.AddrW(AddrW)) out ();
  logic [1:0] drop = '0;
  logic index;
  reg_arb #(
      .N(2),
      .AddrW(AddrW)
  ) dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .drop_i (drop),
      .in,
      .out,
      .index_o(index)
  );

  int unsigned percent = 100;
  reg_memory i_slave (
      .clk,
      .rst,
      .on(out),
      .percent
  );
  always @(posedge clk) if (out.req && !rst) `CHECK(index == out.addr[7], "it names another master")
  // Each master has half of the words to itself.
  int unsigned done[2];
  for (genvar m = 0; m < 2; m++) begin : g_master
    reg_traffic #(
        .AddrW(AddrW),
        .Words(32),
        .Base (AddrW'(128 * m))
    ) i_master (
        .clk,
        .rst(rst || drop[m]),
        .on(in[m]),
        .percent(25),
        .write_percent(50)
    );
    assign done[m] = i_master.reads + i_master.writes;
  end

  int unsigned before_drop;
  initial begin
    @(negedge rst);
    for (int round = 0; round < 20; round++) begin
      percent = 100 / (1 + round / 2);
      repeat (1000) @(posedge clk);
    end
    `CHECK(done[0] > 500 && done[1] > 500, "both are served")
    `CHECK(done[0] * 10 > done[1] * 8 && done[1] * 10 > done[0] * 8, "fairly")
    // Master 1 is reset, in whatever state it is; from then on it reads only what it wrote after.
    for (int round = 0; round < 100; round++) begin
      bit brief;
      brief   = round % 2 == 0;  // over before the slave has answered
      percent = brief ? 5 : 40;
      repeat ($urandom_range(30)) @(posedge clk);
      drop[1] = 1;
      before_drop = done[0];
      repeat (brief ? $urandom_range(20, 4) : 100) @(posedge clk);
      `CHECK(brief || done[0] > before_drop + 5, "the other is not held up")
      for (int i = 0; i < 32; i++) g_master[1].i_master.words[i] = i_slave.words[32+i];
      drop[1] = 0;
      repeat (50) @(posedge clk);
    end
    `TB_PASS
  end
endmodule
