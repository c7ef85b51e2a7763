// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// function_regs: accesses of all functions at random and at what is each one's, against a reference of where they go, what is
/// written there and what is read; each has a share of a table, and reads of a filter; what is outside, or of a function in reset, reaches no register and is counted.
module function_regs_tb;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Functions = 4, AddrW = 20, Tx = 16, Rx = 8, Ev = 8, Vec = 32;
  localparam int InterfaceAt = 'h78000, PendingAt = 'h18000;
  localparam int Bases[10] = '{
      'h4000,
      'h10000,
      'h20000,
      'h30000,
      'h40000,
      'h50000,
      'h60000,
      'h70000,
      'h7a000,
      'h7c400
  };
  localparam int RssEach = 32;
  localparam int Each[10] = '{
      4 * Vec / 4,
      16 * Vec / 4,
      32 * Tx / 4,
      32 * Rx / 4,
      32 * Tx / 4,
      32 * Rx / 4,
      32 * Ev / 4,
      4 * Tx / 4,
      4 * RssEach,
      16
  };
  reg_if #(.AddrW(AddrW + 2)) in ();
  reg_if #(.AddrW(AddrW)) out ();
  logic outside;
  pcie_pkg::functions_t in_reset = '0;
  function_regs #(
      .Functions(Functions),
      .AddrW(AddrW),
      .TxQueues(Tx),
      .RxQueues(Rx),
      .EventQueues(Ev),
      .Vectors(Vec),
      .At(
      '{
          device: 0,
          device_end: 'h20,
          vectors: 'h14,
          functions: 'h64,
          interface_begin: InterfaceAt,
          interface_end: InterfaceAt + 'h60,
          tx_queues: InterfaceAt + 'h4,
          rx_queues: InterfaceAt + 'h8,
          event_queues: InterfaceAt + 'hc,
          rss_entries: InterfaceAt + 'h44,
          features: InterfaceAt + 'h14,
          virtual_bit: 8,
          tx_stat_offset: InterfaceAt + 'h50,
          rx_stat_offset: InterfaceAt + 'h54,
          pending: PendingAt
      }
      ),
      .Filter(1),
      .RssEach(RssEach),
      .Base({
        32'h7c400,
        32'h7a000,
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
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .out,
      .reset_i(in_reset),
      .outside_o(outside)
  );
  `REG_MASTER(AddrW + 2, i_regs, in)
  reg_memory #(
      .Words (2 ** (AddrW - 2)),
      .AtOnce(1)
  ) i_slave (
      .clk,
      .rst,
      .on(out),
      .percent(60)
  );

  int unsigned outsides = 0, reached = 0;
  logic [31:0] wrote;
  always @(posedge clk)
    if (!rst) begin
      outsides += 32'(outside);
      if (out.req) begin
        reached++;
        wrote = out.wdata;
      end
    end

  // How many there are of what a word of a region names; 0: it names nothing.
  function automatic int named(int region, int word);
    if (region == 2 && word == 3) return Tx / 4;
    if (region == 3 && word == 3) return Rx / 4;
    if (region inside {4, 5} && word == 3) return Ev / 4;
    if (region == 6 && word == 3) return Vec / 4;
    return 0;
  endfunction

  task automatic try_one(int fn, int at, bit write, logic [31:0] data);
    int region = -1, target = at, earlier = reached, earlier_outside = outsides, many;
    logic [31:0] want, got, old;
    bit goes;
    for (int r = 0; r < 10; r++) if (at >= Bases[r] && at < Bases[r] + Each[r]) region = r;
    goes = fn == 0 || (region >= 0 && !(region == 9 && write)) || (!write && (at < 32 || at == PendingAt || (at >= InterfaceAt && at < InterfaceAt + 'h60)));
    if (in_reset[6'(fn)]) goes = 0;
    if (fn != 0 && region >= 0) target = at + fn * Each[region];
    if (fn != 0 && at == PendingAt) target = at + 4 * (fn * Vec / 4 / 32);
    many = region >= 0 && fn != 0 ? named(region, at / 4 % 8) : 0;
    old  = i_slave.words[target/4];
    if (write) begin
      i_regs.write({2'(fn), AddrW'(at)}, data);
      want = data;
      if (many != 0) want = data[15:0] < 16'(many) ? 32'(data[15:0]) + 32'(fn * many) : 32'hffff;
      if (fn != 0 && region == 7) want = data & 32'd1;
      if (fn != 0 && region inside {2, 3} && at / 4 % 8 == 0) want = data & ~32'd1;
      @(posedge clk);
      if (goes)
        `CHECK(wrote == want && i_slave.words[target/4] == want, "what is written, and where")
      else `CHECK(i_slave.words[target/4] == old, "what is outside stays")
    end else begin
      i_regs.read({2'(fn), AddrW'(at)}, got);
      want = old;
      if (many != 0)
        want = old[15:0] / 16'(many) == 16'(fn) ? 32'(old[15:0]) - 32'(fn * many) : 32'hffff;
      if (fn != 0 && at == PendingAt) want = old >> (fn * Vec / 4 % 32) & 32'((1 << Vec / 4) - 1);
      if (at == 'h14) want = Vec / 4;
      if (at == 'h64) want = Functions;
      if (at == InterfaceAt + 4) want = Tx / 4;
      if (at == InterfaceAt + 8) want = Rx / 4;
      if (at == InterfaceAt + 12) want = Ev / 4;
      if (at == InterfaceAt + 'h44) want = RssEach;
      if (fn != 0 && at == InterfaceAt + 'h14) want = old | 32'h100;
      if (fn != 0 && at inside {InterfaceAt + 'h50, InterfaceAt + 'h54}) want = 0;
      if (!goes) want = 0;
      `CHECK(got == want, "what is read")
      @(posedge clk);
    end
    `CHECK(reached == earlier + 32'(goes), "whether it reaches a register")
    `CHECK(outsides == earlier_outside + 32'(!goes), "whether it is counted")
  endtask

  initial begin
    @(negedge rst);
    foreach (i_slave.words[i]) i_slave.words[i] = $urandom();
    for (int round = 0; round < 12000; round++) begin
      int at, r, fn;
      if (round % 50 == 0)
        in_reset = 64'($urandom_range(7)) << 1 & ($urandom_range(1) == 0 ? '1 : '0);
      r  = $urandom_range(13);
      fn = $urandom_range(3);
      unique case (r)
        8: at = 4 * $urandom_range(40);
        9: at = InterfaceAt + 4 * $urandom_range(40);
        10: at = PendingAt + 4 * $urandom_range(2);
        11: at = 4 * $urandom_range(2 ** (AddrW - 2) - 1);
        12: at = Bases[8] + 4 * $urandom_range(2 * RssEach - 1);
        13: at = Bases[9] + 4 * $urandom_range(7);
        default: at = Bases[r] + 4 * $urandom_range(Each[r] / 2 - 1);  // twice as many as it has
      endcase
      try_one(fn, at, 1'($urandom()), $urandom_range(2) == 0 ? $urandom() : $urandom_range(20));
    end
    `TB_PASS
  end
endmodule
