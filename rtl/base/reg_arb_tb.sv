// SPDX-License-Identifier: Apache-2.0
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

  // The slave: a memory that takes its time.
  logic [31:0] mem[64];
  int slow = 0, wait_q = -1, served[2] = '{0, 0};
  logic busy = 0;
  always @(posedge clk) begin
    out.ack <= 0;
    if (out.req && !rst) begin
      `CHECK(!busy, "one at a time")
      busy   = 1;
      wait_q = $urandom_range(slow);
      served[index]++;
      if (out.write) mem[out.addr[7:2]] = out.wdata;
    end
    if (busy) begin
      if (wait_q == 0) begin
        out.ack   <= 1;
        out.rdata <= mem[out.addr[7:2]];
        busy = 0;
      end
      wait_q--;
    end
  end

  // Each master has half of the words to itself.
  int done[2] = '{0, 0};
  for (genvar m = 0; m < 2; m++) begin : g_master
    logic [31:0] model[32];
    logic waits = 0, is_write = 0;
    logic [4:0] word = 0;
    initial foreach (model[i]) model[i] = '0;
    always @(posedge clk) begin
      in[m].req <= 0;
      if (rst || drop[m]) begin
        waits = 0;
      end else begin
        if (in[m].ack) begin
          `CHECK(waits, "an answer nobody waits for")
          if (!is_write) `CHECK(in[m].rdata == model[word], "reads what was written")
          waits = 0;
          done[m]++;
        end
        if (!waits && $urandom_range(3) == 0) begin
          waits = 1;
          is_write = 1'($urandom());
          word = 5'($urandom());
          in[m].req   <= 1;
          in[m].write <= is_write;
          in[m].addr  <= {1'(m), word, 2'b00};
          in[m].wdata <= $urandom();
          in[m].wstrb <= '1;
        end
        if (in[m].req && in[m].write) model[word] = in[m].wdata;
      end
    end
  end

  int before_drop;
  initial begin
    foreach (mem[i]) mem[i] = '0;
    @(negedge rst);
    for (int round = 0; round < 20; round++) begin
      slow = round;
      repeat (1000) @(posedge clk);
    end
    `CHECK(done[0] > 500 && done[1] > 500, "both are served")
    `CHECK(done[0] * 10 > done[1] * 8 && done[1] * 10 > done[0] * 8, "fairly")
    // Master 1 is reset, in whatever state it is; from then on it reads only what it wrote after.
    slow = 3;
    for (int round = 0; round < 50; round++) begin
      repeat ($urandom_range(30)) @(posedge clk);
      drop[1] = 1;
      before_drop = done[0];
      repeat (100) @(posedge clk);
      `CHECK(done[0] > before_drop + 5, "the other is not held up")
      for (int i = 0; i < 32; i++) g_master[1].model[i] = mem[32+i];
      drop[1] = 0;
      repeat (50) @(posedge clk);
    end
    `TB_PASS
  end
endmodule
